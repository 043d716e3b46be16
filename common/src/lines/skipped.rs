//! What was no line: counted in full, named by number as far as people read.

use std::fmt::{self, Write};

/// Why something in a file is no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It does not begin as the lines of the tools do.
    Foreign,
    /// It has fewer cells than its columns: a writer died, or the disk was full.
    Cut,
    /// Two lines in one: a writer died before the line end, and another went on there.
    RunTogether,
    /// The quotes do not close.
    Quotes,
    /// Longer than [`MAX_RECORD`](super::MAX_RECORD).
    TooLong,
    /// Of a tool or version that is not known, and no header names its columns.
    UnknownSchema,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Foreign => "not a line of these tools",
            Self::Cut => "cut short: fewer cells than columns",
            Self::RunTogether => "two lines run together",
            Self::Quotes => "the quotes do not close",
            Self::TooLong => "longer than 64 KiB",
            Self::UnknownSchema => "an unknown schema, and no header names its columns",
        })
    }
}

/// Most pieces of line numbers that are remembered for each reason.
const NAMED: usize = 8;

/// Lines that were skipped, by reason.
#[derive(Debug, Clone, Default)]
pub struct Skipped(Vec<Reason>);

#[derive(Debug, Clone)]
struct Reason {
    why: Why,
    count: u64,
    /// The first of them, as ranges.
    ranges: Vec<(u64, u64)>,
    /// How many are not in the ranges.
    unnamed: u64,
}

impl Skipped {
    /// Adds the line `number`.
    pub fn add(&mut self, number: u64, why: Why) {
        let index = self.0.iter().position(|reason| reason.why == why).unwrap_or_else(|| {
            self.0.push(Reason { why, count: 0, ranges: Vec::new(), unnamed: 0 });
            self.0.len() - 1
        });
        let reason = &mut self.0[index];
        reason.count += 1;
        let is_full = reason.ranges.len() == NAMED;
        match reason.ranges.last_mut() {
            Some((_, last)) if *last + 1 == number && reason.unnamed == 0 => *last = number,
            _ if is_full => reason.unnamed += 1,
            _ => reason.ranges.push((number, number)),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|reason| reason.count).sum()
    }

    /// A sentence for each reason: `skipped 3 lines, not a line of these tools: 5, 7-8`.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|reason| {
            let mut text = match reason.count {
                1 => format!("skipped 1 line, {}: ", reason.why),
                count => format!("skipped {count} lines, {}: ", reason.why),
            };
            for (index, (first, last)) in reason.ranges.iter().enumerate() {
                // Writing to a String cannot fail.
                let _ = write!(text, "{}{first}", if index > 0 { ", " } else { "" });
                if last > first {
                    let _ = write!(text, "-{last}");
                }
            }
            if reason.unnamed > 0 {
                let _ = write!(text, " and {} more", reason.unnamed);
            }
            text
        })
    }
}
