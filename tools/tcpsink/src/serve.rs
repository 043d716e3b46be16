//! The sink's side of one client: a plain one, or a test of ours.

use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use common::net::access::Secret;
use common::net::listener::{Journal, Refusal};
use common::net::peer_line;
use common::schema::line::Flag;
use common::schema::tcpsink::SCHEMA;
use socket2::SockRef;

use crate::args::ListenArgs;
use crate::control::{self, Control};
use crate::engine::file::Output;
use crate::engine::{Method, Stream};
use crate::finished::Finished;
use crate::flow;
use crate::part::{self, End, Speaker};
use crate::plan::Plan;
use crate::protocol::{FromClient, FromSink};
use crate::pulse::Pulse;
use crate::record::Record;
use crate::request::{Request, TestKind, Way};
use crate::role::Role;
use crate::socket;

/// How long a client of ours may take from one step of the opening to the next.
const JOIN_TIME: Duration = Duration::from_secs(10);

/// How often a thread that waits for something else looks for a stop.
const GLANCE: Duration = Duration::from_millis(100);

/// What all clients' threads share.
#[derive(Debug)]
pub struct Sink {
    args: ListenArgs,
    /// What is printed, and what ends the sink.
    pub journal: Journal,
    secret: Option<Secret>,
    /// Where the one client's bytes go.
    output: Mutex<Option<Output>>,
}

/// A test that was asked for.
pub struct Asked {
    /// What.
    pub request: Request,
    /// The line that asked.
    pub question: String,
    /// What the streams will say.
    pub token: String,
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

impl Sink {
    /// A sink that has served nobody yet. The error is [`Stopped`](common::stop::Stopped) if a signal came first.
    pub fn new(args: ListenArgs) -> anyhow::Result<Self> {
        let journal = Journal::open(&args.lines, "tcpsink", &SCHEMA)?;
        let secret = args.guard.secret_file.as_deref().map(Secret::read).transpose()?;
        let open = |path| Output::open(path, args.force, &journal.session);
        let output = args.output.as_deref().map(open).transpose()?;
        Ok(Self { args, journal, secret, output: Mutex::new(output) })
    }

    /// What ends it after one client, if something does: a file holds one client's bytes.
    pub fn one_only(&self) -> Option<&'static str> {
        (self.args.once || self.args.output.is_some()).then_some("--once, --output")
    }

    /// What a plain client would have asked for.
    fn plain_request(&self) -> Request {
        Request {
            kind: TestKind::Send,
            run: 1,
            visit: rand::random(),
            next_within: Duration::ZERO,
            queues: false,
            label: None,
            streams: 1,
            per_stream: false,
            time: None,
            bytes: None,
            warmup: Duration::ZERO,
            interval: self.args.interval.interval,
            idle_timeout: self.args.idle_timeout,
            copy: self.args.copy,
            message: None,
            method: Method::Auto,
            rate: None,
            buffer: None,
            congestion: None,
            dscp: None,
            nodelay: false,
        }
    }

    /// The sink's part in one direction, within the sink's own limits.
    fn plan(&self, request: &Request, way: Way, peer: &str) -> Plan {
        let label = request.label.as_ref().or(self.args.lines.label.as_ref());
        let speaker = Speaker {
            host: self.journal.host.clone(),
            label: label.cloned().unwrap_or_default(),
            target: peer.to_owned(),
        };
        let stored =
            if way == Way::Up { self.output.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        let mut plan = part::plan(request, way, End::Sink, &speaker);
        plan.max_time = self.args.guard.max_time;
        plan.max_bytes = self.args.max_bytes;
        plan.cpus = self.args.cpu.clone().unwrap_or_default();
        plan.idle_timeout = plan.idle_timeout.min(self.args.idle_timeout);
        plan.interval = plan.interval.or(self.args.interval.interval);
        match stored {
            Some(output) => plan.with_role(Role::Store(output)),
            None => plan,
        }
    }

    /// Why a request is not served, if it is not.
    fn objection(&self, request: &Request) -> Option<String> {
        if let Some(refusal) = self.args.guard.refusal(request.time.map(|time| time + request.warmup)) {
            return Some(refusal.to_string());
        }
        if let Some((most, asked)) = self.args.max_bytes.zip(request.bytes).filter(|(most, asked)| asked > most) {
            return Some(Refusal::TooMuch { asked, most }.to_string());
        }
        if self.args.output.is_some() && (request.kind != TestKind::Send || request.streams > 1) {
            return Some("this sink stores one stream (--output)".into());
        }
        None
    }

    /// Prints the totals of a flow, says on stderr why it is not whole, and gives a stored file its name if it is.
    fn conclude(&self, peer: &str, mut finished: Finished) -> anyhow::Result<Concluded> {
        let failure = finished.failure.take();
        let mut totals = std::mem::take(&mut finished.totals);
        let mut is_cut = finished.is_cut;
        let failure = if is_cut {
            failure
        } else {
            // The target appears only now; if it cannot, nothing was stored.
            let failure = finished.complete().err();
            is_cut = failure.is_some();
            failure
        };
        for total in &mut totals {
            total.raise_if(is_cut, Flag::Partial);
        }
        if let Some(failure) = &failure {
            self.journal.session.console.notice(&format!("client {peer}: {failure:#}"));
        }
        if is_cut {
            self.journal.note_partial();
        }
        let lines = totals.iter().map(Record::text).collect::<Result<Vec<_>, _>>()?;
        for line in &lines {
            self.journal.print(line);
        }
        Ok(Concluded { lines, failure })
    }
}

struct Concluded {
    lines: Vec<String>,
    failure: Option<anyhow::Error>,
}

/// Serves a client that knows nothing of us: its bytes are payload, and when it closes its side it reads its line.
pub fn plain(sink: &Sink, stream: Stream) {
    let peer = socket::peer_address(&stream.socket);
    if let Err(error) = serve_plain(sink, &peer, stream) {
        sink.journal.complain(&peer, &error);
    }
}

fn serve_plain(sink: &Sink, peer: &str, stream: Stream) -> anyhow::Result<()> {
    let mut plan = sink.plan(&sink.plain_request(), Way::Up, peer);
    // A plain client takes its time.
    plan.begins_at_once = false;
    let streams = [stream];
    let finished = flow::run(plan, &streams, &sink.journal.session.stop, None, &|record| {
        sink.journal.print(&record.text()?);
        Ok(())
    })?;
    let concluded = sink.conclude(peer, finished)?;
    // A client that has left does not want its line.
    let _ = control::write_line(&streams[0].socket, &(SCHEMA.header() + &concluded.lines.concat()));
    let _ = streams[0].socket.shutdown(Shutdown::Write);
    Ok(())
}

/// Serves a test of ours, on the connection `socket` that asked for it.
pub fn test(sink: &Sink, asked: &Asked, socket: TcpStream, unread: Vec<u8>, joined: &Receiver<Joining>) {
    let peer = socket::peer_address(&socket);
    if let Err(error) = serve_test(sink, asked, &peer, socket, unread, joined) {
        sink.journal.complain(&peer, &error);
    }
}

fn serve_test(
    sink: &Sink,
    asked: &Asked,
    peer: &str,
    socket: TcpStream,
    unread: Vec<u8>,
    joined: &Receiver<Joining>,
) -> anyhow::Result<()> {
    let mut control = Control::new(socket, unread)?;
    let request = &asked.request;
    if let Err(error) = admit(sink, asked, &mut control) {
        // Whoever was refused may be gone.
        let _ = control::write_line(control.stream(), &FromSink::Refused { why: format!("{error:#}") }.text());
        let _ = control.stream().shutdown(Shutdown::Write);
        let _ = control.read_line(Some(Instant::now() + GLANCE));
        return Err(error.context("refused"));
    }
    let hang_up = control.stream().try_clone()?;
    let tell = |word: FromSink| control::write_line(&hang_up, &word.text());
    tell(FromSink::Accepted { token: asked.token.clone() }).context("cannot answer")?;
    let outcome = join(sink, request, joined).and_then(|streams| {
        let plans = streams.iter().map(|(way, _)| sink.plan(request, *way, peer)).collect();
        let finished = flow::run_all(plans, &streams, &sink.journal.session.stop, None, &|record| {
            let text = record.text()?;
            sink.journal.print(&text);
            // A client that is gone shows in its streams.
            let _ = tell(FromSink::Line { text: peer_line::to_wire(&SCHEMA, &text)? });
            Ok(())
        })?;
        Ok((finished, streams))
    });
    let (mut finished, streams) = match outcome {
        Ok(parts) => parts,
        Err(error) => {
            let _ = tell(FromSink::Failed { why: format!("{error:#}") });
            return Err(error);
        }
    };
    if let Some(failure) = finished.iter().find_map(|flow| flow.failure.as_ref()) {
        // A client that is told why needs no more time; and when one direction fails, the test has.
        let _ = tell(FromSink::Failed { why: format!("{failure:#}") });
        for flow in &mut finished {
            flow.is_cut = true;
        }
    } else {
        let end = end_of(sink, request, &mut control, &streams);
        look_again(&mut finished, &streams);
        settle(&mut finished, end);
    }
    for flow in finished {
        let told = flow.failure.is_some();
        let concluded = sink.conclude(peer, flow)?;
        if let Some(failure) = concluded.failure.filter(|_| !told) {
            let _ = tell(FromSink::Failed { why: format!("{failure:#}") });
        }
        for text in concluded.lines {
            let _ = tell(FromSink::Line { text: peer_line::to_wire(&SCHEMA, &text)? });
        }
    }
    let _ = tell(FromSink::End);
    Ok(())
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

/// Whether the test may be had: within the limits, and by one who knows the secret where that is needed.
fn admit(sink: &Sink, asked: &Asked, control: &mut Control) -> anyhow::Result<()> {
    if let Some(why) = sink.objection(&asked.request) {
        bail!(why);
    }
    let sends = asked.request.kind.ways().contains(&Way::Down);
    let Some(secret) = sink.secret.as_ref().filter(|_| sends || sink.args.guard.require_secret) else {
        return Ok(());
    };
    let nonce = format!("{:032x}", rand::random::<u128>());
    control::write_line(control.stream(), &FromSink::Challenge { nonce: nonce.clone() }.text())?;
    let line = control.read_line(Some(Instant::now() + JOIN_TIME)).context("no proof of the secret came")?;
    match line.as_deref().map(FromClient::parse) {
        Some(Ok(FromClient::Proof { mac })) if secret.verifies(&nonce, &asked.question, &mac) => Ok(()),
        Some(Ok(FromClient::Proof { .. })) => bail!("{}", Refusal::WrongProof),
        _ => bail!("no proof of the secret came"),
    }
}

/// Waits for the streams of the test, and gives them the options asked for.
fn join(sink: &Sink, request: &Request, joined: &Receiver<Joining>) -> anyhow::Result<Vec<(Way, Vec<Stream>)>> {
    let deadline = Instant::now() + JOIN_TIME;
    let ways = request.kind.ways();
    let mut places: Vec<(Way, Vec<Option<Stream>>)> =
        ways.iter().map(|way| (*way, (0..request.streams).map(|_| None).collect())).collect();
    while places.iter().any(|(_, streams)| streams.iter().any(Option::is_none)) {
        if Instant::now() >= deadline || sink.journal.session.stop.is_set() {
            bail!("it asked for a test and did not begin it");
        }
        match joined.recv_timeout(GLANCE) {
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

/// What the client says it sent and received, and whether that was all of it. What this end sent may still be on its way.
fn end_of(
    sink: &Sink,
    request: &Request,
    control: &mut Control,
    streams: &[(Way, Vec<Stream>)],
) -> anyhow::Result<Done> {
    let down = streams.iter().find(|(way, _)| *way == Way::Down).map_or(&[][..], |(_, streams)| streams);
    let mut patience = request.idle_timeout.min(sink.args.idle_timeout);
    if request.kind == TestKind::Connect {
        patience += request.warmup + request.time.unwrap_or_default();
    }
    let mut pulse = Pulse::start_draining();
    let line = loop {
        match control.read_line(Some(Instant::now() + GLANCE)) {
            Err(error) if error.kind() == ErrorKind::TimedOut && !sink.journal.session.stop.is_set() => {
                if pulse.is_over(Instant::now(), patience, down) {
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
