//! Axes of time: seconds since the beginning while that is short, then the clock, then the calendar; UTC, as in the lines.

use std::time::{Duration, UNIX_EPOCH};

use super::axis::{Axis, Scale, Tick, multiples};
use super::unit::number;

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;

/// Longest span that is counted from its beginning.
const COUNTED: f64 = 2.0 * HOUR;

/// Steps between ticks, seconds; all divide the day, or are whole days.
const STEPS: &[f64] = &[
    600.0,
    1800.0,
    HOUR,
    2.0 * HOUR,
    3.0 * HOUR,
    6.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
    7.0 * DAY,
    14.0 * DAY,
    28.0 * DAY,
    56.0 * DAY,
    91.0 * DAY,
    182.0 * DAY,
    364.0 * DAY,
];

/// The axis from the first to the last second since 1970.
pub fn axis(first: f64, last: f64) -> Axis {
    let span = last - first;
    if span <= COUNTED {
        return elapsed(first, last, &format!("since {} UTC", text(first, 0..19)));
    }
    let step = STEPS.iter().copied().find(|step| span / step <= 8.0).unwrap_or((span / 8.0 / DAY).ceil() * DAY);
    let range = match step {
        ..DAY if span <= DAY => 11..16,
        ..DAY => 5..16,
        _ => 0..10,
    };
    let ticks = multiples(first, last, step).into_iter().map(|at| Tick { at, text: text(at, range.clone()) }).collect();
    let title = if step < DAY { format!("UTC, from {}", text(first, 0..16)) } else { "UTC".into() };
    Axis { title, scale: scale(first, last), ticks, has_grid: true }
}

/// The axis of seconds from `first` on, which is called zero.
pub fn elapsed(first: f64, last: f64, since: &str) -> Axis {
    let span = (last - first).max(0.0);
    let (unit, size) = match span {
        ..=300.0 => ("seconds", 1.0),
        ..=18_000.0 => ("minutes", MINUTE),
        _ => ("hours", HOUR),
    };
    let steps = [1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0];
    let step = steps.into_iter().find(|step| span / size / step <= 10.0).unwrap_or(span / size / 10.0);
    let ticks = multiples(0.0, span / size, step);
    let ticks = ticks.into_iter().map(|at| Tick { at: first + at * size, text: number(at) }).collect();
    Axis { title: format!("{unit} {since}"), scale: scale(first, last), ticks, has_grid: true }
}

fn scale(first: f64, last: f64) -> Scale {
    let room = if last > first { 0.0 } else { 0.5 };
    Scale { low: first - room, high: last + room, is_log: false }
}

/// A part of RFC 3339, its T as a space; empty of a time that has no such text.
fn text(seconds: f64, range: std::ops::Range<usize>) -> String {
    /// The end of the year 9999, up to which RFC 3339 goes.
    const LAST: f64 = 253_402_300_799.0;
    let since = Duration::from_secs_f64(seconds.clamp(0.0, LAST));
    let whole = humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string().replace('T', " ");
    whole.get(range).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30T12:00:00Z.
    const NOON: f64 = 1_796_040_000.0;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.text.as_str()).collect()
    }

    #[test]
    fn short_spans_are_counted() {
        let axis = axis(NOON, NOON + 10.0);
        assert_eq!(axis.title, "seconds since 2026-11-30 12:00:00 UTC");
        assert_eq!(texts(&axis)[..3], ["0", "1", "2"]);
    }

    #[test]
    fn long_spans_have_clock_or_calendar() {
        let day = axis(NOON, NOON + 6.0 * HOUR);
        assert_eq!(texts(&day)[..2], ["12:00", "13:00"]);
        let week = axis(NOON, NOON + 7.0 * DAY);
        assert_eq!(texts(&week)[0], "2026-12-01");
        let year = axis(NOON, NOON + 365.0 * DAY);
        assert!((3..=9).contains(&year.ticks.len()), "{year:?}");
    }

    #[test]
    fn one_moment_or_a_strange_one_has_an_axis_too() {
        for (first, last) in [(NOON, NOON), (0.0, 0.0), (0.0, 1e12), (-5.0, 1e20)] {
            let axis = axis(first, last);
            assert!(axis.scale.share(first).is_some_and(|share| (0.0..=1.0).contains(&share)), "{first} {last}");
        }
    }
}
