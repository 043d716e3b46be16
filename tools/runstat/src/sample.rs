//! The values of one group and metric: all of them, or of very many a fair choice.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Values that all samples together may keep: 80 MB.
const BUDGET: usize = 10_000_000;

/// Values that a sample may always keep: medians of so many are within 0.1 % of ranks.
const LEAST: usize = 100_000;

/// Values whose place in the files is remembered, to name outliers: most of a sample ...
const PLACED: usize = 10_000;

/// ... and about so many of all samples together: 16 MB.
const ALL_PLACED: usize = 1_000_000;

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spot {
    /// Index of the file.
    pub file: u32,
    /// Number of the line.
    pub line: u64,
}

/// Values in the order of their coming. Number, mean, spread and extremes are always of all values that came.
#[derive(Debug)]
pub struct Sample {
    values: Vec<f64>,
    spots: Vec<Spot>,
    count: u64,
    mean: f64,
    /// Sum of squared distances from the mean (Welford 1962): no difference of large squares.
    squares: f64,
    min: f64,
    max: f64,
    chance: Option<Box<StdRng>>,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            spots: Vec::new(),
            count: 0,
            mean: 0.0,
            squares: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            chance: None,
        }
    }
}

impl Sample {
    /// Adds a value. `samples` is how many share the budget: when it is used up, a sample keeps a random choice in which
    /// every value has the same chance (Vitter's algorithm R, with a fixed seed).
    pub fn push(&mut self, value: f64, spot: Spot, samples: usize) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let room = (BUDGET / samples.max(1)).max(LEAST);
        if self.values.len() < room && self.chance.is_none() {
            self.values.push(value);
            if self.values.len() <= PLACED.min(ALL_PLACED / samples.max(1)) {
                self.spots.push(spot);
            } else {
                self.spots = Vec::new();
            }
            return;
        }
        let chance = self.chance.get_or_insert_with(|| Box::new(StdRng::seed_from_u64(1)));
        while self.values.len() > room {
            let index = chance.random_range(0..self.values.len());
            self.values.swap_remove(index);
        }
        let place = chance.random_range(0..self.count);
        if let Some(kept) = usize::try_from(place).ok().and_then(|place| self.values.get_mut(place)) {
            *kept = value;
        }
    }

    /// How many values came.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether some values are not kept.
    pub fn is_choice(&self) -> bool {
        self.chance.is_some()
    }

    /// Smallest and largest; `None` of none.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.min, self.max))
    }

    /// The mean; `None` of none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Standard deviation of the population that the values are from; `None` below two.
    pub fn stddev(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).max(0.0).sqrt())
    }

    /// The values that are kept.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values with their places; none when there were too many to remember.
    pub fn placed(&self) -> impl Iterator<Item = (f64, Spot)> {
        self.values.iter().copied().zip(self.spots.iter().copied())
    }

    /// The values in order of size.
    pub fn into_sorted(mut self) -> Vec<f64> {
        self.values.sort_unstable_by(f64::total_cmp);
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::median::median;

    #[test]
    fn large_values_do_not_lose_their_spread() {
        let mut sample = Sample::default();
        for value in [1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0] {
            sample.push(value, Spot::default(), 1);
        }
        assert_eq!((sample.mean(), sample.stddev()), (Some(1e9 + 2.0), Some(1.0)), "ministat says 0");
        assert_eq!(Sample::default().stddev(), None);
    }

    #[test]
    fn a_choice_has_the_median_of_all() {
        let mut sample = Sample::default();
        let all: u32 = 1_000_000;
        for value in 0..all {
            sample.push(f64::from(value), Spot::default(), BUDGET);
        }
        assert!(sample.is_choice());
        assert_eq!((sample.count(), sample.extremes()), (u64::from(all), Some((0.0, f64::from(all - 1)))));
        let middle = median(&sample.into_sorted()).unwrap();
        // The rank of the median of 100000 has a standard deviation of 0.16 %.
        assert!((middle / f64::from(all) - 0.5).abs() < 0.008, "{middle}");
    }
}
