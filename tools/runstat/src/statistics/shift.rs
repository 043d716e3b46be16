//! How far apart two sides are: the median of all differences between a run of the one and a run of the other (Hodges and
//! Lehmann), with the interval that belongs to the test of Mann and Whitney. On logarithms it is a ratio.

use super::null::critical_rank;
use super::{Interval, median};

/// Most differences that are kept and sorted; of more, those that matter are searched for.
const SORTED: usize = 250_000;

/// Steps of the search: halvings of the range, down to the last digits of an f64.
const HALVINGS: u32 = 48;

/// Where `b` lies, seen from `a`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    pub estimate: f64,
    /// `None` where there are too few runs for the confidence.
    pub interval: Option<Interval>,
}

impl Shift {
    /// `None` where the figures are beyond all numbers.
    fn finite(self) -> Option<Self> {
        let ends = self.interval.map_or([0.0; 2], |interval| [interval.low, interval.high]);
        (self.estimate.is_finite() && ends.iter().all(|end| end.is_finite())).then_some(self)
    }
}

/// `b - a` of two sorted sides; `None` if one is empty.
pub fn difference(a: &[f64], b: &[f64], confidence: f64) -> Option<Shift> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (rank, tail) = critical_rank(a.len(), b.len(), (1.0 - confidence) / 2.0);
    let differences = Differences::of(a, b);
    let interval = (rank > 0).then(|| Interval {
        low: differences.at(rank - 1),
        high: differences.at(differences.count() - rank),
        confidence: 1.0 - 2.0 * tail,
    });
    Shift { estimate: differences.median(), interval }.finite()
}

/// `b / a` of two sorted sides; `None` if one is empty, or a value is not above zero.
pub fn ratio(a: &[f64], b: &[f64], confidence: f64) -> Option<Shift> {
    if a.first().is_none_or(|least| *least <= 0.0) || b.first().is_none_or(|least| *least <= 0.0) {
        return None;
    }
    let logarithms = |side: &[f64]| side.iter().map(|value| value.ln()).collect::<Vec<_>>();
    let shift = difference(&logarithms(a), &logarithms(b), confidence)?;
    Shift { estimate: shift.estimate.exp(), interval: shift.interval.map(|interval| interval.map(f64::exp)) }.finite()
}

/// All differences, in order.
enum Differences<'a> {
    Sorted(Vec<f64>),
    Searched(&'a [f64], &'a [f64]),
}

impl<'a> Differences<'a> {
    fn of(a: &'a [f64], b: &'a [f64]) -> Self {
        if a.len().saturating_mul(b.len()) > SORTED {
            return Self::Searched(a, b);
        }
        let mut all: Vec<f64> = b.iter().flat_map(|of_b| a.iter().map(move |of_a| of_b - of_a)).collect();
        all.sort_by(f64::total_cmp);
        Self::Sorted(all)
    }

    fn count(&self) -> u64 {
        match self {
            Self::Sorted(all) => all.len() as u64,
            Self::Searched(a, b) => a.len() as u64 * b.len() as u64,
        }
    }

    fn median(&self) -> f64 {
        match self {
            Self::Sorted(all) => median::median(all).unwrap_or_default(),
            Self::Searched(..) => self.at((self.count() - 1) / 2),
        }
    }

    /// The difference with `rank` others before it.
    fn at(&self, rank: u64) -> f64 {
        match self {
            Self::Sorted(all) => usize::try_from(rank).ok().and_then(|rank| all.get(rank)).copied().unwrap_or_default(),
            Self::Searched(a, b) => {
                let (mut low, mut high) = (b[0] - a[a.len() - 1], b[b.len() - 1] - a[0]);
                for _ in 0..HALVINGS {
                    let middle = low + (high - low) / 2.0;
                    if middle <= low || middle >= high {
                        break;
                    }
                    if count_up_to(a, b, middle) > rank { high = middle } else { low = middle }
                }
                high
            }
        }
    }
}

/// How many differences are at most `limit`.
fn count_up_to(a: &[f64], b: &[f64], limit: f64) -> u64 {
    let mut count = 0;
    // With growing b, fewer and fewer of a are far enough up.
    let mut first = 0;
    for of_b in b {
        while first < a.len() && of_b - a[first] > limit {
            first += 1;
        }
        count += (a.len() - first) as u64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searching_finds_what_sorting_does() {
        let side = |seed: u64, length: u64| {
            let mut values: Vec<f64> =
                (0..length).map(|index| ((index * 7919 + seed * 104_729) % 1009) as f64 / 10.0).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (a, b) = (side(1, 41), side(2, 53));
        let (sorted, searched) = (Differences::of(&a, &b), Differences::Searched(&a, &b));
        assert!(matches!(sorted, Differences::Sorted(_)));
        for rank in [0, 1, 100, 1086, 2000, 2172] {
            let (exact, found) = (sorted.at(rank), searched.at(rank));
            assert!((exact - found).abs() < 1e-9, "{rank}: {exact} {found}");
        }
    }

    #[test]
    fn ratios_need_values_above_zero() {
        assert_eq!(ratio(&[0.0, 1.0], &[1.0], 0.95), None);
        assert_eq!(ratio(&[1.0], &[-1.0, 1.0], 0.95), None);
        assert_eq!(ratio(&[], &[1.0], 0.95), None);
        let single = ratio(&[2.0], &[3.0], 0.95).unwrap();
        assert!((single.estimate - 1.5).abs() < 1e-12 && single.interval.is_none());
    }
}
