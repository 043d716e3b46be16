//! What a client asks a sink for, as it crosses the wire.

use std::time::Duration;

use clap::ValueEnum;
use common::cli::MAX_LABEL;
use common::net::wire::{Values, WireError, Words, micros};

use crate::engine::Method;
use crate::engine::ping::Sizes;

/// The number of the protocol, which is not that of the columns.
pub const TAG: &str = "tcpsink/1";

/// Most streams each way.
pub const MAX_STREAMS: u64 = 256;

/// Largest message, bytes: what one call moves at most anyway.
pub const MAX_MESSAGE: u64 = 1 << 30;

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
pub struct Request {
    /// What.
    pub kind: TestKind,
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

impl Request {
    /// The line, LF included.
    pub fn text(&self) -> String {
        let sizes = if let TestKind::Ping(sizes) = self.kind { Some(sizes) } else { None };
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
