//! What the user should know of what is not drawn.

use std::fmt;

/// Something that is not drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// More series than can be told apart.
    Series { drawn: usize, of: usize },
    /// Rows of a test for which there is no room.
    Rows { test: String, drawn: usize, of: usize },
    /// Totals beside the intervals of others.
    Totals { count: usize },
    /// Lines without a number for the x axis.
    Lines { x: String, count: usize, of: usize },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Series { drawn, of } => {
                write!(f, "{of} series are too many to tell apart: the first {drawn} are drawn (--where, --by)")
            }
            Self::Rows { test, drawn, of } => write!(f, "{test}: {drawn} of {of} rows are drawn (--where, --by)"),
            Self::Totals { count } => {
                write!(f, "{count} totals without intervals are not drawn (--kind runs draws totals)")
            }
            Self::Lines { x, count, of } => {
                write!(f, "{count} of {of} lines have no number in {x} and are not drawn")
            }
        }
    }
}
