//! `tcpsink send`: asks a sink, sends, waits for the receiver's word, and prints both ends' lines.

use std::fmt::Write;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use common::cli::{Ending, Session};
use common::repeat::{Next, Repeat};
use common::sampler::{self, Identity};
use common::schema::line::{Flag, Span};
use common::schema::tcpsink::SCHEMA;
use common::{socket, units};

use crate::args::SendArgs;
use crate::flow::{self, Direction, Finished, Pulse};
use crate::protocol::{self, Control, FromClient, FromSink, Request};
use crate::record::{Subject, TcpState};
use crate::report::Report;
use crate::worker::{MESSAGE, Stream};

/// How long an interrupted client waits for the receiver's line: people who press ^C want the prompt back.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Runs the verb.
pub fn send(args: &SendArgs) -> anyhow::Result<Ending> {
    let mut repeat = args.schedule.repeat(args.bytes.is_none())?;
    let session = args.output.open("tcpsink", &SCHEMA)?;
    loop {
        let client = Client { args, session: &session, run: repeat.number() };
        let mut outcome = client.measure().with_context(|| format!("sending to {} port {}", args.host, args.port))?;
        let rate = outcome.report.as_ref().and_then(Report::bytes_per_s);
        let next = repeat.finish(rate);
        outcome.raise_if(next == Next::Unsettled, Flag::Unsettled)?;
        outcome.print(&session)?;
        if let Some(ending) = Ending::of(&session.stop) {
            return Ok(ending);
        }
        client.sum_up(&outcome, &repeat);
        if let Some(failure) = outcome.failure {
            return Err(failure.context(format!("sending to {} port {}", args.host, args.port)));
        }
        if next != Next::Again {
            return Ok(Ending::Measured);
        }
    }
}

/// One run.
struct Client<'a> {
    args: &'a SendArgs,
    session: &'a Session,
    run: u64,
}

/// What came out of a run.
struct Outcome {
    sent: Finished,
    report: Option<Report>,
    failure: Option<anyhow::Error>,
}

/// What the sink says while the test runs and after.
enum Word {
    /// The receiver's line, and what went wrong there.
    Total(Report, Option<String>),
    Gone(anyhow::Error),
}

impl Client<'_> {
    fn measure(&self) -> anyhow::Result<Outcome> {
        let deadline = Instant::now() + self.args.connect_timeout;
        let host = self.args.host.trim_start_matches('[').trim_end_matches(']');
        let addresses = socket::resolve(host, self.args.port, deadline)?;
        let (mut control, token) = self.ask(&addresses, deadline)?;
        let peer = control.stream().peer_addr().context("the sink went away")?;
        let data = socket::connect(&[peer], deadline)?;
        protocol::write_line(&data, &FromClient::Data { token }.text()).context("cannot open the stream")?;
        data.set_write_timeout(None)?;
        let streams = [Stream { socket: data, early: None }];
        let hang_up = control.stream().try_clone()?;
        std::thread::scope(|scope| {
            let (words, heard) = mpsc::channel();
            std::thread::Builder::new().name("control".into()).spawn_scoped(scope, move || {
                // Whoever waits may have given up.
                let _ = words.send(listen_to(&mut control, self.session).unwrap_or_else(Word::Gone));
            })?;
            let outcome = self.transfer(&streams, &hang_up, &heard);
            // Ends the listening thread; the connection may be gone already.
            let _ = hang_up.shutdown(Shutdown::Both);
            outcome
        })
    }

    /// Opens the control connection and asks for the test.
    fn ask(&self, addresses: &[SocketAddr], deadline: Instant) -> anyhow::Result<(Control, String)> {
        let mut control = Control::new(socket::connect(addresses, deadline)?, Vec::new())?;
        let request = Request {
            run: self.run,
            label: self.args.output.label.clone(),
            time: if self.args.bytes.is_some() { None } else { Some(self.args.schedule.run_time()) },
            warmup: self.args.schedule.warm_up(),
            interval: self.args.schedule.interval.interval,
            idle_timeout: self.args.idle_timeout,
            copy: self.args.copy,
        };
        protocol::write_line(control.stream(), &FromClient::Send(request).text()).context("cannot ask the sink")?;
        let answer = match control.read_line(Some(deadline)) {
            Ok(Some(line)) => line,
            Ok(None) => bail!("it closed the connection without a word: is a tcpsink listening there?"),
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                bail!("it accepts but does not answer (--connect-timeout): is a tcpsink listening there?")
            }
            Err(error) => return Err(error).context("no answer from the sink"),
        };
        match FromSink::parse(&answer) {
            Ok(FromSink::Accepted { token }) => Ok((control, token)),
            Ok(FromSink::Refused { why } | FromSink::Failed { why }) => bail!("the sink refused: {why}"),
            Ok(FromSink::Line { .. }) => bail!("the sink reports before the test"),
            Err(protocol::ProtocolError::Foreign) => {
                let text: String = String::from_utf8_lossy(&answer).chars().take(60).collect();
                bail!("no tcpsink is listening there: it answered '{}'", text.trim())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn transfer(&self, streams: &[Stream], control: &TcpStream, heard: &Receiver<Word>) -> anyhow::Result<Outcome> {
        let plan = self.plan();
        let progress = self.session.console.progress(plan.time.map(|time| time + plan.warmup));
        let lines = &self.session.lines;
        let sent = flow::run(&plan, streams, &self.session.stop, Some(&progress), &|record| {
            lines.write_line(&record.text()?)
        })?;
        let done = FromClient::Done { bytes: sent.all_bytes, whole: !sent.is_cut };
        // If the sink is gone, its silence says so.
        let _ = protocol::write_line(control, &done.text());
        let mut outcome = Outcome { sent, report: None, failure: None };
        let own_failure = outcome.sent.failure.take();
        outcome.failure = match self.last_word(streams, heard) {
            // The sink's reason first: it knows why it hung up, this end only that.
            Ok(Word::Total(report, why)) => {
                let partial = report.is_partial() && !self.session.stop.is_set();
                outcome.report = Some(report);
                why.map(|why| anyhow!("the sink gave up: {why}"))
                    .or(own_failure)
                    .or_else(|| partial.then(|| anyhow!("the sink did not get all of it")))
            }
            Ok(Word::Gone(error)) | Err(error) => {
                outcome.sent.is_cut = true;
                own_failure.or(Some(error))
            }
        };
        outcome.sent.total.raise_if(outcome.sent.is_cut, Flag::Partial);
        Ok(outcome)
    }

    fn plan(&self) -> flow::Plan {
        let args = self.args;
        let identity = Identity {
            schema: SCHEMA.tag,
            host: sampler::host_name(),
            label: args.output.label.clone().unwrap_or_default(),
            test: "tcp_send",
            target: args.host.clone(),
            run: self.run,
        };
        flow::Plan {
            subject: Subject { identity, method: "write", message_bytes: MESSAGE as u64, streams: 1 },
            direction: Direction::Send(args.bytes),
            time: if args.bytes.is_some() { None } else { Some(args.schedule.run_time()) },
            warmup: args.schedule.warm_up(),
            interval: args.schedule.interval.interval,
            idle_timeout: args.idle_timeout,
            owns_process: true,
        }
    }

    /// Waits for the receiver's total for as long as bytes still get through, and the idle time after that.
    fn last_word(&self, streams: &[Stream], heard: &Receiver<Word>) -> anyhow::Result<Word> {
        let mut pulse = Pulse::start_draining();
        let start = Instant::now();
        loop {
            let is_interrupted = self.session.stop.is_set();
            let most = if is_interrupted { LAST_WORD } else { Duration::MAX };
            let limit = self.args.idle_timeout.min(most);
            match heard.recv_timeout(pulse.next.saturating_duration_since(Instant::now())) {
                Ok(word) => return Ok(word),
                Err(RecvTimeoutError::Disconnected) => bail!("the sink went away"),
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let interrupted = is_interrupted && now.duration_since(start) >= limit;
                    let tcp = || TcpState::read(streams, true);
                    if interrupted || pulse.is_over(now, limit, tcp) {
                        let limit = units::duration_text(limit);
                        bail!("no byte got through and no word came from the sink for {limit} (--idle-timeout)");
                    }
                }
            }
        }
    }

    fn sum_up(&self, outcome: &Outcome, repeat: &Repeat) {
        let Some(report) = &outcome.report else { return };
        let sent = &outcome.sent.total.line;
        let mut text = format!(
            "{} received {} in {:.3} s: {}; {} retransmits",
            self.args.host,
            units::bytes_text(report.bytes()),
            report.seconds(),
            report.bytes_per_s().map_or_else(|| "too short for a rate".into(), units::rate_text),
            sent.errors.map_or_else(|| "unknown".into(), |errors| errors.to_string()),
        );
        if let Some((mean, half_width)) = repeat.confidence() {
            let _ = write!(
                text,
                "; mean of {} runs {} ± {:.1} %",
                self.run,
                units::rate_text(mean),
                100.0 * half_width / mean.max(f64::MIN_POSITIVE)
            );
        }
        self.session.console.summary(&text);
    }
}

impl Outcome {
    fn raise_if(&mut self, holds: bool, flag: Flag) -> anyhow::Result<()> {
        self.sent.total.raise_if(holds, flag);
        if let (true, Some(report)) = (holds, &mut self.report) {
            report.raise(flag)?;
        }
        Ok(())
    }

    fn print(&self, session: &Session) -> anyhow::Result<()> {
        session.lines.write_line(&self.sent.total.text()?)?;
        self.report.iter().try_for_each(|report| session.lines.write_line(report.text()))
    }
}

/// Passes the sink's interval lines on as they come, until its last word.
fn listen_to(control: &mut Control, session: &Session) -> anyhow::Result<Word> {
    let mut failure = None;
    while let Some(line) = control.read_line(None).context("no word from the sink")? {
        match FromSink::parse(&line)? {
            FromSink::Line { span: Span::Interval, text } => session.lines.write_line(&text)?,
            FromSink::Line { span: Span::Total, text } => return Ok(Word::Total(Report::read(text)?, failure)),
            FromSink::Failed { why } | FromSink::Refused { why } => failure = Some(why),
            FromSink::Accepted { .. } => bail!("the sink accepts twice"),
        }
    }
    bail!(
        "{}",
        failure
            .map_or_else(|| "the sink went away before its last word".into(), |why| format!("the sink gave up: {why}"))
    )
}
