//! The verbs that ask a listener: agree, do this end's part, and collect both ends' lines.

use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use common::cli::{Ending, OutputArgs, ScheduleArgs, Session, Usage};
use common::measure::crew::CpuList;
use common::measure::sample;
use common::measure::series::{self, Outcome};
use common::net::access::Secret;
use common::net::peer::PeerArgs;
use common::net::peer_line::PeerLine;
use common::net::route::RouteArgs;
use common::net::turn;
use common::schema::line::Flag;
use common::schema::udpblast::SCHEMA;
use common::stop::Stopped;
use common::units;

use crate::args::{BlastArgs, DatagramArgs, PingArgs};
use crate::attendant;
use crate::exchange::Exchange;
use crate::flow::{self, Finished};
use crate::local::LocalQueues;
use crate::opening::{Opened, Opening};
use crate::part::{self, Agreed, End, Speaker};
use crate::protocol::{Report, Word};
use crate::record::Record;
use crate::request::{Request, SHORTEST_INTERVAL, TestKind};
use crate::session::{RETRY, Talk};
use crate::udp::{self, Path, Wishes};

/// How long an interrupted client waits for the listener's lines.
const LAST_WORD: Duration = Duration::from_secs(1);

/// `udpblast send` and `recv`.
pub fn transfer(kind: TestKind, args: &BlastArgs) -> anyhow::Result<Ending> {
    let request = Request {
        rate: args.rate.bits(),
        bytes: args.bytes,
        time: if args.bytes.is_some() { None } else { Some(args.schedule.run_time()) },
        streams: args.streams.into(),
        per_stream: args.per_stream,
        ..request(kind, &args.route, &args.schedule, Some(&args.datagram))?
    };
    if let Some(rate) = request.rate.filter(|rate| *rate < request.streams) {
        return Err(
            Usage(format!("--rate {rate} is less than 1 bit/s for each of --streams {}", request.streams)).into()
        );
    }
    repeat(&args.route, request, &args.schedule, args.bytes.is_none(), &args.lines)
}

/// `udpblast ping`.
pub fn ping(args: &PingArgs) -> anyhow::Result<Ending> {
    let request = Request {
        size: Some(args.size),
        every: args.every,
        ..request(TestKind::Ping, &args.route, &args.schedule, None)?
    };
    repeat(&args.route, request, &args.schedule, true, &args.lines)
}

fn request(
    kind: TestKind,
    path: &RouteArgs,
    schedule: &ScheduleArgs,
    datagram: Option<&DatagramArgs>,
) -> Result<Request, Usage> {
    let interval = schedule.interval.interval;
    if let Some(interval) = interval.filter(|interval| *interval < SHORTEST_INTERVAL) {
        let [given, least] = [interval, SHORTEST_INTERVAL].map(units::duration_text);
        return Err(Usage(format!(
            "--interval {given} is too short: the other end prints a line every {least} at most"
        )));
    }
    Ok(Request {
        kind,
        run: 1,
        visit: rand::random(),
        next_within: Duration::ZERO,
        streams: 1,
        per_stream: false,
        rate: None,
        size: datagram.and_then(|datagram| datagram.size),
        burst: datagram.and_then(|datagram| datagram.burst),
        time: Some(schedule.run_time()),
        bytes: None,
        warmup: schedule.warm_up(),
        interval,
        every: None,
        idle_timeout: path.peer.idle_timeout,
        fragment: datagram.is_some_and(|datagram| datagram.fragment),
        offload: datagram.is_some_and(|datagram| !datagram.no_offload),
        buffer: datagram.and_then(|datagram| datagram.buffer),
        dscp: path.dscp,
    })
}

/// Runs a test as often as was asked for.
fn repeat(
    path: &RouteArgs,
    mut request: Request,
    schedule: &ScheduleArgs,
    is_timed: bool,
    lines: &OutputArgs,
) -> anyhow::Result<Ending> {
    let repeat = schedule.repeat(is_timed)?;
    let session = lines.open("udpblast", &SCHEMA)?;
    let client = Client::new(path, lines, &session)?;
    let most = repeat.most();
    if turn::splay(path.peer.splay, &session.stop).is_err() {
        return Ok(Ending::of(&session.stop).unwrap_or(Ending::Measured));
    }
    let ending = series::run(&session, repeat, |run| {
        request.run = run;
        request.next_within = if run < most { path.peer.connect_timeout } else { Duration::ZERO };
        client.measure(&request)
    })?;
    Ok(ending.unwrap_or(Ending::Measured))
}

/// A client of one listener.
pub struct Client<'a> {
    peer: &'a PeerArgs,
    path: Path,
    cpus: CpuList,
    label: Option<String>,
    host: String,
    secret: Option<Secret>,
    session: &'a Session,
}

impl<'a> Client<'a> {
    /// A client that has not spoken yet.
    pub fn new(path: &'a RouteArgs, lines: &OutputArgs, session: &'a Session) -> anyhow::Result<Self> {
        Ok(Self {
            peer: &path.peer,
            path: Path { bind: path.bind, interface: path.interface.clone() },
            cpus: path.cpu.clone().unwrap_or_default(),
            label: lines.label.clone(),
            host: sample::host_name(),
            secret: path.peer.secret()?,
            session,
        })
    }

    /// Runs one test; `None` if it was told to stop before it began.
    pub fn measure(&self, request: &Request) -> anyhow::Result<Option<Exchange>> {
        match self.agree_and_run(request) {
            Ok(mut exchange) => {
                exchange.failure = exchange.failure.map(|failure| failure.context(self.peer.context()));
                Ok(Some(exchange))
            }
            Err(error) if error.is::<Stopped>() => Ok(None),
            Err(error) => Err(error).with_context(|| self.peer.context()),
        }
    }

    fn agree_and_run(&self, request: &Request) -> anyhow::Result<Exchange> {
        let deadline = Instant::now() + self.peer.connect_timeout;
        let stop = &self.session.stop;
        let console = &self.session.console;
        let opening = Opening { peer: self.peer, path: &self.path, secret: self.secret.as_ref(), stop, console };
        let Opened { sockets, request, key, tag, idle } = opening.open(request, deadline)?;
        let joins = part::joins(&request, End::Client, udp::fits(&sockets[0]));
        let wishes = Wishes { buffer: request.buffer, fragment: request.fragment, joins, dscp: request.dscp };
        sockets.iter().try_for_each(|socket| udp::prepare(socket, wishes))?;
        let talk = Talk::new(&sockets, key, End::Client, idle, None)?;
        self.begin(&talk, Instant::now() + self.peer.connect_timeout)?;
        let queues = LocalQueues::towards(&sockets[0]);
        let agreed = Agreed {
            tag,
            size: request.size.unwrap_or_default(),
            idle_timeout: self.peer.idle_timeout,
            is_limited: false,
            is_wary: queues.cut(),
        };
        let speaker = Speaker {
            host: self.host.clone(),
            label: self.label.clone().unwrap_or_default(),
            target: self.peer.host.name.clone(),
        };
        let mut plan = part::plan(&request, End::Client, agreed, speaker, &sockets[0])?;
        plan.cpus = self.cpus.clone();
        if !plan.role.leads() {
            plan.max_time =
                request.length().map(|length| length.saturating_add(self.peer.idle_timeout + request.gap()));
        }
        let stop = stop.child()?;
        let progress = self.session.console.progress(request.time.map(|time| time + request.warmup));
        let emit = |record: &Record| self.session.lines.write_line(&record.text()?);
        let work = || flow::run(plan, &sockets, &talk, &stop, Some(&progress), &emit);
        let (mut finished, gone) = if request.kind == TestKind::Send {
            attendant::with_attendant(&talk, &stop, self.peer.idle_timeout, || self.pass_on(&talk), work)?
        } else {
            (work()?, None)
        };
        finished.fail(gone);
        drop(progress);
        let is_sure = queues.are_accounted_for(finished.refused() + talk.refused_pieces());
        self.collect(&talk, &request, finished, is_sure)
    }

    /// Says that this end is ready until the listener is.
    fn begin(&self, talk: &Talk, deadline: Instant) -> anyhow::Result<()> {
        let mut said: Option<Instant> = None;
        while !talk.goes() {
            if self.session.stop.is_set() {
                let _ = talk.say(&Word::Leave);
                return Err(Stopped.into());
            }
            if let Some(why) = talk.failed() {
                bail!("the listener gave up: {why}");
            }
            if Instant::now() >= deadline {
                bail!("the listener agreed and then fell silent (--connect-timeout)");
            }
            if said.is_none_or(|at| at.elapsed() >= RETRY) {
                said = Some(Instant::now());
                talk.say(&Word::Begin { label: self.label.clone() }).map_err(|_| gone())?;
            }
            talk.wait_and_hear(&self.session.stop, Vec::new()).map_err(|_| gone())?;
        }
        Ok(())
    }

    /// Prints the listener's lines that have come, in their order, and asks for one that was lost.
    fn pass_on(&self, talk: &Talk) -> anyhow::Result<()> {
        while let Some(line) = talk.next_line() {
            self.session.lines.write_line(&PeerLine::read(&SCHEMA, &line)?.text()?)?;
        }
        if let Some(index) = talk.missing().filter(|_| talk.has_gap()) {
            // One that is lost is asked again.
            let _ = talk.say(&Word::Get { index });
        }
        Ok(())
    }

    /// Says that this end is done until the listener has told all, and builds this end's totals.
    fn collect(
        &self,
        talk: &Talk,
        request: &Request,
        mut finished: Finished,
        is_sure: bool,
    ) -> anyhow::Result<Exchange> {
        let kind = request.kind;
        let words = talk.said_pieces();
        // A receiver that knows how much was sent knows its counts, and tells them; a sender asks for them.
        let own_report = |finished: &Finished| -> Option<Vec<Report>> {
            let sent = talk.all_sent().filter(|_| kind == TestKind::Recv)?;
            Some(finished.reports(&sent, talk.missing_pieces()))
        };
        let done = |finished: &Finished| match own_report(finished) {
            Some(report) => Word::Report(report),
            None if kind == TestKind::Recv => Word::Leave,
            None => Word::End { streams: finished.all_sent(), whole: !finished.is_cut, sure: is_sure, words },
        };
        let is_stopped = || self.session.stop.is_set();
        let begun = Instant::now();
        let (mut said, mut rest, mut end) = (None::<Instant>, Vec::new(), None::<anyhow::Error>);
        loop {
            while let Some(line) = talk.next_line() {
                match PeerLine::read(&SCHEMA, &line) {
                    Ok(line) => rest.push(line),
                    Err(error) => end = end.or(Some(error)),
                }
            }
            let has_counts = if kind == TestKind::Recv { talk.all_sent().is_some() } else { talk.report().is_some() };
            if has_counts && talk.missing().is_none() {
                break;
            }
            if talk.failed().is_some() || end.is_some() {
                break;
            }
            let is_late = talk.stagnation() >= self.peer.idle_timeout && begun.elapsed() >= self.peer.idle_timeout;
            if is_late || (is_stopped() && begun.elapsed() >= LAST_WORD) {
                end = Some(anyhow!("the listener fell silent before its last word (--idle-timeout)"));
                break;
            }
            let mut is_there = true;
            if said.is_none_or(|at| at.elapsed() >= RETRY) {
                said = Some(Instant::now());
                let get = talk.missing().map(|index| Word::Get { index });
                is_there =
                    talk.say_everywhere(&done(&finished)).is_ok() && get.is_none_or(|word| talk.say(&word).is_ok());
            }
            let before = talk.missing();
            if !is_there || talk.hear().is_err() {
                end = Some(gone());
                break;
            }
            if talk.missing() != before {
                said = None;
            }
        }
        finished.is_cut |= talk.was_cut();
        // Three may get through where one does not; if none does, the listener waits its idle time.
        for _ in 0..3 {
            let _ = talk.say(&Word::Bye);
        }
        finished.fail(talk.failed().map(|why| anyhow!("the listener gave up: {why}")));
        finished.fail(end.filter(|_| !is_stopped()));
        let is_sure = if kind == TestKind::Recv { talk.is_sure() } else { is_sure };
        let report = own_report(&finished).or_else(|| talk.report());
        let own = finished.totals(report.as_deref(), is_sure);
        let is_whole = request.warmup.is_zero() && !finished.is_cut;
        let totals = rest.iter().position(PeerLine::is_total).unwrap_or(rest.len());
        let others = rest.split_off(totals);
        rest.iter().try_for_each(|line| self.session.lines.write_line(&line.text()?))?;
        let mut exchange = Exchange { own, others, failure: finished.failure, kind, asked: request.rate, is_whole };
        if exchange.others.iter().any(|others| others.has(Flag::Shared)) {
            exchange.raise(Flag::Shared);
        }
        exchange.check();
        Ok(exchange)
    }
}

fn gone() -> anyhow::Error {
    anyhow!("nobody listens there any more (ICMP port unreachable)")
}
