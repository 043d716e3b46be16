//! The sink's side of one client: a plain one, or a test of ours.

use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use common::net::listener::{Beginning, Refusal};
use common::net::peer_line;
use common::schema::line::Flag;
use common::schema::tcpsink::SCHEMA;
use socket2::SockRef;

use crate::control::{self, Control};
use crate::engine::Stream;
use crate::finished::Finished;
use crate::flow;
use crate::ongoing::Ticket;
use crate::outbox::Outbox;
use crate::part;
use crate::protocol::{FromClient, FromSink};
use crate::pulse::Pulse;
use crate::record::Record;
use crate::request::{Request, TestKind, Way};
use crate::sink::Sink;
use crate::socket;

/// How long a client of ours may take to open its streams.
const JOIN_TIME: Duration = Duration::from_secs(10);

/// How often a thread that waits for something else looks for a stop.
const GLANCE: Duration = Duration::from_millis(100);

/// How long after `--max-time` a client may still say that it is done.
const GRACE: Duration = Duration::from_secs(1);

/// A test that was asked for.
pub struct Asked {
    /// What.
    pub request: Request,
    /// What the streams will say.
    pub token: String,
    /// Who only asks does not count.
    pub beginning: Beginning,
}

/// A stream that joins a test.
pub struct Joining {
    /// Which way it goes.
    pub way: Way,
    /// Which one, from 0.
    pub index: u64,
    /// The connection.
    pub stream: Stream,
}

/// The streams of a test, by their ways.
type Streams = Vec<(Way, Vec<Stream>)>;

/// Serves a client that knows nothing of us: its bytes are payload, and when it closes its side it reads its line.
pub fn plain(sink: &Sink, beginning: &Beginning, stream: Stream) {
    let peer = socket::peer_address(&stream.socket);
    beginning.note();
    let stream = [stream];
    let text = serve_plain(sink, &peer, &stream).unwrap_or_else(|error| {
        sink.journal.complain(&peer, &error);
        FromSink::Failed { why: format!("{error:#}") }.text()
    });
    // A client that has left does not want its line.
    let _ = control::write_line(&stream[0].socket, &text);
    let _ = stream[0].socket.shutdown(Shutdown::Write);
}

/// What it reads in the end.
fn serve_plain(sink: &Sink, peer: &str, streams: &[Stream]) -> anyhow::Result<String> {
    let request = sink.plain_request();
    let presence = sink.company.join(request.visit);
    let mut plan = sink.plan(&request, Way::Up, peer);
    // A plain client takes its time.
    plan.begins_at_once = false;
    let mut finished = flow::run(plan, streams, &sink.journal.session.stop, None, &|record| {
        sink.journal.print(&record.text()?);
        Ok(())
    })?;
    finished.raise_if(presence.was_shared(), Flag::Shared);
    drop(presence);
    let concluded = sink.conclude(peer, finished)?;
    Ok(SCHEMA.header() + &concluded.lines.concat())
}

/// Serves a test of ours, on the connection `socket` that asked for it.
pub fn test(sink: &Sink, asked: &Asked, socket: TcpStream, unread: Vec<u8>, ticket: &Ticket) {
    let peer = socket::peer_address(&socket);
    let socket = Arc::new(socket);
    let outbox = Outbox::new(Arc::clone(&socket));
    let outcome = Control::new(socket, unread).context("cannot set its options").and_then(|mut control| {
        let test = Test { sink, asked, peer: &peer, outbox: &outbox, ticket };
        outbox.tell(&FromSink::Accepted { token: asked.token.clone() });
        let streams = match test.join(&control) {
            Ok(streams) => streams,
            // It does not count, and so it is no failure either.
            Err(error) => {
                sink.turn_away(&peer, &Refusal::Useless(format!("{error:#}")));
                outbox.tell(&FromSink::Failed { why: format!("{error:#}") });
                return Ok(());
            }
        };
        if asked.request.kind != TestKind::Connect {
            ticket.begin();
            asked.beginning.note();
        }
        test.serve(&mut control, &streams)
    });
    if let Err(error) = outcome {
        outbox.tell(&FromSink::Failed { why: format!("{error:#}") });
        sink.journal.complain(&peer, &error);
    }
    outbox.drain(Instant::now() + sink.patience(&asked.request), &sink.journal.session.stop);
}

/// A test on its way.
struct Test<'a> {
    sink: &'a Sink,
    asked: &'a Asked,
    peer: &'a str,
    outbox: &'a Outbox,
    ticket: &'a Ticket,
}

impl Test<'_> {
    /// Plays the sink's part, and says what came of it.
    fn serve(&self, control: &mut Control, streams: &Streams) -> anyhow::Result<()> {
        let Self { sink, peer, outbox, .. } = *self;
        let request = &self.asked.request;
        let (begun, presence) = (Instant::now(), sink.company.join(request.visit));
        let plans = streams.iter().map(|(way, _)| sink.plan(request, *way, peer)).collect();
        let emit = |record: &Record| {
            let text = record.text()?;
            sink.journal.print(&text);
            outbox.mention(&FromSink::Line { text: peer_line::to_wire(&SCHEMA, &text)? });
            Ok(())
        };
        let mut finished = flow::run_all(plans, streams, &sink.journal.session.stop, None, &emit)?;
        if let Some(failure) = finished.iter().find_map(|flow| flow.failure.as_ref()) {
            // A client that is told why needs no more time; and when one direction fails, the test has.
            outbox.tell(&FromSink::Failed { why: format!("{failure:#}") });
            for flow in &mut finished {
                flow.is_cut = true;
            }
        } else {
            let end = self.hear_the_end(control, streams, begun);
            look_again(&mut finished, streams);
            if finished.is_empty() {
                // A test of connections begins with the first of them, and has no line here.
                if end.is_ok() || self.ticket.knocks.load(Ordering::Relaxed) > 0 {
                    self.asked.beginning.note();
                }
                end?;
            } else {
                settle(&mut finished, end);
            }
        }
        let shared = presence.was_shared();
        drop(presence);
        for mut flow in finished {
            flow.tell_last_interval(&emit)?;
            let told = flow.failure.is_some();
            flow.raise_if(shared, Flag::Shared);
            let concluded = sink.conclude(peer, flow)?;
            if let Some(failure) = concluded.failure.filter(|_| !told) {
                outbox.tell(&FromSink::Failed { why: format!("{failure:#}") });
            }
            for text in concluded.lines {
                outbox.tell(&FromSink::Line { text: peer_line::to_wire(&SCHEMA, &text)? });
            }
        }
        outbox.tell(&FromSink::End { shared });
        Ok(())
    }

    /// Waits for the streams of the test, and gives them the options asked for.
    fn join(&self, control: &Control) -> anyhow::Result<Streams> {
        let request = &self.asked.request;
        let deadline = Instant::now() + JOIN_TIME;
        let mut places: Vec<(Way, Vec<Option<Stream>>)> =
            (request.kind.ways().iter()).map(|way| (*way, (0..request.streams).map(|_| None).collect())).collect();
        while places.iter().any(|(_, streams)| streams.iter().any(Option::is_none)) {
            let is_over = Instant::now() >= deadline || self.sink.journal.session.stop.is_set();
            if is_over || control.is_closed() || self.ticket.gives_way() {
                bail!("it asked for a test and did not begin it");
            }
            match self.ticket.joined.recv_timeout(GLANCE) {
                Ok(Joining { way, index, stream }) => {
                    let index = usize::try_from(index).unwrap_or(usize::MAX);
                    let options = part::options(request, way == Way::Down);
                    let is_ipv6 = stream.socket.peer_addr().is_ok_and(|peer| peer.is_ipv6());
                    options.apply(&SockRef::from(&stream.socket), is_ipv6)?;
                    let place = places.iter_mut().find(|(own, _)| *own == way).and_then(|(_, all)| all.get_mut(index));
                    match place {
                        Some(place @ None) => *place = Some(stream),
                        _ => bail!("it opened a stream that it had not asked for"),
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => bail!("the sink ends"),
            }
        }
        Ok(places.into_iter().map(|(way, streams)| (way, streams.into_iter().flatten().collect())).collect())
    }

    /// What the client says it sent and received, and whether that was all of it. What this end sent may still be on its
    /// way; and where there are no streams, all of the test is waited for here.
    fn hear_the_end(&self, control: &mut Control, streams: &Streams, begun: Instant) -> anyhow::Result<Done> {
        let request = &self.asked.request;
        let stop = &self.sink.journal.session.stop;
        let down = streams.iter().find(|(way, _)| *way == Way::Down).map_or(&[][..], |(_, streams)| streams);
        let patience = self.sink.patience(request);
        let latest = self.sink.args.guard.max_time.map(|most| begun + most + GRACE);
        let mut pulse = Pulse::start_draining();
        let line = loop {
            match control.read_line(Some(Instant::now() + GLANCE)) {
                Err(error) if error.kind() == ErrorKind::TimedOut && !stop.is_set() => {
                    self.outbox.flush();
                    let now = Instant::now();
                    let knocks = || self.ticket.knocks.load(Ordering::Relaxed);
                    if self.ticket.gives_way() && request.kind == TestKind::Connect {
                        bail!("it asked for a test and did not begin it");
                    }
                    if latest.is_some_and(|latest| now >= latest) {
                        bail!("longer than is allowed (--max-time)");
                    }
                    let is_over = match request.kind {
                        TestKind::Connect => pulse.is_silent(now, patience, knocks),
                        _ => pulse.is_over(now, patience, down),
                    };
                    if is_over {
                        bail!("it did not say that it was done");
                    }
                }
                line => break line.context("it did not say that it was done")?,
            }
        };
        match FromClient::parse(&line.ok_or_else(|| anyhow!("it went away before its end"))?)? {
            FromClient::Done { sent, received, whole, left, span } => Ok(Done { sent, received, whole, left, span }),
            _ => bail!("it said something else than that it was done"),
        }
    }
}

/// A sender's kernel is done only when the client is.
fn look_again(finished: &mut [Finished], streams: &[(Way, Vec<Stream>)]) {
    for (flow, (_, streams)) in finished.iter_mut().zip(streams) {
        flow.look_again(streams);
    }
}

/// What a client says when its part is over.
struct Done {
    sent: u64,
    received: u64,
    whole: bool,
    left: bool,
    span: Duration,
}

/// Compares what the client says with what was seen here.
fn settle(finished: &mut [Finished], end: anyhow::Result<Done>) {
    match end {
        Ok(Done { sent, received, whole, left, span }) => {
            for flow in finished {
                flow.last_at_least(span);
                flow.is_cut |= !whole;
                let other = if flow.sends() { received } else { sent };
                // What lay in the buffers when the time was over is not waited for.
                let has_left = if flow.sends() { left } else { flow.has_left };
                let differs = flow.moves_payload() && flow.all_bytes != other && !has_left;
                flow.raise_if(differs, Flag::Short);
                flow.is_cut |= differs;
            }
        }
        Err(error) => {
            let why = format!("{error:#}");
            for flow in finished {
                flow.is_cut = true;
                flow.failure = Some(anyhow!("{why}"));
            }
        }
    }
}
