//! What a client asks a listener for, as it crosses the wire.

use std::time::Duration;

use common::cli::MAX_LABEL;
use common::net::wire::{Values, WireError, Words, micros};

use crate::udp::MAX_DATAGRAM;

/// What a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestKind {
    /// The client sends.
    Send,
    /// The listener sends.
    Recv,
    /// Requests and responses.
    Ping,
}

impl TestKind {
    fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Recv => "recv",
            Self::Ping => "ping",
        }
    }

    /// The word in the direction column.
    pub fn direction(self) -> &'static str {
        match self {
            Self::Send => "up",
            Self::Recv => "down",
            Self::Ping => "echo",
        }
    }
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What.
    pub kind: TestKind,
    /// Number of the run.
    pub run: u64,
    /// The client's label.
    pub label: Option<String>,
    /// Bits of payload per second; `None` for as fast as it goes.
    pub rate: Option<u64>,
    /// Bytes of a datagram; `None` for what fits the sender's route.
    pub size: Option<u64>,
    /// Datagrams at a time.
    pub burst: Option<u64>,
    /// How long; `None` when an amount ends the test.
    pub time: Option<Duration>,
    /// Bytes of payload in all.
    pub bytes: Option<u64>,
    /// Not counted before that.
    pub warmup: Duration,
    /// Interval lines wanted.
    pub interval: Option<Duration>,
    /// Give up after so long without a datagram.
    pub idle_timeout: Duration,
    /// Let datagrams be fragmented.
    pub fragment: bool,
    /// Many datagrams per call.
    pub offload: bool,
    /// Buffers of both ends.
    pub buffer: Option<u64>,
}

impl Request {
    /// Adds what it says to a word that is on its way.
    pub fn add_to(&self, words: Words) -> Words {
        words
            .with("kind", self.kind.name())
            .with("run", self.run)
            .with("warmup", micros(self.warmup))
            .with("idle", micros(self.idle_timeout))
            .with("fragment", u8::from(self.fragment))
            .with("offload", u8::from(self.offload))
            .with_some("rate", self.rate)
            .with_some("size", self.size)
            .with_some("burst", self.burst)
            .with_some("time", self.time.map(micros))
            .with_some("bytes", self.bytes)
            .with_some("interval", self.interval.map(micros))
            .with_some("buffer", self.buffer)
            .with_some("label", self.label.as_ref())
    }

    /// Reads what follows the word.
    pub fn read(values: &Values) -> Result<Self, WireError> {
        let any = |values: &Values, key| values.within(key, u64::MAX);
        Ok(Self {
            kind: match values.text("kind")?.as_str() {
                "send" => TestKind::Send,
                "recv" => TestKind::Recv,
                "ping" => TestKind::Ping,
                _ => return Err(WireError::BadValue("kind")),
            },
            run: values.number("run")?,
            label: values.optional("label").filter(|label| label.len() <= MAX_LABEL),
            rate: values.some("rate", any)?,
            size: values.some("size", |values, key| values.within(key, MAX_DATAGRAM))?,
            burst: values.some("burst", any)?,
            time: values.some("time", Values::positive_time)?,
            bytes: values.some("bytes", any)?,
            warmup: values.time("warmup")?,
            interval: values.some("interval", Values::positive_time)?,
            idle_timeout: values.positive_time("idle")?,
            fragment: values.flag("fragment")?,
            offload: values.flag("offload")?,
            buffer: values.some("buffer", any)?,
        })
    }
}
