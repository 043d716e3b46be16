//! The words that two tcpsinks exchange, in the form of [`common::wire`].
//!
//! A test has one control connection, on which the client asks and the sink answers and reports, and one connection per
//! stream. Each connection of ours opens with a line; whatever opens otherwise is a plain client, and all its bytes are
//! payload.
//!
//! ```text
//! control  client: tcpsink/1 test kind=send run=1 time=3000000us ...
//! control  sink:   tcpsink/1 challenge nonce=9b02...           if it wants to see that the client knows the secret
//! control  client: tcpsink/1 proof mac=77aa...
//! control  sink:   tcpsink/1 ok token=4f1c...
//! streams  client: tcpsink/1 data token=4f1c... way=up stream=0     then payload only, either way
//! control  sink:   tcpsink/1 line text=...                     lines of CSV while the test runs, and the totals
//! control  client: tcpsink/1 done bytes=123 whole=1            after the last byte
//! control  sink:   tcpsink/1 end                               then it closes
//! ```
//!
//! In a test of kind connect the streams are replaced by any number of connections that open with
//! `tcpsink/1 knock token=4f1c...`, each of which is answered by one byte.

use std::time::Duration;

use clap::ValueEnum;
use common::cli::MAX_LABEL;
use common::wire::{self, Values, WireError, Words, micros};

use crate::engine::Method;
use crate::engine::ping::Sizes;

/// Schema and protocol have one number: a sink's lines must have the columns that the client's header says.
pub const TAG: &str = common::schema::tcpsink::SCHEMA.tag;

/// How every line of every version begins.
const MARK: &str = "tcpsink/";

/// No line of ours is longer: labels have at most [`MAX_LABEL`] bytes, thrice that when escaped.
pub const MAX_LINE: usize = 16 * 1024;

/// Most streams each way.
pub const MAX_STREAMS: u64 = 256;

/// Largest message, bytes: what one call moves at most anyway.
pub const MAX_MESSAGE: u64 = 1 << 30;

/// What a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The client sends.
    Send,
    /// The sink sends.
    Recv,
    /// Both at once.
    Both,
    /// Requests and responses.
    Ping(Sizes),
    /// Connections.
    Connect,
}

/// Which way the payload of a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// Client to sink.
    Up,
    /// Sink to client.
    Down,
    /// There and back.
    Echo,
}

impl Way {
    /// The word in the direction column and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Echo => "echo",
        }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Recv => "recv",
            Self::Both => "both",
            Self::Ping(_) => "ping",
            Self::Connect => "connect",
        }
    }

    /// The directions that need streams.
    pub fn ways(self) -> &'static [Way] {
        match self {
            Self::Send => &[Way::Up],
            Self::Recv => &[Way::Down],
            Self::Both => &[Way::Up, Way::Down],
            Self::Ping(_) => &[Way::Echo],
            Self::Connect => &[],
        }
    }
}

/// What a client asks for: all that the sink must know to do its part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What.
    pub kind: Kind,
    /// Number of the run, for the sink's lines.
    pub run: u64,
    /// The client's label, for the sink's lines.
    pub label: Option<String>,
    /// Streams each way.
    pub streams: u64,
    /// Lines of each stream too.
    pub per_stream: bool,
    /// Planned length; `None` when an amount, or the client, ends the test.
    pub time: Option<Duration>,
    /// Amount each way.
    pub bytes: Option<u64>,
    /// Not counted before that.
    pub warmup: Duration,
    /// Interval lines wanted.
    pub interval: Option<Duration>,
    /// Give up after so long without a byte.
    pub idle_timeout: Duration,
    /// Read into memory instead of discarding.
    pub copy: bool,
    /// Bytes per call.
    pub message: Option<u64>,
    /// How a sender hands bytes over.
    pub method: Method,
    /// Bytes of payload per second, of the sender.
    pub rate: Option<u64>,
    /// Socket buffers of both ends.
    pub buffer: Option<u64>,
    /// Congestion control of the sender.
    pub congestion: Option<String>,
    /// Code point of both ends.
    pub dscp: Option<u8>,
    /// No Nagle algorithm at either end.
    pub nodelay: bool,
}

/// A client's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromClient {
    /// Opens a control connection.
    Test(Box<Request>),
    /// Answers a challenge.
    Proof {
        /// In hexadecimal.
        mac: String,
    },
    /// Opens a stream of the test with this token.
    Data {
        /// From the sink's answer.
        token: String,
        /// Which way it goes.
        way: Way,
        /// Which one, from 0.
        stream: u64,
    },
    /// A connection of a connect test.
    Knock {
        /// From the sink's answer.
        token: String,
    },
    /// The client's part is over.
    Done {
        /// Payload bytes sent upwards, warm-up included.
        sent: u64,
        /// Payload bytes that came down.
        received: u64,
        /// False when the client was interrupted or failed.
        whole: bool,
    },
}

/// A sink's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromSink {
    /// The client has to show that it knows the secret.
    Challenge {
        /// Never used twice.
        nonce: String,
    },
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
        /// The line itself.
        text: String,
    },
    /// All has been said.
    End,
}

impl Request {
    fn text(&self) -> String {
        let sizes = if let Kind::Ping(sizes) = self.kind { Some(sizes) } else { None };
        Words::new(TAG, "test")
            .with("kind", self.kind.name())
            .with("run", self.run)
            .with("streams", self.streams)
            .with("per_stream", u8::from(self.per_stream))
            .with("warmup", micros(self.warmup))
            .with("idle", micros(self.idle_timeout))
            .with("copy", u8::from(self.copy))
            .with("nodelay", u8::from(self.nodelay))
            .with("method", self.method.name())
            .with_some("time", self.time.map(micros))
            .with_some("interval", self.interval.map(micros))
            .with_some("bytes", self.bytes)
            .with_some("message", self.message)
            .with_some("rate", self.rate)
            .with_some("buffer", self.buffer)
            .with_some("congestion", self.congestion.as_ref())
            .with_some("dscp", self.dscp)
            .with_some("request", sizes.map(|sizes| sizes.request))
            .with_some("response", sizes.map(|sizes| sizes.response))
            .with_some("label", self.label.as_ref())
            .end()
    }

    fn read(values: &Values) -> Result<Self, WireError> {
        let kind = match values.text("kind")?.as_str() {
            "send" => Kind::Send,
            "recv" => Kind::Recv,
            "both" => Kind::Both,
            "connect" => Kind::Connect,
            "ping" => Kind::Ping(Sizes {
                request: values.within("request", MAX_MESSAGE)?,
                response: values.within("response", MAX_MESSAGE)?,
            }),
            _ => return Err(WireError::BadValue("kind")),
        };
        Ok(Self {
            kind,
            run: values.number("run")?,
            label: values.optional("label").filter(|label| label.len() <= MAX_LABEL),
            streams: values.within("streams", MAX_STREAMS)?,
            per_stream: values.flag("per_stream")?,
            time: values.some("time", Values::positive_time)?,
            bytes: values.some("bytes", |values, key| values.within(key, u64::MAX))?,
            warmup: values.time("warmup")?,
            interval: values.some("interval", Values::positive_time)?,
            idle_timeout: values.positive_time("idle")?,
            copy: values.flag("copy")?,
            message: values.some("message", |values, key| values.within(key, MAX_MESSAGE))?,
            method: Method::from_str(&values.text("method")?, false).map_err(|_| WireError::BadValue("method"))?,
            rate: values.some("rate", |values, key| values.within(key, u64::MAX))?,
            buffer: values.some("buffer", |values, key| values.within(key, u64::MAX))?,
            congestion: values.optional("congestion"),
            dscp: values.some("dscp", |values, key| {
                u8::try_from(values.number(key)?).ok().filter(|dscp| *dscp < 64).ok_or(WireError::BadValue(key))
            })?,
            nodelay: values.flag("nodelay")?,
        })
    }
}

impl FromClient {
    /// The line, LF included.
    pub fn text(&self) -> String {
        match self {
            Self::Test(request) => request.text(),
            Self::Proof { mac } => Words::new(TAG, "proof").with("mac", mac).end(),
            Self::Data { token, way, stream } => {
                Words::new(TAG, "data").with("token", token).with("way", way.name()).with("stream", stream).end()
            }
            Self::Knock { token } => Words::new(TAG, "knock").with("token", token).end(),
            Self::Done { sent, received, whole } => Words::new(TAG, "done")
                .with("sent", sent)
                .with("received", received)
                .with("whole", u8::from(*whole))
                .end(),
        }
    }

    /// Reads a line without its LF.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let (word, values) = wire::split(TAG, line)?;
        match word.as_str() {
            "test" => Ok(Self::Test(Box::new(Request::read(&values)?))),
            "proof" => Ok(Self::Proof { mac: values.text("mac")? }),
            "data" => {
                let name = values.text("way")?;
                let way = [Way::Up, Way::Down, Way::Echo].into_iter().find(|way| way.name() == name);
                let way = way.ok_or(WireError::BadValue("way"))?;
                Ok(Self::Data { token: values.text("token")?, way, stream: values.number("stream")? })
            }
            "knock" => Ok(Self::Knock { token: values.text("token")? }),
            "done" => Ok(Self::Done {
                sent: values.number("sent")?,
                received: values.number("received")?,
                whole: values.flag("whole")?,
            }),
            _ => Err(WireError::UnknownWord(word)),
        }
    }
}

impl FromSink {
    /// The line, LF included.
    pub fn text(&self) -> String {
        match self {
            Self::Challenge { nonce } => Words::new(TAG, "challenge").with("nonce", nonce).end(),
            Self::Accepted { token } => Words::new(TAG, "ok").with("token", token).end(),
            // A plain client's user may read these.
            Self::Refused { why } => wire::prose(TAG, "refused", why),
            Self::Failed { why } => wire::prose(TAG, "failed", why),
            Self::Line { text } => Words::new(TAG, "line").with("text", text).end(),
            Self::End => Words::new(TAG, "end").end(),
        }
    }

    /// Reads a line without its LF.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let (word, values) = wire::split(TAG, line)?;
        match word.as_str() {
            "challenge" => Ok(Self::Challenge { nonce: values.text("nonce")? }),
            "ok" => Ok(Self::Accepted { token: values.text("token")? }),
            "refused" => Ok(Self::Refused { why: values.prose() }),
            "failed" => Ok(Self::Failed { why: values.prose() }),
            "line" => Ok(Self::Line { text: values.text("text")? }),
            "end" => Ok(Self::End),
            _ => Err(WireError::UnknownWord(word)),
        }
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
    /// It began like a line of ours and has no end.
    TooLong,
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
            None => Self::TooLong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            kind: Kind::Ping(Sizes { request: 1, response: 1000 }),
            run: 3,
            label: Some("hub=auto, \"x\"\n100 % köln".into()),
            streams: 4,
            per_stream: true,
            time: Some(Duration::from_secs(3)),
            bytes: Some(u64::MAX),
            warmup: Duration::ZERO,
            interval: Some(Duration::from_millis(100)),
            idle_timeout: Duration::from_secs(10),
            copy: true,
            message: Some(1),
            method: Method::Zerocopy,
            rate: Some(5_000_000_000),
            buffer: Some(1 << 30),
            congestion: Some("cubic".into()),
            dscp: Some(46),
            nodelay: true,
        }
    }

    #[test]
    fn every_word_survives_the_wire() {
        let bare = Request {
            label: None,
            time: None,
            bytes: None,
            interval: None,
            message: None,
            rate: None,
            buffer: None,
            congestion: None,
            dscp: None,
            ..request()
        };
        let mut words = vec![
            FromClient::Test(Box::new(request())),
            FromClient::Test(Box::new(bare)),
            FromClient::Proof { mac: "00ff".into() },
            FromClient::Data { token: "4f1c".into(), way: Way::Down, stream: 255 },
            FromClient::Knock { token: "4f1c".into() },
            FromClient::Done { sent: u64::MAX, received: 0, whole: false },
        ];
        for kind in [Kind::Send, Kind::Recv, Kind::Both, Kind::Connect] {
            words.push(FromClient::Test(Box::new(Request { kind, ..request() })));
        }
        for word in words {
            let text = word.text();
            assert_eq!(FromClient::parse(text.strip_suffix('\n').unwrap().as_bytes()), Ok(word));
        }
        let words = [
            FromSink::Challenge { nonce: "9b02".into() },
            FromSink::Accepted { token: "4f1c".into() },
            FromSink::Refused { why: "64 clients (--max-clients)".into() },
            FromSink::Failed { why: String::new() },
            FromSink::Line { text: "a,\"b\nc\",%25\n".into() },
            FromSink::End,
        ];
        for word in words {
            let text = word.text();
            assert_eq!(FromSink::parse(text.strip_suffix('\n').unwrap().as_bytes()), Ok(word));
        }
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for (line, error) in [
            ("HTTP/1.1 400 Bad Request", WireError::Foreign),
            ("tcpsink/2 ok token=1", WireError::OtherVersion("tcpsink/2".into(), TAG)),
            ("tcpsink/1 dance", WireError::UnknownWord("dance".into())),
            ("tcpsink/1 line", WireError::BadValue("text")),
        ] {
            assert_eq!(FromSink::parse(line.as_bytes()), Err(error), "{line}");
        }
        let text = FromClient::Test(Box::new(request())).text();
        for (from, to, key) in [
            ("idle=10000000us", "idle=0us", "idle"),
            ("run=3", "run=-3", "run"),
            ("copy=1", "copy=2", "copy"),
            ("streams=4", "streams=0", "streams"),
            ("streams=4", "streams=257", "streams"),
            ("dscp=46", "dscp=64", "dscp"),
            ("response=1000", "response=9999999999", "response"),
            ("time=3000000us", "time=99999999999999999us", "time"),
        ] {
            let line = text.trim_end().replacen(from, to, 1);
            assert_eq!(FromClient::parse(line.as_bytes()), Err(WireError::BadValue(key)), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_do_nothing(bytes: Vec<u8>) {
            let _ = (FromClient::parse(&bytes), FromSink::parse(&bytes), Opening::of(&bytes));
        }

        #[test]
        fn arbitrary_words_do_nothing(text in "(test|data|proof|knock|done|ok|line|end)( [a-z_]{1,8}=[ -~]{0,20}){0,20}") {
            let line = format!("{TAG} {text}");
            let _ = (FromClient::parse(line.as_bytes()), FromSink::parse(line.as_bytes()));
        }

        #[test]
        fn arbitrary_labels_survive(label in "\\PC{0,100}") {
            let word = FromClient::Test(Box::new(Request { label: Some(label), ..request() }));
            proptest::prop_assert_eq!(FromClient::parse(word.text().trim_end_matches('\n').as_bytes()), Ok(word));
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
        assert_eq!(Opening::of(&endless), Opening::TooLong);
    }
}
