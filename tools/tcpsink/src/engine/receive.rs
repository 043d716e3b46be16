//! Receiving to the end of a stream. Beside the system call and the add it reads the clock, since the time of the last
//! byte is what it measures; a call empties the socket, so that this is one clock read in 50 KB or more.

use std::io;
use std::time::Instant;

use anyhow::Context;
use socket2::SockRef;

use super::{Lane, Stream, idle};

/// Bytes per receive call into memory: what applications use, and what stays in a core's own cache.
pub const COPY: u64 = 128 * 1024;

/// Most that a discarding call takes. It touches no memory, and so may take all there is.
const DISCARD: u64 = 64 * 1024 * 1024;

/// How a receiver takes bytes out of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intake {
    /// `recv(2)` with `MSG_TRUNC`: the kernel frees them uncopied (tcp(7)).
    Discard,
    /// Into memory, so many bytes per call, as an application would.
    Copy(u64),
}

impl Intake {
    /// The word in the method column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discard => "discard",
            Self::Copy(_) => "copy",
        }
    }

    /// The most that one call takes.
    pub fn message_bytes(self) -> u64 {
        match self {
            Self::Discard => DISCARD,
            Self::Copy(bytes) => bytes,
        }
    }
}

/// Keeps account of what arrives. The first byte is where it begins.
pub struct Arrivals<'a> {
    lane: &'a Lane,
    limit: u64,
    last: Option<Instant>,
}

impl<'a> Arrivals<'a> {
    /// An account that fails above `limit` bytes.
    pub fn new(lane: &'a Lane, limit: Option<u64>) -> Self {
        Self { lane, limit: limit.unwrap_or(u64::MAX), last: None }
    }

    /// `length` bytes arrived by `at`.
    pub fn note(&mut self, length: u64, at: Instant) -> anyhow::Result<()> {
        self.lane.counters.add(length);
        if self.last.replace(at).is_none() {
            self.lane.begin(at);
        }
        if length > self.limit {
            anyhow::bail!("more than is allowed (--max-bytes)");
        }
        self.limit -= length;
        Ok(())
    }
}

impl Drop for Arrivals<'_> {
    fn drop(&mut self) {
        if let Some(last) = self.last {
            self.lane.finish(last);
        }
    }
}

/// Receives to the end of the stream.
pub fn run(stream: &Stream, intake: Intake, limit: Option<u64>, lane: &Lane) -> anyhow::Result<()> {
    let mut memory = Vec::<u8>::new();
    memory.try_reserve_exact(usize::try_from(intake.message_bytes())?).context("no memory to receive into")?;
    let memory = memory.spare_capacity_mut();
    let flags = if intake == Intake::Discard { libc::MSG_TRUNC } else { 0 };
    let socket = SockRef::from(&stream.socket);
    let mut arrivals = Arrivals::new(lane, limit);
    if let Some((bytes, at)) = &stream.early {
        arrivals.note(bytes.len() as u64, *at)?;
    }
    loop {
        match socket.recv_with_flags(memory, flags) {
            Ok(0) => return Ok(()),
            Ok(length) => arrivals.note(length as u64, Instant::now())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if lane.is_halted() => return Ok(()),
            Err(error) => return Err(idle(error, "receive")),
        }
    }
}
