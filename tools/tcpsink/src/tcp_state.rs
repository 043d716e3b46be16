//! What the kernel says of a stream, or of all of one direction, at one moment.

use crate::engine::Stream;
use crate::socket;
use crate::tcp_info::TcpInfo;

/// What the kernel says of a stream, or of all of one direction, at one moment.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the fields are named as the columns that they become")]
pub struct TcpState {
    /// How many streams it is about.
    pub streams: u64,
    /// Bytes of ours that the other end's kernel has.
    pub acked: Option<u64>,
    /// Bytes of ours wait in this end's kernel, or on their way.
    pub has_outstanding: bool,
    /// How many: those on their way in whole segments.
    pub rest: u64,
    pub retransmits: Option<u64>,
    pub retransmitted_bytes: Option<u64>,
    pub reorderings: Option<u64>,
    pub out_of_order: Option<u64>,
    pub busy_us: Option<u64>,
    pub rwnd_limited_us: Option<u64>,
    pub sndbuf_limited_us: Option<u64>,
    pub delivery_rate: Option<u64>,
    pub pacing_rate: Option<u64>,
    pub mss: Option<u64>,
    pub rtt_us: Option<f64>,
    pub rtt_var_us: Option<f64>,
    pub min_rtt_us: Option<u64>,
    pub cwnd_bytes: Option<u64>,
    pub send_buffer: Option<u64>,
    pub recv_buffer: Option<u64>,
    pub congestion: Option<String>,
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
        state.rest = info.outstanding_bytes();
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
    pub fn sum<'a>(streams: impl IntoIterator<Item = &'a Self>) -> Self {
        let streams: Vec<&Self> = streams.into_iter().collect();
        let sum = |field: fn(&Self) -> Option<u64>| streams.iter().copied().map(field).sum::<Option<u64>>();
        let mean = |field: fn(&Self) -> Option<f64>| {
            streams.iter().copied().map(field).sum::<Option<f64>>().map(|total| total / streams.len() as f64)
        };
        let Some(first) = streams.first() else { return Self::default() };
        Self {
            streams: streams.len() as u64,
            acked: sum(|state| state.acked),
            has_outstanding: streams.iter().any(|state| state.has_outstanding),
            rest: streams.iter().map(|state| state.rest).sum(),
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
