//! What is doubtful about a figure, and what to do about it.

use std::fmt;

use common::schema::Fixed;
use common::schema::line::Flag;

use crate::record::Record;

/// A doubt about a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warning {
    /// This share, in percent, lay in memory.
    Cached(f64),
    /// Nobody copied for us.
    FellBack,
    /// Only so many bytes and operations were there.
    Short(u64, u64),
    /// The source has holes.
    Sparse,
}

impl Warning {
    /// All doubts about a line.
    pub fn of(Record { line, own }: &Record) -> Vec<Self> {
        let has = |flag| line.flags.has(flag);
        [
            has(Flag::Cached).then(|| Self::Cached(own.cached_pct.map_or(0.0, Fixed::value))),
            has(Flag::Fallback).then_some(Self::FellBack),
            has(Flag::Short).then(|| Self::Short(line.bytes.unwrap_or_default(), line.ops.unwrap_or_default())),
            has(Flag::Sparse).then_some(Self::Sparse),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cached(pct) => write!(
                f,
                "{pct:.1} % lay in this machine's memory before it was read: this is not the mount's speed (a larger \
                 --size helps)"
            ),
            Self::FellBack => f.write_str("nobody copied for us: it was read and written (--offload)"),
            Self::Short(bytes, ops) => {
                write!(f, "there was less to do than was asked for or announced: {bytes} bytes, {ops} operations")
            }
            Self::Sparse => f.write_str("the source has holes: zeros that no device had to read"),
        }
    }
}
