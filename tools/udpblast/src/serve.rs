//! The listener's side of one test, over sockets of its own.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::net::listener::{Beginning, Company, Journal};
use common::net::peer_line;
use common::schema::udpblast::SCHEMA;
use common::stop::Stop;

use crate::args::ListenArgs;
use crate::attendant;
use crate::conclusion::Conclusion;
use crate::flow;
use crate::kept::Kept;
use crate::local::LocalQueues;
use crate::part::{self, Agreed, End, Speaker};
use crate::plan::Plan;
use crate::protocol::Word;
use crate::record::Record;
use crate::request::{Request, TestKind};
use crate::session::{RETRY, Talk};
use crate::udp::{self, Wishes};

/// What all clients' threads share.
#[derive(Debug)]
pub struct Shared {
    /// The command line.
    pub args: ListenArgs,
    /// What is printed, and what ends the listener.
    pub journal: Journal,
    /// Whom else it measures.
    pub company: Company,
}

/// One more stream of a test.
#[derive(Debug)]
pub struct Joined {
    /// From 1.
    pub stream: u64,
    /// Connected to the client.
    pub socket: UdpSocket,
    /// What the client is told, again if it asks again.
    pub answer: String,
}

/// A client that was admitted.
#[derive(Debug)]
pub struct Visitor {
    /// Connected to it.
    pub socket: UdpSocket,
    /// Where it is.
    pub peer: SocketAddr,
    /// What it wants.
    pub request: Request,
    /// The test's secret number.
    pub key: u64,
    /// For the data's headers.
    pub tag: u32,
    /// How long either end may be silent.
    pub idle: Duration,
    /// What it is told, again if it asks again.
    pub answer: String,
    /// Its streams after the first.
    pub joins: Receiver<Joined>,
    /// To be told when it has begun.
    pub beginning: Beginning,
    /// How far it has come; dropped when it has been served.
    pub standing: Arc<Standing>,
}

/// How far a client has come, and whether it has to give way to one that begins sooner.
#[derive(Debug, Default)]
pub struct Standing {
    has_begun: AtomicBool,
    gives_way: AtomicBool,
}

impl Standing {
    /// It has begun its test.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// It has to leave unless it has begun.
    pub fn give_way(&self) {
        self.gives_way.store(true, Ordering::Release);
    }
}

/// Serves one client over its own sockets.
pub fn serve(shared: &Shared, visitor: &Visitor) -> anyhow::Result<()> {
    let stop = shared.journal.session.stop.child()?;
    let Visitor { socket, peer, request, key, tag, idle, answer, joins, beginning, standing } = visitor;
    let wishes = Wishes {
        buffer: request.buffer,
        fragment: request.fragment,
        joins: part::joins(request, End::Listener, udp::fits(socket)),
        dscp: request.dscp,
    };
    udp::prepare(socket, wishes)?;
    let mut talk = Talk::new(&[socket.try_clone()?], *key, End::Listener, *idle, Some(answer.clone()))?;
    let mut sockets = vec![socket.try_clone()?];
    let has_time = |since: Instant| {
        since.elapsed() < shared.args.idle_timeout && !standing.gives_way.load(Ordering::Acquire) && !stop.is_set()
    };
    let outcome = await_client(&talk, joins, request.streams, &stop, has_time);
    let others = told(&talk, outcome)?;
    for joined in &others {
        udp::prepare(&joined.socket, wishes)?;
        sockets.push(joined.socket.try_clone()?);
    }
    standing.has_begun.store(true, Ordering::Release);
    beginning.note();
    talk.add_streams(sockets.get(1..).unwrap_or_default())?;
    let talk = talk;
    let outcome = measure(shared, &talk, &sockets, &stop, (*peer, request, *tag, *idle));
    told(&talk, outcome)
}

/// The client hears of what went wrong here, as far as anything gets through.
fn told<T>(talk: &Talk, outcome: anyhow::Result<T>) -> anyhow::Result<T> {
    if let Err(error) = &outcome
        && !talk.is_over()
    {
        for _ in 0..3 {
            let _ = talk.say(&Word::Failed { why: format!("{error:#}") });
        }
    }
    outcome
}

/// Tells the client what was agreed on until it begins and all its streams are there; those after the first. Before that,
/// nothing is sent at a rate.
fn await_client(
    talk: &Talk,
    joins: &Receiver<Joined>,
    streams: u64,
    stop: &Stop,
    has_time: impl Fn(Instant) -> bool,
) -> anyhow::Result<Vec<Joined>> {
    let begun = Instant::now();
    let mut said: Option<Instant> = None;
    let mut others: Vec<Joined> = Vec::new();
    while !talk.has_begun() || others.len() as u64 + 1 < streams {
        if !has_time(begun) || talk.has_left() {
            anyhow::bail!("it asked for a test and did not begin it");
        }
        if said.is_none_or(|at| at.elapsed() >= RETRY) && !talk.has_begun() {
            said = Some(Instant::now());
            talk.answer_again();
        }
        while let Ok(joined) = joins.try_recv() {
            let is_new = others.iter().all(|other| other.stream != joined.stream);
            if joined.stream < streams && is_new {
                joined.socket.set_nonblocking(true)?;
                // One that is lost is asked for again.
                let _ = joined.socket.send(joined.answer.as_bytes());
                others.push(joined);
            }
        }
        others.iter().for_each(answer_again);
        if talk.wait_and_hear(stop, others.iter().map(|joined| joined.socket.as_fd()).collect()).is_err() {
            anyhow::bail!("the client is gone (ICMP port unreachable)");
        }
    }
    others.sort_by_key(|joined| joined.stream);
    others.iter().try_for_each(|joined| joined.socket.set_nonblocking(false))?;
    Ok(others)
}

/// A client that asks again has not heard.
fn answer_again(joined: &Joined) {
    let mut datagram = [0; 1024];
    while let Ok(length) = joined.socket.recv(&mut datagram) {
        if datagram[..length].starts_with(b"udpblast/2 join ") {
            let _ = joined.socket.send(joined.answer.as_bytes());
        }
    }
}

/// Does this end's part, once both are ready.
fn measure(
    shared: &Shared,
    talk: &Talk,
    sockets: &[UdpSocket],
    stop: &Stop,
    (peer, request, tag, idle): (SocketAddr, &Request, u32, Duration),
) -> anyhow::Result<()> {
    let queues = LocalQueues::towards(&sockets[0]);
    let agreed = Agreed {
        tag,
        size: size(request, &sockets[0])?,
        idle_timeout: idle,
        is_limited: shared.args.max_rate.is_some(),
        is_wary: queues.cut(),
    };
    let plan = plan(shared, talk, request, peer, agreed, &sockets[0])?;
    let lines = Mutex::new(Kept::default());
    let emit = |record: &Record| {
        let text = record.text()?;
        shared.journal.print(&text);
        let text = peer_line::to_wire(&SCHEMA, &text)?;
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.forget_before(talk.client_has());
        let index = lines.keep(text.clone());
        // One that is lost is asked for.
        let _ = talk.say(&Word::Line { index, of: None, text });
        Ok(())
    };
    let presence = shared.company.join(request.visit);
    let (mut finished, gone) = if request.kind == TestKind::Recv {
        let work = || flow::run(plan, sockets, talk, stop, None, &emit);
        attendant::with_attendant(talk, stop, idle, || Ok(()), work)?
    } else {
        (flow::run(plan, sockets, talk, stop, None, &emit)?, None)
    };
    finished.fail(gone);
    let was_shared = presence.was_shared();
    drop(presence);
    let is_sure = match request.kind {
        TestKind::Recv => queues.are_accounted_for(finished.refused() + talk.refused_pieces()),
        _ => talk.is_sure(),
    };
    let lines = lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    Conclusion { shared, talk, request, idle, lines, was_shared }.conclude(&mut finished, is_sure)?;
    finished.failure.map_or(Ok(()), Err)
}

/// Bytes of a datagram: what was asked for, or, where this end sends, what fits.
fn size(request: &Request, socket: &UdpSocket) -> anyhow::Result<u64> {
    let fits = udp::fits(socket);
    let size = request.size.unwrap_or(fits);
    if request.kind == TestKind::Recv && size > fits && !request.fragment {
        anyhow::bail!("--size {size} does not fit the listener's MTU (at most {fits}; --fragment)");
    }
    Ok(size)
}

fn plan(
    shared: &Shared,
    talk: &Talk,
    request: &Request,
    peer: SocketAddr,
    agreed: Agreed,
    socket: &UdpSocket,
) -> anyhow::Result<Plan> {
    let (args, own) = (&shared.args, &shared.args.guard.max_time);
    let label = talk.label().or_else(|| args.lines.label.clone());
    let speaker = Speaker {
        host: shared.journal.host.clone(),
        label: label.unwrap_or_default(),
        target: peer.ip().to_canonical().to_string(),
    };
    let plan = part::plan(request, End::Listener, agreed, speaker, socket)?;
    // Whoever goes on for longer than was asked for is not served for longer.
    let asked = request.length().map(|length| length.saturating_add(agreed.idle_timeout).saturating_add(request.gap()));
    let max_time = [asked, *own].into_iter().flatten().min();
    Ok(Plan {
        interval: request.interval.or(args.interval.interval),
        max_time,
        cpus: args.cpu.clone().unwrap_or_default(),
        ..plan
    })
}
