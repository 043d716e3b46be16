//! What the tool does, in one screen: read the lines, make a chart of them, draw it.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use common::cli::{self, Ending};
use common::console::Console;
use common::lines::{Beside, Line, Reading, file_name};
use common::output;
use common::stop::{Reason, Stop};

use crate::args::Args;
use crate::kinds;
use crate::picture;
use crate::plan::{Drawn, Plan};
use crate::table::Table;
use crate::tee::Tee;
use crate::terminal::Screen;

/// How often a chart is drawn anew at most.
const REDRAW: Duration = Duration::from_millis(200);
/// How long after a line others may come at once: the last interval, its total, and what their tool says then.
const SETTLE: Duration = Duration::from_millis(50);

/// Draws what was asked for.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    let console = Arc::new(Console::new("runplot", args.quiet, false));
    let plan = Plan::new(args)?;
    if plan.tees || plan.chart.is_some() {
        output::refuse_closed()?;
    }
    let stop = Stop::on_signals(output::stdout_pipe())?;
    let (table, wanted) = Table::new(&plan.request, &plan.conditions);
    let screen = Screen::new(&plan);
    let growing = RefCell::new(Growing { table, screen, plan: &plan, is_in_run: false, due: None, last: None });

    let tee = plan.tees.then(|| Tee::open(&stop, &console)).transpose()?;
    let beside = Meanwhile { growing: &growing, tee, stop: &stop };
    let reading = Reading { files: &plan.files, wanted: &wanted, stop: &stop, console: &console };
    reading.each(&beside, |_, line| {
        growing.borrow_mut().take(line);
        Ok(())
    })?;
    if let Some(error) = beside.tee.and_then(|tee| tee.failure()) {
        let is_unread = output::is_unread(&error);
        let error = anyhow::Error::new(error).context("cannot write to stdout");
        let Some(ending) = Ending::of(&stop).filter(|_| is_unread) else { return Err(error) };
        console.error(&cli::message(&error));
        return Ok(ending);
    }
    if stop.reason() == Some(Reason::ReaderGone) {
        return Ok(Ending::Measured);
    }
    growing.into_inner().finish(&console)?;
    Ok(Ending::of(&stop).unwrap_or(Ending::Measured))
}

/// The chart that grows with the lines.
struct Growing<'a> {
    table: Table,
    screen: Screen,
    plan: &'a Plan,
    /// Its total is still to come, and what the measuring tool says at the end.
    is_in_run: bool,
    /// When lines that came since will be drawn.
    due: Option<Instant>,
    last: Option<Instant>,
}

/// Draws and passes on while lines are read, or waited for.
struct Meanwhile<'a, 'p> {
    /// Shared with the one who takes the lines.
    growing: &'a RefCell<Growing<'p>>,
    tee: Option<Tee>,
    stop: &'a Stop,
}

impl Beside for Meanwhile<'_, '_> {
    fn due(&self) -> Option<Instant> {
        self.growing.borrow().due
    }

    fn wake(&self) {
        self.growing.borrow_mut().redraw();
    }

    fn pass(&self, bytes: &[u8]) -> bool {
        self.tee.as_ref().is_none_or(|tee| tee.write(bytes, self.stop))
    }
}

impl Growing<'_> {
    fn take(&mut self, line: &Line<'_>) {
        let rows = self.table.rows.len();
        self.table.take(line);
        match self.table.rows.get(rows) {
            Some(row) if row.is_interval => self.is_in_run = true,
            Some(_) if self.is_in_run => {
                self.is_in_run = false;
                self.screen.leave();
            }
            _ => {}
        }
        if self.plan.chart == Some(Drawn::Live) {
            let now = Instant::now();
            let soon = now + SETTLE;
            let due = *self.due.get_or_insert_with(|| self.last.map_or(soon, |last| soon.max(last + REDRAW)));
            // Drawn while nothing comes; of lines without a pause, in between.
            if now >= due + REDRAW {
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
        let names: Vec<String> = plan.files.iter().map(|path| file_name(path)).collect();
        if self.table.rows.is_empty() {
            let hint =
                if self.table.seen == 0 || plan.conditions.is_empty() { "" } else { " that --where lets through" };
            bail!("no lines of measurements in {}{hint}", names.join(", "));
        }
        self.forget();
        let chart = kinds::chart(&self.table, &plan.request)?;
        for remark in &chart.remarks {
            console.notice(&remark.to_string());
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
