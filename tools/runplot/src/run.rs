//! What the tool does, in one screen: read the lines, make a chart of them, draw it.

use std::cell::RefCell;
use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use common::cli::Ending;
use common::console::Console;
use common::lines::Lines;
use common::output;
use common::stop::{Reason, Stop};

use crate::args::Args;
use crate::kinds;
use crate::picture;
use crate::plan::{self, Drawn, Plan};
use crate::read::{Idle, Source, Tee};
use crate::table::Table;
use crate::terminal::Screen;

/// How often a chart is drawn anew at most.
const REDRAW: Duration = Duration::from_millis(200);

/// Draws what was asked for.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    let console = Console::new("runplot", args.quiet, false);
    let plan = Plan::new(args)?;
    let stop = Stop::on_signals(output::stdout_pipe())?;
    let (table, wanted) = Table::new(&plan.request, &plan.conditions);
    let screen = Screen::new(plan.tees, plan.characters, plan.is_ascii);
    let watch = Watch(RefCell::new(Watched { table, screen, plan: &plan, due: None, last: None }));

    let tee = Tee::default();
    for path in &plan.files {
        let name = plan::file_name(path);
        let mut lines = Lines::new(Source::open(path, &stop, plan.tees.then_some(&tee), &watch)?, wanted.clone());
        while let Some(line) = lines.next_line().with_context(|| format!("cannot read {name}"))? {
            watch.0.borrow_mut().take(&line);
        }
        if let Some(error) = tee.failure() {
            return Err(anyhow::Error::new(error).context("cannot write to stdout"));
        }
        if stop.reason() == Some(Reason::ReaderGone) {
            return Ok(Ending::Measured);
        }
        for sentence in lines.skipped().sentences() {
            console.notice(&format!("{name}: {sentence}"));
        }
    }
    watch.0.into_inner().finish(&console)?;
    Ok(Ending::of(&stop).unwrap_or(Ending::Measured))
}

/// The chart that grows with the lines.
struct Watched<'a> {
    table: Table,
    screen: Screen,
    plan: &'a Plan,
    /// When lines that came since will be drawn.
    due: Option<Instant>,
    last: Option<Instant>,
}

/// Shared by the one who reads, who may have to wait, and the one who takes the lines.
struct Watch<'a>(RefCell<Watched<'a>>);

impl Idle for Watch<'_> {
    fn due(&self) -> Option<Instant> {
        self.0.borrow().due
    }

    fn wake(&self) {
        self.0.borrow_mut().redraw();
    }
}

impl Watched<'_> {
    fn take(&mut self, line: &common::lines::Line<'_>) {
        self.table.take(line);
        if self.plan.chart == Some(Drawn::Live) {
            let now = Instant::now();
            let due = *self.due.get_or_insert_with(|| self.last.map_or(now, |last| now.max(last + REDRAW)));
            if now >= due {
                self.redraw();
            }
        }
    }

    /// What cannot be drawn so far may be after the next line: only the end says so.
    fn redraw(&mut self) {
        self.due = None;
        self.last = Some(Instant::now());
        self.forget();
        if let Ok(chart) = kinds::chart(&self.table, &self.plan.request) {
            // A terminal that went away ends us by its signal.
            let _ = self.screen.redraw(&chart);
        }
    }

    /// Keeps what --last asks for.
    fn forget(&mut self) {
        if let Some((last, end)) = self.plan.last.zip(self.table.end()) {
            self.table.forget_before(end - last.as_secs_f64());
        }
    }

    fn finish(mut self, console: &Console) -> anyhow::Result<()> {
        let plan = self.plan;
        let names: Vec<String> = plan.files.iter().map(|path| plan::file_name(path)).collect();
        if self.table.rows.is_empty() {
            let hint =
                if self.table.seen == 0 || plan.conditions.is_empty() { "" } else { " that --where lets through" };
            bail!("no lines of measurements in {}{hint}", names.join(", "));
        }
        self.forget();
        let chart = kinds::chart(&self.table, &plan.request)?;
        for remark in &chart.remarks {
            console.notice(remark);
        }
        if let Some(picture) = &plan.picture {
            picture::save(&chart, picture)?;
        }
        if plan.chart.is_some() {
            match self.screen.redraw(&chart) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    return Err(anyhow::Error::new(error).context("cannot write the chart"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
