//! What a client is told while its test goes on. A client that does not read holds nobody up, and costs little: its lines
//! wait here, and when there are too many of them, those of intervals give way.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::stop::{self, Stop};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};

use crate::protocol::FromSink;

/// Most bytes of intervals that wait: hundreds of lines.
const MOST: usize = 128 * 1024;

/// How long a client may take nothing of its last lines, and how long it has for all of them when the sink is told to end.
const PAUSE: Duration = Duration::from_secs(5);
const LAST_WORD: Duration = Duration::from_secs(1);

/// How often whoever waits for a client looks for a stop.
const GLANCE: Duration = Duration::from_millis(100);

/// What waits for a client.
#[derive(Debug)]
pub struct Outbox {
    stream: Arc<TcpStream>,
    waiting: Mutex<Waiting>,
}

impl Outbox {
    /// For the client at the other end of `stream`.
    pub fn new(stream: Arc<TcpStream>) -> Self {
        Self { stream, waiting: Mutex::default() }
    }

    /// Tells it, as far as it reads.
    pub fn tell(&self, word: &FromSink) {
        self.add(word.text(), true);
    }

    /// Tells it of an interval, unless it is too far behind.
    pub fn mention(&self, word: &FromSink) {
        self.add(word.text(), false);
    }

    fn add(&self, line: String, is_vital: bool) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.add(line, is_vital);
        self.send(&mut waiting);
    }

    /// Sends what the client takes; how much it has taken by now, if that is not all.
    pub fn flush(&self) -> Option<u64> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        self.send(&mut waiting);
        (!waiting.lines.is_empty()).then_some(waiting.taken)
    }

    fn send(&self, waiting: &mut Waiting) {
        while let Some(rest) = waiting.next() {
            let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
            match send(self.stream.as_raw_fd(), rest.as_bytes(), flags) {
                Ok(sent) => waiting.took(sent),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                // A client that is gone shows in its streams, too.
                Err(_) => waiting.lines.clear(),
            }
        }
    }

    /// Waits until the client has taken all of it, takes no more, or until `deadline`; not much longer once `stop` is set.
    pub fn drain(&self, mut deadline: Instant, stop: &Stop) {
        let mut is_told = false;
        let mut seen = (0, Instant::now());
        while let Some(taken) = self.flush() {
            let now = Instant::now();
            if taken > seen.0 {
                seen = (taken, now);
            }
            if now >= deadline || now >= seen.1 + PAUSE {
                return;
            }
            // Whatever comes of it, the deadline ends this.
            let _ = stop::wait_for_room(self.stream.as_fd(), deadline.min(Instant::now() + GLANCE));
            if stop.is_set() && !is_told {
                is_told = true;
                deadline = deadline.min(Instant::now() + LAST_WORD);
            }
        }
    }
}

/// Lines in their order, each with whether it has to arrive.
#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<(String, bool)>,
    /// Bytes of the first one that have gone: it has to be gone with.
    gone: usize,
    /// Bytes of those that may give way.
    spare_bytes: usize,
    /// Bytes that have gone in all.
    taken: u64,
}

impl Waiting {
    fn add(&mut self, line: String, is_vital: bool) {
        self.spare_bytes += if is_vital { 0 } else { line.len() };
        self.lines.push_back((line, is_vital));
        while self.spare_bytes > MOST {
            let begun = usize::from(self.gone > 0);
            let oldest = self.lines.iter().skip(begun).position(|(_, is_vital)| !is_vital);
            let Some((line, _)) = oldest.and_then(|oldest| self.lines.remove(begun + oldest)) else { return };
            self.spare_bytes -= line.len();
        }
    }

    fn next(&self) -> Option<&str> {
        self.lines.front().map(|(line, _)| line.get(self.gone..).unwrap_or_default())
    }

    fn took(&mut self, sent: usize) {
        self.gone += sent;
        self.taken += sent as u64;
        if let Some((line, is_vital)) = self.lines.front().filter(|(line, _)| self.gone >= line.len()) {
            self.spare_bytes -= if *is_vital { 0 } else { line.len() };
            self.lines.pop_front();
            self.gone = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_arrive_does_and_the_oldest_of_the_rest_give_way() {
        let mut waiting = Waiting::default();
        waiting.add("begun\n".into(), false);
        waiting.took(2);
        waiting.add("vital\n".into(), true);
        for number in 0..5000 {
            waiting.add(format!("{number:0200}\n"), false);
        }
        assert!(waiting.spare_bytes <= MOST);
        waiting.add("end\n".into(), true);
        let mut read = String::new();
        while let Some(next) = waiting.next() {
            // In pieces of three bytes.
            let piece = next.len().min(3);
            read += &next[..piece];
            waiting.took(piece);
        }
        let lines: Vec<_> = read.lines().collect();
        assert_eq!((lines[0], lines[1], lines[lines.len() - 1]), ("gun", "vital", "end"));
        assert_eq!(lines[lines.len() - 2].trim_start_matches('0'), "4999");
        assert!((500..1000).contains(&lines.len()) && waiting.spare_bytes == 0);
    }
}
