//! A worker's hands: every call on the mount goes through [`Worker::timed`], which knows what is being waited for, how
//! long it took, and what failed first.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::anyhow;
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

/// What the workers of one phase share beside what they count.
#[derive(Debug, Default)]
pub struct Shared {
    cut: AtomicBool,
    /// Calls that failed.
    pub errors: AtomicU64,
    /// The first call that failed and its errno, as in `fsync:EIO`.
    pub failure: OnceLock<String>,
    /// How bytes moved, where that turns out only by trying; see [`crate::mechanism::Mechanism`].
    pub mechanism: AtomicU8,
}

impl Shared {
    /// Somebody wants to leave: nothing more is worth waiting for.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }
}

/// What one worker shares beside what it counts.
#[derive(Debug)]
pub struct Own {
    shared: Arc<Shared>,
    /// Files it worked on.
    pub files: AtomicU64,
    /// Nanoseconds by step.
    pub steps: [AtomicU64; TIMED],
    doing: AtomicU8,
    at: Mutex<At>,
}

/// A worker's lane.
pub type Lane = common::measure::lane::Lane<Own>;

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

impl Own {
    /// Before the first call.
    pub fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            files: AtomicU64::new(0),
            steps: Default::default(),
            doing: AtomicU8::new(IDLE),
            at: Mutex::default(),
        }
    }

    /// The call that it is in, and where.
    fn waits_for(&self) -> Option<String> {
        let step = Step::ALL.get(usize::from(self.doing.load(Ordering::Relaxed)))?;
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        Some(format!("{} {}", step.name(), at.of(*step)))
    }
}

/// The calls that workers are in, for people who wait.
pub fn waited_for(lanes: &[Lane]) -> Option<String> {
    let calls: Vec<_> = lanes.iter().filter_map(|lane| lane.own.waits_for()).collect();
    let first = calls.first()?;
    Some(if calls.len() > 1 { format!("{first} and {} other calls", calls.len() - 1) } else { first.clone() })
}

/// One worker at work.
#[derive(Debug)]
pub struct Worker<'a> {
    lane: &'a Lane,
    own: &'a Own,
    now: Cell<Instant>,
    took: Cell<Duration>,
}

impl<'a> Worker<'a> {
    /// Starts the clock.
    pub fn start(lane: &'a Lane) -> Self {
        let now = Instant::now();
        lane.begin(now);
        Self { lane, own: &lane.own, now: Cell::new(now), took: Cell::default() }
    }

    /// Notes the end.
    pub fn finish(&self) {
        self.lane.finish(self.now.get());
    }

    /// Where it works from here on, for messages.
    pub fn at(&self, path: &Path) {
        *self.own.at.lock().unwrap_or_else(PoisonError::into_inner) = At { path: path.to_owned(), source: None };
    }

    /// What it reads from here on, while it writes where it is.
    pub fn reading(&self, source: &Path) {
        self.own.at.lock().unwrap_or_else(PoisonError::into_inner).source = Some(source.to_owned());
    }

    /// Does one call and adds its time to the step. Interrupted calls are made again.
    pub fn timed<T>(&self, step: Step, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let began = Instant::now();
        self.own.doing.store(step as u8, Ordering::Relaxed);
        let outcome = loop {
            match call() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        self.own.doing.store(IDLE, Ordering::Relaxed);
        let now = Instant::now();
        self.now.set(now);
        self.took.set(now - began);
        if let Some(time) = self.own.steps.get(step as usize) {
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
        self.own.shared.errors.fetch_add(1, Ordering::Relaxed);
        let name = error.raw_os_error().map_or_else(|| format!("{:?}", error.kind()), errno_name);
        self.own.shared.failure.get_or_init(|| format!("{}:{name}", step.name()));
        let at = self.own.at.lock().unwrap_or_else(PoisonError::into_inner).of(step);
        let hint = hint(&error);
        anyhow!(error).context(format!("{at}: cannot {what}{hint}"))
    }

    /// Adds one operation that moved `bytes` and took `latency`.
    pub fn done(&self, bytes: u64, latency: Duration) {
        self.lane.counters.add(bytes);
        self.lane.record(latency);
    }

    /// Adds to the counts without a latency.
    pub fn count(&self, bytes: u64, ops: u64) {
        self.lane.counters.add_many(bytes, ops);
    }

    /// Adds a file that was worked on.
    pub fn count_file(&self) {
        // Only this thread adds.
        self.own.files.store(self.own.files.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// How long the last call took.
    pub fn took(&self) -> Duration {
        self.took.get()
    }

    /// No new operation should begin.
    pub fn is_halted(&self) -> bool {
        self.lane.is_halted()
    }

    /// Nothing more is worth waiting for.
    pub fn is_cut(&self) -> bool {
        self.own.shared.cut.load(Ordering::Relaxed)
    }

    /// Notes a mechanism; of several the weakest (largest) remains.
    pub fn note_mechanism(&self, mechanism: u8) {
        self.own.shared.mechanism.fetch_max(mechanism, Ordering::Relaxed);
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
    use common::measure::lane::Track;

    #[test]
    fn every_step_stands_at_its_own_number() {
        assert!(Step::ALL.iter().enumerate().all(|(index, step)| *step as usize == index));
    }

    #[test]
    fn the_first_failure_is_named_and_all_are_counted() {
        let shared = Arc::new(Shared::default());
        let track = Track::new(true, [Own::new(&shared)]).unwrap();
        let worker = Worker::start(&track.lanes()[0]);
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
        let shared = Arc::new(Shared::default());
        let track = Track::new(true, [Own::new(&shared)]).unwrap();
        let worker = Worker::start(&track.lanes()[0]);
        let mut calls = 0;
        let outcome = worker.timed(Step::Read, || {
            calls += 1;
            if calls < 3 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(calls) }
        });
        assert_eq!(outcome.unwrap(), 3);
    }
}
