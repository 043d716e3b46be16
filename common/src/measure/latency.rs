//! Latencies: each worker keeps a histogram of its own, so that the hot loop takes no lock; who samples takes them over.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::schema::Fixed;

/// Longest latency that is told apart, 1 h; longer ones count as that.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Three digits: percentiles are right within 0.1 %.
const DIGITS: u8 = 3;

/// A distribution of latencies.
#[derive(Debug, Clone)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        // The bounds are constants that the crate documents as valid.
        Self(Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).unwrap_or_else(|_| unreachable!("valid bounds")))
    }
}

impl Latencies {
    /// Adds one latency.
    pub fn record(&mut self, latency: Duration) {
        self.0.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(LONGEST_NS));
    }

    /// Adds the latency of an operation that is begun every `period`. If it took longer, the ones that could not begin
    /// meanwhile count too, with the time they would have waited ("coordinated omission"): else the slowest moments
    /// would weigh least.
    pub fn record_periodic(&mut self, latency: Duration, period: Duration) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(LONGEST_NS).clamp(1, LONGEST_NS);
        // Within the bounds it always fits.
        let _ = self.0.record_correct(nanos(latency), nanos(period));
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: &Self) {
        // Same bounds: it always fits.
        let _ = self.0.add(&other.0);
    }

    /// All of `parts` together.
    pub fn sum(parts: &[Self]) -> Self {
        let mut all = Self::default();
        for part in parts {
            all.add(part);
        }
        all
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Extremes, mean and deviation; `None` where nothing was recorded.
    pub fn moments(&self) -> Option<Moments> {
        let [min_us, max_us] = [self.0.min(), self.0.max()].map(|ns| ns as f64 / 1e3);
        let [mean_us, deviation_us] = [self.0.mean(), self.0.stdev()].map(|ns| ns / 1e3);
        (!self.0.is_empty()).then_some(Moments { min_us, mean_us, deviation_us, max_us })
    }

    /// The figures for a line; empty where nothing was recorded.
    pub fn percentiles(&self) -> Percentiles {
        if self.0.is_empty() {
            return Percentiles::default();
        }
        // A bucket's upper edge can lie above the largest value seen.
        let us = |ns: u64| Fixed::new(ns.min(self.0.max()) as f64 / 1e3);
        let at = |quantile| us(self.0.value_at_quantile(quantile));
        Percentiles { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: us(self.0.max()) }
    }
}

/// Latencies in microseconds, as programs that keep no distribution say them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// The shortest.
    pub min_us: f64,
    /// The mean.
    pub mean_us: f64,
    /// The standard deviation.
    pub deviation_us: f64,
    /// The longest.
    pub max_us: f64,
}

/// Latencies in microseconds; `p50 <= p90 <= p99 <= p999 <= max`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Percentiles {
    /// Half are at or below.
    pub p50: Option<Fixed<3>>,
    /// Nine in ten.
    pub p90: Option<Fixed<3>>,
    /// 99 %.
    pub p99: Option<Fixed<3>>,
    /// 99.9 %.
    pub p999: Option<Fixed<3>>,
    /// The longest.
    pub max: Option<Fixed<3>>,
}

/// One worker's latencies, which a sampler may take over between two operations.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Latencies>);

impl Recorder {
    /// Adds one latency. The lock is the worker's own; it is contended only at the moment of a sample.
    pub fn record(&self, latency: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).record(latency);
    }

    /// As [`Latencies::record_periodic`].
    pub fn record_periodic(&self, latency: Duration, period: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).record_periodic(latency, period);
    }

    /// What was recorded since the last call.
    pub fn take(&self) -> Latencies {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ordered_and_never_above_the_maximum() {
        let recorder = Recorder::default();
        for micros in 1..=1_000 {
            recorder.record(Duration::from_micros(micros));
        }
        let mut all = Latencies::default();
        all.add(&recorder.take());
        assert_eq!(all.count(), 1_000);
        let of = all.percentiles();
        let [p50, p90, p99, p999, max] = [of.p50, of.p90, of.p99, of.p999, of.max].map(|cell| cell.unwrap().value());
        assert!((499.0..502.0).contains(&p50) && (899.0..902.0).contains(&p90), "{of:?}");
        assert!(p90 <= p99 && p99 <= p999 && p999 <= max, "{of:?}");
        assert!((999.0..1001.0).contains(&max));
        assert_eq!(recorder.take().count(), 0, "taken once");
    }

    #[test]
    fn moments_are_those_of_all_that_was_recorded() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.moments(), None);
        for micros in [100, 200, 300] {
            latencies.record(Duration::from_micros(micros));
        }
        let moments = latencies.moments().unwrap();
        let near = |found: f64, right: f64| assert!((found / right - 1.0).abs() < 2e-3, "{found} is not {right}");
        near(moments.min_us, 100.0);
        near(moments.mean_us, 200.0);
        near(moments.deviation_us, 81.65);
        near(moments.max_us, 300.0);
    }

    #[test]
    fn a_slow_second_weighs_as_much_as_a_fast_one() {
        let mut latencies = Latencies::default();
        let period = Duration::from_millis(10);
        (0..100).for_each(|_| latencies.record_periodic(Duration::from_millis(1), period));
        latencies.record_periodic(Duration::from_secs(1), period);
        assert_eq!(latencies.count(), 200);
        let p90 = latencies.percentiles().p90.unwrap().value();
        assert!((790_000.0..=810_000.0).contains(&p90), "{p90}");
    }

    #[test]
    fn nothing_recorded_is_nothing_known() {
        assert_eq!(Latencies::default().percentiles(), Percentiles::default());
    }

    #[test]
    fn an_absurd_latency_is_the_longest_one() {
        let mut latencies = Latencies::default();
        latencies.record(Duration::from_hours(48));
        assert!(latencies.percentiles().max.unwrap().value() >= 3.6e9);
    }
}
