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
use nix::sys::socket::{MsgFlags, MultiHeaders, sendmmsg, setsockopt, sockopt};

use super::{Lane, Offload};
use crate::packet::Header;

/// Most datagrams per call: what every kernel with `UDP_SEGMENT` takes.
const MAX_BATCH: u64 = 64;

/// Most bytes per call with `UDP_SEGMENT`: it must fit one IP packet with its headers.
const MAX_SEGMENTED: u64 = 65_000;

/// A paced sender wakes this often, unless less is due.
const BEATS_PER_S: u64 = 1000;

/// Pause after the local queue refused a datagram: it needs time to empty.
const BREATH: Duration = Duration::from_micros(50);

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
    /// Several per call.
    pub offload: bool,
    /// A datagram may be larger than the MTU: then the kernel does not cut a buffer into several of them.
    pub fragment: bool,
}

impl Blast {
    /// Datagrams that fall due together.
    fn portion(&self) -> u64 {
        let per_beat = self.rate.map_or(MAX_BATCH, |rate| rate / BEATS_PER_S / self.size);
        self.burst.unwrap_or(per_beat.clamp(1, MAX_BATCH))
    }
}

/// Sends until the halt, the time or the quota.
pub fn run(socket: &UdpSocket, blast: &Blast, lane: &Lane) -> anyhow::Result<()> {
    let mut batch = Batch::new(socket, blast)?;
    let start = Instant::now();
    lane.begin(start);
    let outcome = push(&mut batch, blast, start, lane);
    lane.finish(Instant::now());
    lane.own.saw(batch.best);
    outcome
}

fn push(batch: &mut Batch<'_>, blast: &Blast, start: Instant, lane: &Lane) -> anyhow::Result<()> {
    let portion = blast.portion();
    let end = blast.time.map(|time| start + time);
    // The first portion is due at once.
    let mut pace = blast.rate.map(|rate| {
        let ahead = u128::from(portion) * u128::from(blast.size) * 1_000_000_000 / u128::from(rate);
        let ahead = Duration::from_nanos(u64::try_from(ahead).unwrap_or(u64::MAX));
        Pace::new(rate, start.checked_sub(ahead).unwrap_or(start))
    });
    let mut left = blast.quota.unwrap_or(u64::MAX);
    while left > 0 && !lane.is_halted() {
        let now = Instant::now();
        if end.is_some_and(|end| now >= end) {
            break;
        }
        let due = pace.as_ref().map_or(portion, |pace| pace.allowance(now, portion * blast.size) / blast.size);
        if due < portion.min(left) {
            wait(pace.as_ref(), portion.min(left) - due, blast, now, end);
            continue;
        }
        // Whole portions only: a burst is a burst.
        let mut now_due = portion.min(left);
        while now_due > 0 && !lane.is_halted() {
            let sent = batch.send(now_due, start, lane)?;
            if let Some(pace) = &mut pace {
                pace.sent(sent * blast.size, Instant::now());
            }
            left -= sent;
            now_due -= sent.min(now_due);
            if sent == 0 {
                break;
            }
        }
    }
    Ok(())
}

/// Sleeps until so many more datagrams are due, or to the end. Whoever halts wakes this thread.
fn wait(pace: Option<&Pace>, missing: u64, blast: &Blast, now: Instant, end: Option<Instant>) {
    let Some(rate) = blast.rate.filter(|_| pace.is_some()) else { return };
    let nanos = u128::from(missing) * u128::from(blast.size) * 1_000_000_000 / u128::from(rate);
    let need = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).max(Duration::from_micros(1));
    let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(now));
    std::thread::park_timeout(need.min(left));
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
}

impl<'a> Batch<'a> {
    fn new(socket: &'a UdpSocket, blast: &Blast) -> anyhow::Result<Self> {
        let size = usize::try_from(blast.size)?;
        let segments = (MAX_SEGMENTED / blast.size).min(MAX_BATCH);
        let segment = i32::try_from(blast.size)?;
        // The option tells the kernel where to cut; it takes it and may still refuse the cut later (EIO).
        let cuts = blast.offload
            && !blast.fragment
            && segments > 1
            && setsockopt(socket, sockopt::UdpGsoSegment, &segment).is_ok();
        let (way, most) = match (blast.offload, cuts) {
            (true, true) => (Offload::Gso, segments),
            (true, false) => (Offload::Mmsg, MAX_BATCH),
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
        })
    }

    /// Sends up to `wanted` datagrams in one call; returns how many the kernel accepted.
    fn send(&mut self, wanted: u64, start: Instant, lane: &Lane) -> anyhow::Result<u64> {
        let count = wanted.min(self.most);
        let stamp_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let datagrams = self.bytes.chunks_exact_mut(self.size).take(usize::try_from(count).unwrap_or(usize::MAX));
        for (datagram, sequence) in datagrams.zip(self.sequence..) {
            Header { tag: self.tag, sequence, stamp_ns }.write(datagram);
        }
        match self.call(count) {
            Ok(sent) => {
                self.sequence += sent;
                if sent > 1 {
                    self.best = self.way;
                }
                lane.counters.add_many(sent * self.size as u64, sent);
                Ok(sent)
            }
            Err(error) => self.judge(error, count, lane),
        }
    }

    fn call(&mut self, count: u64) -> io::Result<u64> {
        let bytes = &self.bytes[..self.size * usize::try_from(count).unwrap_or(1)];
        if self.way != Offload::Mmsg || count == 1 {
            return self.socket.send(bytes).map(|sent| (sent / self.size) as u64);
        }
        let slices: Vec<_> = bytes.chunks_exact(self.size).map(|datagram| [io::IoSlice::new(datagram)]).collect();
        let nobody = vec![None; slices.len()];
        let sent = sendmmsg(self.socket.as_raw_fd(), &mut self.headers, &slices, nobody, [], MsgFlags::empty())?;
        Ok(sent.count() as u64)
    }

    /// What a failed call means.
    fn judge(&mut self, error: io::Error, count: u64, lane: &Lane) -> anyhow::Result<u64> {
        match Errno::from_raw(error.raw_os_error().unwrap_or_default()) {
            Errno::EINTR | Errno::EAGAIN => Ok(0),
            Errno::ENOBUFS => {
                lane.own.sender_drops.fetch_add(count, Ordering::Relaxed);
                std::thread::sleep(BREATH);
                Ok(0)
            }
            // The route has no checksum offload, or the card does not cut: cut here.
            Errno::EIO | Errno::EINVAL if self.way == Offload::Gso => {
                setsockopt(self.socket, sockopt::UdpGsoSegment, &0).context("cannot turn UDP_SEGMENT off")?;
                (self.way, self.most) = (Offload::Mmsg, MAX_BATCH);
                Ok(0)
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
}
