//! What a client asks a sink for, as it crosses the wire. Every number is checked where it arrives.

use std::time::Duration;

use clap::ValueEnum;
use common::cli::MAX_LABEL;
use common::net::wire::{Values, WireError, Words, micros};

use crate::engine::Method;
use crate::engine::file::CHUNK;
use crate::engine::ping::{HELD, Sizes};
use crate::engine::receive::COPY;
use crate::engine::send::MESSAGE;

/// The number of the protocol, which is not that of the columns.
pub const TAG: &str = "tcpsink/1";

/// Most streams each way.
pub const MAX_STREAMS: u64 = 256;

/// Largest message, bytes: what one call moves at most anyway.
pub const MAX_MESSAGE: u64 = 1 << 30;

/// Shortest interval, of lines: a sink is not made to print more often. With lines of each stream, so much for each.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// Highest rate, bits per second: far above what any card does, and small enough to reckon with.
pub const MAX_RATE: u64 = 1 << 50;

/// Longest name of a congestion control (`TCP_CA_NAME_MAX` of the kernel, its NUL taken off).
const MAX_CONGESTION: usize = 15;

/// What a stream costs its sink beside its buffer: a thread, and what is kept of it.
const STREAM_BYTES: u64 = 32 * 1024;

/// What a test costs its sink: threads, and lines that its client has not read.
const TEST_BYTES: u64 = 512 * 1024;

/// Most requests of a stream that are under way at a time.
pub const MAX_DEPTH: u64 = 4096;

/// What a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestKind {
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

impl TestKind {
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
#[allow(clippy::struct_excessive_bools, reason = "each is an option that is set or not")]
pub struct Request {
    /// What.
    pub kind: TestKind,
    /// Number of the run, for the sink's lines.
    pub run: u64,
    /// The client's stay: all tests of one call of the tool have the same number.
    pub visit: u64,
    /// How soon after this test another one of the same stay may begin; zero in the last one.
    pub next_within: Duration,
    /// Whether the client would wait for a free place, and so has to know that there is none.
    pub queues: bool,
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

impl Request {
    /// The line, LF included.
    pub fn text(&self) -> String {
        let sizes = if let TestKind::Ping(sizes) = self.kind { Some(sizes) } else { None };
        Words::new(TAG, "test")
            .with("kind", self.kind.name())
            .with("run", self.run)
            .with("visit", format_args!("{:x}", self.visit))
            .with("next", micros(self.next_within))
            .with("queue", u8::from(self.queues))
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
            .with_some("depth", sizes.map(|sizes| sizes.depth))
            .with_some("label", self.label.as_ref())
            .end()
    }

    /// Reads what follows the word.
    pub fn read(values: &Values) -> Result<Self, WireError> {
        let kind = match values.text("kind")?.as_str() {
            "send" => TestKind::Send,
            "recv" => TestKind::Recv,
            "both" => TestKind::Both,
            "connect" => TestKind::Connect,
            "ping" => TestKind::Ping(Sizes {
                request: values.within("request", MAX_MESSAGE)?,
                response: values.within("response", MAX_MESSAGE)?,
                depth: values.some("depth", |values, key| values.within(key, MAX_DEPTH))?.unwrap_or(1),
            }),
            _ => return Err(WireError::BadValue("kind")),
        };
        let spaced = |values: &Values, key| match values.time(key)? {
            time if time < SHORTEST_INTERVAL => Err(WireError::BadValue(key)),
            time => Ok(time),
        };
        let request = Self {
            kind,
            run: values.number("run")?,
            // A client that does not say so stays for one test.
            visit: values.some("visit", visit)?.unwrap_or_else(rand::random),
            next_within: values.some("next", Values::time)?.unwrap_or_default(),
            queues: values.some("queue", Values::flag)?.unwrap_or_default(),
            label: values.some("label", |values, key| short(values.text(key)?, MAX_LABEL, key))?,
            streams: values.within("streams", MAX_STREAMS)?,
            per_stream: values.flag("per_stream")?,
            time: values.some("time", Values::positive_time)?,
            bytes: values.some("bytes", |values, key| values.within(key, u64::MAX))?,
            warmup: values.time("warmup")?,
            interval: values.some("interval", spaced)?,
            idle_timeout: values.positive_time("idle")?,
            copy: values.flag("copy")?,
            message: values.some("message", |values, key| values.within(key, MAX_MESSAGE))?,
            method: Method::from_str(&values.text("method")?, false).map_err(|_| WireError::BadValue("method"))?,
            rate: values.some("rate", |values, key| values.within(key, MAX_RATE))?,
            buffer: values.some("buffer", |values, key| values.within(key, u64::MAX))?,
            congestion: values.some("congestion", congestion)?,
            dscp: values.some("dscp", |values, key| {
                u8::try_from(values.number(key)?).ok().filter(|dscp| *dscp < 64).ok_or(WireError::BadValue(key))
            })?,
            nodelay: values.flag("nodelay")?,
        };
        match request.flaw() {
            Some(key) => Err(WireError::BadValue(key)),
            None => Ok(request),
        }
    }

    /// The value that does not go with the others, if there is one.
    pub fn flaw(&self) -> Option<&'static str> {
        let is_endless = self.time.is_none() && self.bytes.is_none();
        let lines = if self.per_stream { self.streams } else { 1 };
        let shortest = SHORTEST_INTERVAL * u32::try_from(lines).unwrap_or(u32::MAX);
        if is_endless && matches!(self.kind, TestKind::Recv | TestKind::Both | TestKind::Connect) {
            // Something has to end what the sink does by itself.
            Some("time")
        } else if self.rate.is_some_and(|bits| bits / 8 < self.streams) {
            // A byte per second is the least that a stream can send.
            Some("rate")
        } else if self.interval.is_some_and(|interval| interval < shortest) {
            Some("interval")
        } else {
            None
        }
    }

    /// Whether it makes the sink send: that is for those who know the secret, where there is one.
    pub fn makes_sink_send(&self) -> bool {
        self.kind.ways().iter().any(|way| *way != Way::Up)
    }

    /// Whether it is what a sink can store.
    pub fn is_one_stream_up(&self) -> bool {
        self.kind == TestKind::Send && self.streams == 1
    }

    /// The memory that its sink needs for it, at most.
    pub fn memory(&self, is_stored: bool) -> u64 {
        let of_stream = |way: &Way| match (way, self.kind) {
            (Way::Echo, TestKind::Ping(sizes)) => sizes.request.min(HELD),
            (Way::Down, _) => match (self.method, self.message.unwrap_or(MESSAGE)) {
                (Method::Auto | Method::Write, message) if message <= MESSAGE => 0,
                (_, message) => message.min(self.bytes.unwrap_or(u64::MAX)),
            },
            _ if is_stored => CHUNK as u64,
            _ if self.copy => self.message.unwrap_or(COPY),
            _ => 0,
        };
        TEST_BYTES + self.kind.ways().iter().map(|way| self.streams * (STREAM_BYTES + of_stream(way))).sum::<u64>()
    }
}

fn visit(values: &Values, key: &'static str) -> Result<u64, WireError> {
    u64::from_str_radix(&values.text(key)?, 16).map_err(|_| WireError::BadValue(key))
}

fn short(text: String, most: usize, key: &'static str) -> Result<String, WireError> {
    if text.len() <= most { Ok(text) } else { Err(WireError::BadValue(key)) }
}

/// A name such as the kernel's: it may make it look for a module.
fn congestion(values: &Values, key: &'static str) -> Result<String, WireError> {
    let name = short(values.text(key)?, MAX_CONGESTION, key)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_plain) { Ok(name) } else { Err(WireError::BadValue(key)) }
}

#[cfg(test)]
pub mod tests;
