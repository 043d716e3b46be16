//! What a client asks a listener for, as it crosses the wire. Every number is checked where it arrives.

use std::time::Duration;

use common::net::wire::{Values, WireError, Words, micros};

use crate::packet::HEADER;
use crate::udp::MAX_DATAGRAM;

/// Most streams of a test.
pub const MAX_STREAMS: u64 = 64;

/// Longest label, bytes; what the command line takes at most.
pub const MAX_LABEL_TEXT: usize = common::cli::MAX_LABEL;

/// Shortest interval, of lines and of pings: a listener is not made to print or answer more often.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// Highest rate, bits per second: far above what any card does, and small enough to reckon with.
const MAX_RATE: u64 = 1 << 50;

/// Most datagrams at a time; what the command line takes at most.
const MAX_BURST: u64 = 1_000_000;

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
    /// The client's stay: all tests of one call of the tool have the same number.
    pub visit: u64,
    /// How soon after this test another one of the same stay may begin; zero if none follows.
    pub next_within: Duration,
    /// Sockets at each end.
    pub streams: u64,
    /// Lines of each stream.
    pub per_stream: bool,
    /// Bits of payload per second, all streams together; `None` for as fast as it goes.
    pub rate: Option<u64>,
    /// Bytes of payload of a datagram; `None` for what fits the sender's MTU.
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
    /// Between two pings; `None` for one after the other.
    pub every: Option<Duration>,
    /// Give up after so long without a datagram.
    pub idle_timeout: Duration,
    /// Let datagrams be fragmented.
    pub fragment: bool,
    /// Many datagrams per call.
    pub offload: bool,
    /// Buffers of both ends.
    pub buffer: Option<u64>,
    /// Differentiated services code point.
    pub dscp: Option<u8>,
}

impl Request {
    /// Adds what it says to a letter that is on its way.
    pub fn add_to(&self, words: Words) -> Words {
        words
            .with("kind", self.kind.name())
            .with("run", self.run)
            .with("visit", format_args!("{:x}", self.visit))
            .with("next", micros(self.next_within))
            .with("streams", self.streams)
            .with("per_stream", u8::from(self.per_stream))
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
            .with_some("every", self.every.map(micros))
            .with_some("buffer", self.buffer)
            .with_some("dscp", self.dscp)
    }

    /// Reads what follows the word.
    pub fn read(values: &Values) -> Result<Self, WireError> {
        let any = |values: &Values, key| values.within(key, u64::MAX);
        let spaced = |values: &Values, key| {
            values
                .time(key)
                .and_then(|time| if time < SHORTEST_INTERVAL { Err(WireError::BadValue(key)) } else { Ok(time) })
        };
        let request = Self {
            kind: match values.text("kind")?.as_str() {
                "send" => TestKind::Send,
                "recv" => TestKind::Recv,
                "ping" => TestKind::Ping,
                _ => return Err(WireError::BadValue("kind")),
            },
            run: values.number("run")?,
            visit: u64::from_str_radix(&values.text("visit")?, 16).map_err(|_| WireError::BadValue("visit"))?,
            next_within: values.time("next")?,
            streams: values.within("streams", MAX_STREAMS)?,
            per_stream: values.flag("per_stream")?,
            rate: values.some("rate", |values, key| values.within(key, MAX_RATE))?,
            size: values.some("size", |values, key| {
                let size = values.within(key, MAX_DATAGRAM)?;
                if size < HEADER as u64 { Err(WireError::BadValue(key)) } else { Ok(size) }
            })?,
            burst: values.some("burst", |values, key| values.within(key, MAX_BURST))?,
            time: values.some("time", Values::positive_time)?,
            bytes: values.some("bytes", any)?,
            warmup: values.time("warmup")?,
            interval: values.some("interval", spaced)?,
            every: values.some("every", Values::positive_time)?,
            idle_timeout: values.positive_time("idle")?,
            fragment: values.flag("fragment")?,
            offload: values.flag("offload")?,
            buffer: values.some("buffer", any)?,
            dscp: values
                .some("dscp", Values::number)?
                .map(|code| u8::try_from(code).ok().filter(|code| *code < 64).ok_or(WireError::BadValue("dscp")))
                .transpose()?,
        };
        // Something has to end it, and a rate is at least a bit per second for each stream.
        if request.time.is_none() && request.bytes.is_none() {
            return Err(WireError::BadValue("time"));
        }
        if request.rate.is_some_and(|rate| rate < request.streams) {
            return Err(WireError::BadValue("rate"));
        }
        if request.kind == TestKind::Ping && (request.streams > 1 || request.size.is_none() || request.time.is_none()) {
            return Err(WireError::BadValue("kind"));
        }
        Ok(request)
    }

    /// How long this test may take at most where everything goes as asked, the warm-up included; `None` if nothing says so.
    pub fn length(&self) -> Option<Duration> {
        let time = match (self.time, self.bytes, self.rate) {
            (Some(time), _, _) => Some(time),
            (None, Some(bytes), Some(rate)) => {
                // A datagram may be larger than all of it.
                let bits = u128::from(bytes.max(MAX_DATAGRAM * self.streams)) * 8_000;
                Some(Duration::from_millis(u64::try_from(bits / u128::from(rate)).unwrap_or(u64::MAX)))
            }
            _ => None,
        };
        time.map(|time| time.saturating_add(self.warmup))
    }

    /// The time between two portions of a stream, at least: what no end may take for silence.
    pub fn gap(&self) -> Duration {
        let portion = u128::from(self.burst.unwrap_or(1)) * u128::from(self.size.unwrap_or(MAX_DATAGRAM));
        let of_rate =
            self.rate.map(|rate| portion * 8 * 1_000_000_000 * u128::from(self.streams) / u128::from(rate.max(1)));
        let of_rate = of_rate.map(|nanos| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
        [of_rate, self.every].into_iter().flatten().max().unwrap_or_default()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A request that says something of everything.
    pub fn request() -> Request {
        Request {
            kind: TestKind::Send,
            run: 1,
            visit: 0xabc,
            next_within: Duration::from_secs(5),
            streams: 2,
            per_stream: true,
            rate: Some(50_000_000),
            size: Some(1472),
            burst: Some(10),
            time: Some(Duration::from_secs(3)),
            bytes: Some(5_000_000),
            warmup: Duration::ZERO,
            interval: Some(Duration::from_secs(1)),
            every: None,
            idle_timeout: Duration::from_secs(5),
            fragment: true,
            offload: true,
            buffer: Some(8192),
            dscp: Some(46),
        }
    }

    fn read(request: &Request) -> Result<Request, WireError> {
        let text = request.add_to(Words::new("t/1", "w")).end();
        Request::read(&common::net::wire::split("t/1", text.trim_end().as_bytes()).unwrap().1)
    }

    #[test]
    fn what_is_asked_for_survives_the_wire() {
        for request in [
            request(),
            Request { kind: TestKind::Recv, rate: None, size: None, bytes: None, ..request() },
            Request {
                kind: TestKind::Ping,
                streams: 1,
                burst: None,
                every: Some(Duration::from_millis(5)),
                interval: None,
                dscp: None,
                ..request()
            },
        ] {
            assert_eq!(read(&request), Ok(request));
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused_where_they_arrive() {
        let refused = |request: Request| read(&request).unwrap_err();
        assert_eq!(refused(Request { size: Some(1), ..request() }), WireError::BadValue("size"));
        assert_eq!(refused(Request { size: Some(70_000), ..request() }), WireError::BadValue("size"));
        assert_eq!(refused(Request { rate: Some(1), ..request() }), WireError::BadValue("rate"));
        assert_eq!(refused(Request { streams: 0, ..request() }), WireError::BadValue("streams"));
        assert_eq!(refused(Request { streams: 65, ..request() }), WireError::BadValue("streams"));
        let interval = Some(Duration::from_micros(1));
        assert_eq!(refused(Request { interval, ..request() }), WireError::BadValue("interval"));
        assert_eq!(refused(Request { burst: Some(2_000_000), ..request() }), WireError::BadValue("burst"));
        assert_eq!(refused(Request { time: None, bytes: None, ..request() }), WireError::BadValue("time"));
        assert_eq!(refused(Request { kind: TestKind::Ping, ..request() }), WireError::BadValue("kind"));
    }

    #[test]
    fn gaps_and_lengths_are_known_in_advance() {
        let slow = Request { rate: Some(800), size: Some(100), burst: None, streams: 1, ..request() };
        assert_eq!(slow.gap(), Duration::from_secs(1));
        let amount =
            Request { time: None, bytes: Some(1_000_000), rate: Some(8_000), warmup: Duration::ZERO, ..request() };
        assert_eq!(amount.length(), Some(Duration::from_secs(1000)));
        assert_eq!(Request { rate: None, ..amount }.length(), None);
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_asked_for_can_be_reckoned_with(
            rate in proptest::option::of(proptest::num::u64::ANY), bytes in proptest::option::of(proptest::num::u64::ANY),
            burst in proptest::option::of(proptest::num::u64::ANY), streams in 0_u64..100, size in proptest::option::of(0_u64..70_000),
        ) {
            if let Ok(request) = read(&Request { streams, rate, size, burst, bytes, ..request() }) {
                let _ = (request.gap(), request.length());
            }
        }
    }
}
