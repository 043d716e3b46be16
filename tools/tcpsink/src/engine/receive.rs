//! Receiving to the end of a stream. Beside the system call and the add it reads the clock, since the time of the last
//! byte is what it measures; a call empties the socket, so that this is one clock read in 50 KB or more.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context;
use common::files::buffer;
use nix::sys::socket::{MsgFlags, recv};

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

/// When an account of arrivals begins and ends, beside its first and its last byte.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    /// Nothing was sent before.
    pub since: Option<Instant>,
    /// The time asked for, from the first byte of all streams on: what arrives long after it is what lay in the buffers.
    pub time: Option<Duration>,
    /// Most bytes.
    pub limit: Option<u64>,
}

/// How long after the time asked for what arrives is still of it: a share of it, and not less than a moment.
fn grace(time: Duration) -> Duration {
    (time / 20).max(Duration::from_millis(100))
}

/// Keeps account of what arrives. The first byte is where it begins.
pub struct Arrivals<'a> {
    lane: &'a Lane,
    bounds: Bounds,
    left: u64,
    first: Option<(Instant, u64)>,
    last: Option<Instant>,
    /// The time asked for is over then.
    end: Option<Instant>,
    /// What arrived after it: bytes, calls, and when the last did.
    after: Option<(u64, u64, Instant)>,
}

impl<'a> Arrivals<'a> {
    /// An account within these bounds.
    pub fn new(lane: &'a Lane, bounds: Bounds) -> Self {
        let left = bounds.limit.unwrap_or(u64::MAX);
        Self { lane, bounds, left, first: None, last: None, end: None, after: None }
    }

    /// `length` bytes arrived by `at`.
    pub fn note(&mut self, length: u64, at: Instant) -> anyhow::Result<()> {
        if self.last.is_none() && self.after.is_none() {
            self.lane.begin(at);
            // Other streams may have begun long before: the first bytes of this one may come too late, too.
            self.end = self.bounds.time.and_then(|time| self.lane.first()?.checked_add(time));
        }
        if let Some(end) = self.end.filter(|end| at > *end) {
            let (bytes, calls, _) = self.after.unwrap_or_else(|| {
                // As far as anybody knows: no interval goes on beyond it.
                self.lane.finish(end);
                (0, 0, at)
            });
            self.after = Some((bytes + length, calls + 1, at));
            self.lane.own.after_end.fetch_add(length, Ordering::Relaxed);
        } else {
            self.lane.counters.add(length);
            if self.last.replace(at).is_none() {
                self.first = Some((at, length));
            }
        }
        if length > self.left {
            anyhow::bail!("more than is allowed (--max-bytes)");
        }
        self.left -= length;
        Ok(())
    }

    /// The first bytes took time to arrive, as the others did, though not longer than the others came apart, or than there
    /// was something to arrive. Where a time was asked for, they weigh nothing.
    fn lead(&self) -> Option<Duration> {
        if self.bounds.time.is_some() {
            return None;
        }
        let ((first, length), last) = self.first.zip(self.last)?;
        let counts = self.lane.counters.snapshot();
        let calls = u32::try_from(counts.ops.saturating_sub(1)).unwrap_or(u32::MAX);
        let apart = (last - first).checked_div(calls).unwrap_or_default();
        let most = apart.max(first.saturating_duration_since(self.bounds.since?));
        let rest = counts.bytes.saturating_sub(length);
        let each = (last - first).as_secs_f64() / rest as f64;
        Some(Duration::try_from_secs_f64(each * length as f64).map_or(most, |lead| lead.min(most)))
    }

    /// Of what came after the time asked for, counts what came at once.
    fn settle(&mut self) {
        let Some(((end, time), (bytes, calls, at))) = self.end.zip(self.bounds.time).zip(self.after) else { return };
        if at <= end + grace(time) {
            self.lane.counters.add_many(bytes, calls);
            self.lane.own.after_end.store(0, Ordering::Relaxed);
            self.last = Some(at);
        } else {
            self.last = Some(end);
        }
    }
}

impl Drop for Arrivals<'_> {
    fn drop(&mut self) {
        self.settle();
        if let Some(lead) = self.lead() {
            self.lane.led_by(lead);
        }
        if let Some(last) = self.last {
            self.lane.finish(last);
        }
    }
}

/// Receives to the end of the stream.
pub fn run(stream: &Stream, intake: Intake, bounds: Bounds, lane: &Lane) -> anyhow::Result<()> {
    // Of its own pages: what one stream has had does not stay with the process.
    let mut memory = buffer::blank(usize::try_from(intake.message_bytes())?).context("no memory to receive into")?;
    let flags = if intake == Intake::Discard { MsgFlags::MSG_TRUNC } else { MsgFlags::empty() };
    let mut arrivals = Arrivals::new(lane, bounds);
    if let Some((bytes, at)) = &stream.early {
        arrivals.note(bytes.len() as u64, *at)?;
    }
    loop {
        match recv(stream.socket.as_raw_fd(), &mut memory, flags).map_err(io::Error::from) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                arrivals.note(length as u64, Instant::now())?;
                // More may come after a halt, and nobody waits for it.
                if lane.is_halted() && arrivals.after.is_some() {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if lane.is_halted() => return Ok(()),
            Err(error) => return Err(idle(error, "receive")),
        }
    }
}

#[cfg(test)]
mod tests {
    use common::measure::lane::Track;

    use super::*;
    use crate::engine::Own;

    const SECOND: Duration = Duration::from_secs(1);

    /// Two streams of a second, of which the second has its first bytes so long after the first of all: what is counted, and for
    /// how long.
    fn second_stream_after(delay: Duration) -> (u64, u64, Duration) {
        let track = Track::new(false, [Own::default(), Own::default()]).unwrap();
        let bounds = Bounds { time: Some(SECOND), ..Bounds::default() };
        let began = Instant::now();
        let [first, second] = [0, 1].map(|lane| Arrivals::new(&track.lanes()[lane], bounds));
        let (mut first, mut second) = (first, second);
        first.note(10, began).unwrap();
        first.note(10, began + SECOND / 2).unwrap();
        second.note(5, began + delay).unwrap();
        drop((first, second));
        let late = track.lanes()[1].own.after_end.load(Ordering::Relaxed);
        (track.counts().iter().map(|counts| counts.bytes).sum(), late, track.last().unwrap() - began)
    }

    #[test]
    fn a_stream_that_begins_after_the_end_does_not_make_the_test_longer() {
        assert_eq!(second_stream_after(SECOND * 3 / 4), (25, 0, SECOND * 3 / 4));
        let moment = SECOND + Duration::from_millis(50);
        assert_eq!(second_stream_after(moment), (25, 0, moment), "what comes at once is of it");
        assert_eq!(second_stream_after(SECOND * 5 / 4), (20, 5, SECOND));
    }
}
