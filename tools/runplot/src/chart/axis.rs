//! Axes: which values they span, and where their ticks are.

use super::unit::{Unit, number, sign, suiting, text_of};

/// Room above the largest value, as a share of the axis.
const HEADROOM: f64 = 0.05;

/// An axis with its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub title: String,
    pub scale: Scale,
    pub ticks: Vec<Tick>,
    /// Whether lines through the panel help to read it.
    pub has_grid: bool,
}

/// A place on an axis that is named.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub at: f64,
    pub text: String,
}

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
    pub is_log: bool,
}

/// What the ends of an axis follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// From zero.
    Zero,
    /// From the smallest value.
    Values,
    /// From the smallest value, in decades.
    Log,
}

impl Scale {
    /// Where the value is, 0 at the low end and 1 at the high end; `None` of what has no place.
    pub fn share(self, value: f64) -> Option<f64> {
        let Self { low, high, is_log } = self;
        let share = if is_log {
            if value <= 0.0 {
                return None;
            }
            (value.ln() - low.ln()) / (high.ln() - low.ln())
        } else {
            (value - low) / (high - low)
        };
        share.is_finite().then_some(share)
    }
}

impl Axis {
    /// An axis for values of a column: `title` and `base` unit, over all of `values`.
    pub fn of_values(title: &str, base: &'static str, asked: Option<Unit>, values: &[f64], fit: Fit) -> Self {
        let (min, max) = extent(values);
        if fit == Fit::Log && max > 0.0 {
            return Self::logarithmic(title, base, asked, values);
        }
        let (low, high) = if fit == Fit::Zero { (min.min(0.0), max.max(0.0)) } else { (min, max) };
        let (low, high) = with_room(low, high);
        let unit = suiting(base, asked, low.abs().max(high.abs() / (1.0 + HEADROOM)));
        let is_whole = base.is_empty() && values.iter().all(|value| value.fract() == 0.0);
        let ticks = linear_ticks(low / unit.size, high / unit.size, is_whole);
        let ticks = ticks.into_iter().map(|at| Tick { at: at * unit.size, text: number(at) }).collect();
        let scale = Scale { low, high, is_log: false };
        Self { title: with_unit(title, sign(unit)), scale, ticks, has_grid: true }
    }

    fn logarithmic(title: &str, base: &'static str, asked: Option<Unit>, values: &[f64]) -> Self {
        let positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
        let (min, max) = extent(&positive);
        // A little room at both ends, and a factor of two at least.
        let widen = (max / min).powf(HEADROOM).max(if max < min * 2.0 { 1.4 } else { 1.0 });
        let (low, high) = (min / widen, max * widen);
        let ticks = log_ticks(low, high);
        let ticks = ticks.into_iter().map(|at| Tick { at, text: text_of(base, asked, at) }).collect();
        Self { title: title.into(), scale: Scale { low, high, is_log: true }, ticks, has_grid: true }
    }

    /// An axis of names, one at each whole number from 0; `is_downwards` puts the first one at the high end.
    pub fn of_names(names: impl IntoIterator<Item = String>, is_downwards: bool) -> Self {
        let ticks: Vec<Tick> =
            names.into_iter().enumerate().map(|(index, text)| Tick { at: index as f64, text }).collect();
        let end = ticks.len() as f64 - 0.5;
        let (low, high) = if is_downwards { (end, -0.5) } else { (-0.5, end) };
        Self { title: String::new(), scale: Scale { low, high, is_log: false }, ticks, has_grid: false }
    }

    /// An axis for the values of a setting, each of which is named if there are few.
    pub fn of_settings(title: &str, base: &'static str, values: &[f64], text: impl Fn(f64) -> String) -> Self {
        /// More would run into each other.
        const NAMED: usize = 12;
        let mut distinct = values.to_vec();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        let (min, max) = extent(&distinct);
        if distinct.len() > NAMED {
            let fit = if min > 0.0 && max / min >= 100.0 { Fit::Log } else { Fit::Values };
            return Self::of_values(title, base, None, &distinct, fit);
        }
        // Settings grow by factors: 1, 2, 4 threads; 4 KiB to 1 MiB.
        let is_log = min > 0.0 && max / min >= 4.0;
        let (low, high) = if is_log {
            let room = (max / min).powf(HEADROOM);
            (min / room, max * room)
        } else {
            let room = if max > min { (max - min) * HEADROOM } else { max.abs().max(1.0) * 0.5 };
            (min - room, max + room)
        };
        let ticks = distinct.iter().map(|&at| Tick { at, text: text(at) }).collect();
        Self { title: title.into(), scale: Scale { low, high, is_log }, ticks, has_grid: true }
    }
}

fn with_unit(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.into() } else { format!("{title}, {unit}") }
}

fn extent(values: &[f64]) -> (f64, f64) {
    let extent =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), &value| (min.min(value), max.max(value)));
    if extent.0 <= extent.1 { extent } else { (0.0, 0.0) }
}

/// Makes room above, and below unless that is zero; an axis of a single value has room all the same.
fn with_room(low: f64, high: f64) -> (f64, f64) {
    if high <= low {
        let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        return if low == 0.0 { (0.0, room) } else { (low - room, high + room) };
    }
    let room = (high - low) * HEADROOM;
    (if low == 0.0 { low } else { low - room }, if high == 0.0 { high } else { high + room })
}

/// Some six round numbers from low to high.
fn linear_ticks(low: f64, high: f64, is_whole: bool) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * decade).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(decade).max(if is_whole { 1.0 } else { 0.0 });
    multiples(low, high, step)
}

/// The multiples of a step from low to high.
pub fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    /// A guard against steps that vanish in the values' rounding.
    const MOST: usize = 100;
    let first = (low / step - 1e-9).ceil();
    let ticks = (0..MOST).map(|index| (first + index as f64) * step);
    ticks.take_while(|tick| *tick <= high + step * 1e-9).collect()
}

/// Decades, and with few of them what lies between.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let factors: &[f64] = match decades {
        ..1.0 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        ..3.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    // Not more than a dozen, however far apart the values are.
    let stride = (decades / 12.0).ceil().max(1.0);
    let powers = multiples(low.log10().floor(), high.log10().ceil(), stride);
    let all = powers.into_iter().flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powf(power)));
    all.filter(|tick| (low..=high).contains(tick)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.text.as_str()).collect()
    }

    #[test]
    fn an_axis_begins_at_zero_and_has_round_ticks() {
        let axis = Axis::of_values("throughput", "B/s", None, &[94e6, 117e6], Fit::Zero);
        assert_eq!(axis.title, "throughput, MB/s");
        assert_eq!(texts(&axis), ["0", "50", "100"]);
        assert_eq!(axis.scale.share(0.0), Some(0.0));
        assert!(axis.scale.share(117e6).unwrap() < 1.0);
    }

    #[test]
    fn an_axis_of_one_value_or_none_is_no_point() {
        for values in [&[][..], &[0.0], &[5.0, 5.0], &[-3.0], &[1e300], &[f64::MIN_POSITIVE]] {
            for fit in [Fit::Zero, Fit::Values, Fit::Log] {
                let axis = Axis::of_values("x", "B/s", None, values, fit);
                for value in values {
                    let share = axis.scale.share(*value);
                    assert!(share.is_some_and(|share| (0.0..=1.0).contains(&share)), "{values:?} {fit:?} {share:?}");
                }
                assert!(!axis.ticks.is_empty(), "{values:?} {fit:?}");
            }
        }
    }

    #[test]
    fn counts_have_no_halves() {
        let axis = Axis::of_values("errors", "", None, &[0.0, 1.0, 2.0], Fit::Zero);
        assert_eq!(texts(&axis), ["0", "1", "2"]);
    }

    #[test]
    fn decades_name_their_own_unit() {
        let axis = Axis::of_values("latency", "us", None, &[50.0, 20_000.0], Fit::Log);
        assert_eq!(texts(&axis), ["50 µs", "100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms"]);
        assert_eq!(axis.scale.share(0.0), None);
    }

    #[test]
    fn settings_that_grow_by_factors_have_equal_steps() {
        let axis = Axis::of_settings("threads", "", &[1.0, 2.0, 4.0, 4.0], number);
        assert_eq!(texts(&axis), ["1", "2", "4"]);
        let share = |value| axis.scale.share(value).unwrap();
        assert!((share(2.0) - share(1.0) - (share(4.0) - share(2.0))).abs() < 1e-9);
        assert_eq!(texts(&Axis::of_settings("depth", "", &[3.0], number)), ["3"]);
    }

    #[test]
    fn the_first_name_of_rows_is_on_top() {
        let axis = Axis::of_names(["a".into(), "b".into()], true);
        assert!(axis.scale.share(0.0) > axis.scale.share(1.0));
    }
}
