//! The median and its exact interval: two order statistics, with no assumption but independent runs.

use statrs::distribution::{Binomial, DiscreteCDF};

/// An interval that holds what is estimated with probability `confidence`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// What it really is, at least what was asked for.
    pub confidence: f64,
}

impl Interval {
    /// The same after a function that keeps the order.
    #[must_use]
    pub fn map(self, increasing: impl Fn(f64) -> f64) -> Self {
        Self { low: increasing(self.low), high: increasing(self.high), ..self }
    }
}

/// The median of sorted values; `None` of none.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len().checked_sub(1)? / 2;
    Some(if sorted.len() % 2 == 1 { sorted[middle] } else { midpoint(sorted[middle], sorted[middle + 1]) })
}

fn midpoint(low: f64, high: f64) -> f64 {
    // Not (low + high) / 2, which may overflow.
    low + (high - low) / 2.0
}

/// The narrowest pair of order statistics around the median with at least the asked confidence (a binomial argument; David
/// and Nagaraja, Order Statistics, 7.1); `None` where even the extremes do not reach it, for 95 % below six values.
pub fn interval(sorted: &[f64], confidence: f64) -> Option<Interval> {
    let n = sorted.len() as u64;
    let below = Binomial::new(0.5, n).ok()?;
    let tail = (1.0 - confidence) / 2.0;
    // How many values may lie outside at each end: the largest number whose tail is small enough.
    let (mut fits, mut too_many) = (0, n / 2 + 1);
    while too_many - fits > 1 {
        let middle = u64::midpoint(fits, too_many);
        if below.cdf(middle - 1) <= tail { fits = middle } else { too_many = middle }
    }
    let rank = usize::try_from(fits).ok()?.checked_sub(1)?;
    let confidence = 1.0 - 2.0 * below.cdf(fits - 1);
    Some(Interval { low: sorted[rank], high: sorted[sorted.len() - 1 - rank], confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(n: u32) -> Vec<f64> {
        (1..=n).map(f64::from).collect()
    }

    #[test]
    fn medians_of_even_numbers_lie_between() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[5.0]), Some(5.0));
        assert_eq!(median(&[1.0, 2.0, 3.0, 4.0]), Some(2.5), "ministat says 3");
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }

    #[test]
    fn the_interval_is_two_order_statistics() {
        // R: n - 2 * qbinom(0.025, n, 0.5) + 1 and pbinom() give ranks and coverage; tables of the sign test agree.
        for (n, low, high, confidence) in [
            (6, 1.0, 6.0, 0.968_750),
            (8, 1.0, 8.0, 0.992_187),
            (9, 2.0, 8.0, 0.960_938),
            (10, 2.0, 9.0, 0.978_516),
            (20, 6.0, 15.0, 0.958_611),
            (100, 40.0, 61.0, 0.964_800),
        ] {
            let interval = interval(&up_to(n), 0.95).unwrap();
            assert_eq!((interval.low, interval.high), (low, high), "{n}");
            assert!((interval.confidence - confidence).abs() < 1e-6, "{n}: {}", interval.confidence);
        }
        assert_eq!(interval(&up_to(5), 0.95), None);
        assert_eq!(interval(&[], 0.95), None);
    }

    #[test]
    fn millions_of_runs_have_a_narrow_interval() {
        let interval = interval(&up_to(3_000_000), 0.95).unwrap();
        // The normal approximation: n / 2 -+ 1.96 * sqrt(n) / 2.
        assert!((interval.low - 1_498_303.0).abs() < 2.0, "{interval:?}");
        assert!((interval.high - 1_501_698.0).abs() < 2.0, "{interval:?}");
        assert!(interval.confidence >= 0.95 && interval.confidence < 0.951);
    }
}
