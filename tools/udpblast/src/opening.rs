//! How a client comes to an agreement with a listener: its addresses are tried side by side, every question is asked until it
//! is answered, and each stream shows that it receives at its address. A signal ends all of it at once.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use common::console::Console;
use common::net::access::Secret;
use common::net::peer::PeerArgs;
use common::net::turn::Turn;
use common::stop::{Stop, Stopped};

use crate::asker::{Asker, Said};
use crate::letter::{self, Letter};
use crate::part;
use crate::request::Request;
use crate::session::RETRY;
use crate::udp::Path;

/// How long an address is tried before the next one is tried beside it (RFC 8305, 5).
const HEAD_START: Duration = Duration::from_millis(250);

/// Whoever is not answered for so long begins anew: what the listener knew of it may be out of date.
const ANEW: Duration = Duration::from_secs(3);

/// Whoever has not answered by then may be of the protocol before this one, and would say so.
const FORMER_AFTER: Duration = Duration::from_millis(500);

/// What both ends have agreed on.
#[derive(Debug)]
pub struct Opened {
    /// One for each stream.
    pub sockets: Vec<UdpSocket>,
    /// As it was asked for, the size of a datagram filled in.
    pub request: Request,
    /// The test's secret number.
    pub key: u64,
    /// For the data's headers.
    pub tag: u32,
    /// How long either end may be silent.
    pub idle: Duration,
}

/// Who asks.
#[derive(Debug)]
pub struct Opening<'a> {
    /// The other end.
    pub peer: &'a PeerArgs,
    /// The way there.
    pub path: &'a Path,
    /// What proves that this end may.
    pub secret: Option<&'a Secret>,
    /// Ends it.
    pub stop: &'a Stop,
    /// Is told that it waits.
    pub console: &'a Console,
}

/// What a question led to.
enum Reached {
    Opened(Box<Opened>),
    /// Nobody answered any more: from the beginning.
    Anew,
    /// All places are taken.
    Full(String),
}

impl Opening<'_> {
    /// Agrees on `request` before `deadline`; the error is [`Stopped`] if the stop came first.
    pub fn open(&self, request: &Request, deadline: Instant) -> anyhow::Result<Opened> {
        let mut addresses = self.peer.addresses(deadline, self.stop)?;
        if let Some(local) = self.path.bind {
            addresses = local.reaching(&self.peer.host.name, &addresses)?;
        }
        let (mut deadline, mut turn) = (deadline, Turn::new(self.peer.queue));
        loop {
            let (asker, cookie, can) = self.challenge(&addresses, deadline)?;
            if request.streams > 1 && !can.split(',').any(|word| word == "streams") {
                bail!("the listener knows no --streams: bring it up to date");
            }
            let request = part::sized(request, &asker.socket)?;
            match self.start(asker, cookie, request, deadline)? {
                Reached::Opened(opened) => return Ok(*opened),
                Reached::Anew => {}
                Reached::Full(why) => {
                    if self.peer.queue.is_none() {
                        bail!("the listener refused: {why}");
                    }
                    if turn.is_first() {
                        self.console.notice(&format!("waiting for a free place (--queue): {why}"));
                    }
                    if !turn.wait(self.stop)? {
                        bail!("no place became free in time (--queue): {why}");
                    }
                    deadline = Instant::now() + self.peer.connect_timeout;
                }
            }
        }
    }

    /// The first address that answers.
    fn challenge(&self, addresses: &[SocketAddr], deadline: Instant) -> anyhow::Result<(Asker, String, String)> {
        let mut waiting = addresses.iter();
        let mut askers: Vec<Asker> = Vec::new();
        let mut last: Option<anyhow::Error> = None;
        let (mut next_at, begun) = (Instant::now(), Instant::now());
        let (mut strange, mut has_asked_former) = (None, false);
        loop {
            let now = Instant::now();
            if now >= deadline {
                return Err(strange.unwrap_or_else(nobody));
            }
            if askers.is_empty() || now >= next_at {
                if let Some(address) = waiting.next() {
                    next_at = now + HEAD_START;
                    match Asker::new(*address, self.path)? {
                        Ok(asker) => askers.push(asker),
                        Err(error) => last = Some(anyhow::Error::new(error).context(format!("cannot reach {address}"))),
                    }
                    continue;
                }
                if askers.is_empty() {
                    return Err(last.unwrap_or_else(nobody));
                }
            }
            let until = if waiting.len() == 0 { deadline } else { next_at.min(deadline) };
            if !has_asked_former && begun.elapsed() >= FORMER_AFTER {
                has_asked_former = true;
                for asker in &askers {
                    // An answer is a help, and none is no harm.
                    let _ = asker.socket.send(letter::former_hello().as_bytes());
                }
            }
            for place in self.ask(&mut askers, until)?.into_iter().rev() {
                match askers[place].heard() {
                    Ok(Some(Said::Challenge { cookie, can })) => return Ok((askers.swap_remove(place), cookie, can)),
                    Ok(Some(Said::Refused { why, .. })) => bail!("the listener refused: {why}"),
                    Ok(Some(Said::Former)) => {
                        bail!(
                            "the listener there is of an earlier version, which this one does not speak: bring it up to date"
                        )
                    }
                    Ok(Some(Said::Strange)) => {
                        strange =
                            Some(anyhow::anyhow!("something answers there, but it is no udpblast of this version"));
                    }
                    Ok(_) => {}
                    Err(_) => {
                        last = Some(anyhow::anyhow!("nobody listens there: {}", self.peer.remedy("udpblast")));
                        askers.swap_remove(place);
                    }
                }
            }
        }
    }

    fn start(&self, mut asker: Asker, cookie: String, request: Request, deadline: Instant) -> anyhow::Result<Reached> {
        asker.ask(&Letter::start(asker.nonce.clone(), cookie, request.clone(), self.secret));
        let until = deadline.min(Instant::now() + ANEW);
        let mut askers = [asker];
        while Instant::now() < until {
            for place in self.ask(&mut askers, until)? {
                match askers[place].heard() {
                    Ok(Some(Said::Ok { key, tag, idle })) => {
                        let [asker] = askers;
                        let mut sockets = self.join(&asker, key, request.streams, deadline)?;
                        sockets.insert(0, asker.socket);
                        sockets.iter().try_for_each(|socket| socket.set_nonblocking(false))?;
                        return Ok(Reached::Opened(Box::new(Opened { sockets, request, key, tag, idle })));
                    }
                    Ok(Some(Said::Refused { is_full: true, why })) => return Ok(Reached::Full(why)),
                    Ok(Some(Said::Refused { why, .. })) => bail!("the listener refused: {why}"),
                    Ok(_) => {}
                    Err(_) => bail!("nobody listens there any more: {}", self.peer.remedy("udpblast")),
                }
            }
        }
        if Instant::now() >= deadline { Err(nobody()) } else { Ok(Reached::Anew) }
    }

    /// Opens the streams after the first.
    fn join(&self, first: &Asker, key: u64, streams: u64, deadline: Instant) -> anyhow::Result<Vec<UdpSocket>> {
        let mut askers = Vec::new();
        for _ in 1..streams {
            askers.push(
                Asker::new(first.address, self.path)?.with_context(|| format!("cannot reach {}", first.address))?,
            );
        }
        let mut joined: Vec<(u64, UdpSocket)> = Vec::new();
        let mut numbers: Vec<u64> = (1..streams).collect();
        while !askers.is_empty() {
            if Instant::now() >= deadline {
                bail!("the listener took {} of {streams} streams in time (--connect-timeout)", joined.len() + 1);
            }
            for place in self.ask(&mut askers, deadline)?.into_iter().rev() {
                match askers[place].heard() {
                    Ok(Some(Said::Challenge { cookie, .. })) => {
                        let nonce = askers[place].nonce.clone();
                        let stream = numbers[place];
                        askers[place].ask(&Letter::Join { nonce, cookie, key, stream });
                    }
                    Ok(Some(Said::Ok { key: own, .. })) if own == key => {
                        joined.push((numbers.swap_remove(place), askers.swap_remove(place).socket));
                    }
                    Ok(Some(Said::Refused { why, .. })) => bail!("the listener refused a stream: {why}"),
                    Ok(_) => {}
                    Err(_) => bail!("nobody listens there any more: {}", self.peer.remedy("udpblast")),
                }
            }
        }
        joined.sort_by_key(|(number, _)| *number);
        Ok(joined.into_iter().map(|(_, socket)| socket).collect())
    }

    /// Asks what is due, and waits for answers until something is due again, at most until `until`; which sockets have one.
    fn ask(&self, askers: &mut [Asker], until: Instant) -> anyhow::Result<Vec<usize>> {
        if self.stop.is_set() {
            return Err(Stopped.into());
        }
        let now = Instant::now();
        let mut next = until;
        for asker in askers.iter_mut() {
            if asker.asked_at.is_none_or(|at| now.duration_since(at) >= RETRY) {
                asker.asked_at = Some(now);
                // What is lost is asked again; a closed port is heard of with the answer.
                let _ = asker.socket.send(asker.question.as_bytes());
            }
            next = next.min(asker.asked_at.map_or(now, |at| at + RETRY));
        }
        let sockets: Vec<_> = askers.iter().map(|asker| asker.socket.as_fd()).collect();
        let ready = self.stop.wait(&sockets, Some(next))?;
        if self.stop.is_set() {
            return Err(Stopped.into());
        }
        Ok((0..askers.len()).filter(|place| ready[*place]).collect())
    }
}

fn nobody() -> anyhow::Error {
    anyhow::anyhow!("no answer (--connect-timeout): is a udpblast listening there, and does a firewall let UDP pass?")
}
