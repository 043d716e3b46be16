//! Receiving: several buffers per call, each perhaps many datagrams joined by the kernel; one clock read per call, no
//! spinning. Control datagrams come the same way and are handed on.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, recvmmsg};

use super::{Inbox, LINGER, Lane, Offload};
use crate::packet::Header;
use crate::protocol::Sent;
use crate::stamps::{Clock, Stamps};
use crate::tally::Tally;

/// Largest buffer that the kernel joins datagrams into.
const JOINED: usize = crate::udp::LARGEST;

/// Buffers per call.
const BUFFERS: usize = 16;

/// What a receiver has to know.
#[derive(Debug, Clone, Copy)]
pub struct Intake {
    /// The test whose data counts.
    pub tag: u32,
    /// Several datagrams per call.
    pub offload: bool,
    /// Give up after so long without data.
    pub patience: Duration,
}

/// What the kernel says beside the bytes.
#[derive(Debug, Default)]
struct Aside {
    segment: Option<usize>,
    drops: Option<u32>,
    stamp: Option<Duration>,
}

impl Aside {
    fn of(messages: impl Iterator<Item = ControlMessageOwned>) -> Self {
        let mut aside = Self::default();
        for message in messages {
            match message {
                ControlMessageOwned::UdpGroSegments(size) => aside.segment = usize::try_from(size).ok(),
                ControlMessageOwned::RxqOvfl(drops) => aside.drops = Some(drops),
                ControlMessageOwned::ScmTimestampns(time) => {
                    aside.stamp = Some(Duration::from(time));
                }
                _ => {}
            }
        }
        aside
    }
}

/// Receives stream number `stream` until the sender has said that it is done, or the halt.
pub fn run(socket: &UdpSocket, stream: usize, intake: Intake, lane: &Lane, inbox: &dyn Inbox) -> anyhow::Result<()> {
    let buffers = if intake.offload { BUFFERS } else { 1 };
    let mut memory = vec![0; buffers * JOINED];
    let mut arrivals = Arrivals::new(stream, intake, lane);
    let outcome = loop {
        // New ones each time: the kernel leaves in them how much room the last messages' asides took, and would have no
        // more for the next ones.
        let space = nix::cmsg_space!(i32, u32, libc::timespec);
        let mut headers = MultiHeaders::<()>::preallocate(buffers, Some(space));
        let mut slices: Vec<_> = memory.chunks_mut(JOINED).map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let received = recvmmsg(socket.as_raw_fd(), &mut headers, slices.iter_mut(), MsgFlags::MSG_WAITFORONE, None);
        let now = arrivals.look();
        match received {
            Ok(messages) => {
                let mut calls = 0;
                let mut has_data = false;
                for message in messages {
                    calls += 1;
                    let aside = Aside::of(message.cmsgs().into_iter().flatten());
                    let Some(bytes) = message.iovs().next() else { continue };
                    has_data |= arrivals.take(bytes, &aside, inbox);
                }
                if calls > 1 {
                    lane.own.saw(Offload::Mmsg);
                }
                if calls < buffers {
                    arrivals.stamps.drained();
                }
                if has_data {
                    arrivals.last = Some(now);
                    lane.begin(arrivals.start(now));
                }
            }
            Err(Errno::EAGAIN | Errno::EINTR) => arrivals.stamps.drained(),
            Err(Errno::ECONNREFUSED) => break Err(anyhow::anyhow!("the other end is gone (ICMP port unreachable)")),
            Err(error) => break Err(error).context("cannot receive"),
        }
        if lane.is_halted() {
            // It was there until now.
            arrivals.last = arrivals.last.map(|last| last.max(now));
            break Ok(());
        }
        if inbox.has_ended() {
            // From here on it is the wait for stragglers.
            arrivals.finish(inbox.sent(stream));
            if arrivals.last.is_none_or(|last| now.duration_since(last) >= LINGER) {
                break Ok(());
            }
        } else if now.duration_since(arrivals.last.unwrap_or(arrivals.begun)) >= intake.patience {
            break Err(anyhow::anyhow!("nothing arrived in time (--idle-timeout)"));
        }
        if stream == 0 {
            inbox.beat();
        }
    };
    arrivals.finish(inbox.sent(stream));
    outcome
}

/// What has arrived, and when.
struct Arrivals<'a> {
    stream: usize,
    intake: Intake,
    lane: &'a Lane,
    stamps: Stamps,
    begun: Instant,
    /// The sender's time, by its header, at the first arrival.
    first_stamp: Option<Duration>,
    /// When the sender began, by the first arrival.
    start: Option<Instant>,
    last: Option<Instant>,
}

impl<'a> Arrivals<'a> {
    fn new(stream: usize, intake: Intake, lane: &'a Lane) -> Self {
        let begun = Instant::now();
        let stamps = Stamps::new(begun, SystemTime::now());
        Self { stream, intake, lane, stamps, begun, first_stamp: None, start: None, last: None }
    }

    /// Reads the clocks.
    fn look(&mut self) -> Instant {
        let now = Instant::now();
        if self.stamps.look(now, SystemTime::now()) == Clock::Stepped {
            self.lane.own.with_tally(Tally::stepped);
        }
        now
    }

    /// When the sender began: what it sent before the first arrival was lost, and its time counts.
    fn start(&mut self, now: Instant) -> Instant {
        let before = self.first_stamp.unwrap_or_default();
        *self.start.get_or_insert_with(|| now.checked_sub(before).unwrap_or(now).max(self.begun))
    }

    /// What arrived has the time in which it was sent: the last datagram's share of it, too, and the lost ones'.
    fn finish(&self, sent: Option<Sent>) {
        let Some((start, last)) = self.start.zip(self.last) else { return };
        let end = sent.and_then(|sent| start.checked_add(sent.span)).map_or(last, |end| end.max(last));
        // A span of the other end that is longer than what has passed here is none.
        self.lane.finish(end.min(Instant::now() + LINGER).max(last));
    }

    /// Takes one buffer: data or control datagrams, perhaps joined. Whether there was data of ours in it.
    fn take(&mut self, bytes: &[u8], aside: &Aside, inbox: &dyn Inbox) -> bool {
        let segment = aside.segment.unwrap_or(bytes.len()).max(1);
        if bytes.first().is_some_and(u8::is_ascii_lowercase) {
            for datagram in bytes.chunks(segment) {
                if !inbox.take(datagram) {
                    self.lane.own.with_tally(Tally::stranger);
                }
            }
            if let (true, Some(drops)) = (inbox.has_ended(), aside.drops) {
                // The gap at the very end.
                let may_be_joined = self.intake.offload;
                let sent = inbox.sent(self.stream).map_or(0, |sent| sent.count);
                self.lane.own.with_tally(|tally| tally.overflowed_at_end(drops, may_be_joined, sent));
            }
            return false;
        }
        if segment < bytes.len() {
            self.lane.own.saw(Offload::Gro);
        }
        let (new_bytes, new) =
            self.lane.own.with_tally(|tally| count(bytes, segment, aside, self.intake, &self.stamps, tally));
        if new > 0 && self.first_stamp.is_none() {
            self.first_stamp =
                bytes.chunks(segment).find_map(Header::read).map(|header| Duration::from_nanos(header.stamp_ns));
        }
        self.lane.counters.add_many(new_bytes, new);
        new > 0
    }
}

/// Adds the datagrams of one buffer to the account; returns bytes and number of the distinct ones.
fn count(
    bytes: &[u8],
    segment: usize,
    aside: &Aside,
    intake: Intake,
    stamps: &Stamps,
    tally: &mut Tally,
) -> (u64, u64) {
    let before = tally.arrived().received;
    let mut new_bytes = 0;
    let mut is_first = true;
    for datagram in bytes.chunks(segment) {
        let is_ours = |header: &Header| header.tag == intake.tag && header.sequence < u64::MAX;
        let Some(header) = Header::read(datagram).filter(is_ours) else {
            tally.stranger();
            continue;
        };
        if is_first {
            is_first = false;
            if let Some(drops) = aside.drops {
                tally.overflowed(drops, intake.offload, header.sequence);
            }
            match aside.stamp {
                Some(stamp) if stamps.is_sound(stamp) => tally.transit(header.stamp_ns, stamp),
                Some(_) => tally.skip_transit(),
                None => {}
            }
        }
        let had = tally.arrived().received;
        tally.arrive(header.sequence);
        if tally.arrived().received > had {
            new_bytes += datagram.len() as u64;
        }
    }
    (new_bytes, tally.arrived().received - before)
}
