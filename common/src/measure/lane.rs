//! What the workers of a measurement share with whoever watches them.
//!
//! A [`Track`] has a [`Lane`] for each worker. A worker adds to its own lane only; all lanes share one gate: whether it is
//! time to end, when the first operation began, and a descriptor that wakes whoever watches.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::eventfd::{EfdFlags, EventFd};

use super::counters::{Counters, Counts};
use super::latency::{Latencies, Recorder};
use crate::cpu::{self, ThreadTimer};

/// Whose CPU time a measurement takes for its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuOf {
    /// Its workers': several measurements may go on in the process.
    Workers,
    /// The whole process's: the kernel may work for it in threads of its own (`io_uring`).
    Process,
}

/// The lanes of one measurement. `Own` is what a tool's lanes have beside what all have.
#[derive(Debug)]
pub struct Track<Own = ()> {
    gate: Arc<Gate>,
    lanes: Vec<Lane<Own>>,
}

/// What one worker shares with whoever watches.
#[derive(Debug)]
pub struct Lane<Own = ()> {
    gate: Arc<Gate>,
    /// What it did.
    pub counters: Counters,
    latencies: Option<Recorder>,
    begun: OnceLock<Begun>,
    last: Mutex<Option<Instant>>,
    /// How long before [`Lane::begin`] its first operation began, as it turned out, nanoseconds.
    lead_ns: AtomicU64,
    /// What is the tool's own.
    pub own: Own,
}

#[derive(Debug)]
pub(super) struct Gate {
    is_halted: AtomicBool,
    first: OnceLock<First>,
    /// The process's CPU time when the latest lane finished, nanoseconds.
    finished_ns: AtomicU64,
    pub(super) running: AtomicUsize,
    pub(super) failed: AtomicUsize,
    news: EventFd,
}

/// The beginning of all.
#[derive(Debug, Clone, Copy)]
struct First {
    at: Instant,
    process: Duration,
}

/// The beginning of one lane.
#[derive(Debug)]
struct Begun {
    at: Instant,
    timer: ThreadTimer,
    /// The thread's CPU time before its first operation.
    before: Duration,
}

impl Gate {
    /// Wakes whoever watches.
    pub(super) fn ring(&self) {
        // It can fail only when 2^64 - 1 rings are waiting, and then whoever watches is awake.
        let _ = self.news.write(1);
    }
}

impl<Own> Track<Own> {
    /// A track whose lanes have this of their own; `has_latencies` says whether operations are timed.
    pub fn new(has_latencies: bool, own: impl IntoIterator<Item = Own>) -> io::Result<Self> {
        let gate = Arc::new(Gate {
            is_halted: AtomicBool::new(false),
            first: OnceLock::new(),
            finished_ns: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            news: EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
        });
        let lane = |own| Lane {
            gate: Arc::clone(&gate),
            counters: Counters::default(),
            latencies: has_latencies.then(Recorder::default),
            begun: OnceLock::new(),
            last: Mutex::default(),
            lead_ns: AtomicU64::new(0),
            own,
        };
        let lanes = own.into_iter().map(lane).collect();
        Ok(Self { gate, lanes })
    }

    /// All lanes, one for each worker.
    pub fn lanes(&self) -> &[Lane<Own>] {
        &self.lanes
    }

    /// When the first operation of all began.
    pub fn first(&self) -> Option<Instant> {
        self.gate.first.get().map(|first| first.at)
    }

    /// When the last operation of all ended, once every worker has.
    pub fn last(&self) -> Option<Instant> {
        self.lanes.iter().filter_map(Lane::last).max()
    }

    /// How long before [`Track::first`] the first operation of all began, as it turned out.
    pub fn lead(&self) -> Duration {
        let Some(first) = self.first() else { return Duration::ZERO };
        let lead = |lane: &Lane<Own>| {
            let lead = Duration::from_nanos(lane.lead_ns.load(Ordering::Relaxed));
            lead.saturating_sub(lane.begun.get()?.at.saturating_duration_since(first)).into()
        };
        self.lanes.iter().filter_map(lead).max().unwrap_or_default()
    }

    /// Whether every lane has finished, as far as it knows.
    pub fn is_over(&self) -> bool {
        self.lanes.iter().all(|lane| lane.last().is_some())
    }

    /// What each lane has counted so far.
    pub fn counts(&self) -> Vec<Counts> {
        self.lanes.iter().map(|lane| lane.counters.snapshot()).collect()
    }

    /// What was recorded since the last call, by lane; empty where operations are not timed.
    pub fn take_latencies(&self) -> Vec<Latencies> {
        self.lanes.iter().filter_map(|lane| lane.latencies.as_ref().map(Recorder::take)).collect()
    }

    /// CPU time since the first operation, until the last one of those that have ended.
    pub fn cpu_time(&self, of: CpuOf) -> Duration {
        match (of, self.gate.first.get()) {
            (CpuOf::Workers, _) => self.lanes.iter().map(Lane::cpu_time).sum(),
            (CpuOf::Process, None) => Duration::ZERO,
            (CpuOf::Process, Some(first)) => {
                let finished = Duration::from_nanos(self.gate.finished_ns.load(Ordering::Acquire));
                let by_now = if self.is_over() { finished } else { cpu::process_time() };
                by_now.saturating_sub(first.process)
            }
        }
    }

    /// Time to end: no new operation begins. Workers that wait elsewhere than in [`Lane::rest_until`] have to be woken too.
    pub fn halt(&self) {
        self.gate.is_halted.store(true, Ordering::Relaxed);
    }

    /// Readable when a worker began or ended since [`Track::hear`].
    pub fn news(&self) -> BorrowedFd<'_> {
        self.gate.news.as_fd()
    }

    /// Takes note of the news; call it before looking at what the workers did.
    pub fn hear(&self) {
        // Nothing to read is no news.
        let _ = self.gate.news.read();
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }
}

impl<Own> Lane<Own> {
    /// The first operation of this lane began at `at`. To be called by its worker; calls after the first cost next to nothing.
    pub fn begin(&self, at: Instant) {
        if self.begun.get().is_some() {
            return;
        }
        self.begun.get_or_init(|| {
            let timer = ThreadTimer::start();
            let before = timer.time();
            Begun { at, timer, before }
        });
        if self.gate.first.set(First { at, process: cpu::process_time() }).is_ok() {
            self.gate.ring();
        }
    }

    /// When the first operation of all lanes began.
    pub fn first(&self) -> Option<Instant> {
        self.gate.first.get().map(|first| first.at)
    }

    /// The first operation of this lane turned out to have begun so long before it was noticed, at [`Lane::begin`]: N bytes
    /// that arrive one after the other take the time of N, though the first of them is seen only at its end.
    pub fn led_by(&self, lead: Duration) {
        self.lead_ns.store(u64::try_from(lead.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether it is time to end.
    pub fn is_halted(&self) -> bool {
        self.gate.is_halted.load(Ordering::Relaxed)
    }

    /// Adds the latency of an operation, where those are timed.
    pub fn record(&self, latency: Duration) {
        if let Some(recorder) = &self.latencies {
            recorder.record(latency);
        }
    }

    /// As [`Latencies::record_periodic`].
    pub fn record_periodic(&self, latency: Duration, period: Duration) {
        if let Some(recorder) = &self.latencies {
            recorder.record_periodic(latency, period);
        }
    }

    /// Sleeps until `deadline`, or the halt; returns the time.
    pub fn rest_until(&self, deadline: Instant) -> Instant {
        loop {
            let now = Instant::now();
            if now >= deadline || self.is_halted() {
                return now;
            }
            // Whoever halts unparks every worker.
            std::thread::park_timeout(deadline - now);
        }
    }

    /// The last operation of this lane ended at `at`, as far as its worker knows: a straggler may follow, and then it says so
    /// again. The CPU time that the worker uses from here on is nobody's.
    pub fn finish(&self, at: Instant) {
        self.presume_finished(at);
        self.close();
        let process = u64::try_from(cpu::process_time().as_nanos()).unwrap_or(u64::MAX);
        self.gate.finished_ns.fetch_max(process, Ordering::AcqRel);
    }

    /// The worker waits for what may never come: as far as anybody knows, its last operation ended by `at`. For whoever watches.
    pub fn presume_finished(&self, at: Instant) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = (*last).max(Some(at));
    }

    fn last(&self) -> Option<Instant> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker ends at `at`, and its clock with it. What it began and never said to be over, since it failed, is over.
    pub(super) fn end(&self, at: Instant) {
        if self.begun.get().is_some() && self.last().is_none() {
            self.finish(at);
        }
        self.close();
    }

    fn close(&self) {
        if let Some(begun) = self.begun.get() {
            begun.timer.finish();
        }
    }

    fn cpu_time(&self) -> Duration {
        self.begun.get().map_or(Duration::ZERO, |begun| begun.timer.time().saturating_sub(begun.before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(time: Duration) {
        let timer = ThreadTimer::start();
        let end = timer.time() + time;
        while timer.time() < end {}
    }

    #[test]
    fn cpu_time_is_that_between_the_first_and_the_last_operation() {
        let track = Track::new(false, [()]).unwrap();
        let lane = &track.lanes()[0];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                busy(Duration::from_millis(20));
                lane.begin(Instant::now());
                busy(Duration::from_millis(5));
                lane.finish(Instant::now());
                let counted = track.cpu_time(CpuOf::Workers);
                busy(Duration::from_millis(20));
                assert_eq!(track.cpu_time(CpuOf::Workers), counted);
            });
        });
        let worked = track.cpu_time(CpuOf::Workers);
        assert!((Duration::from_millis(5)..Duration::from_millis(20)).contains(&worked), "{worked:?}");
    }

    #[test]
    fn a_halt_ends_a_rest() {
        let track = Track::new(false, [()]).unwrap();
        let far = Instant::now() + Duration::from_mins(1);
        std::thread::scope(|scope| {
            let resting = scope.spawn(|| track.lanes()[0].rest_until(far));
            track.halt();
            resting.thread().unpark();
            assert!(resting.join().unwrap() < far);
        });
    }

    #[test]
    fn only_the_first_lane_to_begin_is_the_first() {
        let track = Track::new(true, [(), ()]).unwrap();
        let start = Instant::now();
        track.lanes()[1].begin(start);
        track.lanes()[0].begin(start + Duration::from_secs(1));
        assert_eq!(track.first(), Some(start));
        track.lanes()[0].record(Duration::from_micros(5));
        assert_eq!(track.take_latencies().iter().map(Latencies::count).collect::<Vec<_>>(), [1, 0]);
    }
}
