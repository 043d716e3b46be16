//! What the tool does, in one screen: every path, every measurement, every run.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use common::cli::{self, Ending, Session};
use common::measure::repeat::{Next, Repeat, Runs};
use common::measure::sample::{self, Identity};
use common::schema::diskread::SCHEMA;
use common::schema::line::Flag;
use common::units;

use crate::args::{CommandLine, Method, ReadArgs, Verb};
use crate::facts;
use crate::like;
use crate::measure;
use crate::plan::Plan;
use crate::reading::Reading;
use crate::record::Record;
use crate::target::Target;

/// Does what was asked.
pub fn run(line: CommandLine) -> anyhow::Result<Ending> {
    match line.args.verb {
        Some(Verb::Facts(args)) => facts::print(&args),
        None => read(&line.args.read, line.has_runs),
    }
}

fn read(args: &ReadArgs, has_runs: bool) -> anyhow::Result<Ending> {
    let plans = Plan::all(args)?;
    let repeat = repeat(args, has_runs)?;
    let session = args.output.open("diskread", &SCHEMA)?;
    for_each_path(&args.paths, &session, |path| {
        let target = Target::open(path)?;
        for plan in &plans {
            let reader = Reader { args, session: &session, target: &target, plan };
            if let Some(ending) = reader.repeat(repeat.clone())? {
                return Ok(Some(ending));
            }
        }
        Ok(None)
    })
}

fn repeat(args: &ReadArgs, has_runs: bool) -> Result<Repeat, cli::Usage> {
    let mut schedule = args.schedule.clone();
    if let (Some(program), false) = (args.like, has_runs) {
        schedule.repeat.runs = Runs::Fixed(like::runs(program));
    }
    schedule.repeat(args.schedule.time.is_some())
}

/// Takes one path after the other. One that fails does not keep the others from their turn.
pub fn for_each_path(
    paths: &[PathBuf],
    session: &Session,
    mut visit: impl FnMut(&Path) -> anyhow::Result<Option<Ending>>,
) -> anyhow::Result<Ending> {
    let mut ending = Ending::Measured;
    for path in paths {
        match visit(path) {
            Ok(Some(early)) => return Ok(early),
            Ok(None) => {}
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                session.console.error(&cli::message(&error));
                ending = Ending::Failed;
            }
        }
        if let Some(early) = Ending::of(&session.stop) {
            return Ok(early);
        }
    }
    Ok(ending)
}

/// One measurement of one target.
struct Reader<'a> {
    args: &'a ReadArgs,
    session: &'a Session,
    target: &'a Target,
    plan: &'a Plan,
}

impl Reader<'_> {
    /// Measures as often as asked; an ending only if there is nothing to do after it.
    fn repeat(&self, mut repeat: Repeat) -> anyhow::Result<Option<Ending>> {
        loop {
            let run = repeat.number();
            let reading = Reading::prepare(self.plan, self.target, &self.session.stop)?;
            if let Some(ending) = Ending::of(&self.session.stop) {
                return Ok(Some(ending));
            }
            let mut finished = self.measure(&reading, run)?;
            let next = repeat.finish(finished.total.line.bytes_per_s.map(common::schema::Fixed::value));
            finished.total.raise_if(next == Next::Unsettled, Flag::Unsettled);
            self.session.lines.write_line(&finished.total.text()?)?;
            if let Some(failure) = finished.failure {
                return Err(failure.context(self.target.name.clone()));
            }
            if let Some(ending) = Ending::of(&self.session.stop) {
                return Ok(Some(ending));
            }
            self.advise(&finished.total);
            self.sum_up(&finished.total, &repeat);
            if next != Next::Again {
                return Ok(None);
            }
        }
    }

    fn measure(&self, reading: &Reading<'_>, run: u64) -> anyhow::Result<measure::Finished> {
        let identity = Identity {
            schema: SCHEMA.tag,
            host: sample::host_name(),
            label: self.args.output.label.clone().unwrap_or_default(),
            test: self.plan.test,
            target: self.target.name.clone(),
            run,
        };
        let progress = self.session.console.progress(self.plan.time.map(|time| time + self.plan.warmup));
        let lines = &self.session.lines;
        measure::run(reading, &identity, &self.session.stop, &progress, &|record| lines.write_line(&record.text()?))
            .with_context(|| self.target.name.clone())
    }

    /// Says what is doubtful about a figure, and what to do about it.
    fn advise(&self, record: &Record) {
        let name = &self.target.name;
        let share = |bytes: Option<u64>| units::bytes_text(bytes.unwrap_or_default());
        let (disk, flags) = (&record.disk, &record.line.flags);
        let notice = |text: &str| self.session.console.notice(&format!("{name}: {text}"));
        if flags.has(Flag::Cached) && self.plan.method != Method::Cached {
            let pct = disk.cached_pct.map_or(0.0, common::schema::Fixed::value);
            notice(&format!(
                "{pct:.1} % of the bytes came from memory, not from a device: this is not the device's speed"
            ));
        }
        if flags.has(Flag::Sparse) {
            notice(&format!(
                "{} are holes, which no device has to read: fill the file first",
                share(disk.sparse_bytes)
            ));
        }
        if flags.has(Flag::Unwritten) {
            notice(&format!(
                "{} were allocated but never written, and no device has to read them: fill the file first",
                share(disk.unwritten_bytes)
            ));
        }
        if flags.has(Flag::Fallback) {
            notice("direct reads were refused; it was read through the page cache (--fallback)");
        }
        if flags.has(Flag::Short) {
            notice(&format!("only {} bytes were there to read", record.line.bytes.unwrap_or_default()));
        }
    }

    fn sum_up(&self, record: &Record, repeat: &Repeat) {
        let (line, disk) = (&record.line, &record.disk);
        let mut text = format!(
            "{}: {} {} in {:.3} s: {}",
            line.target,
            line.test,
            units::bytes_text(line.bytes.unwrap_or_default()),
            line.seconds.map_or(0.0, common::schema::Fixed::value),
            line.bytes_per_s.map_or_else(|| "too short for a rate".into(), |rate| units::rate_text(rate.value())),
        );
        // Writing to a String cannot fail.
        if let Some(rate) = line.ops_per_s {
            let _ = write!(text, "; {:.0} reads/s", rate.value());
        }
        if let (Some(p50), Some(p99)) = (disk.p50_us, disk.p99_us) {
            let _ = write!(text, ", p50 {:.0} us, p99 {:.0} us", p50.value(), p99.value());
        }
        if let Some(pct) = disk.cached_pct {
            let _ = write!(text, "; {:.1} % from the device", 100.0 - pct.value());
        }
        if let Some((mean, half_width)) = repeat.confidence() {
            let rate = units::rate_text(mean);
            let _ = write!(text, "; mean {rate} ± {:.1} %", 100.0 * half_width / mean.max(f64::MIN_POSITIVE));
        }
        self.session.console.summary(&text);
    }
}
