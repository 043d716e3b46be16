//! Named threads that run the hot loops, and a descriptor that wakes the sampler when one of them has news.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::unistd::Pid;

use crate::cpu::ThreadTimer;

/// The workers of one measurement.
#[derive(Debug)]
pub struct Crew<'scope, T> {
    handles: Vec<ScopedJoinHandle<'scope, anyhow::Result<T>>>,
    board: Arc<Board>,
}

#[derive(Debug)]
struct Board {
    running: AtomicUsize,
    failed: AtomicUsize,
    news: EventFd,
    timers: Mutex<Vec<Arc<ThreadTimer>>>,
}

/// A worker's side of the crew.
#[derive(Debug)]
pub struct Bell(Arc<Board>);

impl Bell {
    /// Wakes the sampler.
    pub fn ring(&self) {
        // It can fail only when 2^64 - 1 rings are waiting, and then the sampler is awake.
        let _ = self.0.news.write(1);
    }
}

/// Keeps the calling thread on one CPU (`sched_setaffinity(2)`).
pub fn pin(cpu: usize) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .with_context(|| format!("--cpu {cpu}: cannot run there"))
}

/// Parses a list of CPUs such as `0,2-3`, as taskset(1) has it.
pub fn cpu_list(text: &str) -> Result<CpuList, String> {
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|cpu| *cpu < CpuSet::count());
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => return Err("expected a list of CPUs such as 0,2-3".into()),
        }
    }
    Ok(CpuList(cpus))
}

/// CPUs to use in turn; empty for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuList(Vec<usize>);

impl CpuList {
    /// The CPU for worker number `index`.
    pub fn of(&self, index: usize) -> Option<usize> {
        self.0.get(index.checked_rem(self.0.len())?).copied()
    }
}

/// Reports a worker's end even when it panics.
struct AtWork(Arc<Board>, Arc<ThreadTimer>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.1.finish();
        self.0.running.fetch_sub(1, Ordering::Release);
        Bell(Arc::clone(&self.0)).ring();
    }
}

impl<'scope, T: Send + 'scope> Crew<'scope, T> {
    /// A crew without workers.
    pub fn new() -> io::Result<Self> {
        let board = Board {
            running: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
            news: EventFd::from_value_and_flags(0, EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
            timers: Mutex::default(),
        };
        Ok(Self { handles: Vec::new(), board: Arc::new(board) })
    }

    /// Starts `work` in a thread called `name` (shown by `ps -T` up to 15 bytes).
    pub fn spawn<'env>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        name: String,
        work: impl FnOnce(&Bell) -> anyhow::Result<T> + Send + 'scope,
    ) -> io::Result<()> {
        let board = Arc::clone(&self.board);
        board.running.fetch_add(1, Ordering::Relaxed);
        let started = Builder::new().name(name).spawn_scoped(scope, move || {
            let timer = Arc::new(ThreadTimer::start());
            board.timers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&timer));
            let at_work = AtWork(board, timer);
            let outcome = work(&Bell(Arc::clone(&at_work.0)));
            if outcome.is_err() {
                at_work.0.failed.fetch_add(1, Ordering::Release);
            }
            outcome
        });
        match started {
            Ok(handle) => {
                self.handles.push(handle);
                Ok(())
            }
            Err(error) => {
                self.board.running.fetch_sub(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    /// Readable when a worker rang or ended since [`Crew::hear`].
    pub fn news(&self) -> BorrowedFd<'_> {
        self.board.news.as_fd()
    }

    /// Takes note of the news; call it before looking at what the workers did.
    pub fn hear(&self) {
        // Nothing to read is no news.
        let _ = self.board.news.read();
    }

    /// Wakes workers that sleep in `std::thread::park_timeout`.
    pub fn wake(&self) {
        self.handles.iter().for_each(|handle| handle.thread().unpark());
    }

    /// Whether every worker has ended.
    pub fn is_done(&self) -> bool {
        self.board.running.load(Ordering::Acquire) == 0
    }

    /// Whether a worker has failed, so that the others should stop.
    pub fn has_failed(&self) -> bool {
        self.board.failed.load(Ordering::Acquire) > 0
    }

    /// User and system time of all workers so far.
    pub fn cpu_time(&self) -> Duration {
        self.board.timers.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|timer| timer.time()).sum()
    }

    /// Waits for every worker: what those that did their work returned, and the first error.
    pub fn join(self) -> (Vec<T>, Option<anyhow::Error>) {
        let mut done = Vec::with_capacity(self.handles.len());
        let mut first_error = None;
        for handle in self.handles {
            match handle.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a worker thread panicked"))) {
                Ok(result) => done.push(result),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        (done, first_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_for_taskset() {
        let list = cpu_list("0,2-3").unwrap();
        assert_eq!([0, 1, 2, 3].map(|index| list.of(index)), [Some(0), Some(2), Some(3), Some(0)]);
        assert_eq!(CpuList::default().of(5), None);
        for wrong in ["", "x", "3-1", "-1", "99999"] {
            assert!(cpu_list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_panic_is_an_error_and_an_end() {
        std::thread::scope(|scope| {
            let mut crew = Crew::new().unwrap();
            crew.spawn(scope, "good".into(), |_| Ok(5)).unwrap();
            crew.spawn(scope, "bad".into(), |_| panic!("on purpose")).unwrap();
            while !crew.is_done() {
                std::thread::yield_now();
            }
            crew.hear();
            let (done, error) = crew.join();
            assert_eq!(done, [5]);
            assert!(error.unwrap().to_string().contains("panicked"));
        });
    }
}
