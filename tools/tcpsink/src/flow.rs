//! One direction of a test at one end: a worker per stream, sampled until the last of them ends.
//! Every verb of both ends is made of flows.

use std::net::Shutdown;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use common::console::Progress;
use common::measure::counters::Counts;
use common::measure::crew::{self, Crew};
use common::measure::latency::{Latencies, Recorder};
use common::measure::sample::{Epoch, Sample, Snapshot, Ticker};
use common::schema::line::{Flag, Span};
use common::stop::{self, Reason, Stop};

use crate::engine::{Lane, Shared, StageTimes, Stages, Stream};
use crate::plan::{Finished, Plan};
use crate::pulse::Pulse;
use crate::record::{Details, Record, TcpState};
use crate::request::Way;
use crate::role::{Role, work};

/// Takes the interval lines.
pub type Emit<'a> = dyn Fn(&Record) -> anyhow::Result<()> + Sync + 'a;

/// Runs all directions of a test at once, each over its streams.
pub fn run_all(
    plans: Vec<Plan>,
    streams: &[(Way, Vec<Stream>)],
    stop: &Stop,
    progress: Option<&Progress<'_>>,
    emit: &Emit<'_>,
) -> anyhow::Result<Vec<Finished>> {
    std::thread::scope(|scope| {
        let mut started = Vec::new();
        for (index, plan) in plans.into_iter().enumerate() {
            let streams = streams.get(index).map_or(&[][..], |(_, streams)| streams);
            // One of them moves the bar.
            let progress = progress.filter(|_| index == 0);
            let flow = move || run(plan, streams, stop, progress, emit);
            started.push(std::thread::Builder::new().name("flow".into()).spawn_scoped(scope, flow)?);
        }
        let panicked = |_| Err(anyhow!("a worker thread panicked"));
        started.into_iter().map(|flow| flow.join().unwrap_or_else(panicked)).collect()
    })
}

/// Runs one direction over `streams` until it is done, `stop` is set or it fails.
pub fn run(
    plan: Plan,
    streams: &[Stream],
    stop: &Stop,
    progress: Option<&Progress<'_>>,
    emit: &Emit<'_>,
) -> anyhow::Result<Finished> {
    let lanes: Vec<_> = (0..plan.subject.streams).map(|_| plan.role.lane()).collect();
    let shared = Shared::default();
    let works: Vec<_> =
        (0..lanes.len()).map(|index| work(&plan, streams, index, &shared, &lanes[index])).collect::<Result<_, _>>()?;
    let finished = std::thread::scope(|scope| {
        let mut crew = Crew::new()?;
        let mut flow = Flow::new(&plan, streams, &lanes, &shared);
        let watch = || {
            for (index, work) in works.into_iter().enumerate() {
                let cpu = plan.cpus.of(index);
                crew.spawn(scope, format!("stream-{index}"), move |bell| {
                    cpu.map_or(Ok(()), crew::pin)?;
                    work(bell)
                })?;
            }
            flow.watch(&crew, stop, progress, emit)
        };
        let spans = watch();
        if spans.is_err() {
            flow.halt(Shutdown::Both);
        }
        flow.finish(crew, spans?, emit)
    });
    let (totals, all_bytes, is_cut, failure) = finished?;
    Ok(Finished { totals, all_bytes, is_cut, failure, role: plan.role })
}

/// A flow that runs.
struct Flow<'a> {
    plan: &'a Plan,
    streams: &'a [Stream],
    lanes: &'a [Lane],
    shared: &'a Shared,
    epoch: Epoch,
    /// The state before the workers start.
    before: Mark,
    /// Latencies of each lane over the whole run.
    latencies: Vec<Latencies>,
    halted: bool,
    cut: Option<Cut>,
}

/// Why a flow ends before its planned end.
enum Cut {
    Told,
    Failed(anyhow::Error),
}

/// One end of a span: the sums, and the state of each lane.
#[derive(Clone)]
struct Mark {
    snapshot: Snapshot,
    lanes: Vec<LaneState>,
}

#[derive(Clone, Default)]
struct LaneState {
    counts: Counts,
    tcp: TcpState,
    stages: Option<StageTimes>,
}

/// What is being measured: the whole from `base` on and, if there are intervals, the open one.
struct Spans {
    base: Mark,
    open: Option<(Mark, Ticker)>,
}

type Sums = (Vec<Record>, u64, bool, Option<anyhow::Error>);

impl<'a> Flow<'a> {
    fn new(plan: &'a Plan, streams: &'a [Stream], lanes: &'a [Lane], shared: &'a Shared) -> Self {
        let epoch = Epoch::now();
        let now = Instant::now();
        let tcp = |index: usize| streams.get(index).map(|stream| TcpState::of(stream, plan.role.sends()));
        let states = (0..lanes.len()).map(|index| LaneState {
            tcp: tcp(index).unwrap_or_default(),
            stages: lanes[index].stages.as_ref().map(Stages::snapshot),
            counts: Counts::default(),
        });
        let before = Mark { snapshot: Snapshot::before(now, Duration::ZERO, now), lanes: states.collect() };
        let latencies = if plan.role.measures_latency() { vec![Latencies::default(); lanes.len()] } else { Vec::new() };
        Self { plan, streams, lanes, shared, epoch, before, latencies, halted: false, cut: None }
    }

    /// Sleeps and samples until every worker has ended. `None` if the warm-up was not over by then.
    fn watch(
        &mut self,
        crew: &Crew<'_, ()>,
        stop: &Stop,
        progress: Option<&Progress<'_>>,
        emit: &Emit<'_>,
    ) -> anyhow::Result<Option<Spans>> {
        let mut spans: Option<Spans> = None;
        let mut pulse = Pulse::start();
        while !crew.is_done() {
            let tick = match &spans {
                Some(spans) => spans.open.as_ref().map(|(_, ticker)| ticker.next()),
                None => self.counting_from(),
            };
            let redraw = progress.and_then(Progress::redraw_every).map(|period| Instant::now() + period);
            let end = if self.halted { None } else { self.end() };
            let pulses = self.plan.role.sends() || self.plan.role.is_ping() || self.plan.max_time.is_some();
            let wake = [tick, end, redraw, pulses.then_some(pulse.next)].into_iter().flatten().min();
            if self.halted {
                stop::wait_for(crew.news(), wake)?;
            } else {
                stop.wait(&[crew.news()], wake)?;
            }
            crew.hear();
            if let Some(progress) = progress {
                progress.tick();
            }
            let now = Instant::now();
            if spans.is_none() {
                spans = self.begin(crew, now);
            } else if let Some(Spans { open: Some((from, ticker)), .. }) = &mut spans
                && ticker.pass(now)
            {
                let to = self.mark(crew, now);
                let latencies = self.take_latencies();
                self.records(Span::Interval, from, &to, &latencies).iter().try_for_each(emit)?;
                *from = to;
            }
            if !self.halted {
                self.judge(crew, stop, now, end, &mut pulse);
                if self.halted {
                    crew.wake();
                }
            }
        }
        Ok(spans.or_else(|| self.begin(crew, Instant::now())))
    }

    /// Halts the workers if it is time to, for good or bad.
    fn judge(&mut self, crew: &Crew<'_, ()>, stop: &Stop, now: Instant, end: Option<Instant>, pulse: &mut Pulse) {
        // An end that does not send still has its line to send back.
        let softly = if self.plan.role.leads() { Shutdown::Write } else { Shutdown::Read };
        if stop.is_set() || crew.has_failed() {
            // A part of the tool that asks for the end gets a whole measurement; so ends a probe.
            let is_early = crew.has_failed() || stop.reason() != Some(Reason::Requested);
            self.cut = is_early.then_some(Cut::Told);
            self.halt(softly);
        } else if end.is_some_and(|end| now >= end) {
            self.halt(Shutdown::Write);
        } else if self.is_overdue(now) {
            self.cut = Some(Cut::Failed(anyhow!("longer than is allowed (--max-time)")));
            self.halt(softly);
        } else if self.plan.role.is_ping() && pulse.is_silent(now, self.plan.idle_timeout, self.ops()) {
            self.cut = Some(Cut::Failed(anyhow!("no message arrived in time (--idle-timeout)")));
            self.halt(Shutdown::Both);
        } else if self.plan.role.sends() && pulse.is_over(now, self.plan.idle_timeout, self.streams) {
            self.cut = Some(Cut::Failed(anyhow!("no byte got through in time (--idle-timeout)")));
            self.halt(Shutdown::Both);
        }
    }

    fn ops(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.counters.snapshot().ops).sum()
    }

    fn is_overdue(&self, now: Instant) -> bool {
        let since = self.shared.first.get().map(|first| now.saturating_duration_since(*first));
        self.plan.max_time.zip(since).is_some_and(|(most, since)| since > most)
    }

    fn finish(mut self, crew: Crew<'_, ()>, spans: Option<Spans>, emit: &Emit<'_>) -> anyhow::Result<Sums> {
        let last = self.lanes.iter().filter_map(|lane| lane.last.get()).max().copied();
        let end = self.mark(&crew, last.unwrap_or(self.before.snapshot.at));
        let latencies = self.take_latencies();
        let (_, error) = crew.join();
        let all_bytes = end.snapshot.counts.bytes;
        let reached_limit = matches!(&self.plan.role, Role::Send(sending) if sending.quota.is_none())
            && self.plan.max_bytes.is_some_and(|most| all_bytes >= most);
        let failure = match self.cut.take() {
            _ if error.is_some() => error,
            Some(Cut::Failed(error)) => Some(error),
            _ if reached_limit => Some(anyhow!("more than is allowed (--max-bytes)")),
            Some(Cut::Told) => return self.sums(spans, &end, &latencies, (true, None), emit),
            None => None,
        };
        self.sums(spans, &end, &latencies, (failure.is_some(), failure), emit)
    }

    fn sums(
        &mut self,
        spans: Option<Spans>,
        end: &Mark,
        latencies: &[Latencies],
        (is_cut, failure): (bool, Option<anyhow::Error>),
        emit: &Emit<'_>,
    ) -> anyhow::Result<Sums> {
        if self.plan.role.sends() {
            self.shut(Shutdown::Write);
        }
        let Spans { base, open } = spans.unwrap_or_else(|| Spans { base: end.clone(), open: None });
        if let Some((from, _)) = open
            && (end.snapshot.at > from.snapshot.at || end.snapshot.counts != from.snapshot.counts)
        {
            self.records(Span::Interval, &from, end, latencies).iter().try_for_each(emit)?;
        }
        let totals = self.records(Span::Total, &base, end, &self.latencies);
        Ok((totals, end.snapshot.counts.bytes, is_cut, failure))
    }

    /// When counting begins, once the first byte has moved.
    fn counting_from(&self) -> Option<Instant> {
        self.shared.first.get().map(|first| *first + self.plan.warmup)
    }

    /// When the time of the end that leads is up.
    fn end(&self) -> Option<Instant> {
        if self.plan.role.leads() { Some(self.counting_from()? + self.plan.time?) } else { None }
    }

    fn begin(&mut self, crew: &Crew<'_, ()>, now: Instant) -> Option<Spans> {
        let start = self.counting_from().filter(|start| *start <= now)?;
        let base = if self.plan.warmup.is_zero() {
            let snapshot = Snapshot::before(start, Duration::ZERO, self.before.snapshot.at);
            Mark { snapshot, lanes: self.before.lanes.clone() }
        } else {
            self.latencies = self.take_latencies().iter().map(|_| Latencies::default()).collect();
            self.mark(crew, now)
        };
        let at = base.snapshot.at;
        let ticker = self.plan.interval.map(|interval| Ticker::new(at, interval, self.plan.time.map(|time| at + time)));
        let open = ticker.map(|ticker| (base.clone(), ticker));
        Some(Spans { base, open })
    }

    fn mark(&self, crew: &Crew<'_, ()>, at: Instant) -> Mark {
        let lanes: Vec<_> = self.lanes.iter().enumerate().map(|(index, lane)| self.lane_state(index, lane)).collect();
        let counts = lanes.iter().map(|lane| lane.counts).sum();
        Mark { snapshot: Snapshot::take(at, counts, crew.cpu_time()), lanes }
    }

    fn lane_state(&self, index: usize, lane: &Lane) -> LaneState {
        let tcp = self.streams.get(index).map(|stream| TcpState::of(stream, self.plan.role.sends()));
        LaneState {
            counts: lane.counters.snapshot(),
            tcp: tcp.unwrap_or_default(),
            stages: lane.stages.as_ref().map(Stages::snapshot),
        }
    }

    /// The latencies since the last call, by lane; they are added to the run's.
    fn take_latencies(&mut self) -> Vec<Latencies> {
        let taken: Vec<_> = self.lanes.iter().filter_map(|lane| lane.latencies.as_ref().map(Recorder::take)).collect();
        self.latencies.iter_mut().zip(&taken).for_each(|(all, new)| all.add(new));
        taken
    }

    /// The lines of a span: each stream's, if they are wanted, and the sum's.
    fn records(&self, span: Span, from: &Mark, to: &Mark, latencies: &[Latencies]) -> Vec<Record> {
        let plan = self.plan;
        let streams = if plan.per_stream { 0..self.lanes.len() } else { 0..0 };
        let mut records: Vec<_> = streams
            .map(|index| {
                let (then, now) = (&from.lanes[index], &to.lanes[index]);
                let sample =
                    Sample::between(&from.snapshot.with_counts(then.counts), &to.snapshot.with_counts(now.counts));
                let range = index..=index;
                self.record(span, &sample, &from.lanes[range.clone()], &to.lanes[range.clone()], latencies.get(range))
                    .of_stream(index as u64)
            })
            .collect();
        let sample = Sample::between(&from.snapshot, &to.snapshot);
        records.push(self.record(span, &sample, &from.lanes, &to.lanes, Some(latencies)));
        records
    }

    fn record(
        &self,
        span: Span,
        sample: &Sample,
        from: &[LaneState],
        to: &[LaneState],
        latencies: Option<&[Latencies]>,
    ) -> Record {
        let tcp = |lanes: &[LaneState]| TcpState::sum(&lanes.iter().map(|lane| lane.tcp.clone()).collect::<Vec<_>>());
        let latency = latencies.and_then(|of| {
            of.iter().cloned().reduce(|mut all, one| {
                all.add(&one);
                all
            })
        });
        let stages = from.iter().zip(to).find_map(|(then, now)| {
            let (then, now) = then.stages.zip(now.stages)?;
            Some(std::array::from_fn(|step| now[step].saturating_sub(then[step])))
        });
        let details = Details {
            tcp: [tcp(from), tcp(to)],
            latency: latency.map(|all| all.percentiles()).unwrap_or_default(),
            stages,
        };
        let mut record = Record::new(&self.plan.subject, &self.epoch, span, sample, &details);
        record.raise_if(details.tcp[1].is_capped(self.plan.buffer, self.plan.role.sends()), Flag::Capped);
        record.raise_if(self.lanes.iter().any(|lane| lane.fell_back.load(Ordering::Relaxed)), Flag::Fallback);
        record
    }

    fn halt(&mut self, how: Shutdown) {
        self.halted = true;
        self.shared.halt.store(true, Ordering::Relaxed);
        self.shut(how);
    }

    /// Wakes a waiting worker, and tells the other end that no more comes.
    fn shut(&self, how: Shutdown) {
        for stream in self.streams {
            // A connection that is gone needs no shutdown.
            let _ = stream.socket.shutdown(how);
        }
    }
}
