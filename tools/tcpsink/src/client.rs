//! The verbs that ask a sink: what they ask for, how often, and what comes out.

use std::time::Duration;

use anyhow::Context;
use common::cli::{Ending, OutputArgs, ScheduleArgs, Session, Usage};
use common::measure::series::{self, Outcome};
use common::net::turn;
use common::schema::tcpsink::SCHEMA;
use common::stop::Stopped;
use common::units;

use crate::args::{ConnectArgs, PingArgs, RouteArgs, SendArgs, TcpArgs, TransferArgs};
use crate::dialogue::Dialogue;
use crate::engine::Method;
use crate::engine::file::Input;
use crate::engine::ping::Sizes;
use crate::exchange::Exchange;
use crate::peer::Peer;
use crate::request::{MAX_RATE, Request, SHORTEST_INTERVAL, TestKind};

/// Length of the ping before a transfer that is probed.
const IDLE_PING: Duration = Duration::from_secs(1);

/// `tcpsink send`.
pub fn send(args: &SendArgs) -> anyhow::Result<Ending> {
    transfer(TestKind::Send, &args.transfer, args.input.as_deref().map(Input::open).transpose()?)
}

/// `tcpsink recv` and `tcpsink both`.
pub fn transfer(kind: TestKind, args: &TransferArgs, input: Option<Input>) -> anyhow::Result<Ending> {
    let is_timed = args.bytes.is_none() && input.is_none();
    let request = Request {
        time: is_timed.then(|| args.schedule.run_time()),
        bytes: args.bytes,
        streams: args.streams.into(),
        per_stream: args.per_stream,
        copy: args.copy,
        message: args.message,
        method: args.method,
        rate: args.rate,
        ..request(kind, &args.route, &args.lines, &args.schedule, Some(&args.tcp))
    };
    let peer = Peer::new(&args.route, &args.lines, Some(&args.tcp))?;
    let job = Job { peer, request, input, probes: args.probe, ping_every: None };
    job.run(&args.schedule, is_timed, &args.lines)
}

/// `tcpsink ping`.
pub fn ping(args: &PingArgs) -> anyhow::Result<Ending> {
    let kind = TestKind::Ping(Sizes { request: args.request, response: args.response, depth: args.depth.into() });
    let request = Request {
        streams: args.streams.into(),
        // A request must not wait for the response before it.
        nodelay: true,
        // Between two requests nothing has to move.
        idle_timeout: args.route.peer.idle_timeout + args.every.unwrap_or_default(),
        ..request(kind, &args.route, &args.lines, &args.schedule, Some(&args.tcp))
    };
    let peer = Peer::new(&args.route, &args.lines, Some(&args.tcp))?;
    Job { peer, request, input: None, probes: false, ping_every: args.every }.run(&args.schedule, true, &args.lines)
}

/// `tcpsink connect`.
pub fn connect(args: &ConnectArgs) -> anyhow::Result<Ending> {
    let request = Request {
        streams: args.streams.into(),
        ..request(TestKind::Connect, &args.route, &args.lines, &args.schedule, None)
    };
    let peer = Peer::new(&args.route, &args.lines, None)?;
    Job { peer, request, input: None, probes: false, ping_every: None }.run(&args.schedule, true, &args.lines)
}

/// What all verbs ask for.
fn request(
    kind: TestKind,
    route: &RouteArgs,
    lines: &OutputArgs,
    schedule: &ScheduleArgs,
    tcp: Option<&TcpArgs>,
) -> Request {
    Request {
        kind,
        run: 1,
        visit: rand::random(),
        next_within: Duration::ZERO,
        queues: route.peer.queue.is_some(),
        label: lines.label.clone(),
        streams: 1,
        per_stream: false,
        time: Some(schedule.run_time()),
        bytes: None,
        warmup: schedule.warm_up(),
        interval: schedule.interval.interval,
        idle_timeout: route.peer.idle_timeout,
        copy: false,
        message: None,
        method: Method::Auto,
        rate: None,
        buffer: tcp.and_then(|tcp| tcp.buffer),
        congestion: tcp.and_then(|tcp| tcp.congestion.clone()),
        dscp: route.dscp,
        nodelay: tcp.is_some_and(|tcp| tcp.nodelay),
    }
}

/// What no sink would take, in the words of the command line.
fn usage_error(request: &Request) -> Option<Usage> {
    let streams = request.streams;
    let too_fast = request.rate.filter(|rate| *rate > MAX_RATE);
    Some(Usage(match (request.flaw(), request.rate, request.interval) {
        (Some("rate"), Some(rate), _) => {
            format!("--rate {rate} is less than a byte per second for each of --streams {streams}")
        }
        (Some("interval"), _, Some(interval)) => {
            let [given, least] = [interval, SHORTEST_INTERVAL].map(units::duration_text);
            let each = if request.per_stream { " of each stream (--per-stream)" } else { "" };
            format!("--interval {given} is too short: the other end prints a line{each} every {least} at most")
        }
        _ => format!("--rate {} is too fast: {MAX_RATE} bit/s at most", too_fast?),
    }))
}

/// A verb, ready to run.
struct Job {
    peer: Peer,
    request: Request,
    input: Option<Input>,
    probes: bool,
    ping_every: Option<Duration>,
}

impl Job {
    fn run(mut self, schedule: &ScheduleArgs, is_timed: bool, lines: &OutputArgs) -> anyhow::Result<Ending> {
        if let Some(usage) = usage_error(&self.request) {
            return Err(usage.into());
        }
        let repeat = schedule.repeat(is_timed)?;
        let most = repeat.most();
        let session = lines.open("tcpsink", &SCHEMA)?;
        let context = self.peer.args.context();
        let ending = series::run(&session, repeat, |run| {
            if run == 1 && turn::splay(self.peer.args.splay, &session.stop).is_err() {
                return Ok(None);
            }
            self.request.run = run;
            self.request.next_within = if run < most { self.peer.args.connect_timeout } else { Duration::ZERO };
            let mut exchange = match self.measure(&session) {
                Err(error) if error.is::<Stopped>() => return Ok(None),
                exchange => exchange.with_context(|| context.clone())?,
            };
            exchange.failure = exchange.failure.map(|failure| failure.context(context.clone()));
            Ok(Some(exchange))
        })?;
        Ok(ending.unwrap_or(Ending::Measured))
    }

    fn measure(&mut self, session: &Session) -> anyhow::Result<Exchange> {
        let next_within = self.request.next_within;
        if self.probes {
            // The loaded ping is asked for beside it, and ends after it.
            self.request.next_within = self.peer.args.connect_timeout;
        }
        let transfer =
            Dialogue::new(&self.peer, &self.request, session).sending(self.input.take()).pinging_every(self.ping_every);
        if !self.probes {
            return transfer.hold(&session.stop);
        }
        let sizes = Sizes { request: 1, response: 1, depth: 1 };
        let ping = Request {
            kind: TestKind::Ping(sizes),
            time: Some(IDLE_PING),
            bytes: None,
            warmup: Duration::ZERO,
            interval: None,
            streams: 1,
            per_stream: false,
            rate: None,
            nodelay: true,
            ..self.request.clone()
        };
        let mut idle = Dialogue::probe(&self.peer, &ping, session, "tcp_idle_ping").hold(&session.stop)?;
        idle.print(&session.lines)?;
        if let Some(failure) = idle.take_failure() {
            return Err(failure);
        }
        let loaded =
            Request { time: None, interval: self.request.interval, warmup: self.request.warmup, next_within, ..ping };
        // The place that it would wait for may be that of the transfer.
        let loaded = Request { queues: false, ..loaded };
        let loaded = Dialogue::probe(&self.peer, &loaded, session, "tcp_loaded_ping");
        let enough = session.stop.child()?;
        std::thread::scope(|scope| {
            let probe =
                std::thread::Builder::new().name("probe".into()).spawn_scoped(scope, || loaded.hold(&enough))?;
            let outcome = transfer.then_stopping(&enough).hold(&session.stop);
            enough.set();
            let probed = probe.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a worker thread panicked")));
            Ok(outcome?.with(probed.context("probe")?).after(&idle))
        })
    }
}
