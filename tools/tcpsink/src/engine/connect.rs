//! Connect, say one line, get one byte, close: what a connection costs, and how long it takes until the other end's
//! application answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use socket2::SockRef;

use super::{Lane, idle};
use crate::socket::{self, Options};

/// Pause after an attempt that failed.
const BREATH: Duration = Duration::from_millis(1);

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
            outcome = self.once();
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

    fn once(&self) -> anyhow::Result<()> {
        let socket = self.options.socket_for(self.address)?;
        // Closing resets the connection: it leaves no TIME_WAIT behind, and the ports never run out.
        socket.set_linger(Some(Duration::ZERO)).context("cannot set SO_LINGER")?;
        let mut stream = TcpStream::from(socket);
        // connect(2) heeds the send timeout (socket(7)).
        socket::set_timeouts(&stream, self.patience)?;
        SockRef::from(&stream)
            .connect(&self.address.into())
            .with_context(|| format!("cannot connect to {}", self.address))?;
        let mut answer = [0];
        stream
            .write_all(self.line.as_bytes())
            .and_then(|()| stream.read_exact(&mut answer))
            .map_err(|error| idle(error, "get an answer"))
    }
}
