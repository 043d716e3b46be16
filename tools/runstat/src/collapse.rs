//! Interval lines of one run become one value: a hundred seconds of one run are one run, not a hundred.

use common::schema::registry;
use common::schema::role::Better;

/// What the value of a run is, given those of its intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Rates, shares, latencies: the mean, weighted by the intervals' lengths.
    Mean,
    /// Amounts.
    Sum,
    Max,
    Min,
}

/// Amounts that neither end of is better: what else of a run's intervals has to be added up.
const AMOUNTS: &[&str] = &[
    "bytes",
    "ops",
    "sent",
    "received",
    "strangers",
    "device_bytes",
    "disk_bytes",
    "rpcs",
    "read_rpcs",
    "write_rpcs",
    "normal_read_bytes",
    "normal_write_bytes",
    "direct_read_bytes",
    "direct_write_bytes",
    "server_read_bytes",
    "server_write_bytes",
    "multicast",
    "nohandler",
    "otherhost",
    "compressed",
    "no_ports",
    "delta",
];

impl Rule {
    /// The rule for the column `name`.
    pub fn of(name: &str) -> Self {
        let is_rate = ["_per_s", "_pct", "_us"].iter().any(|end| name.ends_with(end));
        if name.starts_with("max_") {
            Self::Max
        } else if name.starts_with("min_") {
            Self::Min
        } else if !is_rate && (registry::role(name).better == Some(Better::Lower) || AMOUNTS.contains(&name)) {
            Self::Sum
        } else {
            Self::Mean
        }
    }
}

/// Values of intervals, added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Heap {
    sum: f64,
    weighted: f64,
    weight: f64,
    extremes: Option<(f64, f64)>,
}

impl Heap {
    /// Adds an interval's value; its weight is its length in seconds.
    pub fn add(&mut self, value: f64, weight: f64) {
        self.sum += value;
        self.weighted += value * weight;
        self.weight += weight;
        let (min, max) = self.extremes.unwrap_or((value, value));
        self.extremes = Some((min.min(value), max.max(value)));
    }

    /// The value of all of them; `None` of none.
    pub fn value(&self, rule: Rule) -> Option<f64> {
        let (min, max) = self.extremes?;
        match rule {
            Rule::Mean => (self.weight > 0.0).then(|| self.weighted / self.weight),
            Rule::Sum => Some(self.sum),
            Rule::Max => Some(max),
            Rule::Min => Some(min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_weighted_by_time_and_an_amount_summed() {
        let mut heap = Heap::default();
        heap.add(100.0, 1.0);
        heap.add(400.0, 0.5);
        assert_eq!(heap.value(Rule::of("bytes_per_s")), Some(200.0));
        assert_eq!(heap.value(Rule::of("errors")), Some(500.0));
        assert_eq!(heap.value(Rule::of("max_us")), Some(400.0));
        assert_eq!(heap.value(Rule::of("min_rtt_us")), Some(100.0));
        assert_eq!(Heap::default().value(Rule::Sum), None);
        for (name, rule) in
            [("lost_pct", Rule::Mean), ("p99_us", Rule::Mean), ("fsync_s", Rule::Sum), ("ops", Rule::Sum)]
        {
            assert_eq!(Rule::of(name), rule, "{name}");
        }
        for (name, rule) in [
            ("received", Rule::Sum),
            ("rpcs", Rule::Sum),
            ("device_bytes", Rule::Sum),
            ("carrier", Rule::Sum),
            ("cwnd_bytes", Rule::Mean),
            ("backlog_packets", Rule::Mean),
            ("threads", Rule::Mean),
        ] {
            assert_eq!(Rule::of(name), rule, "{name}");
        }
    }

    #[test]
    fn every_amount_is_a_column_of_some_tool() {
        for amount in AMOUNTS {
            let is_there = |schema: &&common::schema::Schema| schema.columns().any(|column| column.name == *amount);
            assert!(common::schema::ALL.iter().any(is_there), "{amount}");
        }
    }
}
