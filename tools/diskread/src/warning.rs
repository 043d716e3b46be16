//! What is doubtful about a figure, and what to do about it.

use std::fmt;
use std::time::Duration;

use common::schema::Fixed;
use common::schema::line::Flag;
use common::units;

use crate::args::Method;
use crate::plan::Plan;
use crate::record::Record;

/// A doubt about a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warning {
    /// This share, in percent, did not come from the device.
    Cached(f64),
    /// So many bytes are holes.
    Sparse(u64),
    /// So many bytes were never written.
    Unwritten(u64),
    /// Another method did the work.
    FellBack,
    /// Only so many bytes were there.
    Short(u64),
    /// It took only so many seconds to read all of it, of the time asked for.
    Early(f64, Duration),
}

impl Warning {
    /// All doubts about a line, which this plan asked for.
    pub fn of(record: &Record, plan: &Plan) -> Vec<Self> {
        let (line, own) = (&record.line, &record.own);
        let seconds = line.seconds.map_or(0.0, Fixed::value);
        let short = || {
            let missed = plan.asked_time.filter(|time| seconds < time.as_secs_f64());
            missed.map_or(Self::Short(line.bytes.unwrap_or_default()), |time| Self::Early(seconds, time))
        };
        let has = |flag| line.flags.has(flag);
        [
            (has(Flag::Cached) && plan.method != Method::Cached)
                .then(|| Self::Cached(own.cached_pct.map_or(0.0, Fixed::value))),
            has(Flag::Sparse).then(|| Self::Sparse(own.sparse_bytes.unwrap_or_default())),
            has(Flag::Unwritten).then(|| Self::Unwritten(own.unwritten_bytes.unwrap_or_default())),
            has(Flag::Fallback).then_some(Self::FellBack),
            has(Flag::Short).then(short),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cached(pct) => {
                write!(f, "{pct:.1} % of the bytes came from memory, not from a device: this is not the device's speed")
            }
            Self::Sparse(bytes) => {
                write!(f, "{} are holes, which no device has to read: fill the file first", units::bytes_text(bytes))
            }
            Self::Unwritten(bytes) => write!(
                f,
                "{} were allocated but never written, and no device has to read them: fill the file first",
                units::bytes_text(bytes)
            ),
            Self::FellBack => f.write_str("direct reads were refused; it was read through the page cache (--fallback)"),
            Self::Short(bytes) => write!(f, "only {bytes} bytes were there to read"),
            Self::Early(seconds, asked) => write!(
                f,
                "all of it was read in {}, and not for the {} of --time: a larger file or range lasts longer, --runs \
                 repeats it, --method direct begins again at its end",
                units::micros_text(seconds * 1e6),
                units::duration_text(asked)
            ),
        }
    }
}
