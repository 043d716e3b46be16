//! What a reader of the figures should know, on stderr: once each, with what to do about it.

mod find;

use std::fmt;

pub use find::find;

/// Something to know about the figures.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// Cells of a metric that hold no number.
    OddCells { count: u64, column: String, place: String },
    /// Runs between whose intervals a metric changes that is no result.
    Torn { column: String, runs: u64, place: String },
    /// Figures of different things under one heading; `by` is what makes a group.
    Mixed { columns: Vec<&'static str>, by: String },
    /// Runs that do not count.
    LeftOut { runs: u64, groups: usize, flags: String },
    /// Runs that count, and have no value.
    Lacking { groups: usize, of: usize, missing: u64, runs: u64, group: String, metric: String },
    /// Not all values were kept.
    Choice { group: String },
    /// A large standard deviation, in percent of the mean.
    Spread { groups: usize, of: usize, widest: String, pct: f64 },
    /// Errors of ten seconds beside those of sixty, or the time for one file beside that for ten.
    UnlikeWork { comparisons: usize, of: usize, metric: String, group: String },
    /// Whatever else changed between two blocks of runs looks like an effect of the label.
    Blocks { comparisons: usize, of: usize, baseline: String, side: String },
    /// Too few runs for a verdict; `among` is how many comparisons there are, where their number matters.
    TooFewRuns { comparisons: usize, of: usize, enough: usize, among: Option<usize> },
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OddCells { count, column, place } => {
                write!(f, "{count} cells hold no finite number, and count as unknown: first {column} at {place}")
            }
            Self::Torn { column, runs, place } => {
                let which = if *runs == 1 { "1 run, which has" } else { &format!("{runs} runs, which have") };
                write!(f, "{column} changes inside {which} no value of it: first at {place}")
            }
            Self::Mixed { columns, by } => write!(
                f,
                "{} {} inside a group, so that its runs are not of one thing: --by {by},{} keeps them apart",
                listed(columns),
                if columns.len() > 1 { "vary" } else { "varies" },
                columns.join(",")
            ),
            Self::LeftOut { runs, groups, flags } => write!(
                f,
                "{runs} runs of {groups} groups are left out for their flags ({flags}): --keep-flagged counts them"
            ),
            Self::Lacking { groups, of, missing, runs, group, metric } => write!(
                f,
                "{groups} of {of} groups have runs without a value, as {missing} of {runs} in {group} without {metric}: \
                 they are not counted"
            ),
            Self::Choice { group } => write!(
                f,
                "{group} has more runs than fit into memory: medians and tests are of a random choice of them"
            ),
            Self::Spread { groups, of, widest, pct } => write!(
                f,
                "the spread is large in {groups} of {of} groups, most in {widest}: standard deviation {pct:.0} % of the \
                 mean (longer runs, more of them, or a quieter machine)"
            ),
            Self::UnlikeWork { comparisons, of, metric, group } => write!(
                f,
                "in {comparisons} of {of} comparisons the sides' runs are not alike in work, as with {metric} of {group}: \
                 more work takes and loses more (compare a rate or share, or make the runs alike)"
            ),
            Self::Blocks { comparisons, of, baseline, side } => write!(
                f,
                "in {comparisons} of {of} comparisons all runs of one side came before all of the other, as with \
                 '{baseline}' and '{side}': what else changed meanwhile looks the same (interleave them)"
            ),
            Self::TooFewRuns { comparisons, of, enough, among } => {
                let among = among.map_or(String::new(), |among| format!(" among {among} at once"));
                write!(
                    f,
                    "{comparisons} of {of} comparisons have too few runs for a verdict: it takes at least {enough} a \
                     side{among} (--runs)"
                )
            }
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_agrees_in_number() {
        let mixed = |columns: &[&'static str]| Advice::Mixed { columns: columns.into(), by: "test".into() }.to_string();
        assert!(mixed(&["host"]).starts_with("host varies inside a group"));
        let three = mixed(&["host", "threads", "mtu"]);
        assert!(three.starts_with("host, threads and mtu vary") && three.contains("--by test,host,threads,mtu keeps"));
        let torn = |runs| Advice::Torn { column: "mtu".into(), runs, place: "x:7".into() }.to_string();
        assert_eq!(torn(1), "mtu changes inside 1 run, which has no value of it: first at x:7");
        assert_eq!(torn(2), "mtu changes inside 2 runs, which have no value of it: first at x:7");
    }
}
