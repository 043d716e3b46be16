//! Notices that nothing gets through any more.

use std::time::{Duration, Instant};

use crate::engine::Stream;
use crate::tcp_state::TcpState;

/// How often to look.
const PULSE: Duration = Duration::from_millis(250);

/// The pulse of sending streams: bytes that the other ends acknowledge.
#[derive(Debug)]
pub struct Pulse {
    /// When to look again.
    pub next: Instant,
    /// What had been acknowledged, or had moved, when it last changed.
    acked: Option<u64>,
    moved_at: Instant,
    /// Having nothing on its way is an excuse only while there may be nothing to send.
    is_draining: bool,
}

impl Pulse {
    /// For a sender at work.
    pub fn start() -> Self {
        let now = Instant::now();
        Self { next: now + PULSE, acked: None, moved_at: now, is_draining: false }
    }

    /// For a sender that waits for the rest to arrive.
    pub fn start_draining() -> Self {
        Self { is_draining: true, ..Self::start() }
    }

    /// Whether the count of what moved has stood still for `limit`.
    pub fn is_silent(&mut self, now: Instant, limit: Duration, count: impl FnOnce() -> u64) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + PULSE;
        let count = count();
        if self.acked.replace(count) != Some(count) {
            self.moved_at = now;
        }
        now.duration_since(self.moved_at) >= limit
    }

    /// Whether nothing has arrived at the other ends of `streams` for `limit`, though something should have.
    pub fn is_over(&mut self, now: Instant, limit: Duration, streams: &[Stream]) -> bool {
        if now < self.next {
            return false;
        }
        self.next = now + PULSE;
        let states: Vec<_> = streams.iter().map(|stream| TcpState::of(stream, true)).collect();
        let tcp = TcpState::sum(&states);
        if tcp.acked != self.acked || !(self.is_draining || tcp.has_outstanding) {
            (self.acked, self.moved_at) = (tcp.acked, now);
        }
        now.duration_since(self.moved_at) >= limit
    }
}
