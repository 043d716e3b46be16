//! What the tool does, in one screen: every path, every measurement, every run.

use std::fmt::Write;

use anyhow::Context;
use common::cli::{self, Ending, Session};
use common::console::Console;
use common::measure::repeat::{Repeat, Runs};
use common::measure::sample::{self, Identity};
use common::measure::series::{self, Outcome, Rate};
use common::output::RecordWriter;
use common::schema::Fixed;
use common::schema::diskread::SCHEMA;
use common::schema::line::Flag;
use common::units;

use crate::args::{CommandLine, ReadArgs, Verb};
use crate::facts;
use crate::like;
use crate::measure;
use crate::plan::Plan;
use crate::reading::Reading;
use crate::record::Record;
use crate::target::Target;
use crate::warning::Warning;

/// Does what was asked.
pub fn run(line: CommandLine) -> anyhow::Result<Ending> {
    match line.args.verb {
        Some(Verb::Facts(args)) => facts::print(&args),
        None => read(&line.args.read, line.has_runs),
    }
}

fn read(args: &ReadArgs, has_runs: bool) -> anyhow::Result<Ending> {
    let plans = match args.like {
        Some(program) => like::plans(program, args),
        None => vec![Plan::one(args)?],
    };
    let repeat = repeat(args, has_runs)?;
    let session = args.output.open("diskread", &SCHEMA)?;
    cli::in_turn(&args.paths, &session, |path| {
        let target = Target::open(path)?;
        for plan in &plans {
            let reader = Reader { args, session: &session, target: &target, plan };
            if let Some(ending) = series::run(&session, repeat.clone(), |run| reader.measure(run))? {
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

/// One measurement of one target.
struct Reader<'a> {
    args: &'a ReadArgs,
    session: &'a Session,
    target: &'a Target,
    plan: &'a Plan,
}

impl<'a> Reader<'a> {
    /// One run; `None` if it was told to stop before it began.
    fn measure(&self, run: u64) -> anyhow::Result<Option<Run<'a>>> {
        let reading = Reading::prepare(self.plan, self.target, &self.session.stop)?;
        if self.session.stop.is_set() {
            return Ok(None);
        }
        let identity = Identity {
            schema: SCHEMA.tag,
            host: sample::host_name(),
            label: self.args.output.label.clone().unwrap_or_default(),
            test: self.plan.test,
            target: self.target.name.clone(),
            run,
        };
        let progress = self.session.console.progress(self.plan.time.map(|time| time + self.plan.warmup));
        let context = || self.target.name.clone();
        let (total, finished) = measure::run(&reading, &identity, self.session, &progress).with_context(context)?;
        let failure = finished.failure.map(|failure| failure.context(context()));
        Ok(Some(Run { total, failure, plan: self.plan }))
    }
}

/// A finished run.
struct Run<'a> {
    total: Record,
    failure: Option<anyhow::Error>,
    plan: &'a Plan,
}

impl Outcome for Run<'_> {
    fn rate(&self) -> Option<Rate> {
        self.total.line.bytes_per_s.map(|rate| Rate::Bytes(rate.value()))
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
        for warning in Warning::of(&self.total, self.plan) {
            console.notice(&format!("{}: {warning}", self.total.line.target));
        }
    }

    fn sentence(&self) -> String {
        let (line, own) = (&self.total.line, &self.total.own);
        let mut text = format!(
            "{}: {} {} in {:.3} s: {}",
            line.target,
            line.test,
            units::bytes_text(line.bytes.unwrap_or_default()),
            line.seconds.map_or(0.0, Fixed::value),
            line.bytes_per_s.map_or_else(|| "too short for a rate".into(), |rate| units::rate_text(rate.value())),
        );
        // Writing to a String cannot fail.
        if let Some(rate) = line.ops_per_s {
            let _ = write!(text, "; {:.0} reads/s", rate.value());
        }
        if let (Some(p50), Some(p99)) = (own.p50_us, own.p99_us) {
            let [p50, p99] = [p50, p99].map(|time| units::micros_text(time.value()));
            let _ = write!(text, ", p50 {p50}, p99 {p99}");
        }
        if let Some(pct) = own.cached_pct {
            let _ = write!(text, "; {:.1} % from the device", 100.0 - pct.value());
        }
        text
    }
}
