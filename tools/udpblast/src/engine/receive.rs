//! Receiving: several buffers per call, each perhaps many datagrams joined by the kernel; one clock read per call, no
//! spinning. Control datagrams come the same way and are handed on.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, recvmmsg};

use super::{ALIVE, Inbox, LINGER, Lane, Offload};
use crate::packet::Header;
use crate::protocol::Word;
use crate::tally::{MAX_SEGMENTS, Tally};

/// Largest buffer that the kernel joins datagrams into.
const JOINED: usize = 65_536;

/// Buffers per call.
const BUFFERS: usize = 16;

/// What a receiver has to know.
#[derive(Debug, Clone, Copy)]
pub struct Intake {
    /// The test whose data counts.
    pub tag: u32,
    /// Several per call.
    pub offload: bool,
    /// Give up after so long without a datagram.
    pub idle_timeout: Duration,
}

/// What the kernel says beside the bytes.
#[derive(Debug, Default)]
struct Aside {
    segment: Option<usize>,
    drops: Option<u32>,
    stamp_ns: Option<u64>,
}

impl Aside {
    fn of(messages: impl Iterator<Item = ControlMessageOwned>) -> Self {
        let mut aside = Self::default();
        for message in messages {
            match message {
                ControlMessageOwned::UdpGroSegments(size) => aside.segment = usize::try_from(size).ok(),
                ControlMessageOwned::RxqOvfl(drops) => aside.drops = Some(drops),
                ControlMessageOwned::ScmTimestampns(time) => {
                    aside.stamp_ns = u64::try_from(Duration::from(time).as_nanos()).ok();
                }
                _ => {}
            }
        }
        aside
    }
}

/// Receives until the sender has said that it is done, or the halt.
pub fn run(socket: &UdpSocket, intake: Intake, lane: &Lane, inbox: &dyn Inbox) -> anyhow::Result<()> {
    let buffers = if intake.offload { BUFFERS } else { 1 };
    let mut memory = vec![0; buffers * JOINED];
    let begun = Instant::now();
    let (mut heard, mut spoke, mut last) = (begun, begun, None);
    let outcome = loop {
        // New ones each time: the kernel leaves in them how much room the last messages' asides took, and would have no
        // more for the next ones.
        let space = nix::cmsg_space!(i32, u32, libc::timespec);
        let mut headers = MultiHeaders::<()>::preallocate(buffers, Some(space));
        let mut slices: Vec<_> = memory.chunks_mut(JOINED).map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let received = recvmmsg(socket.as_raw_fd(), &mut headers, slices.iter_mut(), MsgFlags::MSG_WAITFORONE, None);
        let now = Instant::now();
        match received {
            Ok(messages) => {
                heard = now;
                let mut calls = 0;
                let mut has_data = false;
                for message in messages {
                    calls += 1;
                    let aside = Aside::of(message.cmsgs().into_iter().flatten());
                    let Some(bytes) = message.iovs().next() else { continue };
                    has_data |= take(bytes, &aside, intake.tag, lane, inbox);
                }
                if calls > 1 {
                    lane.own.saw(Offload::Mmsg);
                }
                if has_data {
                    last = Some(now);
                    lane.begin(now);
                }
            }
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::ECONNREFUSED) => break Err(anyhow::anyhow!("the other end is gone (ICMP port unreachable)")),
            Err(error) => break Err(error).context("cannot receive"),
        }
        if lane.is_halted() {
            break Ok(());
        }
        if inbox.has_ended() {
            // From here on it is the wait for stragglers.
            finish(lane, last);
            if last.is_none_or(|last| now.duration_since(last) >= LINGER) {
                break Ok(());
            }
        }
        if now.duration_since(heard) >= intake.idle_timeout {
            break idle();
        }
        if now.duration_since(spoke) >= ALIVE {
            spoke = now;
            // One that is lost is followed by the next.
            let _ = socket.send(Word::Alive.text().as_bytes());
        }
    };
    finish(lane, last);
    outcome
}

fn finish(lane: &Lane, last: Option<Instant>) {
    if let Some(last) = last {
        lane.finish(last);
    }
}

fn idle() -> anyhow::Result<()> {
    bail!("nothing arrived in time (--idle-timeout)")
}

/// Takes one buffer: a control datagram, or data, perhaps joined. Whether there was data of ours in it.
fn take(bytes: &[u8], aside: &Aside, tag: u32, lane: &Lane, inbox: &dyn Inbox) -> bool {
    if let Some(word) = bytes.first().filter(|first| first.is_ascii_lowercase()).and_then(|_| Word::parse(bytes).ok()) {
        if let (Word::End { sent, .. }, Some(drops)) = (&word, aside.drops) {
            // The gap at the very end.
            lane.own.with_tally(|tally| tally.overflowed(drops, per_drop(lane), *sent));
        }
        inbox.take(word);
        return false;
    }
    let segment = aside.segment.unwrap_or(bytes.len()).max(1);
    if segment < bytes.len() {
        lane.own.saw(Offload::Gro);
    }
    let (new_bytes, new) = lane.own.with_tally(|tally| count(bytes, segment, aside, tag, per_drop(lane), tally));
    lane.counters.add_many(new_bytes, new);
    new > 0
}

/// One overflow may stand for a whole joined buffer.
fn per_drop(lane: &Lane) -> u64 {
    if lane.own.offload() == Offload::Gro { MAX_SEGMENTS } else { 1 }
}

/// Adds the datagrams of one buffer to the account; returns bytes and number of the distinct ones.
fn count(bytes: &[u8], segment: usize, aside: &Aside, tag: u32, per_drop: u64, tally: &mut Tally) -> (u64, u64) {
    let before = tally.arrived().received;
    let mut new_bytes = 0;
    let mut is_first = true;
    for datagram in bytes.chunks(segment) {
        let Some(header) = Header::read(datagram).filter(|header| header.tag == tag && header.sequence < u64::MAX)
        else {
            tally.stranger();
            continue;
        };
        if is_first {
            is_first = false;
            if let Some(drops) = aside.drops {
                tally.overflowed(drops, per_drop, header.sequence);
            }
            if let Some(received_ns) = aside.stamp_ns {
                tally.transit(header.stamp_ns, received_ns);
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
