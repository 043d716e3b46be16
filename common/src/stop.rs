//! How a measurement ends before its time: a signal, a reader that went away, or a part that failed.
//!
//! A [`Stop`] is a flag that a hot loop loads and a descriptor that everything else sleeps on, so that nobody polls.
//! The first SIGINT, SIGTERM or SIGHUP sets it and the open span is closed; the second one kills as if there were no
//! handler.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::SigSet;
use nix::sys::time::TimeSpec;
use procfs::process::Process;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, low_level};

/// Set by the first signal that any stop of the process hears.
static SIGNALLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether a signal has told the process to end.
pub fn was_signalled() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

const NOT_SET: usize = 0;
const REQUESTED: usize = usize::MAX;
const READER_GONE: usize = usize::MAX - 1;

/// Why a measurement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// SIGINT, SIGTERM or SIGHUP, by number.
    Signal(i32),
    /// Nobody reads stdout any more.
    ReaderGone,
    /// A part of the tool asked for it.
    Requested,
}

/// A stop that may be shared and nested: a child is set when its parent is.
#[derive(Debug, Clone)]
pub struct Stop(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Arc<AtomicUsize>,
    /// Readable for ever once the stop is set: it is never drained.
    sleepers: UnixStream,
    alarm: UnixStream,
    parent: Option<Stop>,
    /// The pipe on stdout, if that is what it is.
    reader: Option<OwnedFd>,
}

impl Stop {
    /// The process's stop: set by SIGINT, SIGTERM and SIGHUP (unless nohup(1) wants it ignored), and by the end of whoever
    /// reads the pipe `reader`. A limit on the size of files (`ulimit -f`) is an error of the write (EFBIG), no death.
    pub fn on_signals(reader: Option<OwnedFd>) -> io::Result<Self> {
        let stop = Self::build(None, reader)?;
        let armed = Arc::new(AtomicBool::new(false));
        flag::register(SIGXFSZ, Arc::default())?;
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            // The order is the order of execution: a second signal finds the flag that the first one left.
            flag::register_conditional_default(signal, Arc::clone(&armed))?;
            flag::register_usize(signal, Arc::clone(&stop.0.state), usize::try_from(signal).unwrap_or(REQUESTED))?;
            flag::register(signal, Arc::clone(&armed))?;
            flag::register(signal, Arc::clone(&SIGNALLED))?;
            low_level::pipe::register(signal, stop.0.alarm.try_clone()?)?;
        }
        Ok(stop)
    }

    /// A stop that only [`Stop::set`] sets.
    pub fn on_request() -> io::Result<Self> {
        Self::build(None, None)
    }

    /// A stop for one part of the work.
    pub fn child(&self) -> io::Result<Self> {
        Self::build(Some(self.clone()), None)
    }

    fn build(parent: Option<Self>, reader: Option<OwnedFd>) -> io::Result<Self> {
        let (sleepers, alarm) = UnixStream::pair()?;
        alarm.set_nonblocking(true)?;
        Ok(Self(Arc::new(Inner { state: Arc::new(AtomicUsize::new(NOT_SET)), sleepers, alarm, parent, reader })))
    }

    /// Whether it is time to end.
    pub fn is_set(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) != NOT_SET || self.0.parent.as_ref().is_some_and(Self::is_set)
    }

    /// Why, once it is set.
    pub fn reason(&self) -> Option<Reason> {
        match self.0.state.load(Ordering::Relaxed) {
            NOT_SET => self.0.parent.as_ref().and_then(Self::reason),
            REQUESTED => Some(Reason::Requested),
            READER_GONE => Some(Reason::ReaderGone),
            signal => Some(Reason::Signal(i32::try_from(signal).unwrap_or(SIGTERM))),
        }
    }

    /// Ends the work of this stop and of its children.
    pub fn set(&self) {
        self.set_to(REQUESTED);
    }

    /// Ends the work because nobody reads stdout.
    pub fn set_reader_gone(&self) {
        self.set_to(READER_GONE);
    }

    fn set_to(&self, reason: usize) {
        let first = self.0.state.compare_exchange(NOT_SET, reason, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if first {
            // A full pipe is readable already.
            let _ = (&self.0.alarm).write(b"!");
        }
    }

    /// Sleeps until the stop is set, one of `others` is readable, or `deadline`; says which of them are.
    pub fn wait(&self, others: &[BorrowedFd<'_>], deadline: Option<Instant>) -> io::Result<Vec<bool>> {
        self.wait_on(others, PollFlags::POLLIN, deadline)
    }

    /// The same for what is connected, or can be written to.
    pub fn wait_to_write(&self, others: &[BorrowedFd<'_>], deadline: Option<Instant>) -> io::Result<Vec<bool>> {
        self.wait_on(others, PollFlags::POLLOUT, deadline)
    }

    fn wait_on(&self, others: &[BorrowedFd<'_>], event: PollFlags, deadline: Option<Instant>) -> io::Result<Vec<bool>> {
        let mut readers = Vec::new();
        let mut polled: Vec<_> = others.iter().map(|fd| PollFd::new(*fd, event)).collect();
        let mut level = Some(self);
        while let Some(stop) = level {
            polled.push(PollFd::new(stop.0.sleepers.as_fd(), PollFlags::POLLIN));
            if let Some(reader) = &stop.0.reader {
                readers.push((polled.len(), stop));
                // A pipe reports POLLERR, asked or not, when its last reader closed.
                polled.push(PollFd::new(reader.as_fd(), PollFlags::empty()));
            }
            level = stop.0.parent.as_ref();
        }
        let mut ready = poll(&mut polled, deadline)?;
        for (index, stop) in readers {
            if ready[index] {
                stop.set_reader_gone();
            }
        }
        ready.truncate(others.len());
        Ok(ready)
    }
}

/// Work that was told to stop before it began.
#[derive(Debug, thiserror::Error)]
#[error("told to stop")]
pub struct Stopped;

/// Whether whoever started us wants the signal ignored (`SigIgn` in proc(5)).
fn is_ignored(signal: i32) -> bool {
    let status = Process::myself().and_then(|process| process.status());
    status.is_ok_and(|status| status.sigign & (1 << (signal - 1)) != 0)
}

/// Sleeps until `fd` is readable or `deadline`, whatever else happens: for the end that follows a stop. Whether it is readable.
pub fn wait_for(fd: BorrowedFd<'_>, deadline: Option<Instant>) -> io::Result<bool> {
    Ok(poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], deadline)?.contains(&true))
}

/// Sleeps until `fd` can be written to or `deadline`, whatever else happens: for the same. Says whether it can.
pub fn wait_for_room(fd: BorrowedFd<'_>, deadline: Instant) -> io::Result<bool> {
    loop {
        let is_there = poll(&mut [PollFd::new(fd, PollFlags::POLLOUT)], Some(deadline))?.first() == Some(&true);
        if is_there || Instant::now() >= deadline {
            return Ok(is_there);
        }
    }
}

fn poll(polled: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<Vec<bool>> {
    let timeout = deadline.map(|at| TimeSpec::from(at.saturating_duration_since(Instant::now())));
    match nix::poll::ppoll(polled, timeout, None::<SigSet>) {
        Ok(_) => Ok(polled.iter().map(|fd| fd.any().unwrap_or(false)).collect()),
        Err(nix::errno::Errno::EINTR) => Ok(vec![false; polled.len()]),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_child_ends_with_its_parent_but_not_the_other_way_round() {
        let parent = Stop::on_request().unwrap();
        let child = parent.child().unwrap();
        child.child().unwrap().set();
        assert!(!child.is_set());
        parent.set();
        assert_eq!(child.reason(), Some(Reason::Requested));
    }

    #[test]
    fn a_set_stop_wakes_every_sleeper() {
        let parent = Stop::on_request().unwrap();
        let child = parent.child().unwrap();
        parent.set();
        let far = Instant::now() + Duration::from_mins(1);
        for _ in 0..2 {
            child.wait(&[], Some(far)).unwrap();
        }
        assert!(Instant::now() < far);
    }

    #[test]
    fn notices_that_the_reader_of_a_pipe_went_away() {
        let (read_end, write_end) = nix::unistd::pipe().unwrap();
        let stop = Stop::build(None, Some(write_end)).unwrap();
        stop.wait(&[], Some(Instant::now() + Duration::from_millis(1))).unwrap();
        assert_eq!(stop.reason(), None);
        drop(read_end);
        stop.child().unwrap().wait(&[], Some(Instant::now() + Duration::from_mins(1))).unwrap();
        assert_eq!(stop.reason(), Some(Reason::ReaderGone));
    }
}
