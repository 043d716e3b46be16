//! One run: workers that read, sampled until the last of them ends.

use std::sync::atomic::Ordering;
use std::time::Instant;

use common::console::Progress;
use common::cpu;
use common::measure::counters::Counters;
use common::measure::crew::Crew;
use common::measure::latency::Latencies;
use common::measure::sample::{Epoch, Identity, Sample, Snapshot, Ticker};
use common::schema::line::Span;
use common::stop::{self, Stop};

use crate::device::Fetched;
use crate::reading::Reading;
use crate::record::{Part, Record};
use crate::worker::{Lane, Shared};

/// How a run ended.
#[derive(Debug)]
pub struct Finished {
    /// The line of the whole run.
    pub total: Record,
    /// Why it did not run to its end, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

/// Takes the interval lines.
pub type Emit<'a> = dyn Fn(&Record) -> anyhow::Result<()> + 'a;

/// Reads until it is done, `stop` is set or it fails.
pub fn run(
    reading: &Reading<'_>,
    identity: &Identity,
    stop: &Stop,
    progress: &Progress<'_>,
    emit: &Emit<'_>,
) -> anyhow::Result<Finished> {
    let lanes: Vec<_> = (0..reading.readers()).map(|_| Lane::default()).collect();
    let shared = Shared::default();
    let works = reading.works(&shared, &lanes)?;
    let fetched = Fetched::now(reading.target, reading.device.as_ref());
    let before = Before { epoch: Epoch::now(), at: Instant::now(), cpu: cpu::process_time(), fetched };
    std::thread::scope(|scope| {
        let mut crew = Crew::new()?;
        let mut run =
            Run { reading, identity, lanes: &lanes, shared: &shared, before, is_halted: false, is_cut: false };
        let watch = || {
            for (index, work) in works.into_iter().enumerate() {
                crew.spawn(scope, format!("reader-{index}"), work)?;
            }
            run.watch(&crew, stop, progress, emit)
        };
        let spans = watch();
        if spans.is_err() {
            shared.halt();
        }
        run.finish(crew, spans?, emit)
    })
}

/// The state before the workers start.
struct Before {
    epoch: Epoch,
    at: Instant,
    cpu: std::time::Duration,
    fetched: Fetched,
}

/// A run on its way.
struct Run<'a> {
    reading: &'a Reading<'a>,
    identity: &'a Identity,
    lanes: &'a [Lane],
    shared: &'a Shared,
    before: Before,
    is_halted: bool,
    is_cut: bool,
}

/// One end of a span.
#[derive(Clone)]
struct Mark {
    snapshot: Snapshot,
    fetched: Fetched,
    errors: u64,
}

/// What is being measured: the whole from `base` on and, if there are intervals, the open one.
struct Spans {
    base: Mark,
    latencies: Latencies,
    open: Option<(Mark, Ticker)>,
}

impl Run<'_> {
    /// Sleeps and samples until every worker has ended. `None` if the warm-up was not over by then.
    fn watch(
        &mut self,
        crew: &Crew<'_, ()>,
        stop: &Stop,
        progress: &Progress<'_>,
        emit: &Emit<'_>,
    ) -> anyhow::Result<Option<Spans>> {
        let mut spans: Option<Spans> = None;
        while !crew.is_done() {
            let tick = match &spans {
                Some(spans) => spans.open.as_ref().map(|(_, ticker)| ticker.next()),
                None => self.counting_from(),
            };
            let redraw = progress.redraw_every().map(|period| Instant::now() + period);
            let end = if self.is_halted { None } else { self.end() };
            let wake = [tick, end, redraw].into_iter().flatten().min();
            if self.is_halted {
                stop::wait_for(crew.news(), wake)?;
            } else {
                stop.wait(&[crew.news()], wake)?;
            }
            crew.hear();
            progress.tick();
            let now = Instant::now();
            match &mut spans {
                None => spans = self.begin(now),
                Some(spans) => self.tick(spans, now, emit)?,
            }
            if self.is_halted {
                continue;
            }
            self.is_cut = stop.is_set() || crew.has_failed();
            if self.is_cut || end.is_some_and(|end| now >= end) {
                self.is_halted = true;
                self.shared.halt();
            }
        }
        Ok(spans.or_else(|| self.begin(Instant::now())))
    }

    /// Ends the open interval if it is due.
    fn tick(&self, spans: &mut Spans, now: Instant, emit: &Emit<'_>) -> anyhow::Result<()> {
        if let Some((from, ticker)) = &mut spans.open
            && ticker.pass(now)
        {
            let (to, latencies) = (self.mark(now), self.latencies());
            emit(&self.record(Span::Interval, from, &to, &latencies))?;
            spans.latencies.add(&latencies);
            *from = to;
        }
        Ok(())
    }

    fn finish(self, crew: Crew<'_, ()>, spans: Option<Spans>, emit: &Emit<'_>) -> anyhow::Result<Finished> {
        let last = self.lanes.iter().filter_map(|lane| lane.last.get()).max().copied();
        let first = self.shared.first.get().copied().unwrap_or(self.before.at);
        let end = self.mark(last.unwrap_or(first));
        let (_, failure) = crew.join();
        let rest = self.latencies();
        // The file ended in the warm-up, unless somebody cut it.
        let is_used_up = spans.is_none() && !self.is_cut && !self.reading.plan.warmup.is_zero();
        let Spans { base, mut latencies, open } =
            spans.unwrap_or_else(|| Spans { base: end.clone(), latencies: Latencies::default(), open: None });
        latencies.add(&rest);
        if let Some((from, _)) = open
            && (end.snapshot.at > from.snapshot.at || end.snapshot.counts != from.snapshot.counts)
        {
            emit(&self.record(Span::Interval, &from, &end, &rest))?;
        }
        let mut total = self.record(Span::Total, &base, &end, &latencies);
        let is_short = is_used_up || self.shared.is_short.load(Ordering::Relaxed);
        total.finish(self.is_cut || failure.is_some(), is_short, self.reading);
        Ok(Finished { total, failure })
    }

    /// When counting begins, once the first read has begun.
    fn counting_from(&self) -> Option<Instant> {
        self.shared.first.get().map(|first| *first + self.reading.plan.warmup)
    }

    /// When the time is up.
    fn end(&self) -> Option<Instant> {
        Some(self.counting_from()? + self.reading.plan.time?)
    }

    fn begin(&self, now: Instant) -> Option<Spans> {
        let start = self.counting_from().filter(|start| *start <= now)?;
        let plan = self.reading.plan;
        let base = if plan.warmup.is_zero() {
            let snapshot = Snapshot::before(start, self.before.cpu, self.before.at);
            Mark { snapshot, fetched: self.before.fetched, errors: 0 }
        } else {
            // What was recorded until now belongs to the warm-up.
            drop(self.latencies());
            self.mark(now)
        };
        let at = base.snapshot.at;
        let ticker = plan.interval.map(|interval| Ticker::new(at, interval, plan.time.map(|time| at + time)));
        let open = ticker.map(|ticker| (base.clone(), ticker));
        Some(Spans { base, latencies: Latencies::default(), open })
    }

    fn mark(&self, at: Instant) -> Mark {
        let counts = self.lanes.iter().map(|lane| Counters::snapshot(&lane.counters)).sum();
        Mark {
            snapshot: Snapshot::take(at, counts, cpu::process_time()),
            fetched: Fetched::now(self.reading.target, self.reading.device.as_ref()),
            errors: self.shared.errors.load(Ordering::Relaxed),
        }
    }

    /// What the workers recorded since the last call.
    fn latencies(&self) -> Latencies {
        let mut all = Latencies::default();
        self.lanes.iter().for_each(|lane| all.add(&lane.latencies.take()));
        all
    }

    fn record(&self, span: Span, from: &Mark, to: &Mark, latencies: &Latencies) -> Record {
        let part = Part {
            sample: Sample::between(&from.snapshot, &to.snapshot),
            errors: to.errors - from.errors,
            device_bytes: to.fetched.by_process_since(&from.fetched),
            disk_bytes: to.fetched.by_device_since(&from.fetched),
            latencies: latencies.percentiles(),
        };
        Record::new(self.reading, self.identity, &self.before.epoch, span, &part)
    }
}
