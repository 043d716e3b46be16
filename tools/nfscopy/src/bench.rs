//! Phase after phase, run after run: each is measured, printed and judged here.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use common::cli::{Ending, Session};
use common::console::Console;
use common::measure::repeat::Repeat;
use common::measure::sample::{self, Identity};
use common::measure::series::{self, Outcome, Rate, Step};
use common::output::RecordWriter;
use common::output::familiar::Figures;
use common::schema::Fixed;
use common::schema::line::Flag;
use common::schema::nfscopy::SCHEMA;
use common::units;

use crate::measure::{self, Done, Phase, Site};
use crate::record::Record;
use crate::warning::Warning;
use crate::workspace::Workspace;

/// Measures phases of one target, run by run.
pub struct Bench<'a> {
    site: Site<'a>,
    label: String,
    target: String,
    repeat: Repeat,
    /// By test and threads; each is repeated until its own mean is known, and says whether it wants more.
    repeats: HashMap<(&'static str, u64), (Repeat, bool)>,
    run: u64,
    /// What was printed, in that order.
    figures: Vec<Figures>,
}

impl<'a> Bench<'a> {
    /// Before the first run.
    pub fn new(site: Site<'a>, label: Option<&String>, target: String, repeat: Repeat) -> Self {
        let label = label.cloned().unwrap_or_default();
        Self { site, label, target, repeat, repeats: HashMap::new(), run: 1, figures: Vec::new() }
    }

    /// Signals, stderr and stdout.
    pub fn session(&self) -> &'a Session {
        self.site.session
    }

    /// What was measured and printed so far.
    pub fn figures(&self) -> &[Figures] {
        &self.figures
    }

    /// Begins the next run, unless enough is known.
    pub fn again(&mut self) -> bool {
        self.run += 1;
        self.repeats.values().any(|(_, wants_more)| *wants_more)
    }

    /// Does the work of one run in a directory of its own in `parent`, which goes away at the end.
    pub fn within(
        &mut self,
        parent: &Path,
        work: impl FnOnce(&mut Self, &Workspace) -> anyhow::Result<Option<Ending>>,
    ) -> anyhow::Result<Option<Ending>> {
        let workspace = Workspace::create(parent)?;
        let outcome = work(self, &workspace);
        let is_gone = workspace.remove(&self.session().console);
        if is_gone { outcome } else { outcome.map(|ending| ending.or(Some(Ending::Failed))) }
    }

    /// Measures a phase and prints its line; an ending only if there is nothing to do after it.
    pub fn measure(&mut self, phase: Phase<'_>) -> anyhow::Result<Option<Ending>> {
        let (test, threads) = (phase.test, phase.setup.threads);
        let identity = Identity {
            schema: SCHEMA.tag,
            host: sample::host_name(),
            label: self.label.clone(),
            test,
            target: self.target.clone(),
            run: self.run,
        };
        let mut done = measure::run(self.site, &identity, phase)?;
        let (repeat, wants_more) = self.repeats.entry((test, threads)).or_insert_with(|| (self.repeat.clone(), true));
        let concluded = series::conclude(self.site.session, repeat, &mut done);
        self.figures.push(figures(done));
        match concluded? {
            Step::End(ending) => return Ok(Some(ending)),
            step => *wants_more = step == Step::Again,
        }
        Ok(None)
    }
}

/// What other programs say of a phase.
fn figures(done: Done) -> Figures {
    let Record { line, own } = done.total;
    let (method, threads, block_bytes) = (own.mechanism, own.threads, own.block_bytes);
    Figures { line, method, threads, block_bytes, latency: done.latency }
}

impl Outcome for Done {
    fn rate(&self) -> Option<Rate> {
        let line = &self.total.line;
        // Files without content have no rate in bytes.
        let bytes = line.bytes_per_s.map(Fixed::value).filter(|rate| *rate > 0.0).map(Rate::Bytes);
        bytes.or(line.ops_per_s.map(|rate| Rate::Ops(rate.value())))
    }

    fn raise(&mut self, flag: Flag) {
        self.total.raise_if(true, flag);
    }

    fn print(&self, lines: &RecordWriter) -> anyhow::Result<()> {
        lines.write_line(&self.total.text()?)
    }

    fn take_failure(&mut self) -> Option<anyhow::Error> {
        self.failure.take()
    }

    fn advise(&self, console: &Console) {
        let line = &self.total.line;
        for warning in Warning::of(&self.total) {
            console.notice(&format!("{}: {}: {warning}", line.target, line.test));
        }
    }

    fn sentence(&self) -> String {
        let Record { line, own } = &self.total;
        let seconds = |cell: Option<Fixed<6>>| cell.map_or(0.0, Fixed::value);
        let mut text = format!(
            "{}: {} with {} thread{}: {} in {:.3} s",
            line.target,
            line.test,
            own.threads,
            if own.threads == 1 { "" } else { "s" },
            units::bytes_text(line.bytes.unwrap_or_default()),
            seconds(line.seconds),
        );
        // Writing to a String cannot fail.
        if let Some(rate) = line.bytes_per_s.filter(|rate| rate.value() > 0.0) {
            let _ = write!(text, ": {}", units::rate_text(rate.value()));
        }
        if let Some(rate) = line.ops_per_s {
            let _ = write!(text, "; {:.1} ops/s", rate.value());
        }
        if own.fsync_s.is_some() {
            let _ = write!(text, "; fsync {:.3} s of it", seconds(own.fsync_s));
        }
        if let (Some(calls), Some(rtt)) = (own.rpcs, own.rpc_rtt_us) {
            let _ = write!(text, "; {calls} calls to the server, {:.0} us each", rtt.value());
        }
        text
    }
}
