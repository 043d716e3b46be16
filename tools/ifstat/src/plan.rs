//! When to sample and when to end.

use std::time::{Duration, Instant};

use common::cli::Usage;
use common::measure::sample::Ticker;
use common::units;

use crate::args::ScheduleArgs;

/// Length of an interval when nobody says.
const INTERVAL: Duration = Duration::from_secs(1);

/// A checked schedule.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    interval: Option<Duration>,
    count: Option<u64>,
    time: Option<Duration>,
}

impl Plan {
    /// Refuses what does not belong together. A command's end is the end of its measurement.
    pub fn new(args: &ScheduleArgs, has_command: bool) -> Result<Self, Usage> {
        let interval = args.interval.or_else(|| (!has_command).then_some(INTERVAL));
        if let (Some(asked), Some(time)) = (args.interval, args.time)
            && asked > time
        {
            let [asked, time] = [asked, time].map(units::duration_text);
            return Err(Usage(format!("--interval {asked} is longer than the measurement (--time {time})")));
        }
        Ok(Self { interval, count: args.count, time: args.time })
    }

    /// Whether the run goes on until somebody ends it.
    pub fn is_open_ended(&self) -> bool {
        self.count.is_none() && self.time.is_none()
    }

    /// Whether intervals have lines.
    pub fn has_intervals(&self) -> bool {
        self.interval.is_some()
    }

    /// The deadlines from `start` on.
    pub fn begin(&self, start: Instant) -> Clock {
        Clock {
            ticker: self.interval.map(|interval| Ticker::new(start, interval, None)),
            end: self.time.map(|time| start + time),
            left: self.count,
        }
    }
}

/// A running schedule.
#[derive(Debug)]
pub struct Clock {
    ticker: Option<Ticker>,
    end: Option<Instant>,
    left: Option<u64>,
}

/// What a moment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing yet.
    Nothing,
    /// An interval is over.
    Interval,
    /// The run is over, and with it the open interval.
    End,
}

impl Clock {
    /// When to look again.
    pub fn next(&self) -> Option<Instant> {
        [self.ticker.map(|ticker| ticker.next()), self.end].into_iter().flatten().min()
    }

    /// What is due `now`. Deadlines missed together are passed together.
    pub fn pass(&mut self, now: Instant) -> Due {
        if self.end.is_some_and(|end| now >= end) {
            return Due::End;
        }
        if !self.ticker.as_mut().is_some_and(|ticker| ticker.pass(now)) {
            return Due::Nothing;
        }
        if let Some(left) = &mut self.left {
            *left -= 1;
            if *left == 0 {
                return Due::End;
            }
        }
        Due::Interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Duration = Duration::from_millis(10);

    #[test]
    fn the_end_is_a_deadline_of_its_own() {
        let plan = Plan { interval: Some(TEN), count: None, time: Some(TEN * 5 / 2) };
        let start = Instant::now();
        let mut clock = plan.begin(start);
        assert_eq!(clock.pass(start), Due::Nothing);
        assert_eq!(clock.pass(start + TEN), Due::Interval);
        assert_eq!(clock.pass(start + TEN * 2), Due::Interval);
        assert_eq!(clock.next(), Some(start + TEN * 5 / 2));
        assert_eq!(clock.pass(start + TEN * 5 / 2), Due::End);
    }

    #[test]
    fn a_count_counts_lines_not_deadlines() {
        let plan = Plan { interval: Some(TEN), count: Some(2), time: None };
        let start = Instant::now();
        let mut clock = plan.begin(start);
        assert_eq!(clock.pass(start + TEN * 30), Due::Interval, "thirty deadlines late: one long interval");
        assert_eq!(clock.next(), Some(start + TEN * 31), "back on the old beat");
        assert_eq!(clock.pass(start + TEN * 31), Due::End);
    }
}
