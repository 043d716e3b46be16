//! Absolute deadlines and the arithmetic between two snapshots. Who samples wakes by the clock, never by the data:
//! a stall gives lines with zero bytes, not gaps; a late wake-up gives one long honest span, not a burst.

use std::time::{Duration, Instant, SystemTime};

use super::counters::Counts;
use crate::cpu::HostCpu;
use crate::schema::Fixed;
use crate::schema::line::{Flags, Line, Span, Time};

/// One reading of the wall clock; all times of day derive from it and the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    monotonic: Instant,
    wall: SystemTime,
}

impl Epoch {
    /// Reads both clocks.
    pub fn now() -> Self {
        Self { monotonic: Instant::now(), wall: SystemTime::now() }
    }

    /// The time of day at `at`.
    pub fn wall_at(&self, at: Instant) -> SystemTime {
        match at.checked_duration_since(self.monotonic) {
            Some(later) => self.wall + later,
            None => self.wall - self.monotonic.duration_since(at),
        }
    }

    /// The whole microsecond since the epoch at or before `at`. Lengths between such instants are printed without rounding,
    /// so that those of intervals add up to that of the whole.
    pub fn on_grid(&self, at: Instant) -> Instant {
        let micros = |nanos: u128| Duration::from_micros(u64::try_from(nanos / 1_000).unwrap_or(u64::MAX));
        if let Some(later) = at.checked_duration_since(self.monotonic) {
            return self.monotonic + micros(later.as_nanos());
        }
        let earlier = micros(self.monotonic.duration_since(at).as_nanos() + 999);
        self.monotonic.checked_sub(earlier).unwrap_or(at)
    }
}

/// The deadlines of `--interval`: start + 1, 2, 3 ... intervals, whatever happens between.
#[derive(Debug, Clone, Copy)]
pub struct Ticker {
    next: Instant,
    interval: Duration,
    end: Option<Instant>,
}

impl Ticker {
    /// Deadlines from `start` on. The one that falls on the planned `end` has half an interval of grace, so that the
    /// tail of a run (what is still on its way) belongs to its last interval instead of being a sliver of its own.
    pub fn new(start: Instant, interval: Duration, end: Option<Instant>) -> Self {
        Self { next: start + interval, interval, end }
    }

    /// The next deadline.
    pub fn next(&self) -> Instant {
        if self.end == Some(self.next) { self.next + self.interval / 2 } else { self.next }
    }

    /// Passes a deadline and every other one missed by `now`. False if none was due.
    pub fn pass(&mut self, now: Instant) -> bool {
        if now < self.next() {
            return false;
        }
        let missed = now.duration_since(self.next).as_nanos() / self.interval.as_nanos();
        let steps = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
        self.next += self.interval.saturating_mul(steps);
        true
    }
}

/// Everything that a span's figures are the difference of.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// Where the span begins or ends.
    pub at: Instant,
    /// What the workers had counted.
    pub counts: Counts,
    /// CPU time of the measurement.
    pub cpu: Duration,
    pub(super) host_cpu: Option<HostCpu>,
}

impl Snapshot {
    /// The state as it is, for a span that begins or ends at `at`.
    pub fn take(at: Instant, counts: Counts, cpu: Duration) -> Self {
        Self { at, counts, cpu, host_cpu: HostCpu::now() }
    }

    /// The state at `at`, before anything was counted. What the machine had to do since is known from here on only.
    #[must_use]
    pub fn before_anything(self, at: Instant) -> Self {
        Self { at, counts: Counts::default(), cpu: Duration::ZERO, ..self }
    }

    /// The same moment with the counts of a part only.
    #[must_use]
    pub fn with_counts(self, counts: Counts) -> Self {
        Self { counts, ..self }
    }
}

/// One span, measured.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// When it began.
    pub start: Instant,
    /// Its length.
    pub length: Duration,
    /// What was counted in it.
    pub counts: Counts,
    cpu_pct: Option<f64>,
    host_cpu_pct: Option<f64>,
}

impl Sample {
    /// The span between two snapshots.
    pub fn between(from: &Snapshot, to: &Snapshot) -> Self {
        let length = to.at.saturating_duration_since(from.at);
        let (seconds, cpu) = (length.as_secs_f64(), to.cpu.saturating_sub(from.cpu).as_secs_f64());
        let host = to.host_cpu.zip(from.host_cpu).and_then(|(now, then)| now.busy_pct_since(then));
        Self {
            start: from.at,
            length,
            counts: to.counts - from.counts,
            cpu_pct: (seconds > 0.0).then(|| 100.0 * cpu / seconds),
            host_cpu_pct: host,
        }
    }

    /// Bytes per second; `None` over no time.
    pub fn bytes_per_s(&self) -> Option<f64> {
        let seconds = self.length.as_secs_f64();
        (seconds > 0.0).then(|| self.counts.bytes as f64 / seconds)
    }

    /// The shared columns of this span's line.
    pub fn line(&self, of: &Identity, epoch: &Epoch, span: Span, errors: Option<u64>, flags: Flags) -> Line {
        let seconds = self.length.as_secs_f64();
        Line {
            schema: of.schema,
            time: Time(epoch.wall_at(self.start)),
            host: of.host.clone(),
            label: of.label.clone(),
            test: of.test,
            target: of.target.clone(),
            run: of.run,
            span,
            seconds: Fixed::new(seconds),
            bytes: Some(self.counts.bytes),
            ops: Some(self.counts.ops),
            errors,
            bytes_per_s: Fixed::ratio(self.counts.bytes as f64, seconds),
            ops_per_s: Fixed::ratio(self.counts.ops as f64, seconds),
            cpu_pct: self.cpu_pct.and_then(Fixed::new),
            host_cpu_pct: self.host_cpu_pct.and_then(Fixed::new),
            flags,
        }
    }
}

/// The columns that stay the same for all lines of a run.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Schema tag.
    pub schema: &'static str,
    /// Node name.
    pub host: String,
    /// The user's label.
    pub label: String,
    /// What is done.
    pub test: &'static str,
    /// Peer, device, path, mount or interface.
    pub target: String,
    /// 1, 2, ...
    pub run: u64,
}

/// The node name of this machine (`gethostname(2)`).
pub fn host_name() -> String {
    nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn deadlines_do_not_drift_and_late_ones_are_passed_together() {
        let start = Instant::now();
        let mut ticker = Ticker::new(start, SECOND, None);
        assert!(!ticker.pass(start));
        assert!(ticker.pass(start + SECOND + Duration::from_millis(300)));
        assert_eq!(ticker.next(), start + 2 * SECOND);
        assert!(ticker.pass(start + 6 * SECOND));
        assert_eq!(ticker.next(), start + 7 * SECOND);
    }

    #[test]
    fn the_tail_belongs_to_the_last_interval() {
        let start = Instant::now();
        let mut ticker = Ticker::new(start, SECOND, Some(start + 2 * SECOND));
        assert!(ticker.pass(start + SECOND));
        assert!(!ticker.pass(start + 2 * SECOND));
        assert!(ticker.pass(start + SECOND * 5 / 2), "a tail that goes on has intervals like any other");
        assert_eq!(ticker.next(), start + 3 * SECOND);
    }

    #[test]
    fn a_line_is_the_difference_of_two_snapshots() {
        let start = Instant::now();
        let from = Snapshot::take(start, Counts { bytes: 1_000, ops: 1 }, SECOND);
        let to = Snapshot::take(start + 2 * SECOND, Counts { bytes: 5_000, ops: 3 }, 2 * SECOND);
        let sample = Sample::between(&from, &to);
        let of = Identity { schema: "x/1", host: "h".into(), label: "l".into(), test: "t", target: "p".into(), run: 1 };
        let line = sample.line(&of, &Epoch::now(), Span::Total, Some(0), Flags::default());
        assert_eq!((line.bytes, line.ops), (Some(4_000), Some(2)));
        assert_eq!(line.bytes_per_s, Fixed::new(2_000.0));
        assert_eq!(line.ops_per_s, Fixed::new(1.0));
        assert_eq!(line.cpu_pct, Fixed::new(50.0));
    }

    #[test]
    fn a_span_without_length_has_no_rate() {
        let at = Snapshot::take(Instant::now(), Counts { bytes: 37, ops: 1 }, SECOND);
        let sample = Sample::between(&at, &at);
        assert_eq!(sample.bytes_per_s(), None);
    }

    #[test]
    fn the_grid_is_of_whole_microseconds_on_both_sides_of_the_epoch() {
        let epoch = Epoch::now();
        let nanos = Duration::from_nanos;
        let earlier = |time| epoch.monotonic.checked_sub(nanos(time)).unwrap();
        assert_eq!(epoch.on_grid(epoch.monotonic + nanos(2_999)), epoch.monotonic + nanos(2_000));
        assert_eq!(epoch.on_grid(earlier(2_001)), earlier(3_000));
        let at = epoch.on_grid(Instant::now());
        assert_eq!(epoch.on_grid(at), at);
    }
}
