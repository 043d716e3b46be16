//! One direction of a test at one end: a worker per stream, sampled until the last of them ends.
//! Every verb of both ends is made of flows.

use std::net::Shutdown;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use common::console::Progress;
use common::measure::crew::{self, Work};
use common::measure::lane::{CpuOf, Track};
use common::measure::spans::{Cut, Timing};
use common::measure::watch::{self, Gauge, Halt, Measurement, Verdict};
use common::stop::Stop;

use crate::engine::{Lane, Own, Silence, Stages, Stream};
use crate::finished::Finished;
use crate::plan::Plan;
use crate::pulse::Pulse;
use crate::record::{self, Record, StreamState};
use crate::request::Way;
use crate::role::Role;
use crate::tcp_info::TcpInfo;
use crate::tcp_state::TcpState;
use crate::works::work;

/// How long a ping waits for the answer under way once somebody wants to leave.
const LEAVE: Duration = Duration::from_secs(1);

/// How long after the time asked for a receiver takes what still comes.
pub const DRAIN: Duration = Duration::from_secs(1);

/// Takes the interval lines.
pub type Emit<'a> = dyn Fn(&Record) -> anyhow::Result<()> + Sync + 'a;

/// Runs all directions of a test at once, each over its streams.
pub fn run_all(
    plans: Vec<Plan>,
    streams: &[(Way, Vec<Stream>)],
    stop: &Stop,
    progress: Option<&Progress>,
    emit: &Emit<'_>,
) -> anyhow::Result<Vec<Finished>> {
    let stop = &stop.child()?;
    std::thread::scope(|scope| {
        let mut started = Vec::new();
        for (index, plan) in plans.into_iter().enumerate() {
            let streams = streams.get(index).map_or(&[][..], |(_, streams)| streams);
            let progress = progress.map(Progress::beside);
            let flow = move || run(plan, streams, stop, progress.as_ref(), emit);
            match std::thread::Builder::new().name("flow".into()).spawn_scoped(scope, flow) {
                Ok(thread) => started.push(thread),
                Err(error) => {
                    // Those that have begun must not go on without it.
                    stop.set();
                    return Err(error).context("cannot start a thread");
                }
            }
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
    progress: Option<&Progress>,
    emit: &Emit<'_>,
) -> anyhow::Result<Finished> {
    let track = Track::new(plan.role.measures_latency(), (0..plan.streams).map(|_| plan.role.own()))?;
    let works = (0..track.lanes().len()).map(|index| -> anyhow::Result<Work<'_>> {
        let (cpu, work) = (plan.cpus.of(index), work(&plan, streams, index, &track.lanes()[index])?);
        Ok(Box::new(move || {
            cpu.map_or(Ok(()), crew::pin)?;
            work()
        }))
    });
    let works = works.collect::<Result<_, _>>()?;
    let measurement = Measurement {
        stop,
        progress,
        timing: Timing { warmup: plan.warmup, time: plan.time, interval: plan.interval },
        leads: plan.role.leads(),
        cpu: CpuOf::Workers,
        workers: "stream",
    };
    let pulse = Pulse::start();
    let started = Instant::now();
    let mut gauge = StreamsGauge {
        plan: &plan,
        streams,
        track: &track,
        started,
        pulse,
        is_halted: false,
        is_presumed_over: false,
        has_left: false,
        last_interval: None,
        cut_at: None,
        emit,
    };
    let watch::Finished { total, is_cut, mut failure, .. } = measurement.run(&track, works, &mut gauge)?;
    if plan.role.sends() {
        gauge.shut(Shutdown::Write);
    }
    let has_left = gauge.has_left;
    let last_interval = gauge.last_interval.take();
    let after_end: u64 = track.lanes().iter().map(|lane| lane.own.after_end.load(Ordering::Relaxed)).sum();
    let all_bytes = total.to.snapshot.counts.bytes + after_end;
    let is_endless = matches!(&plan.role, Role::Send(sending) if sending.quota.is_none());
    if failure.is_none() && is_endless && plan.max_bytes.is_some_and(|most| all_bytes >= most) {
        failure = Some(anyhow!("more than is allowed (--max-bytes)"));
    }
    let fell_back = fell_back(track.lanes());
    let totals = record::all(&plan, &total, fell_back);
    let is_cut = is_cut || failure.is_some();
    Ok(Finished { totals, all_bytes, is_cut, has_left, failure, plan, total, last_interval, fell_back })
}

fn fell_back(lanes: &[Lane]) -> bool {
    lanes.iter().any(|lane| lane.own.fell_back.load(Ordering::Relaxed))
}

/// What is read of the streams beside what the workers count, and what ends them.
struct StreamsGauge<'a> {
    plan: &'a Plan,
    streams: &'a [Stream],
    track: &'a Track<Own>,
    started: Instant,
    pulse: Pulse,
    is_halted: bool,
    /// The time asked for is over, and no stream's interval goes on beyond it, however long that stream waits.
    is_presumed_over: bool,
    /// What is still on its way is not waited for.
    has_left: bool,
    /// A sender's, of which what is sent again is not yet known.
    last_interval: Option<Cut<Vec<StreamState>>>,
    /// When a ping was told to leave: the answer under way is waited for, but not long.
    cut_at: Option<Instant>,
    emit: &'a Emit<'a>,
}

impl Gauge for StreamsGauge<'_> {
    type State = Vec<StreamState>;

    fn read(&mut self) -> (Vec<StreamState>, Option<u64>) {
        let sends = self.plan.role.sends();
        let state = |(index, lane): (usize, &Lane)| StreamState {
            tcp: self.streams.get(index).map(|stream| TcpState::of(stream, sends)).unwrap_or_default(),
            stages: lane.own.stages.as_ref().map(Stages::snapshot),
            failed: lane.own.failed.load(Ordering::Relaxed),
        };
        let states: Vec<_> = self.track.lanes().iter().enumerate().map(state).collect();
        let errors = match self.plan.role {
            Role::Connect(_) => Some(states.iter().map(|state| state.failed).sum()),
            _ => states.iter().map(|state| state.tcp.retransmits).sum(),
        };
        (states, errors)
    }

    fn print(&mut self, interval: &Cut<Vec<StreamState>>) -> anyhow::Result<()> {
        record::all(self.plan, interval, fell_back(self.track.lanes())).iter().try_for_each(self.emit)
    }

    fn print_last(&mut self, interval: &Cut<Vec<StreamState>>) -> anyhow::Result<()> {
        if self.plan.role.sends() {
            self.last_interval = Some(interval.clone());
            return Ok(());
        }
        self.print(interval)
    }

    fn judge(&mut self, now: Instant) -> Option<Verdict> {
        let Plan { role, idle_timeout, max_time, .. } = self.plan;
        let silence = |why| Some(Verdict { how: Halt::Abandon, why: Some(Silence(why).into()) });
        if !self.is_halted && max_time.is_some_and(|most| now >= self.started + most) {
            return Some(Verdict { how: Halt::Cut, why: Some(anyhow!("longer than is allowed (--max-time)")) });
        }
        if let Some(end) = self.presumed_end().filter(|end| now >= *end) {
            self.is_presumed_over = true;
            self.track.lanes().iter().for_each(|lane| lane.presume_finished(end));
        }
        if !self.is_halted && self.drained_by().is_some_and(|by| now >= by) {
            self.has_left = true;
            return Some(Verdict { how: Halt::TimeUp, why: None });
        }
        // A large message may take its time.
        let moved = |stream: &Stream| TcpInfo::of(&stream.socket).ok().and_then(|info| info.bytes_moved());
        let progress = || {
            self.track.counts().iter().map(|counts| counts.ops).sum::<u64>()
                + self.streams.iter().filter_map(moved).sum::<u64>()
        };
        if role.is_ping() && self.cut_at.is_some_and(|cut| now >= cut + LEAVE) {
            return Some(Verdict { how: Halt::Abandon, why: None });
        }
        if role.is_ping() && self.pulse.is_silent(now, *idle_timeout, progress) {
            return silence("byte got through");
        }
        if role.sends() && self.pulse.is_over(now, *idle_timeout, self.streams) {
            return silence("byte got through");
        }
        None
    }

    fn due(&self) -> Option<Instant> {
        let role = &self.plan.role;
        let pulse = (role.sends() || role.is_ping()).then_some(self.pulse.next);
        let leave = self.cut_at.map(|cut| cut + LEAVE);
        let most = self.plan.max_time.filter(|_| !self.is_halted).map(|most| self.started + most);
        let drained = self.drained_by().filter(|_| !self.is_halted);
        [pulse, leave, most, drained, self.presumed_end()].into_iter().flatten().min()
    }

    fn halt(&mut self, how: Halt) {
        self.is_halted = true;
        if how == Halt::Cut && self.plan.role.is_ping() {
            self.cut_at = Some(Instant::now());
        }
        self.shut(match how {
            Halt::TimeUp if self.has_left => Shutdown::Read,
            Halt::TimeUp => Shutdown::Write,
            // An end that does not send still has its line to send back.
            Halt::Cut if self.plan.role.leads() => Shutdown::Write,
            // Also where its workers could not start.
            Halt::Abandon if !(self.plan.role.leads() || self.plan.role.is_ping()) => Shutdown::Read,
            Halt::Cut => Shutdown::Read,
            Halt::Abandon => Shutdown::Both,
        });
    }
}

impl StreamsGauge<'_> {
    /// When the time asked for is over at a receiver.
    fn time_is_over(&self) -> Option<Instant> {
        let time = self.plan.time.filter(|_| matches!(self.plan.role, Role::Receive(_)))?;
        self.track.first()?.checked_add(self.plan.warmup)?.checked_add(time)
    }

    /// The same, where there are intervals of which the last has to end, until it has been seen to. Without them, a stream's
    /// last byte is its end.
    fn presumed_end(&self) -> Option<Instant> {
        self.time_is_over().filter(|_| self.plan.interval.is_some() && !self.is_presumed_over)
    }

    /// When a receiver does not wait any longer for what lay in the buffers as the time asked for was over.
    fn drained_by(&self) -> Option<Instant> {
        self.time_is_over()?.checked_add(DRAIN)
    }

    /// Wakes a waiting worker, and tells the other end that no more comes.
    fn shut(&self, how: Shutdown) {
        for stream in self.streams {
            // A connection that is gone needs no shutdown.
            let _ = stream.socket.shutdown(how);
        }
    }
}
