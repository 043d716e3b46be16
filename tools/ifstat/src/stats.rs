//! `ifstat stats`: the driver's own counters, as `ethtool -S` has them, and how they grew.

use std::time::Instant;

use anyhow::{Context, bail};
use common::cli::{Ending, Session};
use common::cpu;
use common::measure::counters::Counts;
use common::measure::sample::Snapshot;
use common::schema::ifstat::{STATS, Statistic};
use common::schema::line::{Flag, Flags, Span};
use common::sys::ethtool;

use crate::args::StatsArgs;
use crate::link::Name;
use crate::netns;
use crate::plan::{Due, Plan};
use crate::record::{Figures, Form, Stretch};
use crate::settings::Drivers;

type Counters = Vec<(String, u64)>;

/// Runs the verb.
pub fn stats(args: &StatsArgs) -> anyhow::Result<Ending> {
    let plan = Plan::new(&args.schedule, false)?;
    let session = args.output.open_with("ifstat", &STATS, &args.top.appearance(&args.output))?;
    let (drivers, netns) = netns::within(args.netns.netns.as_deref(), |netns| {
        Ok((Drivers::open().context("cannot open a socket")?, netns.to_owned()))
    })?;
    let first = read(&drivers, args.interface)?;
    if first.is_empty() {
        bail!("the driver of {} has no counters of its own", args.interface.text());
    }
    let form = Form::new(args.output.label.as_deref(), &netns).for_schema(STATS.tag);
    let mut series = Series::begin(&session, args, form, first);
    let outcome = series.run(&drivers, plan);
    let ending = if plan.is_open_ended() { None } else { Ending::of(&session.stop) };
    series.totals(outcome.is_err() || ending.is_some())?;
    outcome?;
    Ok(ending.unwrap_or_else(|| session.ending()))
}

fn read(drivers: &Drivers, interface: Name) -> anyhow::Result<Counters> {
    match ethtool::statistics(drivers.socket(), interface.bytes()) {
        // What a driver without them answers.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(Vec::new()),
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {
            bail!("no interface named '{}'", interface.text())
        }
        counters => counters.with_context(|| format!("cannot read the counters of {}", interface.text())),
    }
}

/// The samples so far.
struct Series<'a> {
    session: &'a Session,
    args: &'a StatsArgs,
    form: Form,
    start: Snapshot,
    last: Snapshot,
    first: Counters,
    counters: Counters,
}

impl<'a> Series<'a> {
    fn begin(session: &'a Session, args: &'a StatsArgs, form: Form, first: Counters) -> Self {
        let start = snapshot(Instant::now());
        Self { session, args, form, start, last: start, counters: first.clone(), first }
    }

    fn run(&mut self, drivers: &Drivers, plan: Plan) -> anyhow::Result<()> {
        let mut clock = plan.begin(self.start.at);
        loop {
            self.session.stop.wait(&[], clock.next())?;
            let due = if self.session.stop.is_set() { Due::End } else { clock.pass(Instant::now()) };
            if due != Due::Nothing {
                self.sample(read(drivers, self.args.interface)?)?;
            }
            if due == Due::End {
                return Ok(());
            }
        }
    }

    fn sample(&mut self, counters: Counters) -> anyhow::Result<()> {
        let now = snapshot(Instant::now());
        let stretch = Stretch { span: Span::Interval, from: self.last, to: now, is_cut: false };
        let before = std::mem::replace(&mut self.counters, counters);
        self.last = now;
        self.write(&stretch, &before)
    }

    /// The lines of the whole run; `is_cut` when it ended too early.
    fn totals(&self, is_cut: bool) -> anyhow::Result<()> {
        let stretch = Stretch { span: Span::Total, from: self.start, to: self.last, is_cut };
        self.write(&stretch, &self.first)
    }

    fn write(&self, stretch: &Stretch, before: &Counters) -> anyhow::Result<()> {
        for (name, value) in &self.counters {
            let earlier = before.iter().find(|(earlier, _)| earlier == name).map(|(_, value)| *value);
            let delta = earlier.and_then(|earlier| value.checked_sub(earlier));
            let mut flags = Flags::default();
            flags.raise_if(earlier.is_some() && delta.is_none(), Flag::Reset);
            flags.raise_if(earlier.is_none(), Flag::New);
            if self.args.changed && delta == Some(0) {
                continue;
            }
            let figures = Figures { flags, ..Figures::default() };
            let target = self.args.interface.text();
            let line = self.form.line("driver", &target, stretch, (stretch.from.at, stretch.to.at), figures);
            self.session.lines.write(&(line, Statistic { counter: name.clone(), value: Some(*value), delta }))?;
        }
        Ok(())
    }
}

fn snapshot(at: Instant) -> Snapshot {
    Snapshot::take(at, Counts::default(), cpu::process_time())
}
