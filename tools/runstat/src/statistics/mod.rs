//! What can be said of one value per run: of one group of runs, and of two.
//!
//! Nothing here assumes a distribution. Rates of runs are skewed, have outliers and ties, and are few, so that medians,
//! ranks and exact intervals are used throughout; normal approximations take over only where exact ones take too long.

pub mod holm;
pub mod null;
pub mod outliers;
pub mod rank;
#[cfg(test)]
mod reference;
pub mod shift;

pub use common::figures::median::{self, Interval};

/// How sure intervals are at least, and tests in both directions together.
pub const CONFIDENCE: f64 = 0.95;
