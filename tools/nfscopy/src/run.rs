//! What the tool does, in one screen: each verb has phases; each phase is measured, printed and judged here.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, bail};
use common::cli::{Ending, Session};
use common::measure::repeat::{Next, Repeat};
use common::measure::sample::{self, Identity};
use common::schema::Fixed;
use common::schema::line::Flag;
use common::schema::nfscopy::SCHEMA;
use common::units;

use crate::args::{Args, Verb};
use crate::copy;
use crate::facts;
use crate::file;
use crate::measure::{self, Phase, Place};
use crate::record::Record;
use crate::shown::shown;
use crate::tree;
use crate::workspace::Workspace;

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Verb::Copy(args) => copy::run(&args),
        Verb::File(args) => file::run(&args),
        Verb::Tree(args) => tree::run(&args),
        Verb::Facts(args) => facts::print(&args),
    }
}

/// Refuses what is no directory, before anything is done.
pub fn check_directory(path: &Path) -> anyhow::Result<()> {
    let metadata = path.metadata().with_context(|| format!("cannot use {}", shown(path)))?;
    if metadata.is_dir() { Ok(()) } else { bail!("cannot use {}: it is not a directory", shown(path)) }
}

/// Measures phases of one target, run by run.
pub struct Bench<'a> {
    place: Place<'a>,
    label: String,
    target: String,
    repeat: Repeat,
    /// By test and threads; each is repeated until its own mean is known.
    repeats: HashMap<(&'static str, u64), (Repeat, Next)>,
    run: u64,
}

impl<'a> Bench<'a> {
    /// Before the first run.
    pub fn new(place: Place<'a>, label: Option<&String>, target: String, repeat: Repeat) -> Self {
        let label = label.cloned().unwrap_or_default();
        Self { place, label, target, repeat, repeats: HashMap::new(), run: 1 }
    }

    /// Signals, stderr and stdout.
    pub fn session(&self) -> &'a Session {
        self.place.session
    }

    /// Begins the next run, unless enough is known.
    pub fn again(&mut self) -> bool {
        self.run += 1;
        self.repeats.values().any(|(_, next)| *next == Next::Again)
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
        let mut finished = measure::run(self.place, &identity, phase)?;
        let line = &finished.total.line;
        // Files without content have no rate in bytes.
        let rate = line.bytes_per_s.filter(|rate| rate.value() > 0.0).map(Fixed::value);
        let rate = rate.or(line.ops_per_s.map(Fixed::value));
        let repeat = self.repeats.entry((test, threads)).or_insert_with(|| (self.repeat.clone(), Next::Again));
        repeat.1 = repeat.0.finish(rate);
        let confidence = repeat.0.confidence();
        finished.total.raise_if(repeat.1 == Next::Unsettled, Flag::Unsettled);
        self.session().lines.write_line(&finished.total.text()?)?;
        if let Some(failure) = finished.failure {
            return Err(failure);
        }
        if let Some(ending) = Ending::of(&self.session().stop) {
            return Ok(Some(ending));
        }
        self.advise(&finished.total);
        self.sum_up(&finished.total, confidence);
        Ok(None)
    }

    /// Says what is doubtful about a figure, and what to do about it.
    fn advise(&self, Record { line, own }: &Record) {
        let notice = |text: &str| self.session().console.notice(&format!("{}: {}: {text}", line.target, line.test));
        if line.flags.has(Flag::Cached) {
            let pct = own.cached_pct.map_or(0.0, Fixed::value);
            notice(&format!(
                "{pct:.1} % lay in this machine's memory before it was read: this is not the mount's speed (a larger \
                 --size helps)"
            ));
        }
        if line.flags.has(Flag::Fallback) {
            notice("nobody copied for us: it was read and written (--offload)");
        }
        if line.flags.has(Flag::Short) {
            let (bytes, ops) = (line.bytes.unwrap_or_default(), line.ops.unwrap_or_default());
            notice(&format!("there was less to do than was asked for or announced: {bytes} bytes, {ops} operations"));
        }
        if line.flags.has(Flag::Sparse) {
            notice("the source has holes: zeros that no device had to read");
        }
    }

    fn sum_up(&self, Record { line, own }: &Record, confidence: Option<(f64, f64)>) {
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
        if let Some((mean, half_width)) = confidence {
            let _ = write!(text, "; mean ± {:.1} %", 100.0 * half_width / mean.max(f64::MIN_POSITIVE));
        }
        self.session().console.summary(&text);
    }
}
