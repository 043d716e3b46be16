//! The seventeen columns that every line of every tool begins with.

use std::fmt;
use std::time::SystemTime;

use serde::{Serialize, Serializer};

use super::cell::{Cell, Fixed};
use super::column::columns;
use super::role::{AMOUNT, Form, INSTANCE, LOSS, NAME, NOTE, OF_TIME, RATE, SPENT};

columns! {
    /// The shared part of a line. Rates and shares that are unknown stay empty.
    pub struct Line {
        schema: &'static str, "", NAME, "tool and number of its set of columns";
        time: Time, "RFC 3339 UTC", INSTANCE, "when the span began";
        host: String, "", NAME, "node name of the machine that measured";
        label: String, "", NAME, "the user's --label: which set-up this was";
        test: &'static str, "", NAME.shown(1, "test", Form::Text(20)), "what was done";
        target: String, "", NAME.shown(1, "target", Form::Text(16)), "peer, device, path, mount or interface";
        run: u64, "", INSTANCE, "1, 2, ... within --runs";
        span: Span, "", INSTANCE, "interval or total";
        seconds: Option<Fixed<6>>, "s", SPENT.headline(4), "measured length of the span on the monotonic clock";
        bytes: Option<u64>, "B", AMOUNT.shown(11, "moved", Form::Bytes), "payload bytes";
        ops: Option<u64>, "", AMOUNT, "operations; each tool says which";
        errors: Option<u64>, "", LOSS.shown(6, "", Form::Count), "what went wrong in the span; each tool says which";
        bytes_per_s: Option<Fixed<1>>, "B/s", RATE.headline(1).shown(2, "", Form::Rate), "bytes / seconds";
        ops_per_s: Option<Fixed<3>>, "1/s", RATE.headline(2).shown(3, "", Form::PerSecond), "ops / seconds";
        cpu_pct: Option<Fixed<2>>, "%", OF_TIME.low().shown(12, "cpu", Form::Percent), "CPU time of this measurement in this process, user + system, 100 = one core";
        host_cpu_pct: Option<Fixed<2>>, "%", OF_TIME.low(), "the whole machine's busy share, 100 = all cores";
        flags: Flags, "", NOTE, "space-separated warnings about this very line, empty when it is clean.";
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

/// Defines the flags, their words, and whether a line that has one is doubtful: no measure of what it says it is.
macro_rules! flags {
    ($($name:ident, $word:literal, $weight:ident, $meaning:literal;)*) => {
        /// A warning about one line. The words are the contract: readers look for them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Flag { $(#[doc = $meaning] $name,)* }

        impl Flag {
            const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word in the `flags` column.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// What it says, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }

            fn weight(self) -> Weight {
                match self { $(Self::$name => Weight::$weight,)* }
            }
        }
    };
}

/// What a flag says of the figures beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// They are of something else, or of less, than the line says: to be left out of a comparison.
    Doubtful,
    /// They are right, and there is something to know.
    Remark,
}

flags! {
    Partial, "partial", Doubtful, "The measurement ended before its time, or failed.";
    Short, "short", Remark, "Fewer bytes were there than were asked for or announced, or than last the time asked for.";
    Unsettled, "unsettled", Remark, "`--runs MIN..MAX --within PCT` never got as narrow as asked.";
    Capped, "capped", Doubtful, "The kernel granted less than was asked for.";
    Fallback, "fallback", Doubtful, "Another method than the one asked for did the work.";
    Cached, "cached", Doubtful, "Bytes came from memory instead of the device.";
    Sparse, "sparse", Doubtful, "Parts are holes that no device has to read.";
    Unwritten, "unwritten", Doubtful, "Parts are allocated but never written: no device has to read them.";
    Fragmented, "fragmented", Remark, "Datagrams were larger than the path's MTU.";
    Reset, "reset", Doubtful, "A counter went back: the span is not known.";
    Renamed, "renamed", Remark, "The target changed its name in the span.";
    New, "new", Remark, "The target appeared in the span.";
    Gone, "gone", Remark, "The target went away in the span.";
    Nominal, "nominal", Remark, "The speed is what the driver claims, not what a wire limits.";
    Unsplit, "unsplit", Remark, "Some were lost in places that cannot be told apart: on the sender's host, in the network, or in the receiver's socket.";
    Stepped, "stepped", Remark, "The wall clock was set in the span: differences across that are left out.";
    Changed, "changed", Remark, "A setting of the target changed in the span.";
    Shared, "shared", Remark, "The listener served another client's measurement meanwhile.";
}

impl Flag {
    /// The flag with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|flag| flag.word() == word)
    }
}

/// The words of the flags that make a line doubtful, for help texts and their tests.
pub fn doubtful_words() -> impl Iterator<Item = &'static str> {
    Flag::ALL.iter().filter(|flag| flag.weight() == Weight::Doubtful).map(|flag| flag.word())
}

/// Every flag with what it says, for help texts: its word, its sentence.
pub fn glossary() -> impl Iterator<Item = (&'static str, &'static str)> {
    Flag::ALL.iter().map(|flag| (flag.word(), flag.meaning()))
}

/// Whether flags, as they stand in a line, make it doubtful. That a line of the method `cached` is cached is what was
/// asked for, and no doubt.
pub fn is_doubtful(flags: &str, method: &str) -> bool {
    let is_meant = |flag| flag == Flag::Cached && method == Flag::Cached.word();
    let mut known = flags.split_ascii_whitespace().filter_map(Flag::of_word);
    known.any(|flag| flag.weight() == Weight::Doubtful && !is_meant(flag))
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
    fn a_doubtful_flag_is_told_from_a_remark() {
        assert!(is_doubtful("short partial", ""));
        assert!(!is_doubtful("short unsettled nominal", ""));
        assert!(is_doubtful("cached", "direct") && !is_doubtful("cached", "cached"));
        assert!(!is_doubtful("", "") && !is_doubtful("what_nobody_knows", ""));
    }

    #[test]
    fn a_blank_line_claims_nothing() {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.serialize((Line::default(),)).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(text, ",1970-01-01T00:00:00.000Z,,,,,0,total,,,,,,,,,\n");
    }
}
