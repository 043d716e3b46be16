//! What both ends of a test keep of their talk: lines, reports, signs of life.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use common::stop::Stop;

use crate::engine::{ALIVE, Inbox};
use crate::protocol::Word;
use crate::tally::Arrived;

/// How long an answer is waited for before the question is asked again.
pub const RETRY: Duration = Duration::from_millis(100);

/// A report: what arrived, and the jitter in microseconds.
pub type Report = (Arrived, Option<f64>);

/// The talk so far.
#[derive(Debug)]
pub struct Talk {
    state: Mutex<State>,
    /// Where repeated openings are answered, and with which tag: a listener's.
    opening: Option<(UdpSocket, u32)>,
}

#[derive(Debug)]
struct State {
    heard_at: Instant,
    lines: BTreeMap<u64, String>,
    /// How many lines there will be.
    of: Option<u64>,
    /// Lines taken out in their order.
    taken: u64,
    sent: Option<u64>,
    report: Option<Report>,
    failed: Option<String>,
    is_over: bool,
    asked_for: Vec<u64>,
    heard_words: u64,
    wants_report: bool,
    was_cut: bool,
}

/// Most lines that wait for one before them, and how long each may be: the other end may be anybody.
const MAX_LINES: usize = 1 << 16;
const MAX_LINE_BYTES: usize = 4096;

impl Talk {
    /// A client's talk.
    pub fn of_client() -> Self {
        Self::new(None)
    }

    /// A listener's talk over `socket`; a client that asks again to begin is told the tag again.
    pub fn of_listener(socket: &UdpSocket, tag: u32) -> std::io::Result<Self> {
        Ok(Self::new(Some((socket.try_clone()?, tag))))
    }

    fn new(opening: Option<(UdpSocket, u32)>) -> Self {
        let state = State {
            heard_at: Instant::now(),
            lines: BTreeMap::new(),
            of: None,
            taken: 0,
            sent: None,
            report: None,
            failed: None,
            is_over: false,
            asked_for: Vec::new(),
            heard_words: 0,
            wants_report: false,
            was_cut: false,
        };
        Self { state: Mutex::new(state), opening }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the other end has been silent.
    pub fn silence(&self) -> Duration {
        self.state().heard_at.elapsed()
    }

    /// Whether the client knows that its test has begun: it said something after its opening.
    pub fn has_begun(&self) -> bool {
        self.state().heard_words > 0
    }

    /// The sender's final count.
    pub fn sent(&self) -> Option<u64> {
        self.state().sent
    }

    /// The sender did not run to its planned end.
    pub fn was_cut(&self) -> bool {
        self.state().was_cut
    }

    /// The receiver's report.
    pub fn report(&self) -> Option<Report> {
        self.state().report
    }

    /// Why the other end failed.
    pub fn failed(&self) -> Option<String> {
        self.state().failed.clone()
    }

    /// The client has all it wants.
    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// The next line in order, if it is there.
    pub fn next_line(&self) -> Option<String> {
        let mut state = self.state();
        let next = state.taken;
        let line = state.lines.remove(&next)?;
        state.taken += 1;
        Some(line)
    }

    /// The line to ask for: the first one that is missing; `None` when all have been taken.
    pub fn missing(&self) -> Option<u64> {
        let state = self.state();
        (state.of != Some(state.taken)).then_some(state.taken)
    }

    /// A later line is there, so that the next one in order was lost.
    pub fn has_gap(&self) -> bool {
        let state = self.state();
        state.lines.keys().next().is_some_and(|first| *first > state.taken)
    }

    /// Whether the sender said since the last call that it is done.
    pub fn was_asked_for_report(&self) -> bool {
        std::mem::take(&mut self.state().wants_report)
    }

    /// The lines that the client asked for since the last call.
    pub fn asked_for(&self) -> Vec<u64> {
        std::mem::take(&mut self.state().asked_for)
    }
}

impl Inbox for Talk {
    fn take(&self, word: Word) {
        let mut state = self.state();
        state.heard_at = Instant::now();
        if let (Word::Start { .. }, Some((socket, tag))) = (&word, &self.opening) {
            say(socket, &Word::Ok { tag: *tag });
            return;
        }
        state.heard_words += 1;
        match word {
            Word::Line { index, of, text } => {
                if index >= state.taken && state.lines.len() < MAX_LINES && text.len() <= MAX_LINE_BYTES {
                    state.lines.insert(index, text);
                }
                state.of = state.of.or(of);
            }
            Word::End { sent, whole } => {
                state.sent = state.sent.or(Some(sent));
                state.was_cut |= !whole;
                state.wants_report = true;
            }
            Word::Report { arrived, jitter_ns } => {
                state.report = state.report.or(Some((arrived, jitter_ns.map(|ns| ns as f64 / 1e3))));
            }
            Word::Failed { why } | Word::Refused { why } => state.failed = state.failed.take().or(Some(why)),
            Word::Get { index } => {
                if state.asked_for.len() < 16 {
                    state.asked_for.push(index);
                }
            }
            Word::Bye => state.is_over = true,
            Word::Alive | Word::Ok { .. } | Word::Hello { .. } | Word::Challenge { .. } | Word::Start { .. } => {}
        }
    }

    fn has_ended(&self) -> bool {
        let state = self.state();
        state.sent.is_some() || state.is_over || state.failed.is_some()
    }
}

/// Says something; what is lost is said again.
pub fn say(socket: &UdpSocket, word: &Word) {
    let _ = try_say(socket, word);
}

/// Says something. `Err` when the other end's port is closed: the ICMP message that an earlier datagram caused is told
/// to whoever uses the socket next, be it for sending.
pub fn try_say(socket: &UdpSocket, word: &Word) -> std::io::Result<()> {
    match socket.send(word.text().as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Err(error),
        _ => Ok(()),
    }
}

/// Takes one control datagram, if there is one in time. `Err` when the other end's port is closed.
pub fn hear(socket: &UdpSocket, talk: &Talk) -> std::io::Result<()> {
    let mut datagram = vec![0; 65_536];
    match socket.recv(&mut datagram) {
        Ok(length) => {
            // Strangers are none of this talk's business; a receiver counts them.
            if let Ok(word) = Word::parse(&datagram[..length]) {
                talk.take(word);
            }
            Ok(())
        }
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Err(error),
        Err(_) => Ok(()),
    }
}

/// Does `work`, which is busy sending, while another thread listens: it says that this end is there, and sets `stop` when
/// the other end is gone; the reason comes back beside the result. `each` is called after every datagram.
pub fn with_attendant<T>(
    socket: &UdpSocket,
    talk: &Talk,
    stop: &Stop,
    idle_timeout: Duration,
    each: impl FnMut() -> anyhow::Result<()> + Send,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(T, Option<anyhow::Error>)> {
    let until = stop.child()?;
    std::thread::scope(|scope| {
        let attendant = std::thread::Builder::new().name("attendant".into()).spawn_scoped(scope, || {
            let outcome = attend(socket, talk, &until, idle_timeout, each);
            if outcome.is_err() {
                stop.set();
            }
            outcome
        })?;
        let result = work();
        until.set();
        let attended = attendant.join().unwrap_or_else(|_| Err(anyhow!("a worker thread panicked")));
        Ok((result?, attended.err()))
    })
}

fn attend(
    socket: &UdpSocket,
    talk: &Talk,
    until: &Stop,
    idle_timeout: Duration,
    mut each: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut spoke = Instant::now();
    while !until.is_set() {
        if hear(socket, talk).is_err() {
            bail!("nobody listens there any more (ICMP port unreachable)");
        }
        each()?;
        if let Some(why) = talk.failed() {
            bail!("the other end gave up: {why}");
        }
        if talk.is_over() || talk.sent().is_some() {
            // A receiver says so, too, when it was told to stop.
            bail!("the other end has left");
        }
        if talk.silence() >= idle_timeout {
            bail!("the other end fell silent (--idle-timeout)");
        }
        if spoke.elapsed() >= ALIVE {
            spoke = Instant::now();
            say(socket, &Word::Alive);
        }
    }
    Ok(())
}
