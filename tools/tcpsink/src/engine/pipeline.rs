//! Several requests under way on a connection, as file and block protocols have them: each is timed from its first byte to
//! the last of its response.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use common::files::buffer;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::ping::Sizes;
use super::{Lane, idle};

/// How long a call waits before its thread looks whether it is time to end, milliseconds.
const GLANCE_MS: u8 = 100;

/// How long after the halt the responses to what is under way are waited for.
const DRAIN: Duration = Duration::from_secs(1);

/// Most bytes of responses that are read at a time.
const CHUNK: usize = 128 * 1024;

/// What is under way.
struct Pipeline<'a> {
    sizes: Sizes,
    lane: &'a Lane,
    payload: &'a [u8],
    /// When the requests began whose responses have not come.
    begun: VecDeque<Instant>,
    /// Bytes of the latest request that are still to be written.
    to_write: u64,
    /// Bytes of the oldest response that are still to come.
    to_read: u64,
    last: Instant,
}

/// Keeps `sizes.depth` requests under way until the halt, and then waits for their responses, though not for long.
pub fn ping(socket: &TcpStream, sizes: Sizes, lane: &Lane) -> anyhow::Result<()> {
    socket.set_nonblocking(true)?;
    let payload = buffer::shared()?;
    let now = Instant::now();
    lane.begin(now);
    let mut pipeline =
        Pipeline { sizes, lane, payload, begun: VecDeque::new(), to_write: 0, to_read: sizes.response, last: now };
    let outcome = pipeline.run(socket);
    lane.finish(pipeline.last);
    match outcome {
        Err(error) if !lane.is_halted() => Err(idle(error, "ping")),
        _ => Ok(()),
    }
}

impl Pipeline<'_> {
    fn run(&mut self, socket: &TcpStream) -> io::Result<()> {
        let mut memory = vec![0; CHUNK];
        let mut end = None;
        loop {
            let is_halted = self.lane.is_halted();
            if is_halted && self.to_write > 0 {
                // What is left of a request is none, and its response will not come.
                self.to_write = 0;
                self.begun.pop_back();
            }
            if is_halted && self.begun.is_empty() {
                return Ok(());
            }
            if is_halted && Instant::now() >= *end.get_or_insert_with(|| Instant::now() + DRAIN) {
                return refuse_the_rest(socket, &mut memory);
            }
            let wants_to_write = match self.write_unless(is_halted, socket) {
                // The halt came just before, and whoever halts shuts this side down: what is under way still comes back.
                // The other end could not send it, and would not end, if nobody took it.
                Err(_) if self.lane.is_halted() => continue,
                wants_to_write => wants_to_write?,
            };
            wait(socket, wants_to_write)?;
            self.read(socket, &mut memory)?;
        }
    }

    fn write_unless(&mut self, is_halted: bool, socket: &TcpStream) -> io::Result<bool> {
        if is_halted { Ok(false) } else { self.write(socket) }
    }

    /// Writes what fits; whether more is to be written.
    fn write(&mut self, mut socket: &TcpStream) -> io::Result<bool> {
        loop {
            if self.to_write == 0 {
                if self.begun.len() as u64 >= self.sizes.depth {
                    return Ok(false);
                }
                self.begun.push_back(Instant::now());
                self.to_write = self.sizes.request;
            }
            let portion = self.payload.len().min(usize::try_from(self.to_write).unwrap_or(usize::MAX));
            match socket.write(&self.payload[..portion]) {
                Ok(written) => self.to_write -= written as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Whoever halts closes this end's way out.
                Err(_) if self.lane.is_halted() => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes what is there, at most a buffer of it: then there may be room to write.
    fn read(&mut self, mut socket: &TcpStream, memory: &mut [u8]) -> io::Result<()> {
        match socket.read(memory) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => self.take(length as u64),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// So many bytes of responses have come.
    fn take(&mut self, mut length: u64) -> io::Result<()> {
        let now = Instant::now();
        while length > 0 {
            let portion = length.min(self.to_read);
            length -= portion;
            self.to_read -= portion;
            if self.to_read == 0 {
                let Some(begun) = self.begun.pop_front() else {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "more came back than was asked for"));
                };
                self.lane.record(now - begun);
                self.lane.counters.add(self.sizes.request + self.sizes.response);
                self.last = now;
                self.to_read = self.sizes.response;
            }
        }
        Ok(())
    }
}

/// The other end must not wait until somebody takes its responses: what comes after this resets the connection, and what is
/// here already makes way for it.
fn refuse_the_rest(mut socket: &TcpStream, memory: &mut [u8]) -> io::Result<()> {
    socket.shutdown(Shutdown::Both)?;
    while socket.read(memory)? > 0 {}
    Ok(())
}

fn wait(socket: &TcpStream, wants_to_write: bool) -> io::Result<()> {
    let write = if wants_to_write { PollFlags::POLLOUT } else { PollFlags::empty() };
    match poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN | write)], PollTimeout::from(GLANCE_MS)) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
