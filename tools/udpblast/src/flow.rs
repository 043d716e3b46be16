//! One end's part in a test: a worker over a socket, sampled until it ends. Every verb of both ends is one of these.

use std::net::UdpSocket;
use std::sync::atomic::Ordering;
use std::time::Instant;

use common::console::Progress;
use common::measure::crew::Work;
use common::measure::lane::{CpuOf, Track};
use common::measure::spans::{Cut, Timing};
use common::measure::watch::{self, Gauge, Halt, Measurement, Verdict};
use common::schema::line::Flag;
use common::stop::Stop;

use crate::engine::{Inbox, Own};
use crate::plan::Plan;
use crate::record::{self, Counted, Known, Record};
use crate::role::Role;
use crate::tally::Arrived;

/// How it ended.
#[derive(Debug)]
pub struct Finished {
    plan: Plan,
    all: Cut<Counted>,
    /// It did not run to its planned end.
    pub is_cut: bool,
    /// This end stopped receiving while the other may still have been sending.
    left_early: bool,
    /// Why, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

/// Takes the interval lines.
pub type Emit<'a> = dyn Fn(&Record) -> anyhow::Result<()> + Sync + 'a;

/// Runs it over `socket` until it is done, `stop` is set or it fails.
pub fn run(
    plan: Plan,
    socket: &UdpSocket,
    inbox: &dyn Inbox,
    stop: &Stop,
    progress: Option<&Progress>,
    emit: &Emit<'_>,
) -> anyhow::Result<Finished> {
    let track = Track::new(plan.role.is_echo(), [Own::default()])?;
    let lane = &track.lanes()[0];
    let role = plan.role;
    let works: Vec<Work<'_>> = vec![Box::new(move || role.run(socket, lane, inbox))];
    let measurement = Measurement {
        stop,
        progress,
        timing: Timing { warmup: plan.warmup, time: plan.time, interval: plan.interval },
        leads: role.leads(),
        cpu: CpuOf::Workers,
        workers: role.test(),
    };
    let limit = plan.max_time.map(|most| Instant::now() + most);
    let mut account = AccountGauge { plan: &plan, own: &lane.own, limit, emit };
    let watch::Finished { total, is_cut, failure, .. } = measurement.run(&track, works, &mut account)?;
    let left_early = is_cut && failure.is_none() && !inbox.has_ended();
    Ok(Finished { plan, all: total, is_cut, left_early, failure })
}

/// What is read beside what the worker counts.
struct AccountGauge<'a> {
    plan: &'a Plan,
    own: &'a Own,
    /// It may not go on after that.
    limit: Option<Instant>,
    emit: &'a Emit<'a>,
}

impl Gauge for AccountGauge<'_> {
    type State = Counted;

    fn read(&mut self) -> (Counted, Option<u64>) {
        let (arrived, jitter_us) = self.own.with_tally(|tally| (tally.arrived(), tally.jitter_us()));
        let [sender_drops, lost_pings] =
            [&self.own.sender_drops, &self.own.lost_pings].map(|count| count.load(Ordering::Relaxed));
        // What was lost depends on what the other end sent, which only lines know.
        (Counted { arrived, jitter_us, sender_drops, lost_pings, offload: self.own.offload() }, None)
    }

    fn print(&mut self, interval: &Cut<Counted>) -> anyhow::Result<()> {
        let arrived = interval.to.state.arrived.since(interval.from.state.arrived);
        let jitter_us = interval.to.state.jitter_us;
        let known = match self.plan.role {
            // A sender learns only at the end what arrived.
            Role::Blast(_) => Known { sent: Some(interval.sample().counts.ops), ..Known::default() },
            Role::Receive(_) => Known { sent: Some(arrived.expected), arrived: Some(arrived), jitter_us },
            Role::Ping { .. } => record::known_of_pings(interval),
            Role::Pong { .. } => Known::default(),
        };
        (self.emit)(&record::of(self.plan, interval, known))
    }

    fn judge(&mut self, now: Instant) -> Option<Verdict> {
        self.limit.take_if(|limit| now >= *limit).map(|_| Verdict { how: Halt::Cut, why: None })
    }

    fn due(&self) -> Option<Instant> {
        self.limit
    }

    fn halt(&mut self, _how: Halt) {
        // The worker's calls time out soon, and then it looks.
    }
}

impl Finished {
    /// Takes note of what went wrong elsewhere.
    pub fn fail(&mut self, failure: Option<anyhow::Error>) {
        self.is_cut |= failure.is_some();
        self.failure = self.failure.take().or(failure);
    }

    /// Datagrams that this end sent in all, the warm-up's included.
    pub fn all_sent(&self) -> u64 {
        self.all.to.snapshot.counts.ops
    }

    /// What arrived here of `sent` datagrams, without the warm-up's; `expected` is how many of `sent` are meant. What was
    /// sent after this end had left is no loss.
    pub fn report(&self, sent: u64) -> (Arrived, Option<f64>) {
        let [base, end] = [&self.all.from, &self.all.to].map(|mark| mark.state.arrived);
        let sent = if self.left_early { end.expected } else { sent };
        let arrived = Arrived { expected: sent.saturating_sub(base.expected), ..end.since(base) };
        (arrived, self.all.to.state.jitter_us)
    }

    /// The line of the whole run, with what is known of the other end's counts.
    pub fn total(&self, report: Option<(Arrived, Option<f64>)>) -> Record {
        let of_report = report.map(|(arrived, jitter_us)| Known {
            sent: Some(arrived.expected),
            arrived: Some(arrived),
            jitter_us,
        });
        let end = &self.all.to.state;
        let known = match self.plan.role {
            Role::Blast(_) => {
                of_report.unwrap_or_else(|| Known { sent: Some(self.all.sample().counts.ops), ..Known::default() })
            }
            Role::Receive(_) => {
                of_report.unwrap_or(Known { sent: None, arrived: Some(end.arrived), jitter_us: end.jitter_us })
            }
            Role::Ping { .. } => record::known_of_pings(&self.all),
            Role::Pong { .. } => Known::default(),
        };
        let mut total = record::of(&self.plan, &self.all, known);
        total.raise_if(self.is_cut, Flag::Partial);
        total
    }
}
