//! What a group is about when nobody says: its rate, or of a network's transactions how long one takes.

use common::schema::{ALL, Schema, registry, tag_parts};

/// The median and the tail of a latency.
const MEDIAN: &str = "p50_us";
const TAIL: &str = "p99_us";

/// The metrics that are chosen from, and which of them suits a group.
#[derive(Debug, Clone)]
pub struct Headlines {
    /// Indices of the metrics, the first that has something to say coming first.
    usual: Vec<usize>,
    of_transactions: Vec<usize>,
    /// The median of a latency, and the tail that is shown beside it.
    pair: Option<[usize; 2]>,
}

impl Headlines {
    /// The metrics' names, and how to choose; `has_tail` is whether a latency has two figures. A comparison has one: with
    /// every further test it takes more runs to tell a difference from chance.
    pub fn new(has_tail: bool) -> (Vec<String>, Self) {
        let mut names = registry::headlines();
        if let Some(median) = names.iter().position(|name| *name == MEDIAN).filter(|_| has_tail) {
            names.insert(median + 1, TAIL);
        }
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        let usual: Vec<_> = (0..names.len()).filter(|index| names[*index] != TAIL).collect();
        // What answers a ping has no latency of its own, but counts it.
        let first: Vec<_> = [MEDIAN, "ops_per_s"].into_iter().filter_map(place).collect();
        let others = usual.iter().copied().filter(|index| !first.contains(index));
        let of_transactions = first.iter().copied().chain(others).collect();
        let pair = place(MEDIAN).zip(place(TAIL)).map(|(median, tail)| [median, tail]);
        (names.into_iter().map(String::from).collect(), Self { usual, of_transactions, pair })
    }

    /// The first that suits.
    pub fn first(&self, is_of_transactions: bool, suits: impl Fn(usize) -> bool) -> Option<usize> {
        self.order(is_of_transactions).iter().copied().find(|metric| suits(*metric))
    }

    /// Of two, the one that comes first.
    pub fn earlier(&self, is_of_transactions: bool, one: usize, other: usize) -> usize {
        self.first(is_of_transactions, |metric| metric == one || metric == other).unwrap_or(one)
    }

    /// Whether a group that was found to be about `chosen` shows this metric.
    pub fn shows(&self, is_of_transactions: bool, chosen: usize, metric: usize) -> bool {
        chosen == metric || (is_of_transactions && self.pair == Some([chosen, metric]))
    }

    /// How many metrics a group shows at most.
    pub fn most(&self, is_of_transactions: bool) -> usize {
        if is_of_transactions && self.pair.is_some() { 2 } else { 1 }
    }

    fn order(&self, is_of_transactions: bool) -> &[usize] {
        if is_of_transactions { &self.of_transactions } else { &self.usual }
    }
}

/// What is known of the tool that wrote lines with this tag.
pub fn schema_of(tag: &str) -> Option<&'static Schema> {
    let (tool, _) = tag_parts(tag.as_bytes())?;
    ALL.iter().copied().find(|schema| schema.tool() == tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_about_their_latency_and_all_else_about_its_rate() {
        let (names, headlines) = Headlines::new(true);
        assert_eq!(names, ["bytes_per_s", "ops_per_s", "p50_us", "p99_us", "seconds"]);
        assert_eq!(headlines.first(false, |_| true), Some(0));
        assert_eq!(headlines.first(true, |_| true), Some(2));
        assert_eq!(headlines.first(true, |metric| metric < 2), Some(1), "an answering end");
        assert_eq!(headlines.earlier(true, 0, 2), 2);
        assert!(headlines.shows(true, 2, 3) && !headlines.shows(false, 2, 3) && !headlines.shows(true, 1, 3));
        let (names, compared) = Headlines::new(false);
        assert_eq!((names.len(), compared.most(true)), (4, 1));
    }
}
