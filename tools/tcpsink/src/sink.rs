//! What all clients' threads of a sink share: its limits, what is printed, and where bytes are stored.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::net::access::Secret;
use common::net::listener::{Company, Journal, Refusal, TurnedAway};
use common::schema::line::Flag;
use common::schema::tcpsink::SCHEMA;

use crate::args::ListenArgs;
use crate::engine::Method;
use crate::engine::file::Output;
use crate::finished::Finished;
use crate::part::{self, End, Speaker};
use crate::plan::Plan;
use crate::record::Record;
use crate::request::{Request, TestKind, Way};
use crate::role::Role;

/// What all clients' threads share.
#[derive(Debug)]
pub struct Sink {
    /// The command line.
    pub args: ListenArgs,
    /// What is printed, and what ends the sink.
    pub journal: Journal,
    /// What some clients have to know.
    pub secret: Option<Secret>,
    /// Who is measured at the same time.
    pub company: Company,
    /// Where the one client's bytes go.
    output: Mutex<Option<Output>>,
    /// Who was refused.
    turned_away: Mutex<TurnedAway>,
}

/// What came of a flow, as it was printed.
pub struct Concluded {
    /// Its totals.
    pub lines: Vec<String>,
    /// Why it is not whole.
    pub failure: Option<anyhow::Error>,
}

impl Sink {
    /// A sink that has served nobody yet. The error is [`Stopped`](common::stop::Stopped) if a signal came first.
    pub fn new(args: ListenArgs) -> anyhow::Result<Self> {
        let journal = Journal::open(&args.lines, "tcpsink", &SCHEMA)?;
        let secret = args.guard.secret_file.as_deref().map(Secret::read).transpose()?;
        let open = |path| Output::open(path, args.force, &journal.session);
        let output = args.output.as_deref().map(open).transpose()?;
        Ok(Self {
            args,
            journal,
            secret,
            company: Company::default(),
            output: Mutex::new(output),
            turned_away: Mutex::default(),
        })
    }

    /// What ends it after one client, if something does: a file holds one client's bytes.
    pub fn one_only(&self) -> Option<&'static str> {
        match (&self.args.output, self.args.once) {
            (Some(_), _) => Some("--output"),
            (None, true) => Some("--once"),
            (None, false) => None,
        }
    }

    /// Takes note of somebody who is not served.
    pub fn turn_away(&self, peer: &str, refusal: &Refusal) {
        let mut all = self.turned_away.lock().unwrap_or_else(PoisonError::into_inner);
        all.note(&self.journal.session.console, peer, refusal);
    }

    /// Says how many there were of whom nothing was said.
    pub fn tell_turned_away(&self) {
        self.turned_away.lock().unwrap_or_else(PoisonError::into_inner).tell(&self.journal.session.console);
    }

    /// What a plain client would have asked for.
    pub fn plain_request(&self) -> Request {
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
    pub fn plan(&self, request: &Request, way: Way, peer: &str) -> Plan {
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
        plan.idle_timeout = self.patience(request);
        plan.interval = plan.interval.or(self.args.interval.interval);
        match stored {
            Some(output) => plan.with_role(Role::Store(output)),
            None => plan,
        }
    }

    /// How long a client may be silent.
    pub fn patience(&self, request: &Request) -> Duration {
        request.idle_timeout.min(self.args.idle_timeout)
    }

    /// Prints the totals of a flow, says on stderr why it is not whole, and gives a stored file its name if it is.
    pub fn conclude(&self, peer: &str, mut finished: Finished) -> anyhow::Result<Concluded> {
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
