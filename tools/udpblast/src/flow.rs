//! One end's part in a test: a worker per stream, sampled until the last of them ends. Every verb of both ends is one of
//! these.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::console::Progress;
use common::measure::crew::{self, Work};
use common::measure::lane::{CpuOf, Track};
use common::measure::spans::{Cut, Timing};
use common::measure::watch::{self, Gauge, Halt, Measurement, Verdict};
use common::schema::line::Flag;
use common::stop::Stop;

use crate::engine::{Inbox, Lane, Offload, Own};
use crate::plan::Plan;
use crate::protocol::{Report, Sent};
use crate::record::{self, Counted, Known, Pinged, Record};
use crate::role::Role;
use crate::tally::Arrived;

/// How it ended.
#[derive(Debug)]
pub struct Finished {
    plan: Plan,
    all: Cut<Vec<Counted>>,
    /// How long it went on, the warm-up included.
    length: Duration,
    /// It did not run to its planned end.
    pub is_cut: bool,
    /// This end stopped receiving while the other may still have been sending.
    left_early: bool,
    /// Why, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

/// Takes the interval lines.
pub type Emit<'a> = dyn Fn(&Record) -> anyhow::Result<()> + Sync + 'a;

/// Runs it over `sockets`, one for each stream, until it is done, `stop` is set or it fails.
pub fn run(
    plan: Plan,
    sockets: &[UdpSocket],
    inbox: &dyn Inbox,
    stop: &Stop,
    progress: Option<&Progress>,
    emit: &Emit<'_>,
) -> anyhow::Result<Finished> {
    let track = Track::new(plan.role.is_echo(), sockets.iter().map(|_| Own::default()))?;
    let works = sockets.iter().zip(track.lanes()).enumerate().map(|(index, (socket, lane))| -> Work<'_> {
        let role = plan.role.of_stream(index as u64, plan.streams);
        let cpu = plan.cpus.of(index);
        Box::new(move || {
            cpu.map_or(Ok(()), crew::pin)?;
            role.run(socket, index, lane, inbox)
        })
    });
    let works = works.collect();
    let measurement = Measurement {
        stop,
        progress,
        timing: Timing { warmup: plan.warmup, time: plan.time, interval: plan.interval },
        leads: plan.role.leads(),
        cpu: CpuOf::Workers,
        workers: plan.role.test(),
    };
    let limit = plan.max_time.and_then(|most| Instant::now().checked_add(most));
    let mut account = AccountGauge { plan: &plan, lanes: track.lanes(), limit, emit };
    let watch::Finished { total, is_cut, failure, .. } = measurement.run(&track, works, &mut account)?;
    let length = track.first().map_or(Duration::ZERO, |first| total.to.snapshot.at.saturating_duration_since(first));
    // Lines have whole microseconds, and the other end's are not to be fewer.
    let length = Duration::from_micros(u64::try_from(length.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX));
    let left_early = is_cut && failure.is_none() && !inbox.has_ended();
    Ok(Finished { plan, all: total, length, is_cut, left_early, failure })
}

/// What is read beside what the workers count.
struct AccountGauge<'a> {
    plan: &'a Plan,
    lanes: &'a [Lane],
    /// It may not go on after that.
    limit: Option<Instant>,
    emit: &'a Emit<'a>,
}

fn counted(lane: &Lane) -> Counted {
    let own = &lane.own;
    let (mut arrived, jitter_us, tail_drops) =
        own.with_tally(|tally| (tally.arrived(), tally.jitter_us(), tally.tail_drops()));
    if own.offload() != Offload::Gro {
        // Buffers might have been joined, and none was.
        arrived.unsure = 0;
    }
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let pings = Pinged {
        sent: count(&own.pings.sent),
        lost: count(&own.pings.lost),
        late: count(&own.pings.late),
        duplicated: count(&own.pings.duplicated),
        open: count(&own.pings.open),
    };
    let sender_drops = own.sender_drops.load(Ordering::Relaxed);
    Counted { arrived, jitter_us, tail_drops, sender_drops, pings, offload: own.offload() }
}

impl Gauge for AccountGauge<'_> {
    type State = Vec<Counted>;

    fn read(&mut self) -> (Vec<Counted>, Option<u64>) {
        // What was lost depends on what the other end sent, which only lines know.
        (self.lanes.iter().map(counted).collect(), None)
    }

    fn print(&mut self, interval: &Cut<Vec<Counted>>) -> anyhow::Result<()> {
        let known = |(index, (from, to)): (usize, (&Counted, &Counted))| match self.plan.role {
            // A sender learns only at the end what arrived.
            Role::Blast(_) => Known { sent: Some(ops_in(interval, index)), ..Known::default() },
            Role::Receive(_) => {
                let arrived = to.arrived.since(from.arrived);
                Known { sent: Some(arrived.expected), arrived: Some(arrived), jitter_us: to.jitter_us, is_sure: true }
            }
            Role::Ping(_) | Role::Pong { .. } => Known::default(),
        };
        let known: Vec<_> = interval.from.state.iter().zip(&interval.to.state).enumerate().map(known).collect();
        record::all(self.plan, interval, &known).iter().try_for_each(self.emit)
    }

    fn judge(&mut self, now: Instant) -> Option<Verdict> {
        self.limit.take_if(|limit| now >= *limit).map(|_| Verdict { how: Halt::Cut, why: None })
    }

    fn due(&self) -> Option<Instant> {
        self.limit
    }

    fn halt(&mut self, how: Halt) {
        // The worker's calls time out soon, and then it looks.
        if how >= Halt::Cut {
            self.lanes.iter().for_each(|lane| lane.own.is_cut.store(true, Ordering::Relaxed));
        }
    }
}

fn ops_in(cut: &Cut<Vec<Counted>>, stream: usize) -> u64 {
    cut.sample_of(stream..stream + 1).counts.ops
}

impl Finished {
    /// Takes note of what went wrong elsewhere.
    pub fn fail(&mut self, failure: Option<anyhow::Error>) {
        self.is_cut |= failure.is_some();
        self.failure = self.failure.take().or(failure);
    }

    /// What this end sent, the warm-up's included.
    pub fn all_sent(&self) -> Vec<Sent> {
        let counts: Vec<u64> = match self.plan.role {
            Role::Ping(_) => self.all.to.state.iter().map(|counted| counted.pings.sent).collect(),
            _ => self.all.to.lanes.iter().map(|counts| counts.ops).collect(),
        };
        counts.into_iter().map(|count| Sent { count, span: self.length }).collect()
    }

    /// Datagrams that this host refused to send, the warm-up's included.
    pub fn refused(&self) -> u64 {
        self.all.to.state.iter().map(|counted| counted.sender_drops).sum()
    }

    /// What arrived here of what was `sent`, without the warm-up's, by stream; `expected` is how many of `sent` are meant.
    /// What was sent after this end had left is no loss. Pieces of words that are `missing`, of those that came beside the
    /// data and of those that came after, may be what the socket dropped.
    pub fn reports(&self, sent: &[Sent], missing: (u64, u64)) -> Vec<Report> {
        let report = |(index, (from, to)): (usize, (&Counted, &Counted))| {
            let (base, end) = (from.arrived, to.arrived);
            let sent = match sent.get(index) {
                Some(sent) if !self.left_early => sent.count,
                _ => end.expected,
            };
            let mut arrived = Arrived { expected: sent.saturating_sub(base.expected), ..end.since(base) };
            if (arrived.socket_drops > 0 && missing.0 > 0) || (to.tail_drops > 0 && missing.1 > 0) {
                arrived.unsure += 1;
            }
            Report::new(arrived, to.jitter_us)
        };
        self.all.from.state.iter().zip(&self.all.to.state).enumerate().map(report).collect()
    }

    /// The lines of the whole run, with what is known of the other end's counts; the last is that of all streams. `is_sure` if
    /// what was lost on the sender's host is in the sender's counts.
    pub fn totals(&self, reports: Option<&[Report]>, is_sure: bool) -> Vec<Record> {
        let known = |(index, (from, to)): (usize, (&Counted, &Counted))| {
            let report = reports.and_then(|reports| reports.get(index));
            let of_report = report.map(|report| Known {
                sent: Some(report.arrived.expected),
                arrived: Some(report.arrived),
                jitter_us: report.jitter_us(),
                is_sure,
            });
            of_report.unwrap_or_else(|| match self.plan.role {
                Role::Blast(_) => Known { sent: Some(ops_in(&self.all, index)), ..Known::default() },
                Role::Receive(_) | Role::Pong { .. } => {
                    Known { arrived: Some(to.arrived.since(from.arrived)), jitter_us: to.jitter_us, ..Known::default() }
                }
                Role::Ping(_) => Known::default(),
            })
        };
        let known: Vec<_> = self.all.from.state.iter().zip(&self.all.to.state).enumerate().map(known).collect();
        let mut totals = record::all(&self.plan, &self.all, &known);
        for total in &mut totals {
            total.raise_if(self.is_cut, Flag::Partial);
        }
        totals
    }
}
