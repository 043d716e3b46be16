//! A control connection: lines both ways, each within a deadline and a size.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::stop::{self, Stop};
use nix::sys::socket::{MsgFlags, recv, send};

use crate::protocol::MAX_LINE;

/// The connection, and what has been read of it but not yet looked at.
#[derive(Debug)]
pub struct Control {
    stream: Arc<TcpStream>,
    unread: Vec<u8>,
}

impl Control {
    /// Takes over a connection of which `unread` has been read already.
    pub fn new(stream: impl Into<Arc<TcpStream>>, unread: Vec<u8>) -> io::Result<Self> {
        let stream = stream.into();
        stream.set_nodelay(true)?;
        Ok(Self { stream, unread })
    }

    /// The connection itself.
    pub fn stream(&self) -> &Arc<TcpStream> {
        &self.stream
    }

    /// Whether the other end has closed it, and nothing is left to be read.
    pub fn is_closed(&self) -> bool {
        let peek = recv(self.stream.as_raw_fd(), &mut [0], MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT);
        !matches!(peek, Ok(1..) | Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR))
    }

    /// Reads one line, LF taken off. `None` at the end of the stream.
    pub fn read_line(&mut self, deadline: Option<Instant>) -> io::Result<Option<Vec<u8>>> {
        self.read(deadline, |socket| stop::wait_for(socket.as_fd(), deadline))
    }

    /// The same, which `stop` ends too: then it is interrupted.
    pub fn read_line_unless(&mut self, stop: &Stop, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
        self.read(Some(deadline), |socket| {
            let ready = stop.wait(&[socket.as_fd()], Some(deadline))?;
            if stop.is_set() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(ready.contains(&true)) }
        })
    }

    fn read(
        &mut self,
        deadline: Option<Instant>,
        is_ready: impl Fn(&TcpStream) -> io::Result<bool>,
    ) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let rest = self.unread.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.unread, rest);
                line.truncate(end);
                return Ok(Some(line));
            }
            if self.unread.len() >= MAX_LINE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "line without an end"));
            }
            if deadline.is_some_and(|at| Instant::now() >= at) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if is_ready(&self.stream)? {
                let mut chunk = [0; 4096];
                match (&*self.stream).read(&mut chunk) {
                    Ok(0) => return Ok(None),
                    Ok(length) => self.unread.extend_from_slice(&chunk[..length]),
                    Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
}

/// Writes a line in one call; gives up after five seconds, since it must never hold a measurement up.
pub fn write_line(mut stream: &TcpStream, line: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(line.as_bytes())
}

/// Writes a line if there is room for all of it.
pub fn write_at_once(stream: &TcpStream, line: &str) -> io::Result<()> {
    let sent = send(stream.as_raw_fd(), line.as_bytes(), MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL)?;
    if sent == line.len() { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
}
