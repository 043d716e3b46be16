//! Lines that two ends of a tool exchange: `tool/1 WORD key=value ...`, values percent-encoded. A reader takes what it
//! knows, in range, and refuses the rest by name; nothing here allocates more than the line is long.

use std::collections::HashMap;
use std::fmt::Display;
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::text;

const PROSE: &AsciiSet = &CONTROLS.add(b'%');

const ESCAPED: &AsciiSet = &PROSE.add(b' ').add(b'=');

/// Why a line was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Not a line of this tool.
    #[error("not a line of this tool")]
    Foreign,
    /// A line of another version of the tool.
    #[error("one end speaks {0}, the other {1}: the same version is needed at both")]
    OtherVersion(String, &'static str),
    /// A word that is unknown here.
    #[error("unknown word '{0}'")]
    UnknownWord(String),
    /// A key is missing or its value is out of range.
    #[error("missing or bad {0}=")]
    BadValue(&'static str),
}

/// A line that says something to people: all after the word is text.
pub fn prose(tag: &str, word: &str, text: &str) -> String {
    format!("{tag} {word} {}\n", utf8_percent_encode(text, PROSE))
}

/// A time as it stands in a line, microseconds.
pub fn micros(time: Duration) -> String {
    format!("{}us", time.as_micros())
}

/// Builds a line.
pub struct Words(String);

impl Words {
    /// A line of `tag` with this word.
    pub fn new(tag: &str, word: &str) -> Self {
        Self(format!("{tag} {word}"))
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Display) -> Self {
        let value = value.to_string();
        self.0.extend([" ", key, "=", &encoded(&value)]);
        self
    }

    /// Adds a value, if there is one.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The line, LF included.
    pub fn end(self) -> String {
        self.0 + "\n"
    }
}

/// Takes a line without its LF apart: the word, and what follows it.
pub fn split(tag: &'static str, line: &[u8]) -> Result<(String, Values), WireError> {
    let text = std::str::from_utf8(line).map_err(|_| WireError::Foreign)?;
    let mut parts = text.split(' ');
    match parts.next() {
        Some(first) if first == tag => {}
        Some(other) if is_version_of(tag, other) => {
            return Err(WireError::OtherVersion(other.chars().take(20).collect(), tag));
        }
        _ => return Err(WireError::Foreign),
    }
    let word = parts.next().unwrap_or_default();
    let prose = text.get(tag.len() + word.len() + 2..).unwrap_or_default();
    let prose = text::tamed(&percent_decode_str(prose).decode_utf8_lossy());
    let pairs = parts.filter_map(|part| part.split_once('='));
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Ok((word.to_owned(), Values { pairs, prose }))
}

/// A value with the escaping that it needs in a line.
pub(super) fn encoded(value: &str) -> String {
    utf8_percent_encode(value, ESCAPED).to_string()
}

/// The value of such text, harmful characters replaced; `None` if it is no text.
pub(super) fn decoded(value: &str) -> Option<String> {
    Some(text::tamed(&percent_decode_str(value).decode_utf8().ok()?))
}

fn is_version_of(tag: &str, other: &str) -> bool {
    tag.split_once('/').is_some_and(|(tool, _)| other.strip_prefix(tool).is_some_and(|rest| rest.starts_with('/')))
}

/// What follows the word.
#[derive(Debug)]
pub struct Values {
    pairs: HashMap<String, String>,
    /// All of it, for words that say something to people; nothing harmful in it.
    prose: String,
}

/// Longest time that may cross the wire; what the command line takes at most.
const MAX_TIME: Duration = Duration::from_hours(100 * 365 * 24);

impl Values {
    /// All of it, as text for people.
    pub fn prose(self) -> String {
        self.prose
    }

    /// The value of `key`, if it is there and is text, without harmful characters: it may go on to a line or a terminal.
    pub fn optional(&self, key: &str) -> Option<String> {
        decoded(self.pairs.get(key)?)
    }

    /// Reads the value of `key`, if it is there.
    pub fn some<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Self, &'static str) -> Result<T, WireError>,
    ) -> Result<Option<T>, WireError> {
        self.pairs.get(key).map(|_| read(self, key)).transpose()
    }

    /// A value that must be there.
    pub fn text(&self, key: &'static str) -> Result<String, WireError> {
        self.optional(key).ok_or(WireError::BadValue(key))
    }

    /// A number.
    pub fn number(&self, key: &'static str) -> Result<u64, WireError> {
        self.text(key)?.parse().map_err(|_| WireError::BadValue(key))
    }

    /// A number from 1 to `most`.
    pub fn within(&self, key: &'static str, most: u64) -> Result<u64, WireError> {
        self.number(key).and_then(
            |number| {
                if (1..=most).contains(&number) { Ok(number) } else { Err(WireError::BadValue(key)) }
            },
        )
    }

    /// 0 or 1.
    pub fn flag(&self, key: &'static str) -> Result<bool, WireError> {
        match self.number(key)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::BadValue(key)),
        }
    }

    /// A time.
    pub fn time(&self, key: &'static str) -> Result<Duration, WireError> {
        let text = self.text(key)?;
        let micros = text.strip_suffix("us").and_then(|number| number.parse().ok()).map(Duration::from_micros);
        micros.filter(|time| *time <= MAX_TIME).ok_or(WireError::BadValue(key))
    }

    /// A time above zero.
    pub fn positive_time(&self, key: &'static str) -> Result<Duration, WireError> {
        self.time(key).and_then(|time| if time.is_zero() { Err(WireError::BadValue(key)) } else { Ok(time) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_whatever_they_hold() {
        let line = Words::new("probe/1", "say").with("text", "a b=c%20\u{e9}").with("n", 5).end();
        let (word, values) = split("probe/1", line.trim_end().as_bytes()).unwrap();
        assert_eq!((word.as_str(), values.text("text").unwrap().as_str()), ("say", "a b=c%20\u{e9}"));
        assert_eq!(values.within("n", 5), Ok(5));
        assert_eq!(values.within("n", 4), Err(WireError::BadValue("n")));
        let line = prose("probe/1", "refused", "100 % (--x=1)");
        assert_eq!(split("probe/1", line.trim_end().as_bytes()).unwrap().1.prose(), "100 % (--x=1)");
    }

    #[test]
    fn control_characters_of_strangers_do_not_pass() {
        let bad = "a\u{1b}[2J\nifstat/1,b\u{9b}\u{7f}c";
        let line = Words::new("probe/1", "say").with("label", bad).end();
        let (_, values) = split("probe/1", line.trim_end().as_bytes()).unwrap();
        assert_eq!(values.text("label").unwrap(), "a?[2J?ifstat/1,b??c");
        assert_eq!(values.prose(), "label=a?[2J?ifstat/1,b??c");
        let (word, values) = split("probe/1", b"probe/1 refused \x1b]0;x\x07 raw").unwrap();
        assert_eq!((word.as_str(), values.prose().as_str()), ("refused", "?]0;x? raw"));
    }

    #[test]
    fn other_versions_and_other_tools_are_told_apart() {
        assert_eq!(split("probe/1", b"probe/2 x").unwrap_err(), WireError::OtherVersion("probe/2".into(), "probe/1"));
        assert_eq!(split("probe/1", b"prober/1 x").unwrap_err(), WireError::Foreign);
        assert_eq!(split("probe/1", b"\xff").unwrap_err(), WireError::Foreign);
    }
}
