//! The threads that serve clients, and how many there may be.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use nix::sys::eventfd::{EfdFlags, EventFd};

use super::refusal::Refusal;

/// A listener's places.
#[derive(Debug)]
pub struct Places {
    most: usize,
    threads: Vec<JoinHandle<()>>,
    board: Arc<Board>,
}

#[derive(Debug)]
struct Board {
    running: AtomicUsize,
    news: EventFd,
}

/// A place that is taken; it is free again when this is dropped, also by a panic.
struct TakenPlace(Arc<Board>);

impl Drop for TakenPlace {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
        // It can fail only when the listener has been rung awake already.
        let _ = self.0.news.write(1);
    }
}

impl Places {
    /// So many places, all free.
    pub fn new(most: usize) -> io::Result<Self> {
        let news = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        let board = Board { running: AtomicUsize::new(0), news };
        Ok(Self { most, threads: Vec::new(), board: Arc::new(board) })
    }

    /// Why another client cannot be served now, if it cannot.
    pub fn refusal(&self) -> Option<Refusal> {
        (self.running() >= self.most).then_some(Refusal::Full(self.most))
    }

    /// Serves a client in a thread of its own.
    pub fn spawn(&mut self, serve: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.board.running.fetch_add(1, Ordering::AcqRel);
        let place = TakenPlace(Arc::clone(&self.board));
        let thread = std::thread::Builder::new().name("client".into()).spawn(move || {
            serve();
            drop(place);
        })?;
        self.threads.push(thread);
        Ok(())
    }

    fn running(&self) -> usize {
        self.board.running.load(Ordering::Acquire)
    }

    /// Whether nobody is being served.
    pub fn is_idle(&self) -> bool {
        self.running() == 0
    }

    /// Readable when a place became free since [`Places::sweep`].
    pub fn news(&self) -> BorrowedFd<'_> {
        self.board.news.as_fd()
    }

    /// Takes note of the places that became free.
    pub fn sweep(&mut self) {
        // Nothing to read is no news.
        let _ = self.board.news.read();
        self.threads.retain(|thread| !thread.is_finished());
    }

    /// Waits for all that are being served.
    pub fn join_all(&mut self) {
        for thread in self.threads.drain(..) {
            // Its panic has been printed; the others' lines still count.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_place_is_free_again_after_its_client_even_if_that_ended_in_a_panic() {
        let mut places = Places::new(1).unwrap();
        let (leave, stays) = mpsc::channel::<()>();
        places
            .spawn(move || {
                let _ = stays.recv();
            })
            .unwrap();
        assert_eq!(places.refusal(), Some(Refusal::Full(1)));
        leave.send(()).unwrap();
        places.join_all();
        assert_eq!(places.refusal(), None);
        places.spawn(|| panic!("on purpose")).unwrap();
        places.join_all();
        places.sweep();
        assert_eq!((places.refusal(), places.is_idle()), (None, true));
    }
}
