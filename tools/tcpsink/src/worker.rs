//! The hot loops: one system call and one add per round. Only the receiver reads the clock too, since the time of the
//! last byte is what it measures; a call there empties the socket, so that this is one clock read in 100 KB or more.

use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context;
use common::counters::Counters;
use common::workers::Bell;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use socket2::SockRef;

/// What the workers of one flow share with its sampler.
#[derive(Debug, Default)]
pub struct Shared {
    /// Set when it is time to end.
    pub halt: AtomicBool,
    /// When the first byte of all moved.
    pub first: OnceLock<Instant>,
}

impl Shared {
    fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }
}

/// Bytes offered per send call. On loopback, calls of 1 MiB moved 1.3 times as much as calls of 128 KiB: each call ends
/// in a short segment of its own. A slow path takes less per call, see [`push`].
pub const MESSAGE: usize = 1024 * 1024;

/// Bytes per receive call into memory: what applications use, and what stays in a core's own cache.
const COPY: usize = 128 * 1024;

/// How a receiver takes bytes out of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intake {
    /// `recv(2)` with `MSG_TRUNC`: the kernel frees them uncopied (tcp(7)).
    Discard,
    /// Into memory, as an application would.
    Copy,
}

impl Intake {
    /// The word in the method column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discard => "discard",
            Self::Copy => "copy",
        }
    }

    /// The most that one call takes. A discarding call touches no memory, so that it may take all there is.
    pub fn message_bytes(self) -> usize {
        match self {
            Self::Discard => 64 * 1024 * 1024,
            Self::Copy => COPY,
        }
    }
}

/// One connection of a test.
#[derive(Debug)]
pub struct Stream {
    /// The connection.
    pub socket: TcpStream,
    /// Payload that was read together with the opening line, and when.
    pub early: Option<(u64, Instant)>,
}

/// What one worker shares with the sampler.
#[derive(Debug, Default)]
pub struct Lane {
    /// What it moved.
    pub counters: Counters,
    /// When its last byte moved; set at its end, if it moved any.
    pub last: OnceLock<Instant>,
}

/// Sends `payload` over and over until the halt, or exactly `quota` bytes of it.
pub fn send(
    socket: &TcpStream,
    payload: &[u8],
    quota: Option<u64>,
    shared: &Shared,
    lane: &Lane,
    bell: &Bell,
) -> anyhow::Result<()> {
    shared.first.get_or_init(Instant::now);
    bell.ring();
    let outcome = push(socket, payload, quota, shared, lane);
    lane.last.get_or_init(Instant::now);
    // Whoever halts a waiting sender shuts its socket down.
    if shared.is_halted() { Ok(()) } else { outcome.context("cannot send") }
}

/// The socket does not block: a call takes what fits, so that the count is right at every moment on slow paths too.
fn push(mut socket: &TcpStream, payload: &[u8], quota: Option<u64>, shared: &Shared, lane: &Lane) -> io::Result<()> {
    let mut left = quota.unwrap_or(u64::MAX);
    while left > 0 && !shared.is_halted() {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(payload.len());
        match socket.write(&payload[..length]) {
            Ok(sent) => {
                lane.counters.add(sent as u64);
                // Without a quota this counts down from 2^64: 58 years at 10 GB/s.
                left -= sent as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(socket)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait_for_room(socket: &TcpStream) -> io::Result<()> {
    match nix::poll::poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)], PollTimeout::NONE) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Receives to the end of the stream. Rings at the first byte.
pub fn receive(stream: &Stream, intake: Intake, shared: &Shared, lane: &Lane, bell: &Bell) -> anyhow::Result<()> {
    let mut memory = Vec::<u8>::with_capacity(intake.message_bytes());
    let memory = memory.spare_capacity_mut();
    let flags = if intake == Intake::Discard { libc::MSG_TRUNC } else { 0 };
    let socket = SockRef::from(&stream.socket);
    let mut last = None;
    let mut note = |length: u64, at: Instant| {
        lane.counters.add(length);
        if last.replace(at).is_none() {
            shared.first.get_or_init(|| at);
            bell.ring();
        }
    };
    if let Some((length, at)) = stream.early {
        note(length, at);
    }
    let outcome = loop {
        match socket.recv_with_flags(memory, flags) {
            Ok(0) => break Ok(()),
            Ok(length) => note(length as u64, Instant::now()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if shared.is_halted() => break Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                break Err(anyhow::anyhow!("no byte arrived in time (--idle-timeout)"));
            }
            Err(error) => break Err(error).context("cannot receive"),
        }
    };
    if let Some(last) = last {
        lane.last.get_or_init(|| last);
    }
    outcome
}
