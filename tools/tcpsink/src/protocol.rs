//! The words that two tcpsinks exchange: text lines `tcpsink/1 WORD key=value ...`, values percent-encoded.
//!
//! A test has one control connection, on which the client asks and the sink answers and reports, and one connection per
//! stream. Each connection of ours opens with a line; whatever opens otherwise is a plain client, and all its bytes are
//! payload.
//!
//! ```text
//! control  client: tcpsink/1 send run=1 time=3000000us ...     sink: tcpsink/1 ok token=4f1c...
//! stream   client: tcpsink/1 data token=4f1c... stream=0       then payload only
//! control  sink:   tcpsink/1 line span=interval text=...       (a CSV line) while the test runs
//! control  client: tcpsink/1 done bytes=123 whole=1            after the last byte
//! control  sink:   tcpsink/1 line span=total text=...          then it closes
//! ```

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::cli::MAX_LABEL;
use common::schema::line::Span;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Schema and protocol have one number: a sink's lines must have the columns that the client's header says.
pub const TAG: &str = common::schema::tcpsink::SCHEMA.tag;

/// How every line of every version begins.
const MARK: &str = "tcpsink/";

/// No line of ours is longer: labels have at most [`MAX_LABEL`] bytes, thrice that when escaped.
pub const MAX_LINE: usize = 16 * 1024;

const PROSE: &AsciiSet = &CONTROLS.add(b'%');

const ESCAPED: &AsciiSet = &PROSE.add(b' ').add(b'=');

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Number of the run, for the sink's lines.
    pub run: u64,
    /// The client's label, for the sink's lines.
    pub label: Option<String>,
    /// How long the client will send; `None` when an amount ends the test.
    pub time: Option<Duration>,
    /// Not counted before that.
    pub warmup: Duration,
    /// Interval lines wanted.
    pub interval: Option<Duration>,
    /// Give up after so long without a byte.
    pub idle_timeout: Duration,
    /// Read into memory instead of discarding.
    pub copy: bool,
}

/// A client's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromClient {
    /// Opens a control connection.
    Send(Request),
    /// Opens a stream of the test with this token.
    Data {
        /// From the sink's answer.
        token: String,
    },
    /// All has been handed to the kernel.
    Done {
        /// Payload bytes sent, warm-up included.
        bytes: u64,
        /// False when the client was interrupted or failed.
        whole: bool,
    },
}

/// A sink's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromSink {
    /// The test may begin.
    Accepted {
        /// Names the test in the streams' opening lines.
        token: String,
    },
    /// It may not.
    Refused {
        /// For people.
        why: String,
    },
    /// It ended badly on the sink's side.
    Failed {
        /// For people.
        why: String,
    },
    /// A line of CSV, LF included.
    Line {
        /// Its span column.
        span: Span,
        /// The line itself.
        text: String,
    },
}

/// Why a line was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// Not a line of ours.
    #[error("not a line of {TAG}")]
    Foreign,
    /// A line of another version of ours.
    #[error("one end speaks {0}, the other {TAG}: the same version is needed at both")]
    OtherVersion(String),
    /// A line of ours with a word that is unknown here.
    #[error("unknown word '{0}' in a line of {TAG}")]
    UnknownWord(String),
    /// A key is missing or its value is out of range.
    #[error("missing or bad {0}= in a line of {TAG}")]
    BadValue(&'static str),
}

impl FromClient {
    /// The line, LF included.
    pub fn text(&self) -> String {
        match self {
            Self::Send(request) => {
                let mut line = format!("{TAG} send run={} warmup={}us", request.run, request.warmup.as_micros());
                let _ = write!(line, " idle={}us copy={}", request.idle_timeout.as_micros(), u8::from(request.copy));
                for (key, time) in [("time", request.time), ("interval", request.interval)] {
                    if let Some(time) = time {
                        let _ = write!(line, " {key}={}us", time.as_micros());
                    }
                }
                if let Some(label) = &request.label {
                    let _ = write!(line, " label={}", escape(label));
                }
                line + "\n"
            }
            Self::Data { token } => format!("{TAG} data token={token}\n"),
            Self::Done { bytes, whole } => format!("{TAG} done bytes={bytes} whole={}\n", u8::from(*whole)),
        }
    }

    /// Reads a line without its LF.
    pub fn parse(line: &[u8]) -> Result<Self, ProtocolError> {
        let (word, values) = split(line)?;
        match word.as_str() {
            "send" => Ok(Self::Send(Request {
                run: values.number("run")?,
                label: values.optional("label").filter(|label| label.len() <= MAX_LABEL),
                time: values.optional("time").map(|_| values.time("time")).transpose()?,
                warmup: values.time("warmup")?,
                interval: values.optional("interval").map(|_| values.positive_time("interval")).transpose()?,
                idle_timeout: values.positive_time("idle")?,
                copy: values.flag("copy")?,
            })),
            "data" => Ok(Self::Data { token: values.text("token")? }),
            "done" => Ok(Self::Done { bytes: values.number("bytes")?, whole: values.flag("whole")? }),
            _ => Err(ProtocolError::UnknownWord(word)),
        }
    }
}

impl FromSink {
    /// The line, LF included.
    pub fn text(&self) -> String {
        match self {
            Self::Accepted { token } => format!("{TAG} ok token={token}\n"),
            // A plain client's user may read these.
            Self::Refused { why } => format!("{TAG} refused {}\n", utf8_percent_encode(why, PROSE)),
            Self::Failed { why } => format!("{TAG} failed {}\n", utf8_percent_encode(why, PROSE)),
            Self::Line { span, text } => {
                let span = if *span == Span::Total { "total" } else { "interval" };
                format!("{TAG} line span={span} text={}\n", escape(text))
            }
        }
    }

    /// Reads a line without its LF.
    pub fn parse(line: &[u8]) -> Result<Self, ProtocolError> {
        let (word, values) = split(line)?;
        match word.as_str() {
            "ok" => Ok(Self::Accepted { token: values.text("token")? }),
            "refused" => Ok(Self::Refused { why: values.prose }),
            "failed" => Ok(Self::Failed { why: values.prose }),
            "line" => {
                let span = match values.text("span")?.as_str() {
                    "total" => Span::Total,
                    "interval" => Span::Interval,
                    _ => return Err(ProtocolError::BadValue("span")),
                };
                Ok(Self::Line { span, text: values.text("text")? })
            }
            _ => Err(ProtocolError::UnknownWord(word)),
        }
    }
}

fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn split(line: &[u8]) -> Result<(String, Values), ProtocolError> {
    let text = std::str::from_utf8(line).map_err(|_| ProtocolError::Foreign)?;
    let mut parts = text.split(' ');
    match parts.next() {
        Some(TAG) => {}
        Some(tag) if tag.starts_with(MARK) => return Err(ProtocolError::OtherVersion(tag.to_owned())),
        _ => return Err(ProtocolError::Foreign),
    }
    let word = parts.next().unwrap_or_default();
    let prose = text.get(TAG.len() + word.len() + 2..).unwrap_or_default();
    let prose = percent_decode_str(prose).decode_utf8_lossy().into_owned();
    let pairs = parts.filter_map(|part| part.split_once('='));
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Ok((word.to_owned(), Values { pairs, prose }))
}

/// What follows the word.
struct Values {
    pairs: HashMap<String, String>,
    /// All of it, for words that say something to people.
    prose: String,
}

/// Longest time that may cross the wire; what the command line takes at most.
const MAX_TIME: Duration = Duration::from_hours(100 * 365 * 24);

impl Values {
    fn optional(&self, key: &str) -> Option<String> {
        Some(percent_decode_str(self.pairs.get(key)?).decode_utf8().ok()?.into_owned())
    }

    fn text(&self, key: &'static str) -> Result<String, ProtocolError> {
        self.optional(key).ok_or(ProtocolError::BadValue(key))
    }

    fn number(&self, key: &'static str) -> Result<u64, ProtocolError> {
        self.text(key)?.parse().map_err(|_| ProtocolError::BadValue(key))
    }

    fn flag(&self, key: &'static str) -> Result<bool, ProtocolError> {
        match self.number(key)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(ProtocolError::BadValue(key)),
        }
    }

    fn time(&self, key: &'static str) -> Result<Duration, ProtocolError> {
        let text = self.text(key)?;
        let micros = text.strip_suffix("us").and_then(|number| number.parse().ok()).map(Duration::from_micros);
        micros.filter(|time| *time <= MAX_TIME).ok_or(ProtocolError::BadValue(key))
    }

    fn positive_time(&self, key: &'static str) -> Result<Duration, ProtocolError> {
        self.time(key).and_then(|time| if time.is_zero() { Err(ProtocolError::BadValue(key)) } else { Ok(time) })
    }
}

/// How a connection opens.
#[derive(Debug, PartialEq, Eq)]
pub enum Opening {
    /// Too early to say.
    Incomplete,
    /// A line of ours so many bytes long, LF included.
    Line(usize),
    /// Payload.
    Plain,
}

impl Opening {
    /// Judges the first bytes of a connection.
    pub fn of(bytes: &[u8]) -> Self {
        let common = bytes.len().min(MARK.len());
        if bytes[..common] != MARK.as_bytes()[..common] {
            return Self::Plain;
        }
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => Self::Line(end + 1),
            None if bytes.len() < MAX_LINE => Self::Incomplete,
            None => Self::Plain,
        }
    }
}

/// A control connection: lines both ways, each within a deadline and a size.
#[derive(Debug)]
pub struct Control {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Control {
    /// Takes over a connection of which `unread` has been read already.
    pub fn new(stream: TcpStream, unread: Vec<u8>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, unread })
    }

    /// The connection itself.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads one line, LF taken off. `None` at the end of the stream.
    pub fn read_line(&mut self, deadline: Option<Instant>) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let rest = self.unread.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.unread, rest);
                line.truncate(end);
                return Ok(Some(line));
            }
            if self.unread.len() >= MAX_LINE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "line without an end"));
            }
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
            self.stream.set_read_timeout(left)?;
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(length) => self.unread.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::ErrorKind::TimedOut.into()),
                Err(error) => return Err(error),
            }
            if deadline.is_some_and(|at| Instant::now() >= at) && !self.unread.contains(&b'\n') {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Writes a line in one call; gives up after five seconds, since it must never hold a measurement up.
pub fn write_line(mut stream: &TcpStream, line: &str) -> io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            run: 3,
            label: Some("hub=auto, \"x\"\n100 % köln".into()),
            time: Some(Duration::from_secs(3)),
            warmup: Duration::ZERO,
            interval: Some(Duration::from_millis(100)),
            idle_timeout: Duration::from_secs(10),
            copy: true,
        }
    }

    #[test]
    fn every_word_survives_the_wire() {
        let words = [
            FromClient::Send(request()),
            FromClient::Send(Request { label: None, time: None, interval: None, copy: false, ..request() }),
            FromClient::Data { token: "4f1c".into() },
            FromClient::Done { bytes: u64::MAX, whole: false },
        ];
        for word in words {
            let text = word.text();
            assert_eq!(FromClient::parse(text.strip_suffix('\n').unwrap().as_bytes()), Ok(word));
        }
        let words = [
            FromSink::Accepted { token: "4f1c".into() },
            FromSink::Refused { why: "64 clients (--max-clients)".into() },
            FromSink::Failed { why: String::new() },
            FromSink::Line { span: Span::Total, text: "a,\"b\nc\",%25\n".into() },
        ];
        for word in words {
            let text = word.text();
            assert_eq!(FromSink::parse(text.strip_suffix('\n').unwrap().as_bytes()), Ok(word));
        }
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for (line, error) in [
            ("HTTP/1.1 400 Bad Request", ProtocolError::Foreign),
            ("tcpsink/2 ok token=1", ProtocolError::OtherVersion("tcpsink/2".into())),
            ("tcpsink/1 dance", ProtocolError::UnknownWord("dance".into())),
            ("tcpsink/1 line span=total", ProtocolError::BadValue("text")),
        ] {
            assert_eq!(FromSink::parse(line.as_bytes()), Err(error), "{line}");
        }
        let text = FromClient::Send(request()).text();
        for (from, to, key) in [
            ("idle=10000000us", "idle=0us", "idle"),
            ("run=3", "run=-3", "run"),
            ("copy=1", "copy=2", "copy"),
            ("time=3000000us", "time=99999999999999999us", "time"),
        ] {
            let line = text.trim_end().replace(from, to);
            assert_eq!(FromClient::parse(line.as_bytes()), Err(ProtocolError::BadValue(key)), "{line}");
        }
    }

    #[test]
    fn a_plain_client_is_known_by_its_first_wrong_byte() {
        assert_eq!(Opening::of(b""), Opening::Incomplete);
        assert_eq!(Opening::of(b"tcpsi"), Opening::Incomplete);
        assert_eq!(Opening::of(b"tcpsinX"), Opening::Plain);
        assert_eq!(Opening::of(b"tcpsink/1 data token=4\npayload"), Opening::Line(23));
        assert_eq!(Opening::of(b"tcpsink/1 data"), Opening::Incomplete);
        let mut endless = b"tcpsink/1 ".to_vec();
        endless.resize(MAX_LINE, b'x');
        assert_eq!(Opening::of(&endless), Opening::Plain);
    }
}
