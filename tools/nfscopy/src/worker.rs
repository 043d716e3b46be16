//! A worker's hands: every call on the mount goes through [`Worker::timed`], which knows what is being waited for, how
//! long it took, and what failed first.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use common::measure::counters::Counters;
use common::measure::crew::Bell;
use common::measure::latency::Recorder;
use nix::errno::Errno;

use crate::shown::shown;

/// A kind of call. The first five have a column of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    Open,
    Read,
    Write,
    Fsync,
    Close,
    Stat,
    Rename,
    Unlink,
    Mkdir,
    Link,
}

/// Steps that have a column.
pub const TIMED: usize = Step::Close as usize + 1;

/// No step.
const IDLE: u8 = u8::MAX;

impl Step {
    const ALL: [Self; 10] = [
        Self::Open,
        Self::Read,
        Self::Write,
        Self::Fsync,
        Self::Close,
        Self::Stat,
        Self::Rename,
        Self::Unlink,
        Self::Mkdir,
        Self::Link,
    ];

    /// The word in the failure column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Fsync => "fsync",
            Self::Close => "close",
            Self::Stat => "stat",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Link => "link",
        }
    }
}

/// What the workers of one phase share with its sampler.
#[derive(Debug, Default)]
pub struct Shared {
    halt: AtomicBool,
    cut: AtomicBool,
    /// When the first call began.
    pub first: OnceLock<Instant>,
    /// Calls that failed.
    pub errors: AtomicU64,
    /// The first call that failed and its errno, as in `fsync:EIO`.
    pub failure: OnceLock<String>,
    /// How bytes moved, where that turns out only by trying; see [`crate::copy::Mechanism`].
    pub mechanism: AtomicU8,
}

impl Shared {
    /// The time is over: what was written still has to become safe.
    pub fn halt(&self) {
        self.halt.store(true, Ordering::Relaxed);
    }

    /// Somebody wants to leave: nothing more is worth waiting for.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
        self.halt();
    }
}

/// What one worker shares with the sampler.
#[derive(Debug)]
pub struct Lane {
    /// What it did.
    pub counters: Counters,
    /// How long each operation took.
    pub latencies: Recorder,
    /// Files it worked on.
    pub files: AtomicU64,
    /// Nanoseconds by step.
    pub steps: [AtomicU64; TIMED],
    /// When its last call ended; set at its end.
    pub last: OnceLock<Instant>,
    doing: AtomicU8,
    at: Mutex<At>,
}

/// Where a worker is.
#[derive(Debug, Default)]
struct At {
    path: PathBuf,
    /// What it reads from, if that is another file.
    source: Option<PathBuf>,
}

impl At {
    fn of(&self, step: Step) -> String {
        shown(self.source.as_ref().filter(|_| step == Step::Read).unwrap_or(&self.path))
    }
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            counters: Counters::default(),
            latencies: Recorder::default(),
            files: AtomicU64::new(0),
            steps: Default::default(),
            last: OnceLock::new(),
            doing: AtomicU8::new(IDLE),
            at: Mutex::default(),
        }
    }
}

impl Lane {
    /// The call that it is in, and where, for people who wait.
    pub fn waits_for(&self) -> Option<String> {
        let step = Step::ALL.get(usize::from(self.doing.load(Ordering::Relaxed)))?;
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        Some(format!("{} {}", step.name(), at.of(*step)))
    }
}

/// One worker at work.
#[derive(Debug)]
pub struct Worker<'a> {
    lane: &'a Lane,
    shared: &'a Shared,
    now: Cell<Instant>,
    took: Cell<Duration>,
}

impl<'a> Worker<'a> {
    /// Starts the clock.
    pub fn start(lane: &'a Lane, shared: &'a Shared, bell: &Bell) -> Self {
        let now = Instant::now();
        if shared.first.set(now).is_ok() {
            bell.ring();
        }
        Self { lane, shared, now: Cell::new(now), took: Cell::default() }
    }

    /// Notes the end.
    pub fn finish(&self) {
        self.lane.last.get_or_init(|| self.now.get());
    }

    /// Where it works from here on, for messages.
    pub fn at(&self, path: &Path) {
        *self.lane.at.lock().unwrap_or_else(PoisonError::into_inner) = At { path: path.to_owned(), source: None };
    }

    /// What it reads from here on, while it writes where it is.
    pub fn reading(&self, source: &Path) {
        self.lane.at.lock().unwrap_or_else(PoisonError::into_inner).source = Some(source.to_owned());
    }

    /// Does one call and adds its time to the step. Interrupted calls are made again.
    pub fn timed<T>(&self, step: Step, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let began = Instant::now();
        self.lane.doing.store(step as u8, Ordering::Relaxed);
        let outcome = loop {
            match call() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        self.lane.doing.store(IDLE, Ordering::Relaxed);
        let now = Instant::now();
        self.now.set(now);
        self.took.set(now - began);
        if let Some(time) = self.lane.steps.get(step as usize) {
            // Only this thread adds.
            time.store(time.load(Ordering::Relaxed) + nanos(now - began), Ordering::Relaxed);
        }
        outcome
    }

    /// As [`Worker::timed`]; a failure says what could not be done where.
    pub fn must<T>(&self, step: Step, what: &str, call: impl FnMut() -> io::Result<T>) -> anyhow::Result<T> {
        self.timed(step, call).map_err(|error| self.fail(step, error, what))
    }

    /// Counts a failure of `step` while doing `what` (as in `write at offset 5`).
    pub fn fail(&self, step: Step, error: io::Error, what: &str) -> anyhow::Error {
        self.shared.errors.fetch_add(1, Ordering::Relaxed);
        let name = error.raw_os_error().map_or_else(|| format!("{:?}", error.kind()), errno_name);
        self.shared.failure.get_or_init(|| format!("{}:{name}", step.name()));
        let at = self.lane.at.lock().unwrap_or_else(PoisonError::into_inner).of(step);
        let hint = hint(&error);
        anyhow!(error).context(format!("{at}: cannot {what}{hint}"))
    }

    /// Adds one operation that moved `bytes` and took `latency`.
    pub fn done(&self, bytes: u64, latency: Duration) {
        self.lane.counters.add(bytes);
        self.lane.latencies.record(latency);
    }

    /// Adds to the counts without a latency.
    pub fn count(&self, bytes: u64, ops: u64) {
        self.lane.counters.add_many(bytes, ops);
    }

    /// Adds a file that was worked on.
    pub fn count_file(&self) {
        // Only this thread adds.
        self.lane.files.store(self.lane.files.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// How long the last call took.
    pub fn took(&self) -> Duration {
        self.took.get()
    }

    /// No new operation should begin.
    pub fn is_halted(&self) -> bool {
        self.shared.halt.load(Ordering::Relaxed)
    }

    /// Nothing more is worth waiting for.
    pub fn is_cut(&self) -> bool {
        self.shared.cut.load(Ordering::Relaxed)
    }

    /// Notes a mechanism; of several the weakest (largest) remains.
    pub fn note_mechanism(&self, mechanism: u8) {
        self.shared.mechanism.fetch_max(mechanism, Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// As errno(3) has it, `ENOSPC`.
pub fn errno_name(number: i32) -> String {
    match Errno::from_raw(number) {
        Errno::UnknownErrno => format!("errno {number}"),
        known => format!("{known:?}"),
    }
}

/// The name of the errno where its usual text hides it from whoever searches for it.
fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ESTALE) => " (ESTALE: the server no longer knows this file)",
        Some(libc::EIO) => " (EIO)",
        Some(libc::ETIMEDOUT) => " (ETIMEDOUT)",
        Some(libc::EDQUOT) => " (EDQUOT)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_stands_at_its_own_number() {
        assert!(Step::ALL.iter().enumerate().all(|(index, step)| *step as usize == index));
    }

    #[test]
    fn the_first_failure_is_named_and_all_are_counted() {
        let (lane, shared) = (Lane::default(), Shared::default());
        let worker = Worker { lane: &lane, shared: &shared, now: Cell::new(Instant::now()), took: Cell::default() };
        worker.at(Path::new("/mnt/a\nb"));
        let fail = |step, code| worker.must(step, "do it", || Err::<(), _>(io::Error::from_raw_os_error(code)));
        let error = fail(Step::Fsync, libc::EIO).unwrap_err();
        assert!(fail(Step::Close, libc::ENOSPC).is_err());
        assert_eq!(shared.failure.get().unwrap(), "fsync:EIO");
        assert_eq!(shared.errors.load(Ordering::Relaxed), 2);
        assert!(format!("{error:#}").starts_with(r"/mnt/a\nb: cannot do it (EIO): "), "{error:#}");
    }

    #[test]
    fn an_interrupted_call_is_made_again() {
        let (lane, shared) = (Lane::default(), Shared::default());
        let worker = Worker { lane: &lane, shared: &shared, now: Cell::new(Instant::now()), took: Cell::default() };
        let mut calls = 0;
        let outcome = worker.timed(Step::Read, || {
            calls += 1;
            if calls < 3 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(calls) }
        });
        assert_eq!(outcome.unwrap(), 3);
    }
}
