//! One phase: workers at work, sampled until the last of them ends.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use common::cli::Session;
use common::cpu;
use common::measure::counters::Counters;
use common::measure::crew::Crew;
use common::measure::latency::Latencies;
use common::measure::sample::{Epoch, Identity, Sample, Snapshot, Ticker};
use common::schema::line::Span;
use common::stop;

use crate::mounted::Mounted;
use crate::mountstats::Stats;
use crate::record::{Part, Record, Setup};
use crate::worker::{Lane, Shared, TIMED, Worker};

/// How long whoever asked to leave waits before hearing what for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What one worker does.
pub type Work<'a> = Box<dyn FnOnce(&Worker<'_>) -> anyhow::Result<()> + Send + 'a>;

/// What is measured.
pub struct Phase<'a> {
    /// The word in the test column.
    pub test: &'static str,
    /// What the line says of it beside figures.
    pub setup: Setup,
    /// A worker for each.
    pub works: Vec<Work<'a>>,
    /// End it after this long.
    pub time: Option<Duration>,
}

/// Where a phase is measured, the same for all phases of a run.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Signals, stderr and stdout.
    pub session: &'a Session,
    /// The mount beneath.
    pub mounted: &'a Mounted,
    /// Lines between.
    pub interval: Option<Duration>,
}

/// How a phase ended.
#[derive(Debug)]
pub struct Finished {
    /// The line of all of it.
    pub total: Record,
    /// Why it did not run to its end, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

/// Works until all is done, the time is over, the stop is set or something fails.
pub fn run(place: Place<'_>, identity: &Identity, phase: Phase<'_>) -> anyhow::Result<Finished> {
    let Phase { setup, works, time, .. } = phase;
    let lanes: Vec<_> = works.iter().map(|_| Lane::default()).collect();
    let shared = Shared::default();
    let before =
        Before { epoch: Epoch::now(), at: Instant::now(), cpu: cpu::process_time(), stats: place.mounted.stats() };
    std::thread::scope(|scope| {
        let mut crew = Crew::new().context("cannot start workers")?;
        let run = Run { place, identity, setup: &setup, time, lanes: &lanes, shared: &shared, before };
        let start = || {
            for ((index, work), lane) in works.into_iter().enumerate().zip(&lanes) {
                let shared = &shared;
                crew.spawn(scope, format!("worker-{index}"), move |bell| {
                    let worker = Worker::start(lane, shared, bell);
                    let outcome = work(&worker);
                    worker.finish();
                    outcome
                })?;
            }
            run.watch(&crew)
        };
        let watched = start();
        if watched.is_err() {
            shared.cut();
        }
        run.finish(crew, watched?)
    })
}

/// The state before the workers start.
struct Before {
    epoch: Epoch,
    at: Instant,
    cpu: Duration,
    stats: Option<Stats>,
}

struct Run<'a> {
    place: Place<'a>,
    identity: &'a Identity,
    setup: &'a Setup,
    time: Option<Duration>,
    lanes: &'a [Lane],
    shared: &'a Shared,
    before: Before,
}

/// One end of a span.
#[derive(Clone)]
struct Mark {
    snapshot: Snapshot,
    stats: Option<Stats>,
    errors: u64,
    files: u64,
    steps: [u64; TIMED],
}

/// What is being measured: the whole from `base` on and, if there are intervals, the open one.
struct Spans {
    base: Mark,
    latencies: Latencies,
    open: Option<(Mark, Ticker)>,
    is_cut: bool,
}

impl Run<'_> {
    /// Sleeps and samples until every worker has ended.
    fn watch(&self, crew: &Crew<'_, ()>) -> anyhow::Result<Option<Spans>> {
        let Place { session: Session { stop, console, .. }, .. } = self.place;
        let progress = console.progress(self.time);
        let mut spans: Option<Spans> = None;
        let mut halted: Option<Instant> = None;
        let mut complaint = None;
        while !crew.is_done() {
            let tick = spans.as_ref().and_then(|spans| spans.open.as_ref()).map(|(_, ticker)| ticker.next());
            let redraw = progress.redraw_every().map(|period| Instant::now() + period);
            let end = if halted.is_none() { self.end() } else { None };
            let wake = [tick, end, redraw, complaint].into_iter().flatten().min();
            if stop.is_set() {
                stop::wait_for(crew.news(), wake)?;
            } else {
                stop.wait(&[crew.news()], wake)?;
            }
            crew.hear();
            progress.tick();
            let now = Instant::now();
            match &mut spans {
                None => spans = self.begin(),
                Some(spans) => self.tick(spans, now)?,
            }
            let is_cut = stop.is_set() || crew.has_failed();
            if is_cut && spans.as_ref().is_none_or(|spans| !spans.is_cut) {
                self.shared.cut();
                // Whoever asked to leave should know; a failure speaks for itself.
                complaint = stop.is_set().then(|| now + PATIENCE);
                spans = spans.or_else(|| self.begin());
                if let Some(spans) = &mut spans {
                    spans.is_cut = true;
                }
            }
            if complaint.is_some_and(|due| now >= due) {
                complaint = None;
                self.say_what_it_waits_for();
            }
            if is_cut || end.is_some_and(|end| now >= end) {
                halted.get_or_insert(now);
                self.shared.halt();
            }
        }
        Ok(spans.or_else(|| self.begin()))
    }

    /// A call on a mount whose server is silent cannot be interrupted, but whoever waits should know.
    fn say_what_it_waits_for(&self) {
        let calls: Vec<_> = self.lanes.iter().filter_map(Lane::waits_for).collect();
        if let Some(first) = calls.first() {
            let others = if calls.len() > 1 { format!(" and {} other calls", calls.len() - 1) } else { String::new() };
            self.place.session.console.error(&format!(
                "waiting for {first}{others} to end (does the server answer?); interrupt again to leave at once, and \
                 leave what was written behind"
            ));
        }
    }

    /// Ends the open interval if it is due.
    fn tick(&self, spans: &mut Spans, now: Instant) -> anyhow::Result<()> {
        if let Some((from, ticker)) = &mut spans.open
            && ticker.pass(now)
        {
            let (to, latencies) = (self.mark(now), self.latencies());
            self.emit(from, &to, &latencies)?;
            spans.latencies.add(&latencies);
            *from = to;
        }
        Ok(())
    }

    fn finish(self, crew: Crew<'_, ()>, spans: Option<Spans>) -> anyhow::Result<Finished> {
        let last = self.lanes.iter().filter_map(|lane| lane.last.get()).max().copied();
        let end = self.mark(last.unwrap_or(self.before.at));
        let (_, failure) = crew.join();
        let rest = self.latencies();
        let Spans { base, mut latencies, open, is_cut } = spans.unwrap_or_else(|| Spans {
            base: end.clone(),
            latencies: Latencies::default(),
            open: None,
            is_cut: true,
        });
        latencies.add(&rest);
        if let Some((from, _)) = open
            && end.snapshot.at > from.snapshot.at
        {
            self.emit(&from, &end, &rest)?;
        }
        let mut total = self.record(Span::Total, &base, &end, &latencies);
        total.finish(is_cut || failure.is_some(), self.setup, self.shared.failure.get());
        Ok(Finished { total, failure })
    }

    /// When the time is up.
    fn end(&self) -> Option<Instant> {
        Some(*self.shared.first.get()? + self.time?)
    }

    fn begin(&self) -> Option<Spans> {
        let first = *self.shared.first.get()?;
        let snapshot = Snapshot::before(first, self.before.cpu, self.before.at);
        let base = Mark { snapshot, stats: self.before.stats.clone(), errors: 0, files: 0, steps: [0; TIMED] };
        let end = self.time.map(|time| first + time);
        let open = self.place.interval.map(|interval| (base.clone(), Ticker::new(first, interval, end)));
        Some(Spans { base, latencies: Latencies::default(), open, is_cut: false })
    }

    fn mark(&self, at: Instant) -> Mark {
        let counts = self.lanes.iter().map(|lane| Counters::snapshot(&lane.counters)).sum();
        let mut steps = [0; TIMED];
        for lane in self.lanes {
            for (sum, time) in steps.iter_mut().zip(&lane.steps) {
                *sum += time.load(Ordering::Relaxed);
            }
        }
        Mark {
            snapshot: Snapshot::take(at, counts, cpu::process_time()),
            stats: self.place.mounted.stats(),
            errors: self.shared.errors.load(Ordering::Relaxed),
            files: self.lanes.iter().map(|lane| lane.files.load(Ordering::Relaxed)).sum(),
            steps,
        }
    }

    /// What the workers recorded since the last call.
    fn latencies(&self) -> Latencies {
        let mut all = Latencies::default();
        self.lanes.iter().for_each(|lane| all.add(&lane.latencies.take()));
        all
    }

    fn emit(&self, from: &Mark, to: &Mark, latencies: &Latencies) -> anyhow::Result<()> {
        let record = self.record(Span::Interval, from, to, latencies);
        self.place.session.lines.write_line(&record.text()?)
    }

    fn record(&self, span: Span, from: &Mark, to: &Mark, latencies: &Latencies) -> Record {
        let part = Part {
            sample: Sample::between(&from.snapshot, &to.snapshot),
            errors: to.errors - from.errors,
            files: to.files - from.files,
            steps: std::array::from_fn(|step| Duration::from_nanos(to.steps[step] - from.steps[step])),
            latencies: latencies.percentiles(),
            calls: to.stats.as_ref().zip(from.stats.as_ref()).map(|(to, from)| to.since(from)),
            mechanism: self.shared.mechanism.load(Ordering::Relaxed),
        };
        Record::new(self.setup, self.place.mounted, self.identity, &self.before.epoch, span, &part)
    }
}
