//! What can be said of one value per run: of one group of runs, and of two.
//!
//! Nothing here assumes a distribution. Rates of runs are skewed, have outliers and ties, and are few, so that medians,
//! ranks and exact intervals are used throughout; normal approximations take over only where exact ones take too long.

pub mod holm;
pub mod median;
pub mod null;
pub mod outliers;
pub mod rank;
#[cfg(test)]
mod reference;
pub mod shift;

/// How sure intervals are at least, and tests in both directions together.
pub const CONFIDENCE: f64 = 0.95;

/// An interval that holds what is estimated with probability `confidence`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
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
