//! Sending random bytes: one system call and one add a round; with a rate, also the clock.

use std::fs::File;
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use common::files::buffer;
use common::pace::Pace;
use common::sys;
use memmap2::MmapMut;
use nix::sys::memfd::{MFdFlags, memfd_create};

use super::zerocopy::Reaper;
use super::{Lane, Method, wait_for_room};

/// Bytes offered per send call. On loopback, calls of 1 MiB moved 1.3 times as much as calls of 128 KiB: each call ends
/// in a short segment of its own. A slow path takes less per call, see [`Sender::push`].
pub const MESSAGE: u64 = buffer::SHARED as u64;

/// A paced sender wakes this often where the rate fills segments, and less often where it does not.
const BEAT: Duration = Duration::from_millis(1);
const SLOW_BEAT: Duration = Duration::from_millis(20);

/// What fills a segment on Ethernet.
const SEGMENT: u64 = 1448;

/// How one stream is to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Sending {
    /// Exactly so many bytes, instead of until the halt.
    pub quota: Option<u64>,
    /// Bytes per call, at most.
    pub message: u64,
    /// Way into the kernel.
    pub method: Method,
    /// Bytes per second.
    pub rate: Option<u64>,
}

/// Where the bytes come from: one variant per way into the kernel.
enum Payload {
    Memory(MmapMut),
    /// What all threads send from. Pinned or mapped pages are not shared: their counts of users would be contended.
    Shared(&'static [u8]),
    Memfd(File, usize),
    Pinned(MmapMut, Reaper),
}

impl Payload {
    fn new(sending: &Sending, socket: &TcpStream) -> anyhow::Result<Self> {
        // A small amount needs no large buffer: filling it would cost more than sending it.
        let length = usize::try_from(sending.message.min(sending.quota.unwrap_or(u64::MAX)).max(1))?;
        if matches!(sending.method, Method::Auto | Method::Write) && length <= buffer::SHARED {
            return Ok(Self::Shared(&buffer::shared()?[..length]));
        }
        let bytes = buffer::incompressible(length)?;
        Ok(match sending.method {
            Method::Auto | Method::Write => Self::Memory(bytes),
            Method::Sendfile => {
                let mut file = File::from(memfd_create("tcpsink", MFdFlags::MFD_CLOEXEC).context("memfd_create")?);
                file.write_all(&bytes)?;
                Self::Memfd(file, length)
            }
            Method::Zerocopy => {
                sys::set_zerocopy(socket.as_fd()).context("this kernel has no SO_ZEROCOPY")?;
                Self::Pinned(bytes, Reaper::default())
            }
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Memory(bytes) | Self::Pinned(bytes, _) => bytes.len(),
            Self::Shared(bytes) => bytes.len(),
            Self::Memfd(_, length) => *length,
        }
    }

    fn send(&mut self, mut socket: &TcpStream, length: usize) -> io::Result<usize> {
        match self {
            Self::Memory(bytes) => socket.write(&bytes[..length]),
            Self::Shared(bytes) => socket.write(&bytes[..length]),
            Self::Memfd(file, _) => {
                let mut offset = 0;
                Ok(nix::sys::sendfile::sendfile64(socket, file, Some(&mut offset), length)?)
            }
            Self::Pinned(bytes, reaper) => reaper.send(socket, &bytes[..length]),
        }
    }
}

/// A stream that is ready to be sent.
pub struct Sender<'a> {
    socket: &'a TcpStream,
    payload: Payload,
    quota: Option<u64>,
    rate: Option<u64>,
}

impl<'a> Sender<'a> {
    /// Prepares the payload.
    pub fn new(socket: &'a TcpStream, sending: &Sending) -> anyhow::Result<Self> {
        socket.set_nonblocking(true)?;
        let payload = Payload::new(sending, socket)?;
        if let Some(rate) = sending.rate {
            // Between two beats the kernel spaces the segments. If it cannot, the beats alone keep the rate.
            let _ = sys::set_max_pacing_rate(socket.as_fd(), rate);
        }
        Ok(Self { socket, payload, quota: sending.quota, rate: sending.rate })
    }

    /// Sends until the halt, or to the quota.
    pub fn run(mut self, lane: &Lane) -> anyhow::Result<()> {
        let start = Instant::now();
        lane.begin(start);
        let outcome = match self.rate {
            None => self.push(lane),
            Some(rate) => self.push_paced(Pace::new(rate, start), rate, lane),
        };
        lane.finish(Instant::now());
        if let Payload::Pinned(_, reaper) = &mut self.payload {
            lane.own.fell_back.store(reaper.finish(self.socket), Ordering::Relaxed);
        }
        // Whoever halts a waiting sender shuts its socket down.
        if lane.is_halted() { Ok(()) } else { outcome.context("cannot send") }
    }

    /// The socket does not block: a call takes what fits, so that the count is right at every moment on slow paths too.
    fn push(&mut self, lane: &Lane) -> io::Result<()> {
        // Without a quota this counts down from 2^64: 58 years at 10 GB/s.
        let mut left = self.quota.unwrap_or(u64::MAX);
        let most = self.payload.len() as u64;
        while left > 0 && !lane.is_halted() {
            left -= self.send(left.min(most), lane)?;
        }
        Ok(())
    }

    fn push_paced(&mut self, mut pace: Pace, rate: u64, lane: &Lane) -> io::Result<()> {
        let per_beat =
            |beat: Duration| u64::try_from(u128::from(rate) * beat.as_nanos() / 1_000_000_000).unwrap_or(u64::MAX);
        let portion = per_beat(BEAT).max(SEGMENT.min(per_beat(SLOW_BEAT))).max(1).min(self.payload.len() as u64);
        let mut left = self.quota.unwrap_or(u64::MAX);
        while left > 0 && !lane.is_halted() {
            let now = Instant::now();
            // Part of a portion may be due already, after a short write.
            let due = pace.allowance(now, left.min(self.payload.len() as u64));
            if due >= portion.min(left) {
                let sent = self.send(due, lane)?;
                pace.sent(sent, Instant::now());
                left -= sent;
            } else {
                let missing = portion.min(left) - due;
                let nanos = missing.saturating_mul(1_000_000_000).div_ceil(rate);
                // Whoever halts wakes this thread.
                std::thread::park_timeout(Duration::from_nanos(nanos).min(SLOW_BEAT));
            }
        }
        Ok(())
    }

    /// Sends what fits of `length` bytes; none if it had to wait.
    fn send(&mut self, length: u64, lane: &Lane) -> io::Result<u64> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match self.payload.send(self.socket, length) {
            Ok(sent) => {
                lane.counters.add(sent as u64);
                Ok(sent as u64)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(self.socket).map(|()| 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) => Err(error),
        }
    }
}
