//! Interval lines of one run become one value: a hundred seconds of one run are one run, not a hundred.

use common::schema::role::{Role, RoleKind, Share};

/// What the value of a run is, given those of its intervals: the role of the column says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Rates, shares of the time, states, latencies: the mean, weighted by the intervals' lengths.
    Mean,
    /// Amounts.
    Sum,
    Max,
    Min,
    /// A share of counts is made of the counts: a lost datagram weighs the same in a busy second and in a quiet one.
    Share,
    /// What the one count leaves of the other.
    Rest,
    /// The mean, weighted by how many operations it is of.
    MeanOfCount,
    /// What does not change within a run, and has no value if it does.
    Constant,
}

impl Rule {
    /// The rule for columns of this role.
    pub fn of(role: Role) -> Self {
        match role.kind {
            RoleKind::Name | RoleKind::Instance | RoleKind::Setting { .. } | RoleKind::Found => Self::Constant,
            RoleKind::Amount | RoleKind::Loss | RoleKind::Spent => Self::Sum,
            RoleKind::Smallest => Self::Min,
            RoleKind::Largest | RoleKind::Latency { per_mille: Some(1000), .. } => Self::Max,
            RoleKind::Share(Share::Of { .. }) => Self::Share,
            RoleKind::Share(Share::Without { .. }) => Self::Rest,
            RoleKind::Latency { of: Some(_), .. } => Self::MeanOfCount,
            RoleKind::Rate
            | RoleKind::Share(Share::OfTime)
            | RoleKind::Latency { .. }
            | RoleKind::Gauge
            | RoleKind::Note => Self::Mean,
        }
    }
}

/// What one interval says of a column.
#[derive(Debug, Clone, Copy, Default)]
pub struct Piece {
    pub value: Option<f64>,
    pub seconds: f64,
    /// The count whose share it is.
    pub part: Option<f64>,
    /// The count that it is a share of, or the mean over which it is.
    pub whole: Option<f64>,
}

/// The pieces of a run, added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Heap {
    sum: f64,
    weighted: f64,
    weight: f64,
    extremes: Option<(f64, f64)>,
    parts: f64,
    wholes: f64,
    /// A value came without its counts.
    lacks_counts: bool,
}

impl Heap {
    /// Adds an interval's.
    pub fn add(&mut self, rule: Rule, piece: Piece) {
        let part = match rule {
            Rule::MeanOfCount => piece.value.zip(piece.whole).map(|(mean, count)| mean * count),
            _ => piece.part,
        };
        match part.zip(piece.whole) {
            Some((part, whole)) => (self.parts, self.wholes) = (self.parts + part, self.wholes + whole),
            None => self.lacks_counts |= piece.value.is_some(),
        }
        let Some(value) = piece.value else { return };
        self.sum += value;
        self.weighted += value * piece.seconds;
        self.weight += piece.seconds;
        let (min, max) = self.extremes.unwrap_or((value, value));
        self.extremes = Some((min.min(value), max.max(value)));
    }

    /// The value of all of them; `None` of none. Counts that are not all known weigh no more than time does.
    pub fn value(&self, rule: Rule) -> Option<f64> {
        let (parts, wholes) = (self.parts, self.wholes);
        let has_counts = !self.lacks_counts && wholes > 0.0;
        match rule {
            Rule::Share if has_counts => return Some(100.0 * parts / wholes),
            Rule::Rest if has_counts => return Some((100.0 * (wholes - parts) / wholes).max(0.0)),
            Rule::MeanOfCount if has_counts => return Some(parts / wholes),
            _ => {}
        }
        let (min, max) = self.extremes?;
        match rule {
            Rule::Sum => Some(self.sum),
            Rule::Max => Some(max),
            Rule::Min => Some(min),
            Rule::Constant => (min >= max).then_some(min),
            Rule::Mean | Rule::Share | Rule::Rest | Rule::MeanOfCount => {
                (self.weight > 0.0).then(|| self.weighted / self.weight)
            }
        }
    }

    /// Whether it has values, and for their difference none of all.
    pub fn is_torn(&self, rule: Rule) -> bool {
        rule == Rule::Constant && self.extremes.is_some_and(|(min, max)| min < max)
    }
}

#[cfg(test)]
mod tests {
    use common::schema::registry;

    use super::*;

    fn rule(name: &str) -> Rule {
        Rule::of(registry::role(name))
    }

    fn heap(rule: Rule, pieces: &[Piece]) -> Heap {
        let mut heap = Heap::default();
        for piece in pieces {
            heap.add(rule, *piece);
        }
        heap
    }

    fn value(name: &str, pieces: &[Piece]) -> Option<f64> {
        heap(rule(name), pieces).value(rule(name))
    }

    fn plain(value: f64, seconds: f64) -> Piece {
        Piece { value: Some(value), seconds, ..Piece::default() }
    }

    fn counted(value: f64, part: f64, whole: f64) -> Piece {
        Piece { part: Some(part), whole: Some(whole), ..plain(value, 1.0) }
    }

    #[test]
    fn a_rate_is_weighted_by_time_and_an_amount_summed() {
        let pieces = [plain(100.0, 1.0), plain(400.0, 0.5)];
        for (name, expected) in [
            ("bytes_per_s", 200.0),
            ("errors", 500.0),
            ("files", 500.0),
            ("fsync_s", 500.0),
            ("max_us", 400.0),
            ("min_rtt_us", 100.0),
            ("max_whatever", 400.0),
            ("p99_us", 200.0),
            ("busy_pct", 200.0),
            ("cwnd_bytes", 200.0),
            ("whatever", 200.0),
        ] {
            assert_eq!(value(name, &pieces), Some(expected), "{name}");
            assert_eq!(value(name, &[]), None, "{name}");
        }
    }

    #[test]
    fn a_share_is_made_of_counts() {
        let lost = [counted(0.0, 0.0, 1000.0), counted(100.0, 10.0, 10.0)];
        assert_eq!(value("lost_pct", &lost), Some(100.0 * 10.0 / 1010.0));
        let late = Piece { part: Some(10.0), whole: Some(0.0), seconds: 1.0, value: None };
        assert_eq!(value("lost_pct", &[lost[0], late]), Some(1.0), "losses that are noticed after the last was sent");
        assert_eq!(value("cached_pct", &[counted(0.0, 180.0, 100.0), counted(90.0, 10.0, 100.0)]), Some(5.0));
        assert_eq!(value("cached_pct", &[counted(0.0, 180.0, 100.0)]), Some(0.0));
    }

    #[test]
    fn a_mean_of_operations_is_weighted_by_them() {
        let calls = |mean, count| Piece { whole: Some(count), ..plain(mean, 1.0) };
        assert_eq!(value("rpc_rtt_us", &[calls(100.0, 990.0), calls(9100.0, 10.0)]), Some(190.0));
        let idle = Piece { whole: Some(0.0), seconds: 1.0, ..Piece::default() };
        assert_eq!(value("rpc_rtt_us", &[calls(100.0, 990.0), idle]), Some(100.0));
    }

    #[test]
    fn time_stands_in_for_counts_that_are_not_known() {
        for name in ["lost_pct", "cached_pct", "rpc_rtt_us"] {
            assert_eq!(value(name, &[plain(0.0, 3.0), counted(100.0, 10.0, 10.0)]), Some(25.0), "{name}");
            assert_eq!(value(name, &[counted(7.0, 0.0, 0.0)]), Some(7.0), "{name}");
        }
    }

    #[test]
    fn a_setting_is_itself_or_none() {
        let same = heap(rule("threads"), &[plain(4.0, 1.0), plain(4.0, 2.0)]);
        assert_eq!((same.value(Rule::Constant), same.is_torn(Rule::Constant)), (Some(4.0), false));
        let changed = heap(rule("run"), &[plain(4.0, 1.0), plain(5.0, 2.0)]);
        assert_eq!((changed.value(Rule::Constant), changed.is_torn(Rule::Constant)), (None, true));
    }
}
