//! From two readings of the sockets and a sample to one line: pure arithmetic.

use crate::tcp_info::TcpInfo;
use common::measure::latency::Percentiles;
use common::measure::sample::{Epoch, Identity, Sample};
use common::net::socket;
use common::output;
use common::schema::Fixed;
use common::schema::line::{Flag, Flags, Line, Span};
use common::schema::tcpsink::Tcp;

use crate::engine::{StageTimes, Stream};

/// What the kernel says of a stream, or of all of one direction, at one moment.
#[derive(Debug, Clone, Default)]
pub struct TcpState {
    streams: u64,
    /// Bytes of ours that the other end's kernel has.
    pub acked: Option<u64>,
    /// Bytes of ours wait in this end's kernel, or on their way.
    pub has_outstanding: bool,
    retransmits: Option<u64>,
    retransmitted_bytes: Option<u64>,
    reorderings: Option<u64>,
    out_of_order: Option<u64>,
    busy_us: Option<u64>,
    rwnd_limited_us: Option<u64>,
    sndbuf_limited_us: Option<u64>,
    delivery_rate: Option<u64>,
    pacing_rate: Option<u64>,
    mss: Option<u64>,
    rtt_us: Option<f64>,
    rtt_var_us: Option<f64>,
    min_rtt_us: Option<u64>,
    cwnd_bytes: Option<u64>,
    send_buffer: Option<u64>,
    recv_buffer: Option<u64>,
    congestion: Option<String>,
}

impl TcpState {
    /// Asks the kernel.
    pub fn of(stream: &Stream, sends: bool) -> Self {
        let mut state = Self { streams: 1, ..Self::default() };
        (state.send_buffer, state.recv_buffer) = socket::granted_buffers(&stream.socket);
        state.congestion = socket::congestion_control(&stream.socket);
        let Ok(info) = TcpInfo::of(&stream.socket) else { return state };
        state.acked = info.bytes_acked();
        state.has_outstanding = info.has_outstanding();
        state.retransmits = info.total_retransmits();
        state.retransmitted_bytes = info.bytes_retransmitted();
        state.out_of_order = info.out_of_order_packets();
        state.reorderings = info.reorderings();
        state.rtt_us = info.rtt_us().map(|us| us as f64);
        state.rtt_var_us = info.rtt_var_us().map(|us| us as f64);
        state.min_rtt_us = info.min_rtt_us();
        state.cwnd_bytes = info.send_cwnd().zip(info.send_mss()).map(|(segments, mss)| segments * mss);
        state.pacing_rate = info.max_pacing_rate();
        state.mss = if sends { info.send_mss() } else { info.recv_mss() };
        if sends {
            state.busy_us = info.busy_us();
            state.rwnd_limited_us = info.rwnd_limited_us();
            state.sndbuf_limited_us = info.sndbuf_limited_us();
            state.delivery_rate = info.delivery_rate();
        }
        state
    }

    /// Counts, rates and windows summed, round-trip times averaged, buffers and names of the first.
    pub fn sum(streams: &[Self]) -> Self {
        let sum = |field: fn(&Self) -> Option<u64>| streams.iter().map(field).sum::<Option<u64>>();
        let mean = |field: fn(&Self) -> Option<f64>| {
            streams.iter().map(field).sum::<Option<f64>>().map(|total| total / streams.len() as f64)
        };
        let Some(first) = streams.first() else { return Self::default() };
        Self {
            streams: streams.len() as u64,
            acked: sum(|state| state.acked),
            has_outstanding: streams.iter().any(|state| state.has_outstanding),
            retransmits: sum(|state| state.retransmits),
            retransmitted_bytes: sum(|state| state.retransmitted_bytes),
            reorderings: sum(|state| state.reorderings),
            out_of_order: sum(|state| state.out_of_order),
            busy_us: sum(|state| state.busy_us),
            rwnd_limited_us: sum(|state| state.rwnd_limited_us),
            sndbuf_limited_us: sum(|state| state.sndbuf_limited_us),
            delivery_rate: sum(|state| state.delivery_rate),
            pacing_rate: sum(|state| state.pacing_rate),
            mss: streams.iter().filter_map(|state| state.mss).max(),
            rtt_us: mean(|state| state.rtt_us),
            rtt_var_us: mean(|state| state.rtt_var_us),
            min_rtt_us: streams.iter().filter_map(|state| state.min_rtt_us).min(),
            cwnd_bytes: sum(|state| state.cwnd_bytes),
            send_buffer: first.send_buffer,
            recv_buffer: first.recv_buffer,
            congestion: first.congestion.clone(),
        }
    }

    /// Whether the kernel granted less buffer than was asked for. It grants twice the request, for its own overhead.
    pub fn is_capped(&self, asked: Option<u64>, sends: bool) -> bool {
        let granted = if sends { self.send_buffer } else { self.recv_buffer };
        asked.zip(granted).is_some_and(|(asked, granted)| granted < asked.saturating_mul(2))
    }
}

/// What stays the same for all lines of one direction of a run.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The shared columns of it.
    pub identity: Identity,
    /// Connections.
    pub streams: u64,
    /// up, down or echo.
    pub direction: &'static str,
    /// How bytes are moved.
    pub method: &'static str,
    /// This end sends the payload.
    pub sends: bool,
    /// A rate is to be kept.
    pub is_paced: bool,
    /// Bytes per call, at most, or per request.
    pub message_bytes: u64,
    /// Bytes per response.
    pub response_bytes: Option<u64>,
}

/// What was measured in a span beside the sample.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// The kernel's state at its beginning and end.
    pub tcp: [TcpState; 2],
    /// Latencies of the transactions in it.
    pub latency: Percentiles,
    /// Where its time went.
    pub stages: Option<StageTimes>,
}

/// One line of `tcpsink`.
#[derive(Debug, Clone)]
pub struct Record {
    /// The shared columns.
    pub line: Line,
    tcp: Tcp,
}

impl Record {
    /// The line of a span.
    pub fn new(subject: &Subject, epoch: &Epoch, span: Span, sample: &Sample, details: &Details) -> Self {
        let [from, to] = &details.tcp;
        let since = |field: fn(&TcpState) -> Option<u64>| {
            field(to).zip(field(from)).map(|(now, then)| now.saturating_sub(then))
        };
        let share = |field: fn(&TcpState) -> Option<u64>| {
            let all_us = sample.length.as_secs_f64() * 1e6 * to.streams as f64;
            // The kernel accounts in jiffies: a share may end a little above the span.
            Fixed::ratio(100.0 * since(field)? as f64, all_us).map(|share| share.min(100.0))
        };
        let steps = details.stages.map(|times| times.map(|time| Fixed::new(time.as_secs_f64())));
        let step = |sends: bool, step: usize| steps.filter(|_| sends == subject.sends).and_then(|steps| steps[step]);
        let tcp = Tcp {
            streams: subject.streams,
            stream: None,
            direction: subject.direction,
            method: subject.method,
            pacing: subject.is_paced.then_some(if to.pacing_rate.is_some() { "kernel" } else { "sender" }),
            message_bytes: subject.message_bytes,
            response_bytes: subject.response_bytes,
            send_buffer_bytes: to.send_buffer,
            recv_buffer_bytes: to.recv_buffer,
            mss_bytes: to.mss,
            congestion: to.congestion.clone(),
            rtt_us: to.rtt_us.and_then(Fixed::new),
            rtt_var_us: to.rtt_var_us.and_then(Fixed::new),
            min_rtt_us: to.min_rtt_us.and_then(|us| Fixed::new(us as f64)),
            cwnd_bytes: to.cwnd_bytes,
            delivery_bytes_per_s: to.delivery_rate,
            pacing_bytes_per_s: to.pacing_rate,
            busy_pct: share(|state| state.busy_us),
            rwnd_limited_pct: share(|state| state.rwnd_limited_us),
            sndbuf_limited_pct: share(|state| state.sndbuf_limited_us),
            retransmitted_bytes: since(|state| state.retransmitted_bytes),
            reorderings: since(|state| state.reorderings),
            out_of_order_packets: since(|state| state.out_of_order),
            p50_us: details.latency.p50,
            p90_us: details.latency.p90,
            p99_us: details.latency.p99,
            p999_us: details.latency.p999,
            max_us: details.latency.max,
            read_s: step(true, 0),
            send_s: step(true, 1),
            write_s: step(false, 0),
            fsync_s: step(false, 1),
        };
        let errors = since(|state| state.retransmits);
        Self { line: sample.line(&subject.identity, epoch, span, errors, Flags::default()), tcp }
    }

    /// Makes it the line of one stream: such lines have a test name of their own, so that nobody adds them to the sum.
    #[must_use]
    pub fn of_stream(mut self, index: u64) -> Self {
        self.line.test = match self.line.test {
            "tcp_send" => "tcp_send_stream",
            "tcp_recv" => "tcp_recv_stream",
            other => other,
        };
        self.line.cpu_pct = None;
        self.tcp.stream = Some(index);
        self
    }

    /// Raises `flag` if `holds`.
    pub fn raise_if(&mut self, holds: bool, flag: Flag) {
        self.line.flags.raise_if(holds, flag);
    }

    /// The line as CSV, LF included.
    pub fn text(&self) -> anyhow::Result<String> {
        output::line_of(&(&self.line, &self.tcp))
    }
}
