//! Request and response: one datagram there, the same back; what does not come back in time is lost.

use std::io;
use std::net::UdpSocket;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use common::files::buffer;

use super::{ALIVE, Inbox, Lane};
use crate::packet::Header;
use crate::protocol::Word;

/// How long a response is waited for.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// Sends requests until the halt.
pub fn ping(
    socket: &UdpSocket,
    (tag, size): (u32, u64),
    idle_timeout: Duration,
    lane: &Lane,
    inbox: &dyn Inbox,
) -> anyhow::Result<()> {
    let mut request = buffer::incompressible(usize::try_from(size)?)?;
    let mut response = vec![0; 65_536];
    let start = Instant::now();
    let mut answered = start;
    lane.begin(start);
    let mut sequence = 0;
    let outcome = loop {
        if lane.is_halted() {
            break Ok(());
        }
        let before = Instant::now();
        Header { tag, sequence, stamp_ns: 0 }.write(&mut request);
        match socket.send(&request) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => break refused(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => break Err(error).context("cannot send"),
        }
        if await_response(socket, (tag, sequence), before, &mut response, lane, inbox)? {
            answered = Instant::now();
            lane.record(answered - before);
            lane.counters.add_many(2 * size, 1);
        } else if lane.is_halted() {
            break Ok(());
        } else {
            // Only now: one that is on its way is not lost.
            lane.own.lost_pings.fetch_add(1, Ordering::Relaxed);
            if answered.elapsed() >= idle_timeout {
                break Err(anyhow::anyhow!("no response in time (--idle-timeout)"));
            }
        }
        sequence += 1;
    };
    lane.finish(answered);
    outcome
}

/// Whether the response with this number came in time. The time is up sooner when it is time to end.
fn await_response(
    socket: &UdpSocket,
    expected: (u32, u64),
    since: Instant,
    response: &mut [u8],
    lane: &Lane,
    inbox: &dyn Inbox,
) -> anyhow::Result<bool> {
    while since.elapsed() < PATIENCE && !lane.is_halted() {
        match socket.recv(response) {
            Ok(length) => match Header::read(&response[..length]) {
                Some(header) if (header.tag, header.sequence) == expected => return Ok(true),
                Some(_) => {}
                None => Word::parse(&response[..length]).into_iter().for_each(|word| inbox.take(word)),
            },
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return refused().map(|()| false),
            Err(error) => return Err(error).context("cannot receive"),
        }
    }
    Ok(false)
}

fn refused() -> anyhow::Result<()> {
    bail!("nobody listens there any more (ICMP port unreachable)")
}

/// Answers until the client has said that it is done: never more bytes than came.
pub fn pong(
    socket: &UdpSocket,
    tag: u32,
    idle_timeout: Duration,
    lane: &Lane,
    inbox: &dyn Inbox,
) -> anyhow::Result<()> {
    let mut datagram = vec![0; 65_536];
    let (mut heard, mut spoke) = (Instant::now(), Instant::now());
    loop {
        match socket.recv(&mut datagram) {
            Ok(length) => {
                heard = Instant::now();
                match Header::read(&datagram[..length]).filter(|header| header.tag == tag) {
                    Some(header) => {
                        lane.begin(heard);
                        // A response that cannot be sent is one that is lost.
                        let _ = socket.send(&datagram[..length]);
                        lane.own.with_tally(|tally| tally.arrive(header.sequence));
                        lane.counters.add_many(2 * length as u64, 1);
                    }
                    None => Word::parse(&datagram[..length]).into_iter().for_each(|word| inbox.take(word)),
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error).context("the other end is gone"),
        }
        if lane.is_halted() || inbox.has_ended() {
            lane.finish(heard);
            return Ok(());
        }
        if heard.elapsed() >= idle_timeout {
            bail!("nothing arrived in time (--idle-timeout)");
        }
        if spoke.elapsed() >= ALIVE {
            spoke = Instant::now();
            // One that is lost is followed by the next.
            let _ = socket.send(Word::Alive.text().as_bytes());
        }
    }
}
