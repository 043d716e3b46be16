//! A send schedule on absolute times: how much may have been sent by when, whatever happened before.

use std::time::{Duration, Instant};

/// The most that is made up for after a stall. What is further behind is lost, or the rate after it would be a lie.
pub const CATCH_UP: Duration = Duration::from_millis(100);

/// A schedule of so many units (bytes, datagrams) per second.
#[derive(Debug, Clone)]
pub struct Pace {
    per_s: u64,
    start: Instant,
    /// Units that were due before `start`; moves on when a stall was too long to make up for.
    sent: u128,
    catch_up: Duration,
}

impl Pace {
    /// A schedule that starts at `start`; `per_s` must not be zero.
    pub fn new(per_s: u64, start: Instant) -> Self {
        Self { per_s: per_s.max(1), start, sent: 0, catch_up: CATCH_UP }
    }

    /// The same schedule, which makes up for less of a stall, or for more.
    #[must_use]
    pub fn catching_up(self, catch_up: Duration) -> Self {
        Self { catch_up, ..self }
    }

    /// When the next unit is due.
    pub fn due(&self) -> Instant {
        self.start + self.span(self.sent)
    }

    /// Takes note that `units` were sent, the last of them at `now`.
    pub fn sent(&mut self, units: u64, now: Instant) {
        self.sent += u128::from(units);
        if let Some(late) = now.checked_duration_since(self.due() + self.catch_up) {
            self.start += late;
        }
    }

    /// How many units are due by `now`, at most `most`.
    pub fn allowance(&self, now: Instant, most: u64) -> u64 {
        let passed = now.saturating_duration_since(self.start).as_nanos();
        let due = passed * u128::from(self.per_s) / 1_000_000_000;
        u64::try_from(due.saturating_sub(self.sent)).unwrap_or(u64::MAX).min(most)
    }

    fn span(&self, units: u128) -> Duration {
        let nanos = units.saturating_mul(1_000_000_000).div_ceil(u128::from(self.per_s));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_due_depends_on_the_time_alone() {
        let start = Instant::now();
        let mut pace = Pace::new(1_000, start);
        assert_eq!(pace.allowance(start + SECOND / 2, u64::MAX), 500);
        pace.sent(450, start + SECOND / 2);
        assert_eq!(pace.allowance(start + SECOND / 2, u64::MAX), 50);
        assert_eq!(pace.allowance(start + SECOND, u64::MAX), 550);
        assert_eq!(pace.due(), start + SECOND * 9 / 20);
        assert_eq!(pace.allowance(start + SECOND / 2, 20), 20);
    }

    #[test]
    fn a_long_stall_is_made_up_for_only_in_part() {
        let start = Instant::now();
        let mut pace = Pace::new(1_000, start);
        pace.sent(100, start + 5 * SECOND);
        assert_eq!(pace.allowance(start + 5 * SECOND, u64::MAX), 100, "100 ms of it");
    }

    #[test]
    fn how_much_is_made_up_for_may_be_chosen() {
        let start = Instant::now();
        let mut pace = Pace::new(1_000, start).catching_up(Duration::from_millis(2));
        pace.sent(100, start + 5 * SECOND);
        assert_eq!(pace.allowance(start + 5 * SECOND, u64::MAX), 2);
    }

    #[test]
    fn rates_beyond_32_bits_are_kept() {
        let start = Instant::now();
        let pace = Pace::new(5_000_000_000, start);
        assert_eq!(pace.allowance(start + 3600 * SECOND, u64::MAX), 18_000_000_000_000);
    }
}
