//! What the tool does, in one screen: every path, every measurement, every run.

use std::cell::RefCell;
use std::fmt::Write;

use anyhow::Context;
use common::cli::{self, Ending, Session};
use common::console::Console;
use common::measure::latency::Moments;
use common::measure::repeat::{Repeat, Runs};
use common::measure::sample::{self, Identity};
use common::measure::series::{self, Outcome, Rate};
use common::output::RecordWriter;
use common::output::familiar::Figures;
use common::schema::Fixed;
use common::schema::diskread::SCHEMA;
use common::schema::line::Flag;
use common::units;

use crate::args::{CommandLine, ReadArgs, Verb};
use crate::facts;
use crate::familiar::Answer;
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
    let answers: RefCell<Vec<Answer>> = RefCell::default();
    let ending = cli::in_turn(&args.paths, &session, |path| {
        let target = Target::open(path)?;
        answers.borrow_mut().push(Answer { target: target.name.clone(), size: target.bytes(), ..Answer::default() });
        for plan in &plans {
            let reader = Reader { args, session: &session, target: &target, plan, answers: &answers };
            if let Some(ending) = series::run(&session, repeat.clone(), |run| reader.measure(run))? {
                return Ok(Some(ending));
            }
        }
        Ok(None)
    });
    let closed = close(args, &session, &plans, &answers.into_inner());
    ending.and_then(|ending| closed.map(|()| ending))
}

/// Ends with the tables of the program, however the measurements ended; of targets that had none there is nothing to show.
fn close(args: &ReadArgs, session: &Session, plans: &[Plan], answers: &[Answer]) -> anyhow::Result<()> {
    let Some(program) = args.like.filter(|_| !args.output.quiet) else { return Ok(()) };
    let measured = answers.iter().filter(|answer| !answer.totals.is_empty());
    let mut tables = measured.flat_map(|answer| answer.tables(program, plans));
    tables.try_for_each(|table| session.lines.close_with(table))
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
    /// What is known of the targets; this one is the last.
    answers: &'a RefCell<Vec<Answer>>,
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
        let latency = finished.total.latency().moments();
        Ok(Some(Run { total, failure, plan: self.plan, latency, answers: self.answers }))
    }
}

/// A finished run.
struct Run<'a> {
    total: Record,
    failure: Option<anyhow::Error>,
    plan: &'a Plan,
    latency: Option<Moments>,
    answers: &'a RefCell<Vec<Answer>>,
}

impl Run<'_> {
    /// What other programs say of it.
    fn figures(&self) -> Figures {
        let Record { line, own } = &self.total;
        let latency = self.latency;
        Figures {
            line: line.clone(),
            method: own.method,
            threads: own.threads,
            block_bytes: Some(own.block_bytes),
            latency,
        }
    }
}

impl Outcome for Run<'_> {
    fn rate(&self) -> Option<Rate> {
        self.total.line.bytes_per_s.map(|rate| Rate::Bytes(rate.value()))
    }

    fn raise(&mut self, flag: Flag) {
        self.total.raise_if(true, flag);
    }

    fn print(&self, lines: &RecordWriter) -> anyhow::Result<()> {
        if let Some(answer) = self.answers.borrow_mut().last_mut() {
            answer.totals.push(self.figures());
        }
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
