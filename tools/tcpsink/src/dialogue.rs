//! One test with a sink: open it, run this end's part, and hear the other end's.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use common::cli::Session;
use common::measure::series::Outcome;
use common::net::peer_line::PeerLine;
use common::schema::line::Flag;
use common::schema::tcpsink::SCHEMA;
use common::stop::Stop;
use common::units;

use crate::control::{self, Control};
use crate::engine::connect::Knock;
use crate::engine::file::Input;
use crate::engine::{Silence, Stream};
use crate::exchange::Exchange;
use crate::finished::Finished;
use crate::flow;
use crate::opening::{self, Opened};
use crate::part::{self, End};
use crate::peer::Peer;
use crate::plan::Plan;
use crate::protocol::{FromClient, FromSink};
use crate::pulse::Pulse;
use crate::request::{Request, TestKind, Way};
use crate::role::Role;
use crate::tcp_state::TcpState;

/// How long an interrupted client waits for the sink's lines: people who press ^C want the prompt back.
const LAST_WORD: Duration = Duration::from_secs(1);

/// More totals than any test has: every stream's, both ways, and the sums.
const MAX_TOTALS: usize = 1024;

/// A probe pings this often: what it asks of the path is nothing, and every 10 ms of the test weigh the same.
const PROBE_PERIOD: Duration = Duration::from_millis(10);

/// One test.
pub struct Dialogue<'a> {
    peer: &'a Peer,
    request: &'a Request,
    session: &'a Session,
    input: Option<Input>,
    at_end: Option<&'a Stop>,
    ping_every: Option<Duration>,
    /// Another name for this end's test; the sink's lines are not shown then.
    probe: Option<&'static str>,
}

/// The sink's part.
struct Reply {
    totals: Vec<PeerLine>,
    failure: Option<String>,
    /// The sink served another measurement meanwhile.
    shared: bool,
}

impl Reply {
    /// How long the sink sent.
    fn span(&self) -> Option<Duration> {
        let seconds = self.totals.iter().find(|total| total.cell("test") == "tcp_send")?.number("seconds")?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl<'a> Dialogue<'a> {
    /// A test as asked for.
    pub fn new(peer: &'a Peer, request: &'a Request, session: &'a Session) -> Self {
        Self { peer, request, session, input: None, at_end: None, ping_every: None, probe: None }
    }

    /// The same, sending `input` instead of random bytes.
    #[must_use]
    pub fn sending(mut self, input: Option<Input>) -> Self {
        self.input = input;
        self
    }

    /// The same, setting `stop` as soon as this end's part is over, before the rest has drained.
    #[must_use]
    pub fn then_stopping(mut self, stop: &'a Stop) -> Self {
        self.at_end = Some(stop);
        self
    }

    /// The same, pinging every so often instead of as fast as the sink answers.
    #[must_use]
    pub fn pinging_every(mut self, period: Option<Duration>) -> Self {
        self.ping_every = period;
        self
    }

    /// A ping beside another test.
    pub fn probe(peer: &'a Peer, request: &'a Request, session: &'a Session, test: &'static str) -> Self {
        Self { probe: Some(test), ping_every: Some(PROBE_PERIOD), ..Self::new(peer, request, session) }
    }

    /// Runs it until it is done, `stop` is set or it fails.
    pub fn hold(mut self, stop: &Stop) -> anyhow::Result<Exchange> {
        let Opened { mut control, address, token, streams } =
            opening::open(self.peer, self.request, &self.session.console, stop)?;
        let plans = self.plans(address, &token);
        let hang_up = Arc::clone(control.stream());
        let (words, heard) = mpsc::channel();
        let this = &self;
        std::thread::scope(|scope| {
            std::thread::Builder::new().name("control".into()).spawn_scoped(scope, move || {
                // Whoever waits may have given up.
                let _ = words.send(this.listen(&mut control));
            })?;
            let outcome = this.play(plans, &streams, &hang_up, &heard, stop);
            // Ends the listening thread; the connection may be gone already.
            let _ = hang_up.shutdown(Shutdown::Both);
            outcome
        })
    }

    /// This end's part, a flow for each direction.
    fn plans(&mut self, address: SocketAddr, token: &str) -> Vec<Plan> {
        let knock = Knock {
            address,
            options: self.peer.options.clone(),
            line: FromClient::Knock { token: token.to_owned() }.text(),
            patience: self.peer.args.idle_timeout,
        };
        let plan = |way| part::plan(self.request, way, End::Client, &self.peer.speaker);
        let mut input = self.input.take();
        let with_input = |plan: Plan| match input.take() {
            Some(input) => plan.with_role(Role::SendFile(input, self.request.bytes)),
            None => plan,
        };
        let mut plans: Vec<_> = match self.request.kind {
            TestKind::Ping(sizes) => vec![plan(Way::Echo).with_role(Role::Ping(sizes, self.ping_every))],
            TestKind::Connect => vec![plan(Way::Echo).with_role(Role::Connect(knock))],
            kind => kind.ways().iter().map(|way| plan(*way)).map(with_input).collect(),
        };
        for plan in &mut plans {
            plan.identity.test = self.probe.unwrap_or(plan.role.test());
            plan.cpus = self.peer.cpus.clone();
        }
        plans
    }

    /// Runs this end's flows, tells the sink that they are over, and waits for its lines.
    fn play(
        &self,
        plans: Vec<Plan>,
        streams: &[(Way, Vec<Stream>)],
        control: &TcpStream,
        heard: &Receiver<anyhow::Result<Reply>>,
        stop: &Stop,
    ) -> anyhow::Result<Exchange> {
        let lines = &self.session.lines;
        let total_time = self.request.time.map(|time| time + self.request.warmup);
        let progress = self.probe.is_none().then(|| self.session.console.progress(total_time));
        let emit = |record: &crate::record::Record| lines.write_line(&record.text()?);
        let mut finished = flow::run_all(plans, streams, stop, progress.as_ref(), &emit)?;
        drop(progress);
        if let Some(at_end) = self.at_end {
            at_end.set();
        }
        let is_cut = finished.iter().any(|flow| flow.is_cut);
        let moved = |sends| finished.iter().filter(|flow| flow.sends() == sends).map(|flow| flow.all_bytes).sum();
        let left = finished.iter().any(|flow| flow.has_left);
        let span = finished.iter().filter(|flow| flow.sends()).map(Finished::length).max().unwrap_or_default();
        let done = FromClient::Done { sent: moved(true), received: moved(false), whole: !is_cut, left, span };
        // If the sink is gone, its silence says so.
        let _ = control::write_line(control, &done.text());
        if is_cut {
            // A sink that still sends has to notice.
            for stream in streams.iter().filter(|(way, _)| *way == Way::Down).flat_map(|(_, streams)| streams) {
                let _ = stream.socket.shutdown(Shutdown::Both);
            }
        }
        let is_over = Instant::now();
        let is_silent = |flow: &Finished| flow.failure.as_ref().is_some_and(anyhow::Error::is::<Silence>);
        let reply = self.last_word(streams, heard, finished.iter().any(is_silent));
        // A sink that answers earlier has seen the end of all streams, and with it all that was sent.
        let has_drained = is_over.elapsed() < flow::DRAIN * 9 / 10;
        let sinks_span = reply.as_ref().ok().and_then(Reply::span);
        for (flow, (_, streams)) in finished.iter_mut().zip(streams) {
            flow.look_again(streams);
            flow.last_at_least(sinks_span.unwrap_or_default());
            flow.tell_last_interval(&emit)?;
            let is_whole =
                self.request.time.is_some() && !is_cut && reply.as_ref().is_ok_and(|reply| reply.failure.is_none());
            let rest = |stream: &Stream| TcpState::of(stream, true).rest;
            let rest: u64 = if is_whole && !has_drained && flow.sends() { streams.iter().map(rest).sum() } else { 0 };
            if rest > 0 {
                self.session.console.notice(&format!(
                    "{} that were sent had not arrived {} after the time was over, and are not waited for: they lay in \
                     buffers (a smaller --buffer, or --rate)",
                    units::bytes_text(rest),
                    units::duration_text(flow::DRAIN)
                ));
            }
        }
        let totals = reply.as_ref().map_or(&[][..], |reply| &reply.totals);
        let contradiction = finished.iter().find_map(|flow| flow.contradicted_by(totals));
        let is_doubtful = contradiction.is_some();
        let own_failure = finished.iter_mut().find_map(|flow| flow.failure.take());
        let sink_failed = reply.as_ref().map_or(true, |reply| reply.failure.is_some());
        for flow in &mut finished {
            flow.raise_if(flow.is_cut || sink_failed, Flag::Partial);
            flow.raise_if(reply.as_ref().is_ok_and(|reply| reply.shared), Flag::Shared);
        }
        let own = finished.into_iter().flat_map(|flow| flow.totals).collect();
        let (sinks, failure) = match reply {
            Ok(reply) => {
                let is_partial = reply.totals.iter().any(|total| total.has(Flag::Partial)) && !stop.is_set();
                // Either may be the consequence of the other.
                let failure = match (own_failure, reply.failure.filter(|_| !stop.is_set())) {
                    (Some(own), Some(why)) => Some(anyhow!("{own:#}; the sink says: {why}")),
                    (None, Some(why)) => Some(anyhow!("the sink gave up: {why}")),
                    (own, None) => own
                        .or_else(|| {
                            contradiction
                                .map(|found| anyhow!("the lines of the two ends contradict each other: {found}"))
                        })
                        .or_else(|| is_partial.then(|| anyhow!("the sink did not get all of it"))),
                };
                (if self.probe.is_none() { reply.totals } else { Vec::new() }, failure)
            }
            // A client that is told to leave does not wait long for its sink.
            Err(error) => (Vec::new(), own_failure.or(Some(error).filter(|_| !stop.is_set()))),
        };
        let mut exchange = Exchange::new(own, sinks, failure);
        if is_doubtful {
            exchange.raise(Flag::Partial);
        }
        Ok(exchange)
    }

    /// Waits for the sink's totals for as long as bytes still get through, and the idle time after that, unless that has
    /// passed already.
    fn last_word(
        &self,
        streams: &[(Way, Vec<Stream>)],
        heard: &Receiver<anyhow::Result<Reply>>,
        was_silent: bool,
    ) -> anyhow::Result<Reply> {
        let up = streams.iter().find(|(way, _)| *way == Way::Up).map_or(&[][..], |(_, streams)| streams);
        let mut pulse = Pulse::start_draining();
        let start = Instant::now();
        loop {
            // A probe's own stop says only that it has measured enough.
            let is_hasty = was_silent || self.session.stop.is_set();
            let most = if is_hasty { LAST_WORD } else { Duration::MAX };
            let limit = self.peer.args.idle_timeout.min(most);
            match heard.recv_timeout(pulse.next.saturating_duration_since(Instant::now())) {
                Ok(reply) => return reply,
                Err(RecvTimeoutError::Disconnected) => bail!("the sink went away"),
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let is_late = is_hasty && now.duration_since(start) >= limit;
                    if is_late || pulse.is_over(now, limit, up) {
                        let limit = units::duration_text(limit);
                        bail!("no byte got through and no word came from the sink for {limit} (--idle-timeout)");
                    }
                }
            }
        }
    }

    /// Passes the sink's interval lines on as they come, and collects its totals.
    fn listen(&self, control: &mut Control) -> anyhow::Result<Reply> {
        let mut reply = Reply { totals: Vec::new(), failure: None, shared: false };
        let timed_out = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::TimedOut => anyhow!("the sink's host does not answer any more (--idle-timeout)"),
            _ => anyhow::Error::new(error).context("no word from the sink"),
        };
        while let Some(line) = control.read_line(None).map_err(timed_out)? {
            match FromSink::parse(&line)? {
                FromSink::Line { text } => {
                    let line = PeerLine::read(&SCHEMA, &text)?;
                    if line.is_total() {
                        if reply.totals.len() >= MAX_TOTALS {
                            bail!("the sink does not keep to the protocol: it does not come to an end");
                        }
                        reply.totals.push(line);
                    } else if self.probe.is_none() {
                        self.session.lines.write_line(&line.text()?)?;
                    }
                }
                FromSink::Failed { why } | FromSink::Refused { why } | FromSink::Busy { why } => {
                    reply.failure = Some(why);
                }
                FromSink::End { shared } => return Ok(Reply { shared, ..reply }),
                FromSink::Accepted { .. } | FromSink::Challenge { .. } => bail!("the sink accepts twice"),
            }
        }
        match reply.failure {
            Some(why) => bail!("the sink gave up: {why}"),
            None => bail!("the sink went away before its last word"),
        }
    }
}
