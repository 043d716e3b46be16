//! The listener's side of one test, over a socket of its own.

use std::net::{SocketAddr, UdpSocket};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use common::net::listener::Journal;
use common::net::peer_line;
use common::schema::line::Flag;
use common::schema::udpblast::SCHEMA;
use common::stop::Stop;

use crate::args::ListenArgs;
use crate::flow::{self, Finished};
use crate::part::{self, Agreed, End, Speaker};
use crate::plan::Plan;
use crate::protocol::Word;
use crate::record::Record;
use crate::request::{Request, TestKind};
use crate::session::{self, RETRY, Talk, hear, say};
use crate::udp::{self, Wishes};

/// What all clients' threads share.
#[derive(Debug)]
pub struct Shared {
    /// The command line.
    pub args: ListenArgs,
    /// What is printed, and what ends the listener.
    pub journal: Journal,
}

impl Shared {
    fn plan(&self, socket: &UdpSocket, peer: SocketAddr, request: &Request, tag: u32) -> anyhow::Result<Plan> {
        let fits = udp::fits(socket);
        let size = request.size.unwrap_or(fits);
        if request.kind == TestKind::Recv && size > fits && !request.fragment {
            anyhow::bail!("--size {size} does not fit the listener's MTU (at most {fits}; --fragment)");
        }
        let agreed = Agreed { tag, size, idle_timeout: request.idle_timeout.min(self.args.idle_timeout) };
        let label = request.label.as_ref().or(self.args.lines.label.as_ref());
        let speaker = Speaker {
            host: self.journal.host.clone(),
            label: label.cloned().unwrap_or_default(),
            target: peer.ip().to_string(),
        };
        let plan = part::plan(request, End::Listener, agreed, speaker, socket)?;
        let interval = request.interval.or(self.args.interval.interval);
        Ok(Plan { interval, max_time: self.args.guard.max_time, ..plan })
    }
}

/// Serves one client over its own socket.
pub fn serve(shared: &Shared, socket: &UdpSocket, peer: SocketAddr, request: &Request) -> anyhow::Result<()> {
    udp::prepare(socket, Wishes { buffer: request.buffer, fragment: request.fragment, offload: request.offload })?;
    let tag = rand::random::<u32>();
    let talk = Talk::of_listener(socket, tag)?;
    let plan = shared.plan(socket, peer, request, tag)?;
    let idle_timeout = request.idle_timeout.min(shared.args.idle_timeout);
    say(socket, &Word::Ok { tag });
    let lines = Mutex::new(Vec::new());
    let emit = |record: &Record| {
        let text = record.text()?;
        shared.journal.print(&text);
        let text = peer_line::to_wire(&SCHEMA, &text)?;
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        say(socket, &Word::Line { index: lines.len() as u64, of: None, text: text.clone() });
        lines.push(text);
        Ok(())
    };
    let stop = shared.journal.session.stop.child()?;
    let (mut finished, gone) = if request.kind == TestKind::Recv {
        await_client(socket, &talk, &stop, tag, idle_timeout)?;
        let work = || flow::run(plan, socket, &talk, &stop, None, &emit);
        session::with_attendant(socket, &talk, &stop, idle_timeout, || Ok(()), work)?
    } else {
        (flow::run(plan, socket, &talk, &stop, None, &emit)?, None)
    };
    finished.fail(gone);
    let lines = lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    conclude(shared, socket, &talk, request, &mut finished, lines)?;
    match finished.failure {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Tells the client its tag until it says something: before that, nothing is sent at a rate.
fn await_client(socket: &UdpSocket, talk: &Talk, stop: &Stop, tag: u32, idle_timeout: Duration) -> anyhow::Result<()> {
    let begun = Instant::now();
    let mut said = begun;
    while !talk.has_begun() {
        if begun.elapsed() >= idle_timeout || stop.is_set() {
            anyhow::bail!("it asked for a test and did not begin it");
        }
        hear(socket, talk).context("the client is gone")?;
        if said.elapsed() >= RETRY {
            said = Instant::now();
            say(socket, &Word::Ok { tag });
        }
    }
    Ok(())
}

/// Prints the total, and answers the client's questions until it has all it wants.
fn conclude(
    shared: &Shared,
    socket: &UdpSocket,
    talk: &Talk,
    request: &Request,
    finished: &mut Finished,
    mut lines: Vec<String>,
) -> anyhow::Result<()> {
    let stop = &shared.journal.session.stop;
    let idle_timeout = request.idle_timeout.min(shared.args.idle_timeout);
    let is_there = || talk.silence() < idle_timeout && !stop.is_set();
    let report = match request.kind {
        TestKind::Send => talk.sent().map(|sent| finished.report(sent)),
        TestKind::Recv => {
            let mut said: Option<Instant> = None;
            while talk.report().is_none() && is_there() && !talk.is_over() {
                if said.is_none_or(|at| at.elapsed() >= RETRY) {
                    said = Some(Instant::now());
                    say(socket, &Word::End { sent: finished.all_sent(), whole: !finished.is_cut });
                }
                if hear(socket, talk).is_err() {
                    break;
                }
            }
            talk.report()
        }
        TestKind::Ping => None,
    };
    finished.is_cut |= talk.was_cut() || (report.is_none() && request.kind != TestKind::Ping);
    let total = finished.total(report);
    let text = total.text()?;
    shared.journal.print(&text);
    if total.line.flags.has(Flag::Partial) {
        shared.journal.note_partial();
    }
    lines.push(peer_line::to_wire(&SCHEMA, &text)?);
    let of = Some(lines.len() as u64);
    while is_there() && !talk.is_over() && hear(socket, talk).is_ok() {
        for index in talk.asked_for() {
            if let Some(text) = usize::try_from(index).ok().and_then(|place| lines.get(place)) {
                say(socket, &Word::Line { index, of, text: text.clone() });
            }
        }
        // A client that still says that it is done has not heard what came of it.
        if request.kind != TestKind::Recv && talk.was_asked_for_report() {
            let (arrived, jitter_us) = report.unwrap_or_default();
            say(socket, &Word::report(arrived, jitter_us));
        }
    }
    Ok(())
}
