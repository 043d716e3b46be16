//! Request and response: one datagram there, the same back; what does not come back in time is lost.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use common::files::buffer;
use common::pace::CATCH_UP;
use common::stop;

use super::{Inbox, LINGER, Lane};
use crate::packet::Header;
use crate::tally::Tally;

/// How long a response is waited for.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// Most requests that are remembered as lost.
const MOST_LOST: usize = 1 << 16;

/// What a client that pings has to know.
#[derive(Debug, Clone, Copy)]
pub struct Pinging {
    /// Names the test.
    pub tag: u32,
    /// Bytes.
    pub size: u64,
    /// Between two requests, whatever becomes of them; `None` for one after the other.
    pub every: Option<Duration>,
    /// No request begins later than this after the first.
    pub time: Option<Duration>,
    /// Give up after so long without a response.
    pub patience: Duration,
}

/// Sends requests until the halt, and waits for the responses that are still to come.
pub fn ping(socket: &UdpSocket, pinging: &Pinging, lane: &Lane, inbox: &dyn Inbox) -> anyhow::Result<()> {
    let start = Instant::now();
    lane.begin(start);
    let mut requests = Requests {
        pinging,
        lane,
        bytes: buffer::incompressible(usize::try_from(pinging.size)?)?.to_vec(),
        next: 0,
        open: VecDeque::new(),
        lost: BTreeSet::new(),
        due: start,
        end: pinging.time.map(|time| start + time),
        answered: start,
    };
    let outcome = requests.run(socket, inbox);
    lane.own.pings.open.store(requests.open.len() as u64, Ordering::Relaxed);
    lane.finish(outcome.as_ref().ok().copied().map_or(requests.answered, |end| end.max(requests.answered)));
    outcome.map(drop)
}

struct Requests<'a> {
    pinging: &'a Pinging,
    lane: &'a Lane,
    bytes: Vec<u8>,
    /// Number of the next one.
    next: u64,
    /// When those were sent that are not answered and not given up, by their numbers; `None` once answered.
    open: VecDeque<Option<Instant>>,
    /// Given up, so that their responses are late and no repetitions.
    lost: BTreeSet<u64>,
    due: Instant,
    end: Option<Instant>,
    answered: Instant,
}

impl Requests<'_> {
    /// Returns when the time of the last request was over.
    fn run(&mut self, socket: &UdpSocket, inbox: &dyn Inbox) -> anyhow::Result<Instant> {
        let mut response = vec![0; 65_536];
        let mut halted: Option<Instant> = None;
        loop {
            let now = Instant::now();
            self.give_up(now);
            if self.lane.is_halted() || self.end.is_some_and(|end| now >= end) {
                halted.get_or_insert(now);
                if self.open.is_empty() || self.lane.own.is_cut.load(Ordering::Relaxed) {
                    break;
                }
            } else if now.duration_since(self.answered) >= self.pinging.patience {
                bail!("no response in time (--idle-timeout)");
            } else if self.is_due(now) {
                self.send(socket)?;
            }
            // One after the other: the response is all there is to wait for, and the socket's own timeout bounds that.
            let can_read = match self.pinging.every {
                None => true,
                Some(_) => self.wait(socket, halted.is_some())?,
            };
            if can_read {
                match socket.recv(&mut response) {
                    Ok(length) => self.take(&response[..length], inbox),
                    Err(error) if is_nothing(&error) => {}
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                        bail!("nobody listens there any more (ICMP port unreachable)")
                    }
                    Err(error) => return Err(error).context("cannot receive"),
                }
            }
            inbox.beat();
        }
        let halted = halted.unwrap_or_else(Instant::now);
        // The last one has its time as all have.
        Ok(if self.pinging.every.is_some() { self.due.min(halted) } else { halted })
    }

    fn is_due(&self, now: Instant) -> bool {
        match self.pinging.every {
            Some(_) => now >= self.due,
            None => self.open.is_empty(),
        }
    }

    fn send(&mut self, socket: &UdpSocket) -> anyhow::Result<()> {
        Header { tag: self.pinging.tag, sequence: self.next, stamp_ns: 0 }.write(&mut self.bytes);
        let sent_at = Instant::now();
        match socket.send(&self.bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                bail!("nobody listens there any more (ICMP port unreachable)")
            }
            // Refused by this host's own queue or firewall: a request that is lost, and waited for as one.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOBUFS | libc::EPERM)) => {}
            Err(error) if is_nothing(&error) => return Ok(()),
            Err(error) => return Err(error).context("cannot send"),
        }
        self.lane.own.pings.sent.fetch_add(1, Ordering::Relaxed);
        self.next += 1;
        self.open.push_back(Some(sent_at));
        if let Some(every) = self.pinging.every {
            self.due += every;
            // After a stall no more than this is made up for.
            self.due = self.due.max(sent_at.checked_sub(CATCH_UP).unwrap_or(sent_at));
        }
        Ok(())
    }

    /// Sleeps until there is something to read, or a request is due, or one is given up.
    fn wait(&self, socket: &UdpSocket, is_halted: bool) -> anyhow::Result<bool> {
        let oldest = self.open.front().copied().flatten().map(|sent| sent + PATIENCE);
        let glance = Instant::now() + crate::udp::GLANCE;
        let until = [oldest, (!is_halted).then_some(self.due)].into_iter().flatten().fold(glance, Instant::min);
        Ok(stop::wait_for(socket.as_fd(), Some(until))?)
    }

    /// What was not answered in time is lost: only now, since one that is on its way is not.
    fn give_up(&mut self, now: Instant) {
        while let Some(request) = self.open.front() {
            match request {
                Some(sent) if now.duration_since(*sent) < PATIENCE => break,
                Some(_) => {
                    self.lane.own.pings.lost.fetch_add(1, Ordering::Relaxed);
                    self.lost.insert(self.next - self.open.len() as u64);
                    if self.lost.len() > MOST_LOST {
                        self.lost.pop_first();
                    }
                }
                None => {}
            }
            self.open.pop_front();
        }
    }

    fn take(&mut self, datagram: &[u8], inbox: &dyn Inbox) {
        let now = Instant::now();
        if datagram.first().is_some_and(u8::is_ascii_lowercase) && inbox.take(datagram) {
            return;
        }
        let own = &self.lane.own;
        let header =
            Header::read(datagram).filter(|header| header.tag == self.pinging.tag && header.sequence < self.next);
        let Some(header) = header else {
            own.with_tally(Tally::stranger);
            return;
        };
        let first = self.next - self.open.len() as u64;
        let Some(place) = header.sequence.checked_sub(first) else {
            let count = if self.lost.remove(&header.sequence) { &own.pings.late } else { &own.pings.duplicated };
            count.fetch_add(1, Ordering::Relaxed);
            return;
        };
        match usize::try_from(place).ok().and_then(|place| self.open.get_mut(place)).and_then(Option::take) {
            Some(sent) => {
                self.answered = now;
                self.lane.record(now - sent);
                self.lane.counters.add_many(2 * self.pinging.size, 1);
            }
            None => {
                own.pings.duplicated.fetch_add(1, Ordering::Relaxed);
            }
        }
        while self.open.front().is_some_and(Option::is_none) {
            self.open.pop_front();
        }
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Answers until the client has said that it is done: never more bytes than came.
pub fn pong(socket: &UdpSocket, tag: u32, patience: Duration, lane: &Lane, inbox: &dyn Inbox) -> anyhow::Result<()> {
    let mut datagram = vec![0; 65_536];
    let (mut heard, mut first) = (Instant::now(), None);
    let outcome = loop {
        match socket.recv(&mut datagram) {
            Ok(length) => {
                let bytes = &datagram[..length];
                match Header::read(bytes).filter(|header| header.tag == tag && header.sequence < u64::MAX) {
                    Some(header) => {
                        heard = Instant::now();
                        lane.begin(heard);
                        first.get_or_insert(heard);
                        // A response that cannot be sent is one that is lost.
                        let _ = socket.send(bytes);
                        lane.own.with_tally(|tally| tally.arrive(header.sequence));
                        lane.counters.add_many(2 * length as u64, 1);
                    }
                    None if !inbox.take(bytes) => lane.own.with_tally(Tally::stranger),
                    None => {}
                }
            }
            Err(error) if is_nothing(&error) => {}
            Err(error) => break Err(error).context("the other end is gone"),
        }
        if lane.is_halted() || inbox.has_ended() {
            break Ok(());
        }
        if heard.elapsed() >= patience {
            break Err(anyhow::anyhow!("nothing arrived in time (--idle-timeout)"));
        }
        inbox.beat();
    };
    // Requests have the time in which they were sent, as data has.
    let sent = inbox.sent(0).zip(first).and_then(|(sent, first)| first.checked_add(sent.span));
    lane.finish(sent.map_or(heard, |end| end.min(Instant::now() + LINGER).max(heard)));
    outcome
}
