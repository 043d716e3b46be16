//! The median and its exact interval: two order statistics, with no assumption but independent runs.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The median of sorted values; `None` of none.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len().checked_sub(1)? / 2;
    let high = sorted.get(middle + 1).filter(|_| sorted.len().is_multiple_of(2)).unwrap_or(&sorted[middle]);
    // Not (low + high) / 2, which may overflow.
    Some(sorted[middle] + (high - sorted[middle]) / 2.0)
}

/// The narrowest pair of order statistics around the median of sorted values that covers it with at least this confidence
/// (a binomial argument; David and Nagaraja, Order Statistics, 7.1); `None` where not even the extremes do, for 95 % below
/// six values.
pub fn interval(sorted: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let n = sorted.len();
    let below = Binomial::new(0.5, n as u64).ok()?;
    let tail = (1.0 - confidence) / 2.0;
    let outside = (1..=n / 2).take_while(|rank| below.cdf(*rank as u64 - 1) <= tail).last()?;
    Some((sorted[outside - 1], sorted[n - outside]))
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
        assert_eq!(median(&up_to(3)), Some(2.0));
        assert_eq!(median(&up_to(4)), Some(2.5));
    }

    #[test]
    fn the_interval_is_two_order_statistics() {
        // The ranks that R has: n - qbinom(0.025, n, 0.5) + 1 and its mirror.
        for (n, low, high) in [(6, 1.0, 6.0), (8, 1.0, 8.0), (9, 2.0, 8.0), (20, 6.0, 15.0), (100, 40.0, 61.0)] {
            assert_eq!(interval(&up_to(n), 0.95), Some((low, high)), "{n}");
        }
        assert_eq!(interval(&up_to(5), 0.95), None);
        assert_eq!(interval(&[], 0.95), None);
    }
}
