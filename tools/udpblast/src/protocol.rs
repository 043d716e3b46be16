//! What two ends say to each other once they have agreed ([`crate::letter`]), each word in [`crate::pieces`].
//!
//! ```text
//! client: begin label=...                                    listener: go
//! data (packet.rs), one way or both; the listener's lines of the intervals: line index=0 text=...
//! either: alive taken=N
//! the sender: end sent=N,... span=NS,... ...                 the receiver: report received=N,... lost=...
//! client: get index=I                                        listener: line index=I of=N text=...
//! either, before its time: leave                          client: bye
//! ```
//!
//! Any of them may be lost or doubled. Whoever waits for an answer asks again, and every question may be asked twice.

use std::time::Duration;

use common::net::wire::{self, Values, WireError, Words};

use crate::request::{MAX_LABEL_TEXT, MAX_STREAMS};
use crate::tally::Arrived;

/// The number of the protocol, which is not that of the columns.
pub const TAG: &str = "udpblast/2";

/// What a sender says of one stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// Datagrams that its kernel accepted.
    pub count: u64,
    /// How long it went on, from the first datagram to the end of the last one's time.
    pub span: Duration,
}

/// What a receiver says of one stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Counts.
    pub arrived: Arrived,
    /// Jitter, nanoseconds.
    pub jitter_ns: Option<u64>,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Client: I know what to do.
    Begin {
        /// Its label.
        label: Option<String>,
    },
    /// Listener: so do I.
    Go,
    /// Sender: that was all.
    End {
        /// Of each stream.
        streams: Vec<Sent>,
        /// False when it was interrupted or failed.
        whole: bool,
        /// Whether what was lost on the sender's own host is in its counts.
        sure: bool,
        /// Pieces of words that it sent before this one, the first time.
        words: u64,
    },
    /// Receiver: what came of each stream.
    Report(Vec<Report>),
    /// Client: I lack this line.
    Get {
        /// From 0.
        index: u64,
    },
    /// Listener: a line.
    Line {
        /// From 0.
        index: u64,
        /// How many there are, once it is known.
        of: Option<u64>,
        /// As named cells.
        text: String,
    },
    /// Either: it ended badly.
    Failed {
        /// For people.
        why: String,
    },
    /// Either: still here.
    Alive {
        /// The lines before this one have come.
        taken: u64,
    },
    /// Either: I end before the time.
    Leave,
    /// Client: I have all.
    Bye,
}

impl Report {
    /// What arrived, and the jitter in microseconds.
    pub fn new(arrived: Arrived, jitter_us: Option<f64>) -> Self {
        let jitter = jitter_us.map(|us| Duration::from_secs_f64((us / 1e6).clamp(0.0, 1e9)));
        Self { arrived, jitter_ns: jitter.and_then(|jitter| u64::try_from(jitter.as_nanos()).ok()) }
    }

    /// The jitter in microseconds.
    pub fn jitter_us(&self) -> Option<f64> {
        self.jitter_ns.map(|ns| ns as f64 / 1e3)
    }
}

/// The counts of a report by name.
type Field = (&'static str, fn(&mut Arrived) -> &mut u64);

const FIELDS: [Field; 9] = [
    ("expected", |arrived| &mut arrived.expected),
    ("received", |arrived| &mut arrived.received),
    ("duplicated", |arrived| &mut arrived.duplicated),
    ("reordered", |arrived| &mut arrived.reordered),
    ("late", |arrived| &mut arrived.late),
    ("socket_drops", |arrived| &mut arrived.socket_drops),
    ("unsure", |arrived| &mut arrived.unsure),
    ("steps", |arrived| &mut arrived.steps),
    ("strangers", |arrived| &mut arrived.strangers),
];

impl Word {
    /// The text.
    pub fn text(&self) -> String {
        let word = |name| Words::new(TAG, name);
        match self {
            Self::Begin { label } => word("begin").with_some("label", label.as_ref()).end(),
            Self::Go => word("go").end(),
            Self::End { streams, whole, sure, words } => word("end")
                .with("sent", list(streams, |sent| Some(sent.count)))
                .with("span", list(streams, |sent| u64::try_from(sent.span.as_nanos()).ok()))
                .with("whole", u8::from(*whole))
                .with("sure", u8::from(*sure))
                .with("words", words)
                .end(),
            Self::Report(reports) => {
                let with = |words: Words, (name, field): &Field| {
                    words.with(name, list(reports, |report| Some(*field(&mut { report.arrived }))))
                };
                FIELDS.iter().fold(word("report"), with).with("jitter", list(reports, |report| report.jitter_ns)).end()
            }
            Self::Get { index } => word("get").with("index", index).end(),
            Self::Line { index, of, text } => {
                word("line").with("index", index).with_some("of", *of).with("text", text).end()
            }
            Self::Failed { why } => wire::prose(TAG, "failed", why),
            Self::Alive { taken } => word("alive").with("taken", taken).end(),
            Self::Leave => word("leave").end(),
            Self::Bye => word("bye").end(),
        }
    }

    /// Reads the text of a word.
    pub fn parse(text: &str) -> Result<Self, WireError> {
        let (word, values) = wire::split(TAG, text.strip_suffix('\n').unwrap_or(text).as_bytes())?;
        match word.as_str() {
            "begin" => {
                let label = values.optional("label").filter(|label| label.len() <= MAX_LABEL_TEXT);
                Ok(Self::Begin { label })
            }
            "go" => Ok(Self::Go),
            "end" => {
                let (counts, spans) = (numbers(&values, "sent")?, numbers(&values, "span")?);
                let sent = |(count, span): (Option<u64>, Option<u64>)| {
                    let span = Duration::from_nanos(span.ok_or(WireError::BadValue("span"))?);
                    Ok(Sent { count: count.ok_or(WireError::BadValue("sent"))?, span })
                };
                if counts.len() != spans.len() {
                    return Err(WireError::BadValue("span"));
                }
                let streams = counts.into_iter().zip(spans).map(sent).collect::<Result<_, _>>()?;
                let (whole, sure) = (values.flag("whole")?, values.flag("sure")?);
                Ok(Self::End { streams, whole, sure, words: values.number("words")? })
            }
            "report" => Ok(Self::Report(reports(&values)?)),
            "get" => Ok(Self::Get { index: values.number("index")? }),
            "line" => Ok(Self::Line {
                index: values.number("index")?,
                of: values.some("of", Values::number)?,
                text: values.text("text")?,
            }),
            "failed" => Ok(Self::Failed { why: values.prose() }),
            "alive" => Ok(Self::Alive { taken: values.number("taken")? }),
            "leave" => Ok(Self::Leave),
            "bye" => Ok(Self::Bye),
            _ => Err(WireError::UnknownWord(word)),
        }
    }
}

fn reports(values: &Values) -> Result<Vec<Report>, WireError> {
    let jitters = numbers(values, "jitter")?;
    let mut reports: Vec<Report> =
        jitters.into_iter().map(|jitter_ns| Report { jitter_ns, ..Report::default() }).collect();
    for (name, field) in FIELDS {
        let counts = numbers(values, name)?;
        if counts.len() != reports.len() {
            return Err(WireError::BadValue(name));
        }
        for (report, count) in reports.iter_mut().zip(counts) {
            *field(&mut report.arrived) = count.ok_or(WireError::BadValue(name))?;
        }
    }
    Ok(reports)
}

/// A number for each stream; empty where there is none.
fn list<T>(streams: &[T], number: impl Fn(&T) -> Option<u64>) -> String {
    let texts: Vec<_> = streams.iter().map(|one| number(one).map_or_else(String::new, |n| n.to_string())).collect();
    texts.join(",")
}

fn numbers(values: &Values, key: &'static str) -> Result<Vec<Option<u64>>, WireError> {
    let text = values.text(key)?;
    if text.split(',').count() as u64 > MAX_STREAMS {
        return Err(WireError::BadValue(key));
    }
    let number = |text: &str| match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| WireError::BadValue(key)),
    };
    text.split(',').map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_word_survives_the_wire() {
        let arrived = Arrived { expected: u64::MAX, received: 5, unsure: 1, ..Arrived::default() };
        let sent = Sent { count: 1 << 40, span: Duration::from_nanos(1_500_000_001) };
        for word in [
            Word::Begin { label: Some("a \"b\" =ü%".into()) },
            Word::Begin { label: None },
            Word::Go,
            Word::End { streams: vec![sent, Sent::default()], whole: false, sure: true, words: 3 },
            Word::Report(vec![Report { arrived, jitter_ns: Some(5) }, Report::default()]),
            Word::Get { index: 3 },
            Word::Line { index: 3, of: Some(4), text: "a=b%0A c=\"%25".into() },
            Word::Failed { why: "x".into() },
            Word::Alive { taken: 7 },
            Word::Leave,
            Word::Bye,
        ] {
            assert_eq!(Word::parse(&word.text()), Ok(word));
        }
    }

    #[test]
    fn lists_of_different_lengths_are_refused() {
        for text in [
            "end sent=1,2 span=1 whole=1 sure=1 words=0",
            "end sent= span= whole=1 sure=1 words=0",
            "report jitter=1,2 expected=1",
        ] {
            assert!(Word::parse(&format!("{TAG} {text}\n")).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_words_are_refused_or_mean_themselves(
            text in "(begin|go|end|report|get|line|failed|alive|leave|bye)( (label|sent|span|whole|sure|words|index|of|text|taken)=[ -~]{0,20}){0,8}",
        ) {
            if let Ok(word) = Word::parse(&format!("{TAG} {text}\n")) {
                prop_assert_eq!(Word::parse(&word.text()), Ok(word));
            }
        }

        #[test]
        fn arbitrary_text_does_nothing(text: String) {
            let _ = Word::parse(&text);
        }
    }
}
