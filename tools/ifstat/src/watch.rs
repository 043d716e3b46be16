//! Watching interfaces: by the clock, or around a command.

use std::time::Instant;

use common::cli::{self, Ending, Session};
use common::schema::ifstat::SCHEMA;
use common::stop;

use crate::args::WatchArgs;
use crate::command::{self, NotStarted, Running};
use crate::netns;
use crate::plan::{Due, Plan};
use crate::report::Report;
use crate::source::Source;
use crate::tracker::Tracker;

/// Runs `ifstat` without a verb.
pub fn watch(args: &WatchArgs) -> anyhow::Result<Ending> {
    let plan = Plan::new(&args.schedule, !args.command.is_empty())?;
    let session = args.output.open_with("ifstat", &SCHEMA, &args.top.appearance(&args.output))?;
    let has_command = !args.command.is_empty();
    match measure(args, plan, &session) {
        Err(error) if has_command => {
            session.console.error(&cli::message(&error));
            Ok(Ending::OfCommand(command::FAILED))
        }
        ending => ending,
    }
}

fn measure(args: &WatchArgs, plan: Plan, session: &Session) -> anyhow::Result<Ending> {
    let mut source = netns::within(args.netns.netns.as_deref(), |netns| Source::open(netns, args.stack))?;
    let is_open_ended = plan.is_open_ended() && args.command.is_empty();
    let ending = || if is_open_ended { None } else { Ending::of(&session.stop) }.unwrap_or_else(|| session.ending());
    if !source.find(&args.interfaces, args.wait, session)? {
        return Ok(ending());
    }
    let at = Instant::now();
    let mut tracker = source.track(args.interfaces.clone(), at);
    let mut report = Report::begin(session, args, &mut source, at)?;
    if args.since_boot {
        report.since_boot(&tracker)?;
    }
    let command = match start(args) {
        Ok(command) => command,
        Err(NotStarted(status, error)) => {
            session.console.error(&cli::message(&error));
            return Ok(Ending::OfCommand(status));
        }
    };
    let mut watch = Watch { plan, session, source: &mut source, tracker: &mut tracker, report: &mut report };
    let watched = watch.run(at, command.as_ref());
    let is_cut = command.is_none() && !is_open_ended && session.stop.is_set();
    let outcome = watched.and_then(|()| report.totals(&tracker, is_cut));
    let Some(command) = command else { return outcome.map(|()| ending()) };
    // However the measurement went, the command is nobody else's to wait for.
    let of_command = command.ending();
    outcome.and(of_command)
}

fn start(args: &WatchArgs) -> Result<Option<Running>, NotStarted> {
    if args.command.is_empty() {
        return Ok(None);
    }
    Running::start(&args.command, args.stdout.as_deref()).map(Some)
}

struct Watch<'a, 'b> {
    plan: Plan,
    session: &'a Session,
    source: &'a mut Source,
    tracker: &'a mut Tracker,
    report: &'a mut Report<'b>,
}

impl Watch<'_, '_> {
    /// Samples until the end, which has a sample of its own.
    fn run(&mut self, start: Instant, command: Option<&Running>) -> anyhow::Result<()> {
        let mut clock = self.plan.begin(start);
        loop {
            let mut others = vec![self.source.news()];
            others.extend(command.iter().flat_map(|command| [command.ended(), command.signals()]));
            let ready = self.session.stop.wait(&others, clock.next())?;
            if ready[0] {
                self.source.hear(self.tracker)?;
            }
            if let (Some(command), Some(true)) = (command, ready.get(2)) {
                command.pass_on();
            }
            if self.session.stop.is_set() {
                if let Some(command) = command {
                    self.let_end(command)?;
                }
                return self.sample();
            }
            if ready.get(1) == Some(&true) {
                return self.sample();
            }
            match clock.pass(Instant::now()) {
                Due::Nothing => {}
                Due::Interval => self.sample()?,
                Due::End => return self.sample(),
            }
        }
    }

    /// Stopped: the command hears of it too, and has the time it needs.
    fn let_end(&self, command: &Running) -> anyhow::Result<()> {
        if let Some(stop::Reason::Signal(signal)) = self.session.stop.reason() {
            command.signal(signal);
        }
        stop::wait_for(command.ended(), None)?;
        Ok(())
    }

    fn sample(&mut self) -> anyhow::Result<()> {
        let (at, spans) = self.source.sample(self.tracker)?;
        self.report.interval(self.source, at, &spans, self.plan.has_intervals())
    }
}
