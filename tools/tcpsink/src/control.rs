//! A control connection: lines both ways, each within a deadline and a size.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::protocol::MAX_LINE;

/// The connection, and what has been read of it but not yet looked at.
#[derive(Debug)]
pub struct Control {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Control {
    /// Takes over a connection of which `unread` has been read already.
    pub fn new(stream: TcpStream, unread: Vec<u8>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, unread })
    }

    /// The connection itself.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads one line, LF taken off. `None` at the end of the stream.
    pub fn read_line(&mut self, deadline: Option<Instant>) -> io::Result<Option<Vec<u8>>> {
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
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
            self.stream.set_read_timeout(left)?;
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(length) => self.unread.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::ErrorKind::TimedOut.into()),
                Err(error) => return Err(error),
            }
            if deadline.is_some_and(|at| Instant::now() >= at) && !self.unread.contains(&b'\n') {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Writes a line in one call; gives up after five seconds, since it must never hold a measurement up.
pub fn write_line(mut stream: &TcpStream, line: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(line.as_bytes())
}
