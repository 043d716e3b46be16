//! One end's part in a test: a worker, sampled until it ends. Every verb of both ends is one of these.

use std::net::UdpSocket;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::console::Progress;
use common::measure::crew::{Bell, Crew};
use common::measure::latency::Latencies;
use common::measure::sample::{Epoch, Sample, Snapshot, Ticker};
use common::schema::line::{Flag, Span};
use common::stop::{self, Reason, Stop};

use crate::engine::ping;
use crate::engine::receive::{self, Intake};
use crate::engine::send::{self, Blast};
use crate::engine::{Inbox, Lane};
use crate::record::{Counted, Record, Subject};
use crate::tally::Arrived;

/// What the worker does.
#[derive(Debug, Clone, Copy)]
pub enum Role {
    /// Send at a rate.
    Blast(Blast),
    /// Receive to the sender's end.
    Receive(Intake),
    /// Send requests.
    Ping {
        /// Names the test.
        tag: u32,
        /// Bytes.
        size: u64,
        /// Give up without a response.
        idle_timeout: Duration,
    },
    /// Answer them.
    Pong {
        /// Names the test.
        tag: u32,
        /// Give up without a request.
        idle_timeout: Duration,
    },
}

impl Role {
    /// The word in the test column.
    pub fn test(&self) -> &'static str {
        match self {
            Self::Blast(_) => "udp_send",
            Self::Receive(_) => "udp_recv",
            Self::Ping { .. } => "udp_ping",
            Self::Pong { .. } => "udp_pong",
        }
    }

    fn leads(&self) -> bool {
        matches!(self, Self::Blast(_) | Self::Ping { .. })
    }

    fn run(&self, socket: &UdpSocket, lane: &Lane, inbox: &dyn Inbox, bell: &Bell) -> anyhow::Result<()> {
        match *self {
            Self::Blast(blast) => send::run(socket, &blast, lane, bell),
            Self::Receive(intake) => receive::run(socket, intake, lane, inbox, bell),
            Self::Ping { tag, size, idle_timeout } => ping::ping(socket, (tag, size), idle_timeout, lane, inbox, bell),
            Self::Pong { tag, idle_timeout } => ping::pong(socket, tag, idle_timeout, lane, inbox, bell),
        }
    }
}

/// One end's part, valid by construction.
#[derive(Debug)]
pub struct Plan {
    /// What the lines say of it.
    pub subject: Subject,
    /// What is done.
    pub role: Role,
    /// Planned length after the warm-up.
    pub time: Option<Duration>,
    /// Not counted.
    pub warmup: Duration,
    /// Lines between.
    pub interval: Option<Duration>,
    /// Give up after so long in any case.
    pub max_time: Option<Duration>,
}

/// How it ended.
#[derive(Debug)]
pub struct Finished {
    plan: Plan,
    epoch: Epoch,
    base: Mark,
    end: Mark,
    latencies: Latencies,
    /// It did not run to its planned end.
    pub is_cut: bool,
    /// Why, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    snapshot: Snapshot,
    arrived: Arrived,
    sender_drops: u64,
    jitter_us: Option<f64>,
    offload: crate::engine::Offload,
}

/// Takes the interval lines.
pub type Emit<'a> = dyn Fn(&Record) -> anyhow::Result<()> + Sync + 'a;

/// Runs it over `socket` until it is done, `stop` is set or it fails.
pub fn run(
    plan: Plan,
    socket: &UdpSocket,
    inbox: &dyn Inbox,
    stop: &Stop,
    progress: Option<&Progress<'_>>,
    emit: &Emit<'_>,
) -> anyhow::Result<Finished> {
    let lane = Lane::default();
    let epoch = Epoch::now();
    let started = Instant::now();
    let role = plan.role;
    std::thread::scope(|scope| {
        let mut crew = Crew::new()?;
        crew.spawn(scope, role.test().into(), |bell| role.run(socket, &lane, inbox, bell))?;
        let mut flow =
            Flow { plan: &plan, lane: &lane, epoch, started, latencies: Latencies::default(), is_cut: false };
        let watched = flow.watch(&crew, stop, progress, emit);
        lane.halt.store(true, Ordering::Relaxed);
        crew.wake();
        let (base, open) = watched?;
        let at = lane.last.get().copied().unwrap_or(started);
        let end = flow.mark(&crew, at);
        let (_, failure) = crew.join();
        let span = lane.latencies.take();
        flow.latencies.add(&span);
        let base = base.unwrap_or(end);
        if let Some((from, _)) = open
            && (at > from.snapshot.at || end.snapshot.counts != from.snapshot.counts)
        {
            emit(&flow.interval(&from, &end, &span))?;
        }
        let is_cut = flow.is_cut || failure.is_some();
        let latencies = flow.latencies;
        Ok(Finished { plan, epoch, base, end, latencies, is_cut, failure })
    })
}

struct Flow<'a> {
    plan: &'a Plan,
    lane: &'a Lane,
    epoch: Epoch,
    started: Instant,
    latencies: Latencies,
    is_cut: bool,
}

type Spans = (Option<Mark>, Option<(Mark, Ticker)>);

impl Flow<'_> {
    fn watch(
        &mut self,
        crew: &Crew<'_, ()>,
        stop: &Stop,
        progress: Option<&Progress<'_>>,
        emit: &Emit<'_>,
    ) -> anyhow::Result<Spans> {
        let (mut base, mut open): Spans = (None, None);
        let mut halted = false;
        while !crew.is_done() {
            let start = self.lane.first.get().map(|first| *first + self.plan.warmup);
            let end = start.zip(self.plan.time).map(|(start, time)| start + time);
            let end = end.filter(|_| self.plan.role.leads() && !halted);
            let limit = self.plan.max_time.map(|most| self.started + most).filter(|_| !halted);
            let tick =
                if base.is_none() { start } else { open.as_ref().map(|(_, ticker): &(Mark, Ticker)| ticker.next()) };
            let redraw = progress.and_then(Progress::redraw_every).map(|period| Instant::now() + period);
            let wake = [tick, end, limit, redraw].into_iter().flatten().min();
            if halted {
                stop::wait_for(crew.news(), wake)?;
            } else {
                stop.wait(&[crew.news()], wake)?;
            }
            crew.hear();
            if let Some(progress) = progress {
                progress.tick();
            }
            let now = Instant::now();
            if base.is_none() {
                base = self.begin(crew, now);
                let end = |at: Instant| self.plan.time.map(|time| at + time);
                open = base
                    .zip(self.plan.interval)
                    .map(|(mark, interval)| (mark, Ticker::new(mark.snapshot.at, interval, end(mark.snapshot.at))));
            } else if let Some((from, ticker)) = &mut open
                && ticker.pass(now)
            {
                let to = self.mark(crew, now);
                let span = self.lane.latencies.take();
                self.latencies.add(&span);
                emit(&self.interval(from, &to, &span))?;
                *from = to;
            }
            if !halted
                && (stop.is_set() || limit.is_some_and(|limit| now >= limit) || end.is_some_and(|end| now >= end))
            {
                let told = stop.is_set() && stop.reason() != Some(Reason::Requested);
                let is_complete = end.is_some_and(|end| now >= end);
                self.is_cut = told || (limit.is_some_and(|limit| now >= limit) && !is_complete);
                halted = true;
                self.lane.halt.store(true, Ordering::Relaxed);
                crew.wake();
            }
        }
        let base = base.or_else(|| self.begin(crew, Instant::now()));
        Ok((base, open))
    }

    fn begin(&mut self, crew: &Crew<'_, ()>, now: Instant) -> Option<Mark> {
        let start = *self.lane.first.get()? + self.plan.warmup;
        if now < start {
            return None;
        }
        if self.plan.warmup.is_zero() {
            return Some(Mark {
                snapshot: Snapshot::before(start, Duration::ZERO, self.started),
                arrived: Arrived::default(),
                sender_drops: 0,
                jitter_us: None,
                offload: self.lane.offload(),
            });
        }
        self.lane.latencies.take();
        Some(self.mark(crew, now))
    }

    fn mark(&self, crew: &Crew<'_, ()>, at: Instant) -> Mark {
        let (arrived, jitter_us) = self.lane.with_tally(|tally| (tally.arrived(), tally.jitter_us()));
        Mark {
            snapshot: Snapshot::take(at, self.lane.counters.snapshot(), crew.cpu_time()),
            arrived,
            sender_drops: self.lane.sender_drops.load(Ordering::Relaxed),
            jitter_us,
            offload: self.lane.offload(),
        }
    }

    fn interval(&self, from: &Mark, to: &Mark, span: &Latencies) -> Record {
        let arrived = to.arrived.since(from.arrived);
        let ops = to.snapshot.counts.ops - from.snapshot.counts.ops;
        // A sender learns only at the end what arrived.
        let (sent, arrived) = match self.plan.role {
            Role::Blast(_) => (Some(ops), None),
            Role::Receive(_) => (Some(arrived.expected), Some(arrived)),
            Role::Ping { .. } => (Some(arrived.expected), None),
            Role::Pong { .. } => (None, None),
        };
        record(self.plan, &self.epoch, Span::Interval, from, to, (sent, arrived, to.jitter_us), span)
    }
}

fn record(
    plan: &Plan,
    epoch: &Epoch,
    span: Span,
    from: &Mark,
    to: &Mark,
    (sent, arrived, jitter_us): (Option<u64>, Option<Arrived>, Option<f64>),
    latencies: &Latencies,
) -> Record {
    let sends = matches!(plan.role, Role::Blast(_));
    let came_back = matches!(plan.role, Role::Ping { .. }).then(|| to.snapshot.counts.ops - from.snapshot.counts.ops);
    let counted = Counted {
        offload: to.offload,
        sent,
        received: arrived.map(|arrived| arrived.received).or(came_back),
        arrived,
        jitter_us,
        sender_drops: sends.then(|| to.sender_drops - from.sender_drops),
        latency: latencies.percentiles(),
    };
    Record::new(&plan.subject, epoch, span, &Sample::between(&from.snapshot, &to.snapshot), &counted)
}

impl Finished {
    /// Takes note of what went wrong elsewhere.
    pub fn fail(&mut self, failure: Option<anyhow::Error>) {
        self.is_cut |= failure.is_some();
        self.failure = self.failure.take().or(failure);
    }

    /// Datagrams that this end sent in all, the warm-up's included.
    pub fn all_sent(&self) -> u64 {
        self.end.snapshot.counts.ops
    }

    /// What arrived here of `sent` datagrams, without the warm-up's; `expected` is how many of `sent` are meant.
    pub fn report(&self, sent: u64) -> (Arrived, Option<f64>) {
        let arrived = self.end.arrived.since(self.base.arrived);
        (Arrived { expected: sent.saturating_sub(self.base.arrived.expected), ..arrived }, self.end.jitter_us)
    }

    /// The line of the whole run, with what is known of the other end's counts.
    pub fn total(&self, report: Option<(Arrived, Option<f64>)>) -> Record {
        let ops = self.end.snapshot.counts.ops - self.base.snapshot.counts.ops;
        let (sent, arrived, jitter_us) = match self.plan.role {
            Role::Blast(_) => match report {
                Some((arrived, jitter_us)) => (Some(arrived.expected), Some(arrived), jitter_us),
                None => (Some(ops), None, None),
            },
            Role::Receive(_) => report
                .map_or((None, Some(self.end.arrived), self.end.jitter_us), |(arrived, jitter)| {
                    (Some(arrived.expected), Some(arrived), jitter)
                }),
            Role::Ping { .. } => {
                let asked = self.end.arrived.since(self.base.arrived).expected;
                (Some(asked), None, None)
            }
            Role::Pong { .. } => (None, None, None),
        };
        let facts = (sent, arrived, jitter_us);
        let mut total = record(&self.plan, &self.epoch, Span::Total, &self.base, &self.end, facts, &self.latencies);
        total.raise_if(self.is_cut, Flag::Partial);
        total
    }
}
