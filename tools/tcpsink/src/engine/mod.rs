//! The hot loops. Each moves bytes one way for one stream, adds to its lane, and knows nothing of lines and spans.

pub mod connect;
pub mod file;
pub mod ping;
pub mod pipeline;
pub mod receive;
pub mod send;
mod zerocopy;

use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout};

// Auto is write: with calls of 1 MiB and a discarding receiver it moved 43 Gbit/s on loopback, where sendfile moved 31
// (page by page) and zerocopy 27; over veth 27, 22 and 20, since the kernel copies there after all. A NIC may differ.
/// How a sender hands bytes to the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
#[allow(clippy::doc_markdown, reason = "the texts are help for a terminal first")]
pub enum Method {
    /// What was fastest wherever we measured: write
    #[default]
    Auto,
    /// write(2): the kernel copies
    Write,
    /// sendfile(2) from memory
    Sendfile,
    /// MSG_ZEROCOPY; where the kernel copies all the same, the line is flagged fallback
    Zerocopy,
}

impl Method {
    /// The word in the `method` column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Write => "write",
            Self::Sendfile => "sendfile",
            Self::Zerocopy => "zerocopy",
        }
    }
}

/// One connection of a test.
#[derive(Debug)]
pub struct Stream {
    /// The connection.
    pub socket: TcpStream,
    /// Payload that was read together with the opening line, and when.
    pub early: Option<(Vec<u8>, Instant)>,
}

/// What one worker shares beside what it counts.
#[derive(Debug, Default)]
pub struct Own {
    /// Where its time went, where files are read or written.
    pub stages: Option<Stages>,
    /// The kernel did not do what the method promises.
    pub fell_back: AtomicBool,
    /// Bytes that arrived so long after the time asked for that they are not counted.
    pub after_end: AtomicU64,
    /// Attempts that failed.
    pub failed: AtomicU64,
}

/// A worker's lane.
pub type Lane = common::measure::lane::Lane<Own>;

/// Time spent in each of the two steps of moving a file: reading and sending it, or writing and syncing it.
#[derive(Debug, Default)]
pub struct Stages([Stopwatch; 2]);

/// [`Stages`] at one moment.
pub type StageTimes = [Duration; 2];

impl Stages {
    /// The times by now.
    pub fn snapshot(&self) -> StageTimes {
        [0, 1].map(|step| Duration::from_nanos(self.0[step].0.load(Ordering::Relaxed)))
    }

    /// Reading or writing the file.
    fn file(&self) -> &Stopwatch {
        &self.0[0]
    }

    /// Sending it, or syncing it to disk.
    fn other(&self) -> &Stopwatch {
        &self.0[1]
    }
}

#[derive(Debug, Default)]
struct Stopwatch(AtomicU64);

impl Stopwatch {
    fn time<T>(&self, step: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = step();
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanos, Ordering::Relaxed);
        result
    }
}

/// Waits until a non-blocking socket takes more. A shutdown by whoever halts ends it too.
fn wait_for_room(socket: &TcpStream) -> io::Result<()> {
    match nix::poll::poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], PollTimeout::NONE) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A deadline that passed without a sign of the other end: there is no use in waiting for it once more.
#[derive(Debug, thiserror::Error)]
#[error("no {0} in time (--idle-timeout)")]
pub struct Silence(pub &'static str);

/// What a blocked receive means.
fn idle(error: io::Error, doing: &str) -> anyhow::Error {
    if error.kind() == io::ErrorKind::WouldBlock {
        Silence("byte arrived").into()
    } else {
        anyhow::Error::new(error).context(format!("cannot {doing}"))
    }
}
