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
        bytes: u64, "B", "payload bytes";
        ops: u64, "", "operations; each tool says which";
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

/// A warning about one line. The words are the contract: readers look for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// The measurement ended before its time, or failed.
    Partial,
    /// Fewer bytes were there than were announced.
    Short,
    /// `--runs MIN..MAX --within PCT` never got as narrow as asked.
    Unsettled,
}

impl Flag {
    /// The word in the `flags` column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Partial => "partial",
            Self::Short => "short",
            Self::Unsettled => "unsettled",
        }
    }
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
        assert_eq!(text, ",1970-01-01T00:00:00.000Z,,,,,0,total,,0,0,,,,,,\n");
    }
}
