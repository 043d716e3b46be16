//! The verbs that ask a listener: agree, do this end's part, and collect both ends' lines.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use common::cli::{Ending, OutputArgs, ScheduleArgs, Session};
use common::measure::sample;
use common::measure::series;
use common::net::access::Secret;
use common::net::peer::PeerArgs;
use common::net::peer_line::PeerLine;
use common::schema::udpblast::SCHEMA;
use common::stop::Stopped;

use crate::args::{BlastArgs, DatagramArgs, PingArgs};
use crate::exchange::Exchange;
use crate::flow::{self, Finished};
use crate::packet::HEADER;
use crate::part::{self, Agreed, End, Speaker};
use crate::protocol::Word;
use crate::record::Record;
use crate::request::{Request, TestKind};
use crate::session::{self, RETRY, Talk, hear, say, try_say};
use crate::udp::{self, Wishes};

/// How long an interrupted client waits for the listener's lines.
const LAST_WORD: Duration = Duration::from_secs(1);

/// `udpblast send` and `recv`.
pub fn transfer(kind: TestKind, args: &BlastArgs) -> anyhow::Result<Ending> {
    let request = Request {
        rate: args.rate.bits(),
        bytes: args.bytes,
        time: if args.bytes.is_some() { None } else { Some(args.schedule.run_time()) },
        ..request(kind, &args.peer, &args.lines, &args.schedule, Some(&args.datagram))
    };
    repeat(&args.peer, request, &args.schedule, args.bytes.is_none(), &args.lines)
}

/// `udpblast ping`.
pub fn ping(args: &PingArgs) -> anyhow::Result<Ending> {
    let request =
        Request { size: Some(args.size), ..request(TestKind::Ping, &args.peer, &args.lines, &args.schedule, None) };
    repeat(&args.peer, request, &args.schedule, true, &args.lines)
}

fn request(
    kind: TestKind,
    peer: &PeerArgs,
    lines: &OutputArgs,
    schedule: &ScheduleArgs,
    datagram: Option<&DatagramArgs>,
) -> Request {
    Request {
        kind,
        run: 1,
        label: lines.label.clone(),
        rate: None,
        size: datagram.and_then(|datagram| datagram.size),
        burst: datagram.and_then(|datagram| datagram.burst),
        time: Some(schedule.run_time()),
        bytes: None,
        warmup: schedule.warm_up(),
        interval: schedule.interval.interval,
        idle_timeout: peer.idle_timeout,
        fragment: datagram.is_some_and(|datagram| datagram.fragment),
        offload: datagram.is_some_and(|datagram| !datagram.no_offload),
        buffer: datagram.and_then(|datagram| datagram.buffer),
    }
}

/// Runs a test as often as was asked for.
fn repeat(
    peer: &PeerArgs,
    mut request: Request,
    schedule: &ScheduleArgs,
    is_timed: bool,
    lines: &OutputArgs,
) -> anyhow::Result<Ending> {
    let repeat = schedule.repeat(is_timed)?;
    let session = lines.open("udpblast", &SCHEMA)?;
    let client = Client::new(peer, lines, &session)?;
    let ending = series::run(&session, repeat, |run| {
        request.run = run;
        client.measure(&request)
    })?;
    Ok(ending.unwrap_or(Ending::Measured))
}

/// A client of one listener.
pub struct Client<'a> {
    peer: &'a PeerArgs,
    label: String,
    host: String,
    secret: Option<Secret>,
    session: &'a Session,
}

impl<'a> Client<'a> {
    /// A client that has not spoken yet.
    pub fn new(peer: &'a PeerArgs, lines: &OutputArgs, session: &'a Session) -> anyhow::Result<Self> {
        Ok(Self {
            peer,
            label: lines.label.clone().unwrap_or_default(),
            host: sample::host_name(),
            secret: peer.secret()?,
            session,
        })
    }

    /// Runs one test; `None` if it was told to stop before it began.
    pub fn measure(&self, request: &Request) -> anyhow::Result<Option<Exchange>> {
        let exchange = self.agree_and_run(request).with_context(|| self.peer.context())?;
        let in_context = |exchange: Exchange| Exchange {
            failure: exchange.failure.map(|failure| failure.context(self.peer.context())),
            ..exchange
        };
        Ok(exchange.map(in_context))
    }

    fn agree_and_run(&self, request: &Request) -> anyhow::Result<Option<Exchange>> {
        let deadline = Instant::now() + self.peer.connect_timeout;
        let socket = match self.connect(deadline) {
            Err(error) if error.is::<Stopped>() => return Ok(None),
            socket => socket?,
        };
        udp::prepare(&socket, Wishes { buffer: request.buffer, fragment: request.fragment, offload: request.offload })?;
        let request = sized(request, &socket)?;
        let talk = Talk::of_client();
        let Some(tag) = self.agree(&socket, &request, deadline)? else { return Ok(None) };
        say(&socket, &Word::Alive);
        let size = request.size.unwrap_or_default();
        let agreed = Agreed { tag, size, idle_timeout: self.peer.idle_timeout };
        let speaker =
            Speaker { host: self.host.clone(), label: self.label.clone(), target: self.peer.host.name.clone() };
        let plan = part::plan(&request, End::Client, agreed, speaker, &socket)?;
        let stop = self.session.stop.child()?;
        let progress = self.session.console.progress(request.time.map(|time| time + request.warmup));
        let emit = |record: &Record| self.session.lines.write_line(&record.text()?);
        let pass_on = || self.pass_on(&socket, &talk);
        let work = || flow::run(plan, &socket, &talk, &stop, Some(&progress), &emit);
        let (mut finished, gone) = if request.kind == TestKind::Send {
            session::with_attendant(&socket, &talk, &stop, self.peer.idle_timeout, pass_on, work)?
        } else {
            (work()?, None)
        };
        finished.fail(gone);
        drop(progress);
        self.collect(&socket, &talk, &request, finished).map(Some)
    }

    fn connect(&self, deadline: Instant) -> anyhow::Result<UdpSocket> {
        let address = self.peer.addresses(deadline, &self.session.stop)?[0];
        let any: SocketAddr = if address.is_ipv4() {
            (std::net::Ipv4Addr::UNSPECIFIED, 0).into()
        } else {
            (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(address).with_context(|| format!("cannot reach {address}"))?;
        Ok(socket)
    }

    /// Says hello, shows the cookie, and is told the tag; whatever is lost is asked for again. `None` if told to stop.
    fn agree(&self, socket: &UdpSocket, request: &Request, deadline: Instant) -> anyhow::Result<Option<u32>> {
        let nonce = format!("{:032x}", rand::random::<u128>());
        let mut question = Word::Hello { nonce: nonce.clone() };
        let mut strange = false;
        while Instant::now() < deadline && !self.session.stop.is_set() {
            say(socket, &question);
            let again = Instant::now() + RETRY;
            while Instant::now() < again && !self.session.stop.is_set() {
                let mut datagram = vec![0; 65_536];
                let word = match socket.recv(&mut datagram) {
                    Ok(length) => Word::parse(&datagram[..length]),
                    Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                        bail!("nobody listens there: {}", self.peer.remedy("udpblast"));
                    }
                    Err(_) => continue,
                };
                match word {
                    Ok(Word::Challenge { nonce: own, cookie }) if own == nonce => {
                        let proof = self.secret.as_ref().map(|secret| secret.proof(&cookie, "start"));
                        let request = Box::new(request.clone());
                        question = Word::Start { nonce: nonce.clone(), cookie, proof, request };
                        break;
                    }
                    Ok(Word::Ok { tag }) => return Ok(Some(tag)),
                    Ok(Word::Refused { why } | Word::Failed { why }) => bail!("the listener refused: {why}"),
                    Ok(_) => {}
                    Err(_) => strange = true,
                }
            }
        }
        if self.session.stop.is_set() {
            return Ok(None);
        }
        if strange {
            bail!("something answers there, but it is no udpblast of this version");
        }
        bail!("no answer (--connect-timeout): is a udpblast listening there, and does a firewall let UDP pass?")
    }

    /// Prints the listener's lines that have come, in their order, and asks for one that was lost.
    fn pass_on(&self, socket: &UdpSocket, talk: &Talk) -> anyhow::Result<()> {
        while let Some(line) = talk.next_line() {
            self.session.lines.write_line(&PeerLine::read(&SCHEMA, &line)?.text()?)?;
        }
        if let Some(index) = talk.missing().filter(|_| talk.has_gap()) {
            say(socket, &Word::Get { index });
        }
        Ok(())
    }

    /// Says that this end is done until the listener has told all, and builds this end's total.
    fn collect(
        &self,
        socket: &UdpSocket,
        talk: &Talk,
        request: &Request,
        mut finished: Finished,
    ) -> anyhow::Result<Exchange> {
        let kind = request.kind;
        // A receiver that knows how much was sent knows its counts, and tells them; a sender asks for them.
        let own_report =
            |finished: &Finished| talk.sent().filter(|_| kind == TestKind::Recv).map(|sent| finished.report(sent));
        let done = |finished: &Finished| match own_report(finished) {
            Some((arrived, jitter_us)) => Word::report(arrived, jitter_us),
            None => Word::End { sent: finished.all_sent(), whole: !finished.is_cut },
        };
        let limit = || {
            let most = if self.session.stop.is_set() { LAST_WORD } else { Duration::MAX };
            self.peer.idle_timeout.min(most)
        };
        let begun = Instant::now();
        let (mut said, mut rest, mut gone) = (None::<Instant>, Vec::new(), None);
        if kind == TestKind::Recv && talk.sent().is_none() && !self.session.stop.is_set() && finished.failure.is_none()
        {
            // Cut short without the sender's last word: there is nothing to agree on.
            finished.fail(Some(anyhow!("the sender did not say how much it sent")));
        }
        loop {
            while let Some(line) = talk.next_line() {
                rest.push(line);
            }
            let has_report = kind != TestKind::Send || talk.report().is_some();
            if has_report && talk.missing().is_none() {
                break;
            }
            if talk.silence() >= limit() || (self.session.stop.is_set() && begun.elapsed() >= LAST_WORD) {
                gone = Some(anyhow!("the listener fell silent before its last word (--idle-timeout)"));
                break;
            }
            let mut is_there = true;
            if said.is_none_or(|at| at.elapsed() >= RETRY) {
                said = Some(Instant::now());
                let get = talk.missing().map(|index| Word::Get { index });
                is_there = [Some(&done(&finished)), get.as_ref()]
                    .into_iter()
                    .flatten()
                    .all(|word| try_say(socket, word).is_ok());
            }
            let before = talk.missing();
            if !is_there || hear(socket, talk).is_err() {
                gone = Some(anyhow!("nobody listens there any more (ICMP port unreachable)"));
                break;
            }
            if talk.missing() != before {
                said = None;
            }
        }
        finished.is_cut |= talk.was_cut();
        // Three may get through where one does not; if none does, the listener waits its idle time.
        (0..3).for_each(|_| say(socket, &Word::Bye));
        finished.fail(talk.failed().map(|why| anyhow!("the listener gave up: {why}")));
        finished.fail(gone.filter(|_| !self.session.stop.is_set()));
        let report = own_report(&finished).or_else(|| talk.report().filter(|_| kind == TestKind::Send));
        let own = finished.total(report);
        let others = rest.pop().map(|line| PeerLine::read(&SCHEMA, &line)).transpose()?;
        for line in &rest {
            self.session.lines.write_line(&PeerLine::read(&SCHEMA, line)?.text()?)?;
        }
        Ok(Exchange { own, others, failure: finished.failure, kind, asked: request.rate })
    }
}

/// The request with the size of a datagram that this end's route takes, if this end sends.
fn sized(request: &Request, socket: &UdpSocket) -> anyhow::Result<Request> {
    let mut request = request.clone();
    if request.kind == TestKind::Recv {
        return Ok(request);
    }
    let fits = udp::fits(socket);
    let size = request.size.unwrap_or(fits).max(HEADER as u64);
    if size > fits && !request.fragment {
        let mtu = udp::mtu(socket).map_or_else(|| "unknown".into(), |mtu| mtu.to_string());
        bail!("--size {size} does not fit the route's MTU of {mtu} (at most {fits}; --fragment sends it all the same)");
    }
    request.size = Some(size);
    Ok(request)
}
