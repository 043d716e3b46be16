//! Named threads that run the hot loops, and a descriptor that wakes the sampler when one of them has news.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};

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
