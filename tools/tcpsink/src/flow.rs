//! One direction of a test at one end: a worker per stream, sampled until the last of them ends.
//! Every verb of both ends is made of flows.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use common::console::Progress;
use common::counters::{Counters, Counts};
use common::sampler::{Epoch, Sample, Snapshot, Ticker};
use common::schema::line::Span;
use common::stop::{self, Stop};
use common::workers::{Bell, Crew};
use common::{buffer, cpu, socket};

use crate::record::{Record, Subject, TcpState};
use crate::worker::{self, Intake, Lane, MESSAGE, Shared, Stream};

/// How often a sender looks whether anything still gets through.
const PULSE: Duration = Duration::from_millis(250);

/// Which way the bytes go.
#[derive(Debug, Clone, Copy)]
pub enum Direction {
    /// Until the planned time, or this many bytes.
    Send(Option<u64>),
    /// To the end of the streams.
    Receive(Intake),
}

/// One direction of a test, valid by construction.
#[derive(Debug)]
pub struct Plan {
    /// What the lines say of it.
    pub subject: Subject,
    /// Which way.
    pub direction: Direction,
    /// Planned length after the warm-up. It ends a sender; a receiver goes on to the last byte.
    pub time: Option<Duration>,
    /// Not counted.
    pub warmup: Duration,
    /// Lines between.
    pub interval: Option<Duration>,
    /// Give up after so long without a byte.
    pub idle_timeout: Duration,
    /// Whether the CPU time is the whole process's, or only that of the workers: a sink may serve others meanwhile.
    pub owns_process: bool,
}

/// How a flow ended.
#[derive(Debug)]
pub struct Finished {
    /// The line of the whole run.
    pub total: Record,
    /// Bytes moved, the warm-up's included.
    pub all_bytes: u64,
    /// It did not run to its planned end.
    pub is_cut: bool,
    /// Why, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

/// Takes the interval lines.
pub type Emit<'a> = dyn Fn(&Record) -> anyhow::Result<()> + Sync + 'a;

/// Runs one direction over `streams` until it is done, `stop` is set or it fails.
pub fn run(
    plan: &Plan,
    streams: &[Stream],
    stop: &Stop,
    progress: Option<&Progress<'_>>,
    emit: &Emit<'_>,
) -> anyhow::Result<Finished> {
    let lanes: Vec<_> = streams.iter().map(|_| Lane::default()).collect();
    let shared = Shared::default();
    let works: Vec<_> = streams
        .iter()
        .zip(&lanes)
        .enumerate()
        .map(|(index, (stream, lane))| work(plan, stream, (index as u64, streams.len() as u64), &shared, lane))
        .collect::<anyhow::Result<_>>()?;
    let before = Before {
        epoch: Epoch::now(),
        at: Instant::now(),
        cpu: if plan.owns_process { cpu::process_time() } else { Duration::ZERO },
        tcp: tcp_state(plan, streams),
    };
    std::thread::scope(|scope| {
        let mut crew = Crew::new()?;
        let mut flow = Flow { plan, streams, lanes: &lanes, shared: &shared, before, halted: false, cut: None };
        let watch = || {
            for (index, work) in works.into_iter().enumerate() {
                crew.spawn(scope, format!("stream-{index}"), work)?;
            }
            flow.watch(&crew, stop, progress, emit)
        };
        let spans = watch();
        if spans.is_err() {
            flow.halt(Shutdown::Both);
        }
        flow.finish(crew, spans?, emit)
    })
}

type Work<'a> = Box<dyn FnOnce(&Bell) -> anyhow::Result<()> + Send + 'a>;

fn work<'a>(
    plan: &Plan,
    stream: &'a Stream,
    (index, of): (u64, u64),
    shared: &'a Shared,
    lane: &'a Lane,
) -> anyhow::Result<Work<'a>> {
    match plan.direction {
        Direction::Send(bytes) => {
            let quota = bytes.map(|bytes| bytes / of + u64::from(index < bytes % of));
            let payload = buffer::incompressible(MESSAGE)?;
            stream.socket.set_nonblocking(true)?;
            Ok(Box::new(move |bell| worker::send(&stream.socket, &payload, quota, shared, lane, bell)))
        }
        Direction::Receive(intake) => {
            socket::set_read_timeout(&stream.socket, plan.idle_timeout)?;
            Ok(Box::new(move |bell| worker::receive(stream, intake, shared, lane, bell)))
        }
    }
}

fn tcp_state(plan: &Plan, streams: &[Stream]) -> TcpState {
    TcpState::read(streams, matches!(plan.direction, Direction::Send(_)))
}

/// The state before the workers start.
struct Before {
    epoch: Epoch,
    at: Instant,
    cpu: Duration,
    tcp: TcpState,
}

/// A flow that runs.
struct Flow<'a> {
    plan: &'a Plan,
    streams: &'a [Stream],
    lanes: &'a [Lane],
    shared: &'a Shared,
    before: Before,
    halted: bool,
    cut: Option<Cut>,
}

/// Why a flow ends before its planned end.
enum Cut {
    Told,
    Stalled,
}

/// One end of a span.
#[derive(Clone)]
struct Mark(Snapshot, TcpState);

/// What is being measured: the whole from `base` on and, if there are intervals, the open one.
struct Spans {
    base: Mark,
    open: Option<(Mark, Ticker)>,
}

impl Flow<'_> {
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
            let wake = [tick, end, redraw, self.sends().then_some(pulse.next)].into_iter().flatten().min();
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
                emit(&self.record(Span::Interval, from, &to))?;
                *from = to;
            }
            if self.halted {
                continue;
            }
            if stop.is_set() || crew.has_failed() {
                self.cut = Some(Cut::Told);
                // A receiver still has its line to send back.
                self.halt(if self.sends() { Shutdown::Write } else { Shutdown::Read });
            } else if end.is_some_and(|end| now >= end) {
                self.halt(Shutdown::Write);
            } else if self.sends() && pulse.is_over(now, self.plan.idle_timeout, || self.tcp()) {
                self.cut = Some(Cut::Stalled);
                self.halt(Shutdown::Both);
            }
        }
        Ok(spans.or_else(|| self.begin(crew, Instant::now())))
    }

    fn finish(self, crew: Crew<'_, ()>, spans: Option<Spans>, emit: &Emit<'_>) -> anyhow::Result<Finished> {
        let last = self.lanes.iter().filter_map(|lane| lane.last.get()).max().copied();
        let end = self.mark(&crew, last.unwrap_or(self.before.at));
        let (_, error) = crew.join();
        let failure = match self.cut {
            _ if error.is_some() => error,
            Some(Cut::Stalled) => Some(anyhow!("no byte got through in time (--idle-timeout)")),
            _ => None,
        };
        if self.sends() {
            self.shut(Shutdown::Write);
        }
        let Spans { base, open } = spans.unwrap_or_else(|| Spans { base: end.clone(), open: None });
        if let Some((from, _)) = open
            && (end.0.at > from.0.at || end.0.counts != from.0.counts)
        {
            emit(&self.record(Span::Interval, &from, &end))?;
        }
        let total = self.record(Span::Total, &base, &end);
        Ok(Finished { total, all_bytes: end.0.counts.bytes, is_cut: self.cut.is_some() || failure.is_some(), failure })
    }

    fn sends(&self) -> bool {
        matches!(self.plan.direction, Direction::Send(_))
    }

    /// When counting begins, once the first byte has moved.
    fn counting_from(&self) -> Option<Instant> {
        self.shared.first.get().map(|first| *first + self.plan.warmup)
    }

    /// When a sender's time is up.
    fn end(&self) -> Option<Instant> {
        if self.sends() { Some(self.counting_from()? + self.plan.time?) } else { None }
    }

    fn begin(&self, crew: &Crew<'_, ()>, now: Instant) -> Option<Spans> {
        let start = self.counting_from().filter(|start| *start <= now)?;
        let base = if self.plan.warmup.is_zero() {
            Mark(Snapshot::before(start, self.before.cpu, self.before.at), self.before.tcp.clone())
        } else {
            self.mark(crew, now)
        };
        let at = base.0.at;
        let ticker = self.plan.interval.map(|interval| Ticker::new(at, interval, self.plan.time.map(|time| at + time)));
        let open = ticker.map(|ticker| (base.clone(), ticker));
        Some(Spans { base, open })
    }

    fn mark(&self, crew: &Crew<'_, ()>, at: Instant) -> Mark {
        let cpu = if self.plan.owns_process { cpu::process_time() } else { crew.cpu_time() };
        Mark(Snapshot::take(at, self.counts(), cpu), self.tcp())
    }

    fn counts(&self) -> Counts {
        self.lanes.iter().map(|lane| Counters::snapshot(&lane.counters)).sum()
    }

    fn tcp(&self) -> TcpState {
        tcp_state(self.plan, self.streams)
    }

    fn record(&self, span: Span, from: &Mark, to: &Mark) -> Record {
        let sample = Sample::between(&from.0, &to.0);
        Record::new(&self.plan.subject, &self.before.epoch, span, &sample, &from.1, &to.1)
    }

    fn halt(&mut self, how: Shutdown) {
        self.halted = true;
        self.shared.halt.store(true, std::sync::atomic::Ordering::Relaxed);
        self.shut(how);
    }

    /// Wakes a blocked worker, and tells the other end that no more comes.
    fn shut(&self, how: Shutdown) {
        for stream in self.streams {
            // A connection that is gone needs no shutdown.
            let _ = stream.socket.shutdown(how);
        }
    }
}

/// Notices that nothing gets through any more.
#[derive(Debug)]
pub struct Pulse {
    /// When to look again.
    pub next: Instant,
    acked: Option<u64>,
    moved_at: Instant,
    /// Having nothing on its way is an excuse only while there may be nothing to send.
    is_draining: bool,
}

impl Pulse {
    /// For a sender at work.
    fn start() -> Self {
        let now = Instant::now();
        Self { next: now + PULSE, acked: None, moved_at: now, is_draining: false }
    }

    /// For a sender that waits for the rest to arrive.
    pub fn start_draining() -> Self {
        Self { is_draining: true, ..Self::start() }
    }

    /// Whether nothing has arrived for `limit`, though something should have.
    pub fn is_over(&mut self, now: Instant, limit: Duration, tcp: impl FnOnce() -> TcpState) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + PULSE;
        let tcp = tcp();
        if tcp.acked != self.acked || !(self.is_draining || tcp.has_outstanding) {
            (self.acked, self.moved_at) = (tcp.acked, now);
        }
        now.duration_since(self.moved_at) >= limit
    }
}
