//! Whether the kernel's receive stamps, which are of the wall clock, may be compared with each other.

use std::time::{Duration, Instant, SystemTime};

/// What reading two clocks one after the other, and a clock that is being slewed, may differ by.
const TOLERANCE: Duration = Duration::from_micros(500);

/// How much faster or slower than the monotonic clock the wall clock may go: `clock_adjtime(2)` slews by a tenth of that.
const SLEW: u32 = 200;

/// What is known of the wall clock.
#[derive(Debug)]
pub struct Stamps {
    read_at: Instant,
    wall: SystemTime,
    /// Nothing that is read after this can have arrived before.
    empty_since: Instant,
}

/// What a look at the clocks tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// It went on.
    Steady,
    /// It was set.
    Stepped,
}

impl Stamps {
    /// Nothing has arrived yet.
    pub fn new(now: Instant, wall: SystemTime) -> Self {
        Self { read_at: now, wall, empty_since: now }
    }

    /// Reads both clocks after a call.
    pub fn look(&mut self, now: Instant, wall: SystemTime) -> Clock {
        let passed = now.saturating_duration_since(self.read_at);
        let by_wall = distance(self.wall + passed, wall);
        (self.read_at, self.wall) = (now, wall);
        if by_wall > TOLERANCE + passed / SLEW { Clock::Stepped } else { Clock::Steady }
    }

    /// The call that was looked at last left nothing in the socket.
    pub fn drained(&mut self) {
        self.empty_since = self.read_at;
    }

    /// Whether something with this stamp may have arrived since the socket was empty, by the wall clock as it is now.
    pub fn is_sound(&self, stamp: Duration) -> bool {
        let stamp = SystemTime::UNIX_EPOCH + stamp;
        let most = self.read_at.saturating_duration_since(self.empty_since);
        match self.wall.duration_since(stamp) {
            Ok(age) => age <= most + most / SLEW + TOLERANCE,
            Err(ahead) => ahead.duration() <= TOLERANCE,
        }
    }
}

fn distance(one: SystemTime, other: SystemTime) -> Duration {
    one.duration_since(other).unwrap_or_else(|error| error.duration())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn a_clock_that_is_set_is_told_from_one_that_goes_on() {
        let (start, wall) = (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_hours(1000));
        let mut stamps = Stamps::new(start, wall);
        assert_eq!(stamps.look(start + 100 * MILLI, wall + 100 * MILLI), Clock::Steady);
        assert_eq!(stamps.look(start + 1100 * MILLI, wall + 1101 * MILLI), Clock::Steady, "slewed");
        assert_eq!(stamps.look(start + 1200 * MILLI, wall + 1201 * MILLI + Duration::from_hours(1)), Clock::Stepped);
        assert_eq!(stamps.look(start + 1300 * MILLI, wall + 1301 * MILLI + Duration::from_hours(1)), Clock::Steady);
        assert_eq!(stamps.look(start + 1400 * MILLI, wall), Clock::Stepped, "back, too");
    }

    #[test]
    fn a_stamp_from_before_the_step_is_not_sound() {
        let (start, since) = (Instant::now(), Duration::from_hours(1000));
        let wall = SystemTime::UNIX_EPOCH + since;
        let mut stamps = Stamps::new(start, wall);
        stamps.look(start + 10 * MILLI, wall + 10 * MILLI);
        assert!(stamps.is_sound(since) && stamps.is_sound(since + 10 * MILLI));
        assert!(!stamps.is_sound(since + 12 * MILLI), "of the future");
        assert!(!stamps.is_sound(since.saturating_sub(5 * MILLI)), "older than the socket was empty");
        stamps.drained();
        assert!(!stamps.is_sound(since));
    }
}
