//! Connect, say one line, get one byte, close: what a connection costs, and how long it takes until the other end's
//! application answers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use socket2::SockRef;

use super::{Lane, Silence, idle};
use crate::socket::{self, Options};

/// Pause after an attempt that failed.
const BREATH: Duration = Duration::from_millis(1);
/// How often a connection on its way looks for a halt. In the options of the socket, and so it costs no call more.
const GLANCE: Duration = Duration::from_millis(100);

/// Where to connect to, again and again.
#[derive(Debug, Clone)]
pub struct Knock {
    /// The sink.
    pub address: SocketAddr,
    /// How.
    pub options: Options,
    /// What to say: it names the test.
    pub line: String,
    /// Longest wait for one connection.
    pub patience: Duration,
}

impl Knock {
    /// Connects until the halt.
    pub fn run(&self, lane: &Lane) -> anyhow::Result<()> {
        let mut before = Instant::now();
        let mut answered = before;
        lane.begin(before);
        let mut outcome = Ok(());
        while !lane.is_halted() {
            outcome = self.once(lane, before);
            let now = Instant::now();
            if outcome.is_ok() {
                lane.counters.add(1);
                lane.record(now - before);
                answered = now;
                before = now;
            } else if lane.is_halted() {
                break;
            } else {
                lane.own.failed.fetch_add(1, Ordering::Relaxed);
                if now - answered >= self.patience {
                    break;
                }
                // Whoever refuses at once would be asked as often as a CPU can.
                before = lane.rest_until(now + BREATH);
            }
        }
        lane.finish(Instant::now());
        if lane.is_halted() { Ok(()) } else { outcome }
    }

    fn once(&self, lane: &Lane, begun: Instant) -> anyhow::Result<()> {
        let socket = self.options.socket_for(self.address)?;
        // Closing resets the connection: it leaves no TIME_WAIT behind, and the ports never run out.
        socket.set_linger(Some(Duration::ZERO)).context("cannot set SO_LINGER")?;
        let mut stream = TcpStream::from(socket);
        // connect(2) heeds the send timeout (socket(7)).
        socket::set_timeouts(&stream, GLANCE)?;
        let has_time = || !lane.is_halted() && begun.elapsed() < self.patience;
        let connected = match SockRef::from(&stream).connect(&self.address.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => finish(&stream, has_time),
            connected => connected.map_err(Into::into),
        };
        connected.with_context(|| format!("cannot connect to {}", self.address))?;
        stream
            .write_all(self.line.as_bytes())
            .and_then(|()| answer(&mut stream, has_time))
            .map_err(|error| idle(error, "get an answer"))
    }
}

/// Waits for a connection that takes longer than a glance.
fn finish(stream: &TcpStream, has_time: impl Fn() -> bool) -> anyhow::Result<()> {
    let timeout = PollTimeout::try_from(GLANCE).unwrap_or(PollTimeout::ZERO);
    while has_time() {
        let mut fds = [PollFd::new(stream.as_fd(), PollFlags::POLLOUT)];
        if nix::poll::poll(&mut fds, timeout).unwrap_or(0) > 0 {
            return stream.take_error()?.map_or(Ok(()), |error| Err(error.into()));
        }
    }
    Err(Silence("answer came").into())
}

fn answer(stream: &mut TcpStream, has_time: impl Fn() -> bool) -> io::Result<()> {
    loop {
        match stream.read_exact(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && has_time() => {}
            outcome => return outcome,
        }
    }
}
