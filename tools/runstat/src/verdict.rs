//! What a comparison comes to, in a word, and why.

use common::schema::role::Better;

use crate::statistics::shift::Shift;

/// Fewest runs on each side for any verdict: three against three can never be significant.
pub const FEWEST_RUNS: u64 = 4;

/// Chance that a difference is called one where there is none, over all comparisons.
pub const SIGNIFICANCE: f64 = 0.05;

/// The word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Better,
    Worse,
    /// Different, where neither end is better.
    Higher,
    Lower,
    /// Surely no more apart than the threshold.
    Same,
    Undecided,
    TooFewRuns,
    /// There is no such group on the baseline's side.
    NoBaseline,
    /// There is no such group on any other side.
    OnlyBaseline,
}

impl Verdict {
    /// The word in the verdict column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Same => "same",
            Self::Undecided => "undecided",
            Self::TooFewRuns => "too few runs",
            Self::NoBaseline => "no baseline",
            Self::OnlyBaseline => "only in baseline",
        }
    }

    /// The words for people.
    pub fn words(self, threshold: f64) -> String {
        match self {
            Self::Same => format!("same within {} %", (threshold * 1e6).round() / 1e4),
            other => other.word().into(),
        }
    }
}

/// What is known of two sides with runs enough.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// Side by side, if all values are above zero.
    pub ratio: Option<Shift>,
    pub difference: Shift,
    /// Median of the baseline.
    pub baseline: f64,
    /// The test's p-value, adjusted for the number of comparisons.
    pub p_adjusted: f64,
}

impl Evidence {
    /// Weighs it: same if the whole interval is within the threshold; different if chance is unlikely, the interval leaves
    /// equality out, and the estimate is beyond the threshold; else undecided.
    pub fn verdict(&self, better: Option<Better>, threshold: f64) -> Verdict {
        let (change, limit) = match self.ratio {
            Some(ratio) => (
                Shift {
                    estimate: ratio.estimate - 1.0,
                    interval: ratio.interval.map(|interval| interval.map(|r| r - 1.0)),
                },
                threshold,
            ),
            None => (self.difference, threshold * self.baseline.abs()),
        };
        let Some(interval) = change.interval else { return Verdict::TooFewRuns };
        let (low, high) = (interval.low, interval.high);
        if low >= -limit && high <= limit {
            return Verdict::Same;
        }
        let is_apart = low > 0.0 || high < 0.0;
        if self.p_adjusted >= SIGNIFICANCE || !is_apart || change.estimate.abs() <= limit {
            return Verdict::Undecided;
        }
        match (better, change.estimate > 0.0) {
            (None, true) => Verdict::Higher,
            (None, false) => Verdict::Lower,
            (Some(Better::Higher), is_up) => {
                if is_up {
                    Verdict::Better
                } else {
                    Verdict::Worse
                }
            }
            (Some(Better::Lower), is_up) => {
                if is_up {
                    Verdict::Worse
                } else {
                    Verdict::Better
                }
            }
        }
    }
}
