//! The sink's side of one client: a plain one, or a test of ours.

use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use common::cli::Session;
use common::sampler::{self, Identity};
use common::schema::line::{Flag, Span};
use common::schema::tcpsink::SCHEMA;
use common::socket;

use crate::args::ListenArgs;
use crate::flow::{self, Direction, Finished};
use crate::protocol::{self, Control, FromClient, FromSink, Request};
use crate::record::Subject;
use crate::worker::{Intake, Stream};

/// How long a client of ours may take from the sink's yes to its last stream.
const JOIN_TIME: Duration = Duration::from_secs(10);

/// How often a thread that waits for something else looks for a stop.
const GLANCE: Duration = Duration::from_millis(100);

/// What all clients' threads share.
#[derive(Debug)]
pub struct Sink {
    args: ListenArgs,
    /// stdout, stderr, and what ends the sink.
    pub session: Session,
    host: String,
    failure: Mutex<Option<anyhow::Error>>,
    was_partial: AtomicBool,
}

impl Sink {
    /// A sink that has served nobody yet.
    pub fn new(args: ListenArgs, session: Session) -> Self {
        let (host, failure) = (sampler::host_name(), Mutex::default());
        Self { args, session, host, failure, was_partial: AtomicBool::new(false) }
    }

    /// Why the sink itself, not a client, had to end.
    pub fn take_failure(&self) -> Option<anyhow::Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a client was not served to its end.
    pub fn was_partial(&self) -> bool {
        self.was_partial.load(Ordering::Relaxed)
    }

    /// Prints a line of any client. A sink that cannot print has to end.
    fn print(&self, line: &str) {
        if let Err(error) = self.session.lines.write_line(line) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.session.stop.set();
        }
    }

    /// What a client's lines say, and how it is served; `request` is a client of ours' wish.
    fn plan(&self, peer: String, request: Option<&Request>) -> flow::Plan {
        let asked = |field: fn(&Request) -> Option<Duration>| request.and_then(field);
        let copies = self.args.copy || request.is_some_and(|request| request.copy);
        let intake = if copies { Intake::Copy } else { Intake::Discard };
        let label = request.and_then(|request| request.label.clone()).or_else(|| self.args.output.label.clone());
        let identity = Identity {
            schema: SCHEMA.tag,
            host: self.host.clone(),
            label: label.unwrap_or_default(),
            test: "tcp_recv",
            target: peer,
            run: request.map_or(1, |request| request.run),
        };
        flow::Plan {
            subject: Subject {
                identity,
                method: intake.name(),
                message_bytes: intake.message_bytes() as u64,
                streams: 1,
            },
            direction: Direction::Receive(intake),
            time: asked(|request| request.time),
            warmup: asked(|request| Some(request.warmup)).unwrap_or_default(),
            interval: asked(|request| request.interval).or(self.args.interval.interval),
            idle_timeout: asked(|request| Some(request.idle_timeout))
                .map_or(self.args.idle_timeout, |asked| asked.min(self.args.idle_timeout)),
            owns_process: false,
        }
    }

    /// Prints a total, and says on stderr why it is not a whole one.
    fn conclude(&self, peer: &str, finished: &Finished) -> anyhow::Result<String> {
        if let Some(failure) = &finished.failure {
            self.session.console.notice(&format!("client {peer}: {failure:#}"));
        }
        if finished.is_cut {
            self.was_partial.store(true, Ordering::Relaxed);
        }
        let line = finished.total.text()?;
        self.print(&line);
        Ok(line)
    }

    fn complain(&self, peer: &str, error: &anyhow::Error) {
        self.was_partial.store(true, Ordering::Relaxed);
        self.session.console.notice(&format!("client {peer}: {error:#}"));
    }
}

/// Serves a client that knows nothing of us: its bytes are payload, and when it closes its side it reads its line.
pub fn plain(sink: &Sink, stream: Stream) {
    let peer = socket::peer_address(&stream.socket);
    if let Err(error) = serve_plain(sink, &peer, stream) {
        sink.complain(&peer, &error);
    }
}

fn serve_plain(sink: &Sink, peer: &str, stream: Stream) -> anyhow::Result<()> {
    let plan = sink.plan(peer.to_owned(), None);
    let streams = [stream];
    let mut finished = flow::run(&plan, &streams, &sink.session.stop, None, &|record| {
        sink.print(&record.text()?);
        Ok(())
    })?;
    finished.total.raise_if(finished.is_cut, Flag::Partial);
    let line = sink.conclude(peer, &finished)?;
    // A client that has left does not want its line.
    let _ = protocol::write_line(&streams[0].socket, &(SCHEMA.header() + &line));
    let _ = streams[0].socket.shutdown(Shutdown::Write);
    Ok(())
}

/// Serves a test of ours, on the connection `socket` that asked for it.
pub fn test(
    sink: &Sink,
    request: &Request,
    socket: TcpStream,
    unread: Vec<u8>,
    token: String,
    joined: &Receiver<Stream>,
) {
    let peer = socket::peer_address(&socket);
    if let Err(error) = serve_test(sink, request, &peer, socket, unread, token, joined) {
        sink.complain(&peer, &error);
    }
}

fn serve_test(
    sink: &Sink,
    request: &Request,
    peer: &str,
    socket: TcpStream,
    unread: Vec<u8>,
    token: String,
    joined: &Receiver<Stream>,
) -> anyhow::Result<()> {
    let mut control = Control::new(socket, unread)?;
    let tell = |word: FromSink| protocol::write_line(control.stream(), &word.text());
    tell(FromSink::Accepted { token }).context("cannot answer")?;
    let streams = [join(sink, joined)?];
    let plan = sink.plan(peer.to_owned(), Some(request));
    let mut finished = flow::run(&plan, &streams, &sink.session.stop, None, &|record| {
        let text = record.text()?;
        sink.print(&text);
        // A client that is gone shows in its streams.
        let _ = tell(FromSink::Line { span: Span::Interval, text });
        Ok(())
    })?;
    if let Some(failure) = &finished.failure {
        let _ = tell(FromSink::Failed { why: format!("{failure:#}") });
    }
    if !finished.is_cut {
        match end_of(sink, &mut control, Instant::now() + plan.idle_timeout) {
            Ok((bytes, whole)) => {
                finished.is_cut = !whole;
                finished.total.raise_if(bytes != finished.all_bytes, Flag::Short);
            }
            Err(error) => {
                finished.is_cut = true;
                finished.failure = Some(error);
            }
        }
    }
    finished.total.raise_if(finished.is_cut, Flag::Partial);
    let text = sink.conclude(peer, &finished)?;
    let _ = protocol::write_line(control.stream(), &FromSink::Line { span: Span::Total, text }.text());
    Ok(())
}

/// Waits for the test's stream.
fn join(sink: &Sink, joined: &Receiver<Stream>) -> anyhow::Result<Stream> {
    let deadline = Instant::now() + JOIN_TIME;
    while Instant::now() < deadline && !sink.session.stop.is_set() {
        match joined.recv_timeout(GLANCE) {
            Ok(stream) => return Ok(stream),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    bail!("it asked for a test and did not begin it")
}

/// How many bytes the client says it sent, and whether that was all of it.
fn end_of(sink: &Sink, control: &mut Control, deadline: Instant) -> anyhow::Result<(u64, bool)> {
    let line = loop {
        let glance = (Instant::now() + GLANCE).min(deadline);
        match control.read_line(Some(glance)) {
            Err(error) if error.kind() == ErrorKind::TimedOut && glance < deadline && !sink.session.stop.is_set() => {}
            line => break line.context("it did not say that it was done")?,
        }
    };
    match FromClient::parse(&line.ok_or_else(|| anyhow!("it went away before its end"))?)? {
        FromClient::Done { bytes, whole } => Ok((bytes, whole)),
        _ => bail!("it said something else than that it was done"),
    }
}
