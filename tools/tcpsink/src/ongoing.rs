//! The tests that are being served: where their connections belong, and the memory that they take.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use common::net::listener::Refusal;

use crate::request::{Request, TestKind};
use crate::serve::Joining;

/// All of them, by the tokens that their connections say.
pub struct Ongoing {
    tests: HashMap<String, Test>,
    /// Memory for all together, bytes.
    memory: u64,
}

struct Test {
    streams: Sender<Joining>,
    /// How many may still come: each is a descriptor.
    streams_left: u64,
    /// Connections of a connect test, where it is one.
    knocks: Option<Arc<AtomicU64>>,
    memory: u64,
    asked_at: Instant,
    presence: Weak<Presence>,
}

/// How long a test may take to begin before it has to give way to another one.
const LEISURE: Duration = Duration::from_secs(1);

/// What a test and its listener know of each other.
#[derive(Debug, Default)]
struct Presence {
    has_begun: AtomicBool,
    gives_way: AtomicBool,
}

/// What a test gets of its connections. It is over when this is dropped.
pub struct Ticket {
    /// Its streams.
    pub joined: Receiver<Joining>,
    /// How many connections of a connect test there were.
    pub knocks: Arc<AtomicU64>,
    presence: Arc<Presence>,
}

impl Ticket {
    /// Its client has begun.
    pub fn begin(&self) {
        self.presence.has_begun.store(true, Ordering::Relaxed);
    }

    /// Whether its place is wanted by somebody else, and its client has not begun.
    pub fn gives_way(&self) -> bool {
        self.presence.gives_way.load(Ordering::Relaxed) && !self.presence.has_begun.load(Ordering::Relaxed)
    }
}

impl Ongoing {
    /// None yet; they may have so many bytes of memory together, and one of them half of that.
    pub fn new(memory: u64) -> Self {
        Self { tests: HashMap::new(), memory }
    }

    /// Forgets those that are over.
    pub fn sweep(&mut self) {
        self.tests.retain(|_, test| test.presence.strong_count() > 0);
    }

    /// Takes a test on; its token, and what it gets.
    pub fn add(&mut self, request: &Request, is_stored: bool) -> (String, Ticket) {
        let token = format!("{:032x}", rand::random::<u128>());
        let (streams, joined) = mpsc::channel();
        let (presence, knocks) = (Arc::default(), Arc::default());
        let test = Test {
            streams,
            streams_left: request.streams * request.kind.ways().len() as u64,
            knocks: (request.kind == TestKind::Connect).then(|| Arc::clone(&knocks)),
            memory: request.memory(is_stored),
            asked_at: Instant::now(),
            presence: Arc::downgrade(&presence),
        };
        self.tests.insert(token.clone(), test);
        (token, Ticket { joined, knocks, presence })
    }

    /// Why there is no memory for a test, if there is none.
    pub fn refusal(&self, request: &Request, is_stored: bool) -> Option<Refusal> {
        let asked = request.memory(is_stored);
        let most = self.left().min(self.memory / 2);
        (asked > most).then_some(Refusal::TooLarge { asked, most })
    }

    /// Whether one that was refused may be served when others have left.
    pub fn is_worth_waiting(&self, refusal: &Refusal) -> bool {
        match refusal {
            Refusal::Full(_) => true,
            Refusal::TooLarge { asked, .. } => *asked <= self.memory / 2,
            _ => false,
        }
    }

    /// Has the place of a test freed that did not begin; whether there is one.
    pub fn make_room(&self, now: Instant) -> bool {
        let idle = |test: &&Test| {
            let presence = test.presence.upgrade();
            let has_begun = presence.is_none_or(|presence| presence.has_begun.load(Ordering::Relaxed));
            !has_begun && now >= test.asked_at + LEISURE
        };
        let oldest = self.tests.values().filter(idle).min_by_key(|test| test.asked_at);
        let presence = oldest.and_then(|test| test.presence.upgrade());
        presence.map(|presence| presence.gives_way.store(true, Ordering::Relaxed)).is_some()
    }

    fn left(&self) -> u64 {
        self.memory.saturating_sub(self.tests.values().map(|test| test.memory).sum())
    }

    /// Where a stream with this token goes.
    pub fn stream_of(&mut self, token: &str) -> Result<&Sender<Joining>, Refusal> {
        match self.tests.get_mut(token) {
            Some(test) if test.streams_left > 0 => {
                test.streams_left -= 1;
                Ok(&test.streams)
            }
            Some(_) => Err(Refusal::Useless("the test has all its streams".into())),
            None => Err(Refusal::Useless("no test is waiting for this stream".into())),
        }
    }

    /// Counts a connection of a connect test; whether there is such a test.
    pub fn knock(&self, token: &str) -> bool {
        let Some(test) = self.tests.get(token) else { return false };
        if let Some(presence) = test.presence.upgrade().filter(|_| test.knocks.is_some()) {
            presence.has_begun.store(true, Ordering::Relaxed);
        }
        test.knocks.as_ref().map(|knocks| knocks.fetch_add(1, Ordering::Relaxed)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::request;

    #[test]
    fn memory_is_bounded_for_one_and_for_all() {
        let mut ongoing = Ongoing::new(64 << 20);
        let asks = |message| Request { kind: TestKind::Send, streams: 1, message: Some(message), ..request() };
        let refusal = ongoing.refusal(&asks(40 << 20), false).unwrap();
        assert!(!ongoing.is_worth_waiting(&refusal), "{refusal}: one client may have half of it");
        let first = ongoing.add(&asks(30 << 20), false);
        let second = ongoing.add(&asks(30 << 20), false);
        let refusal = ongoing.refusal(&asks(30 << 20), false).unwrap();
        assert!(ongoing.is_worth_waiting(&refusal) && refusal.to_string().contains("--max-memory"), "{refusal}");
        assert!(ongoing.refusal(&Request { copy: false, ..asks(30 << 20) }, false).is_none());
        drop(first);
        ongoing.sweep();
        assert!(ongoing.refusal(&asks(30 << 20), false).is_none());
        drop(second);
    }

    #[test]
    fn a_test_gets_its_streams_and_no_more() {
        let mut ongoing = Ongoing::new(1 << 30);
        let (token, ticket) = ongoing.add(&Request { kind: TestKind::Both, streams: 2, ..request() }, false);
        assert!((0..4).all(|_| ongoing.stream_of(&token).is_ok()) && ongoing.stream_of(&token).is_err());
        assert!(!ongoing.knock(&token) && ongoing.stream_of("").is_err());
        let (token, connects) = ongoing.add(&Request { kind: TestKind::Connect, ..request() }, false);
        assert!(ongoing.knock(&token) && ongoing.stream_of(&token).is_err());
        assert_eq!(connects.knocks.load(Ordering::Relaxed), 1);
        drop(ticket);
    }

    #[test]
    fn who_does_not_begin_gives_way() {
        let mut ongoing = Ongoing::new(1 << 30);
        let (_, first) = ongoing.add(&request(), false);
        let (token, second) = ongoing.add(&Request { kind: TestKind::Connect, ..request() }, false);
        let (now, later) = (Instant::now(), Instant::now() + LEISURE);
        assert!(!ongoing.make_room(now), "it has a moment");
        assert!(ongoing.make_room(later) && first.gives_way() && !second.gives_way());
        first.begin();
        assert!(!first.gives_way() && ongoing.knock(&token));
        assert!(!ongoing.make_room(later) && !second.gives_way());
    }
}
