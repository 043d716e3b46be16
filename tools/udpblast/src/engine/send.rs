//! Sending: batches on absolute deadlines, each datagram with its number; one clock read per batch.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use common::files::buffer;
use common::pace::Pace;
use memmap2::MmapMut;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, sendmmsg, sendmsg};

use super::{Lane, Offload};
use crate::packet::Header;

/// Most datagrams per call: what every kernel with `UDP_SEGMENT` takes.
const MAX_BATCH: u64 = 64;

/// Most bytes per call with `UDP_SEGMENT`: it must fit one IP packet with its headers.
const MAX_SEGMENTED: u64 = 65_000;

/// A paced sender wakes this often, unless less is due.
const BEATS_PER_S: u64 = 1000;

/// Below so many datagrams per second each has a call of its own: that costs little, and what a queue on the way drops is
/// known to the datagram.
const BRISK_PER_S: u64 = 20_000;

/// Pause after this host refused a datagram, where no rate says when the next one is due.
const BREATH: Duration = Duration::from_micros(50);

/// Shorter times between two portions are not kept apart one by one.
const SHORTEST_GAP: Duration = Duration::from_micros(200);

/// How late a timer of this thread may be: the kernel's default of 50 us is a datagram's time at 240 Mbit/s (prctl(2)).
const TIMER_SLACK_NS: u64 = 1;

/// What to send.
#[derive(Debug, Clone, Copy)]
pub struct Blast {
    /// Names the test in each header.
    pub tag: u32,
    /// Bytes of a datagram.
    pub size: u64,
    /// Bytes per second; `None` for as fast as it goes.
    pub rate: Option<u64>,
    /// Datagrams at a time.
    pub burst: Option<u64>,
    /// Datagrams in all.
    pub quota: Option<u64>,
    /// Nothing begins later than this after the first.
    pub time: Option<Duration>,
    /// Several per call, where that helps.
    pub offload: bool,
    /// A queue of this host takes buffers apart, and drops a part of them unsaid: one datagram per call.
    pub is_wary: bool,
    /// A datagram may be larger than the MTU: then the kernel does not cut a buffer into several of them.
    pub fragment: bool,
    /// Most that is made up for after a stall.
    pub catch_up: Duration,
    /// Give up when nothing leaves this host for so long.
    pub patience: Duration,
}

impl Blast {
    /// Datagrams that fall due together.
    fn portion(&self) -> u64 {
        let per_beat = self.rate.map_or(MAX_BATCH, |rate| rate / BEATS_PER_S / self.size);
        self.burst.unwrap_or(per_beat.clamp(1, MAX_BATCH))
    }

    /// The least time between two portions: what is made up for after a stall does not come at once, or a short queue on the
    /// way would drop it. Less than a timer can tell is nothing.
    fn breather(&self) -> Duration {
        let portion = u128::from(self.portion()) * u128::from(self.size) * 1_000_000_000;
        let gap = self.rate.map_or(0, |rate| portion / u128::from(rate));
        let gap = Duration::from_nanos(u64::try_from(gap).unwrap_or(u64::MAX));
        match self.burst {
            _ if gap < SHORTEST_GAP => Duration::ZERO,
            // Whoever says how much goes at a time means it.
            Some(_) => gap / 9 * 8,
            None => gap / 2,
        }
    }
}

/// Whether so many bytes per second of such datagrams are worth several per call.
pub fn is_brisk(rate: Option<u64>, size: u64) -> bool {
    rate.is_none_or(|rate| rate / size.max(1) >= BRISK_PER_S)
}

/// Sends until the halt, the time or the quota.
pub fn run(socket: &UdpSocket, blast: &Blast, lane: &Lane) -> anyhow::Result<()> {
    let mut batch = Batch::new(socket, blast)?;
    // Without it the timers are a little late.
    let _ = nix::sys::prctl::set_timerslack(TIMER_SLACK_NS);
    let start = Instant::now();
    lane.begin(start);
    let outcome = push(&mut batch, blast, start, lane);
    let now = Instant::now();
    lane.finish(*outcome.as_ref().unwrap_or(&now));
    lane.own.saw(batch.best);
    outcome.map(drop)
}

/// Returns when the time of the last datagram was over.
fn push(batch: &mut Batch<'_>, blast: &Blast, start: Instant, lane: &Lane) -> anyhow::Result<Instant> {
    let portion = blast.portion();
    let end = blast.time.map(|time| start + time);
    let mut pace = blast.rate.map(|rate| Pace::new(rate, start).catching_up(blast.catch_up));
    let mut left = blast.quota.unwrap_or(u64::MAX);
    let (mut accepted_at, mut earliest, breather) = (start, start, blast.breather());
    while left > 0 && !lane.is_halted() {
        let now = Instant::now();
        if end.is_some_and(|end| now >= end) {
            break;
        }
        let due = pace.as_ref().map(|pace| pace.due().max(earliest));
        if let Some(due) = due.filter(|due| now < *due) {
            lane.rest_until(end.map_or(due, |end| due.min(end)));
            continue;
        }
        earliest = now + breather;
        // Whole portions only: a burst is a burst.
        let mut now_due = portion.min(left);
        while now_due > 0 && !lane.is_halted() {
            let Taken { sent, refused } = batch.send(now_due, start, lane)?;
            let now = Instant::now();
            if let Some(pace) = &mut pace {
                // What was refused has had its time.
                pace.sent((sent + refused) * blast.size, now);
            } else if refused > 0 {
                std::thread::sleep(BREATH);
            }
            if sent > 0 {
                accepted_at = now;
            } else if now.duration_since(accepted_at) >= blast.patience {
                bail!("this host let no datagram out in time (--idle-timeout){}", batch.reason());
            }
            left -= sent;
            now_due -= (sent + refused).min(now_due);
            if sent + refused == 0 {
                break;
            }
        }
    }
    let now = Instant::now();
    let is_over = left == 0 && !lane.is_halted();
    // The last one has its time as all have, or N of them would take the time of N - 1.
    Ok(pace.filter(|_| is_over).map_or(now, |pace| pace.due().max(now)))
}

/// What became of the datagrams of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Taken {
    /// The kernel has them.
    sent: u64,
    /// This host dropped them.
    refused: u64,
}

/// Datagrams side by side in one buffer.
struct Batch<'a> {
    socket: &'a UdpSocket,
    bytes: MmapMut,
    size: usize,
    tag: u32,
    most: u64,
    way: Offload,
    /// The best way that moved something.
    best: Offload,
    sequence: u64,
    headers: MultiHeaders<()>,
    /// Why datagrams were refused.
    refusal: Option<Errno>,
}

impl<'a> Batch<'a> {
    fn new(socket: &'a UdpSocket, blast: &Blast) -> anyhow::Result<Self> {
        let size = usize::try_from(blast.size)?;
        let segments = (MAX_SEGMENTED / blast.size).min(MAX_BATCH);
        let is_burst = blast.burst.is_some_and(|burst| burst > 1);
        let many = blast.offload && !blast.is_wary && (is_brisk(blast.rate, blast.size) || is_burst);
        let (way, most) = match (many, blast.fragment || segments < 2) {
            (true, false) => (Offload::Gso, segments),
            (true, true) => (Offload::Mmsg, MAX_BATCH),
            (false, _) => (Offload::None, 1),
        };
        Ok(Self {
            socket,
            bytes: buffer::incompressible(size * usize::try_from(MAX_BATCH)?)?,
            size,
            tag: blast.tag,
            most,
            way,
            best: Offload::None,
            sequence: 0,
            headers: MultiHeaders::preallocate(usize::try_from(MAX_BATCH)?, None),
            refusal: None,
        })
    }

    /// Sends up to `wanted` datagrams in one call.
    fn send(&mut self, wanted: u64, start: Instant, lane: &Lane) -> anyhow::Result<Taken> {
        let count = wanted.min(self.most);
        let stamp_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let datagrams = self.bytes.chunks_exact_mut(self.size).take(usize::try_from(count).unwrap_or(usize::MAX));
        for (datagram, sequence) in datagrams.zip(self.sequence..) {
            Header { tag: self.tag, sequence, stamp_ns }.write(datagram);
        }
        let taken = match self.call(count) {
            Ok(sent) => Taken { sent, refused: self.refused_beside(sent, count) },
            Err(error) => self.judge(error, count)?,
        };
        self.sequence += taken.sent;
        if taken.sent > 1 {
            self.best = self.way;
        }
        lane.counters.add_many(taken.sent * self.size as u64, taken.sent);
        if taken.refused > 0 {
            lane.own.sender_drops.fetch_add(taken.refused, Ordering::Relaxed);
            // From here on each is known by itself.
            (self.way, self.most) = (Offload::None, 1);
        }
        Ok(taken)
    }

    fn call(&mut self, count: u64) -> io::Result<u64> {
        let bytes = &self.bytes[..self.size * usize::try_from(count).unwrap_or(1)];
        match self.way {
            _ if count == 1 => self.socket.send(bytes).map(|_| 1),
            Offload::Mmsg => {
                let slices: Vec<_> =
                    bytes.chunks_exact(self.size).map(|datagram| [io::IoSlice::new(datagram)]).collect();
                let nobody = vec![None; slices.len()];
                let socket = self.socket.as_raw_fd();
                Ok(sendmmsg(socket, &mut self.headers, &slices, nobody, [], MsgFlags::empty())?.count() as u64)
            }
            _ => {
                // For this call alone (udp(7)): set on the socket, it would cut what else is said there.
                let segment = u16::try_from(self.size).unwrap_or(u16::MAX);
                let cut = [ControlMessage::UdpGsoSegments(&segment)];
                let slices = [io::IoSlice::new(bytes)];
                let sent = sendmsg::<()>(self.socket.as_raw_fd(), &slices, &cut, MsgFlags::empty(), None)?;
                Ok((sent / self.size) as u64)
            }
        }
    }

    /// How many of a call were refused when it reported that only some were sent: the one after those, if the socket kept an
    /// error (sendmmsg(2)).
    fn refused_beside(&mut self, sent: u64, count: u64) -> u64 {
        if sent == count {
            return 0;
        }
        let kept = self.socket.take_error().ok().flatten().and_then(|error| error.raw_os_error()).map(Errno::from_raw);
        self.refusal = kept.filter(|errno| is_refusal(*errno)).or(self.refusal);
        u64::from(kept.is_some_and(is_refusal))
    }

    /// What a failed call means.
    fn judge(&mut self, error: io::Error, count: u64) -> anyhow::Result<Taken> {
        match Errno::from_raw(error.raw_os_error().unwrap_or_default()) {
            Errno::EINTR | Errno::EAGAIN => Ok(Taken::default()),
            errno if is_refusal(errno) => {
                self.refusal = Some(errno);
                // The first of several that have a call in common, or all that have a buffer in common.
                Ok(Taken { sent: 0, refused: if self.way == Offload::Gso { count } else { 1 } })
            }
            // The route has no checksum offload, or the card does not cut: cut here.
            Errno::EIO | Errno::EINVAL if self.way == Offload::Gso => {
                (self.way, self.most) = (Offload::Mmsg, MAX_BATCH);
                Ok(Taken::default())
            }
            Errno::EMSGSIZE => bail!(
                "datagrams of {} bytes do not fit the path any more{} (a smaller --size, or --fragment)",
                self.size,
                crate::udp::mtu(self.socket).map_or_else(String::new, |mtu| format!(": its MTU is {mtu}"))
            ),
            Errno::ECONNREFUSED => bail!("nobody listens there any more (ICMP port unreachable)"),
            _ => Err(error).context("cannot send"),
        }
    }

    fn reason(&self) -> String {
        self.refusal.map_or_else(String::new, |errno| format!(": {}", errno.desc()))
    }
}

/// Whether this host dropped the datagram: its queue was full (with `IP_RECVERR`, ip(7)), or its own firewall dropped it.
fn is_refusal(errno: Errno) -> bool {
    matches!(errno, Errno::ENOBUFS | Errno::EPERM)
}
