//! From counts and a sample to one line: pure arithmetic.

use common::measure::latency::Percentiles;
use common::measure::sample::{Epoch, Identity, Sample};
use common::output;
use common::schema::Fixed;
use common::schema::line::{Flag, Flags, Line, Span};
use common::schema::udpblast::Udp;

use crate::engine::Offload;
use crate::tally::Arrived;

/// What stays the same for all lines of one end of a run.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The shared columns of it.
    pub identity: Identity,
    /// up, down or echo.
    pub direction: &'static str,
    /// Bits of payload per second asked for.
    pub rate: Option<u64>,
    /// Bytes of a datagram.
    pub size: u64,
    /// Bytes of UDP and IP headers.
    pub header_bytes: u64,
    /// MTU of the route.
    pub mtu: Option<u64>,
    /// Send and receive buffer as granted.
    pub buffers: (Option<u64>, Option<u64>),
    /// Buffer asked for.
    pub buffer_asked: Option<u64>,
    /// This end sends.
    pub sends: bool,
    /// Datagrams go there and back.
    pub is_echo: bool,
}

/// What was counted in a span beside bytes and datagrams.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// How datagrams crossed the border of the kernel.
    pub offload: Offload,
    /// Datagrams sent, as far as this end knows.
    pub sent: Option<u64>,
    /// Datagrams that arrived, or pings that came back, as far as this end knows.
    pub received: Option<u64>,
    /// The receiver's account of them, as far as this end knows: nobody keeps one of pings.
    pub arrived: Option<Arrived>,
    /// Jitter, microseconds.
    pub jitter_us: Option<f64>,
    /// Refused by the sender's own queue.
    pub sender_drops: Option<u64>,
    /// Round-trip times.
    pub latency: Percentiles,
}

/// One line of `udpblast`.
#[derive(Debug, Clone)]
pub struct Record {
    /// The shared columns.
    pub line: Line,
    udp: Udp,
}

impl Record {
    /// The line of a span.
    pub fn new(subject: &Subject, epoch: &Epoch, span: Span, sample: &Sample, counted: &Counted) -> Self {
        let losses = counted.sent.zip(counted.arrived).map(|(sent, arrived)| arrived.losses(sent));
        let lost = counted.sent.zip(counted.received).map(|(sent, received)| sent.saturating_sub(received));
        let seconds = sample.length.as_secs_f64();
        // A transaction is two datagrams.
        let datagrams = sample.counts.ops * if subject.is_echo { 2 } else { 1 };
        let wire_bytes = sample.counts.bytes + datagrams * subject.header_bytes;
        let udp = Udp {
            direction: subject.direction,
            rate_bits_per_s: subject.rate,
            datagram_bytes: subject.size,
            offload: counted.offload.name(),
            sent: counted.sent,
            received: counted.received,
            lost,
            lost_pct: lost.zip(counted.sent).and_then(|(lost, sent)| Fixed::ratio(100.0 * lost as f64, sent as f64)),
            duplicated: counted.arrived.map(|arrived| arrived.duplicated),
            reordered: counted.arrived.map(|arrived| arrived.reordered),
            late: counted.arrived.map(|arrived| arrived.late),
            network_lost: losses.map(|(lost, drops)| lost - drops),
            socket_drops: losses.map(|(_, drops)| drops),
            sender_drops: counted.sender_drops,
            strangers: counted.arrived.map(|arrived| arrived.strangers),
            jitter_us: counted.jitter_us.and_then(Fixed::new),
            wire_bytes_per_s: Fixed::ratio(wire_bytes as f64, seconds),
            mtu_bytes: subject.mtu,
            send_buffer_bytes: subject.buffers.0,
            recv_buffer_bytes: subject.buffers.1,
            p50_us: counted.latency.p50,
            p90_us: counted.latency.p90,
            p99_us: counted.latency.p99,
            p999_us: counted.latency.p999,
            max_us: counted.latency.max,
        };
        let mut flags = Flags::default();
        let too_large = subject.mtu.is_some_and(|mtu| subject.size + subject.header_bytes > mtu);
        flags.raise_if(too_large, Flag::Fragmented);
        let granted = if subject.sends { subject.buffers.0 } else { subject.buffers.1 };
        // The kernel grants twice what was asked for, for its own overhead.
        let capped = subject.buffer_asked.zip(granted).is_some_and(|(asked, got)| got < asked.saturating_mul(2));
        flags.raise_if(capped, Flag::Capped);
        Self { line: sample.line(&subject.identity, epoch, span, lost, flags), udp }
    }

    /// Raises `flag` if `holds`.
    pub fn raise_if(&mut self, holds: bool, flag: Flag) {
        self.line.flags.raise_if(holds, flag);
    }

    /// The line as CSV, LF included.
    pub fn text(&self) -> anyhow::Result<String> {
        output::line_of(&(&self.line, &self.udp))
    }

    /// The same line under another test name.
    #[must_use]
    pub fn renamed(&self, test: &'static str) -> Self {
        let mut renamed = self.clone();
        renamed.line.test = test;
        renamed
    }

    /// Whether the sender got rid of what the rate asks for, within a hundredth.
    pub fn keeps(&self, bits_per_s: u64) -> bool {
        self.line.bytes_per_s.is_some_and(|rate| rate.value() * 8.0 >= 0.99 * bits_per_s as f64)
    }

    /// Datagrams that the receiver's socket dropped.
    pub fn socket_drops(&self) -> u64 {
        self.udp.socket_drops.unwrap_or_default()
    }

    /// Lost share in percent.
    pub fn lost_pct(&self) -> Option<f64> {
        self.udp.lost_pct.map(Fixed::value)
    }
}
