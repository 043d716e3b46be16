//! The one visit that a listener with `--once` serves: all tests of one call of a client, which may be several.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The one visit.
#[derive(Debug)]
pub struct Visit {
    number: u64,
    /// How soon after the latest test another one may follow; zero once the client asked for its last.
    next_within: Duration,
    has_begun: Arc<AtomicBool>,
    /// When nobody was served any more.
    idle_since: Option<Instant>,
}

/// Says that a test of a visit has begun: who was admitted and did not begin does not count.
#[derive(Debug, Clone, Default)]
pub struct Beginning(Arc<AtomicBool>);

impl Beginning {
    /// It has begun.
    pub fn note(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What has become of a visit while nobody is served.
#[derive(Debug, PartialEq, Eq)]
pub enum Stay {
    /// Another test may follow until then.
    Until(Instant),
    /// It is over.
    Over,
    /// It never began.
    Forfeited,
}

impl Visit {
    /// A visit with its first test.
    pub fn new(number: u64, next_within: Duration) -> Self {
        Self { number, next_within, has_begun: Arc::default(), idle_since: None }
    }

    /// Whether a test of the visit with this number belongs to it.
    pub fn has(&self, number: u64) -> bool {
        self.number == number
    }

    /// Another test of it was admitted. What a client said of its last test holds.
    pub fn extend(&mut self, next_within: Duration) {
        self.next_within = if self.next_within.is_zero() { Duration::ZERO } else { next_within };
        self.idle_since = None;
    }

    /// For the test that was admitted.
    pub fn beginning(&self) -> Beginning {
        Beginning(Arc::clone(&self.has_begun))
    }

    /// What has become of it, at a moment when nobody is served.
    pub fn stay(&mut self, now: Instant) -> Stay {
        let until = *self.idle_since.get_or_insert(now) + self.next_within;
        match (now < until, self.has_begun.load(Ordering::Acquire)) {
            (true, _) => Stay::Until(until),
            (false, true) => Stay::Over,
            (false, false) => Stay::Forfeited,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_lasts_until_no_other_test_may_follow() {
        let now = Instant::now();
        let mut visit = Visit::new(7, SECOND);
        assert!(visit.has(7) && !visit.has(8));
        visit.beginning().note();
        assert_eq!(visit.stay(now), Stay::Until(now + SECOND));
        assert_eq!(visit.stay(now + SECOND / 2), Stay::Until(now + SECOND));
        assert_eq!(visit.stay(now + SECOND), Stay::Over);
        visit.extend(SECOND);
        assert_eq!(visit.stay(now + SECOND), Stay::Until(now + 2 * SECOND), "it begins anew after each");
        // Two at once: the last one that was asked for, and one beside it.
        visit.extend(Duration::ZERO);
        visit.extend(SECOND);
        assert_eq!(visit.stay(now), Stay::Over);
    }

    #[test]
    fn who_did_not_begin_does_not_count() {
        let now = Instant::now();
        let mut visit = Visit::new(7, Duration::ZERO);
        assert_eq!(visit.stay(now), Stay::Forfeited);
        visit.beginning().note();
        assert_eq!(visit.stay(now), Stay::Over);
    }
}
