//! Whether one side's runs tend to be above the other's: the test of Mann and Whitney, exact with ties.

use statrs::distribution::{ContinuousCDF, Normal};

use super::null;

/// How a p-value came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// All arrangements of the runs were counted.
    Exact,
    /// Normal approximation with corrections for ties and continuity.
    Normal,
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// Twice the smaller tail, at most 1.
    pub p: f64,
    pub method: Method,
}

/// Tests two sorted sides, none of them empty.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Test {
    let pooled = Pooled::of(a, b);
    // The smaller side is counted: fewer steps, the same tails.
    let chosen = a.len().min(b.len());
    let sum = if a.len() <= b.len() { pooled.sum_of_a } else { pooled.sum - pooled.sum_of_a };
    if pooled.ranks.len() <= 10_000
        && let Some(sums) = null::rank_sums(&pooled.ranks, chosen)
    {
        let below: f64 = sums[..=sum].iter().sum();
        let above: f64 = sums[sum..].iter().sum();
        return Test { p: (2.0 * below.min(above)).min(1.0), method: Method::Exact };
    }
    Test { p: pooled.normal_p(a.len() as f64, b.len() as f64), method: Method::Normal }
}

/// The ranks of both sides together, ties having their mean; doubled if any mean is halves.
struct Pooled {
    ranks: Vec<usize>,
    sum: usize,
    sum_of_a: usize,
    scale: f64,
    /// Sum of t^3 - t over groups of t equal values.
    ties: f64,
}

impl Pooled {
    fn of(a: &[f64], b: &[f64]) -> Self {
        let mut doubled = Self { ranks: Vec::new(), sum: 0, sum_of_a: 0, scale: 2.0, ties: 0.0 };
        doubled.ranks.reserve(a.len() + b.len());
        let (mut in_a, mut in_b) = (0, 0);
        while in_a < a.len() || in_b < b.len() {
            let value = match (a.get(in_a), b.get(in_b)) {
                (Some(of_a), Some(of_b)) => of_a.min(*of_b),
                (Some(of_a), None) => *of_a,
                (None, of_b) => of_b.copied().unwrap_or_default(),
            };
            // The smallest of what is left: what is not above it is equal to it.
            let equal = |side: &[f64], from: usize| side[from..].iter().take_while(|other| **other <= value).count();
            let (equal_a, equal_b) = (equal(a, in_a), equal(b, in_b));
            let (before, equal) = (in_a + in_b, equal_a + equal_b);
            let rank = 2 * before + equal + 1;
            doubled.ranks.extend(std::iter::repeat_n(rank, equal));
            doubled.sum += rank * equal;
            doubled.sum_of_a += rank * equal_a;
            doubled.ties += (equal as f64).powi(3) - equal as f64;
            in_a += equal_a;
            in_b += equal_b;
        }
        doubled.halved()
    }

    /// Whole ranks need no doubling, and a quarter of the steps.
    fn halved(mut self) -> Self {
        if self.ranks.iter().all(|rank| rank % 2 == 0) {
            self.ranks.iter_mut().for_each(|rank| *rank /= 2);
            self.sum /= 2;
            self.sum_of_a /= 2;
            self.scale = 1.0;
        }
        self
    }

    fn normal_p(&self, a: f64, b: f64) -> f64 {
        let all = a + b;
        let u = self.sum_of_a as f64 / self.scale - a * (a + 1.0) / 2.0;
        let variance = a * b / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)));
        if variance <= 0.0 {
            return 1.0;
        }
        let distance = ((u - a * b / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
        (2.0 * Normal::standard().sf(distance)).min(1.0)
    }
}

/// The approximate p-value of two sorted sides that are exact otherwise.
#[cfg(test)]
pub fn approximate(a: &[f64], b: &[f64]) -> f64 {
    Pooled::of(a, b).normal_p(a.len() as f64, b.len() as f64)
}

/// The smallest p-value that `a` and `b` runs can give.
pub fn smallest_p(a: usize, b: usize) -> f64 {
    let (fewer, all) = (a.min(b), a + b);
    // Two of all the ways to choose the smaller side.
    let ways = (0..fewer).fold(1.0, |ways, index| ways * (all - index) as f64 / (index + 1) as f64);
    (2.0 / ways).min(1.0)
}
