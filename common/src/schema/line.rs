//! The seventeen columns that every line of every tool begins with.

use std::fmt;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use super::{Cell, Fixed, columns};

columns! {
    /// The shared part of a line. Rates and shares that are unknown stay empty.
    pub struct Line {
        schema: &'static str, "", "tool and number of its set of columns";
        time: Time, "RFC 3339 UTC", "when the span began";
        host: String, "", "node name of the machine that measured";
        label: String, "", "the user's --label: which set-up this was";
        test: &'static str, "", "what was done";
        target: String, "", "peer, device, path, mount or interface";
        run: u64, "", "1, 2, ... within --runs";
        span: Span, "", "interval or total";
        seconds: Option<Fixed<6>>, "s", "measured length of the span on the monotonic clock";
        bytes: Option<u64>, "B", "payload bytes";
        ops: Option<u64>, "", "operations; each tool says which";
        errors: Option<u64>, "", "what went wrong in the span; each tool says which";
        bytes_per_s: Option<Fixed<1>>, "B/s", "bytes / seconds";
        ops_per_s: Option<Fixed<3>>, "1/s", "ops / seconds";
        cpu_pct: Option<Fixed<2>>, "%", "CPU time of this measurement in this process, user + system, 100 = one core";
        host_cpu_pct: Option<Fixed<2>>, "%", "the whole machine's busy share, 100 = all cores";
        flags: Flags, "", "space-separated warnings about this very line, empty when it is clean";
    }
}

impl Cell for &'static str {
    const KIND: &'static str = "text";
}

/// When a span began: RFC 3339, UTC, milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Time(pub SystemTime);

impl Default for Time {
    fn default() -> Self {
        Self(SystemTime::UNIX_EPOCH)
    }
}

impl Cell for Time {
    const KIND: &'static str = "time";
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339_millis(self.0))
    }
}

/// Which part of a run a line covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Span {
    /// From one deadline of `--interval` to the next.
    Interval,
    /// The whole run.
    #[default]
    Total,
}

impl Cell for Span {
    const KIND: &'static str = "text";
}

/// Defines the flags and their words in one place.
macro_rules! flags {
    ($($name:ident, $word:literal, $meaning:literal;)*) => {
        /// A warning about one line. The words are the contract: readers look for them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Flag { $(#[doc = $meaning] $name,)* }

        impl Flag {
            /// The word in the `flags` column.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

flags! {
    Partial, "partial", "The measurement ended before its time, or failed.";
    Short, "short", "Fewer bytes were there than were asked for or announced.";
    Unsettled, "unsettled", "`--runs MIN..MAX --within PCT` never got as narrow as asked.";
    Capped, "capped", "The kernel granted less than was asked for.";
    Fallback, "fallback", "Another method than the one asked for did the work.";
    Cached, "cached", "Bytes came from memory instead of the device.";
    Sparse, "sparse", "Parts are holes that no device has to read.";
    Unwritten, "unwritten", "Parts are allocated but never written: no device has to read them.";
    Fragmented, "fragmented", "Datagrams were larger than the path's MTU.";
    Reset, "reset", "A counter went back: the span is not known.";
    Renamed, "renamed", "The target changed its name in the span.";
    New, "new", "The target appeared in the span.";
    Gone, "gone", "The target went away in the span.";
    Nominal, "nominal", "The speed is what the driver claims, not what a wire limits.";
    Changed, "changed", "A setting of the target changed in the span.";
}

/// The set of a line's flags, in a fixed order, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags(Vec<Flag>);

impl Flags {
    /// Raises `flag` if `holds`.
    pub fn raise_if(&mut self, holds: bool, flag: Flag) {
        if let (true, Err(place)) = (holds, self.0.binary_search(&flag)) {
            self.0.insert(place, flag);
        }
    }

    /// Whether `flag` is raised.
    pub fn has(&self, flag: Flag) -> bool {
        self.0.contains(&flag)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(|flag| flag.word()).collect();
        f.write_str(&words.join(" "))
    }
}

impl Cell for Flags {
    const KIND: &'static str = "text";
}

impl Serialize for Flags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_once_and_in_order() {
        let mut flags = Flags::default();
        for flag in [Flag::Unsettled, Flag::Partial, Flag::Unsettled] {
            flags.raise_if(true, flag);
        }
        flags.raise_if(false, Flag::Short);
        assert_eq!(flags.to_string(), "partial unsettled");
    }

    #[test]
    fn a_blank_line_claims_nothing() {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.serialize((Line::default(),)).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(text, ",1970-01-01T00:00:00.000Z,,,,,0,total,,,,,,,,,\n");
    }
}
