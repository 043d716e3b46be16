//! From two readings of the sockets and a sample to one line: pure arithmetic.

use common::output;
use common::sampler::{Epoch, Identity, Sample};
use common::schema::Fixed;
use common::schema::line::{Flag, Flags, Line, Span};
use common::schema::tcpsink::Tcp;
use common::socket::{self, TcpInfo};

use crate::worker::Stream;

/// What the kernel says of all streams of one direction at one moment.
#[derive(Debug, Clone, Default)]
pub struct TcpState {
    /// Segments retransmitted so far.
    retransmits: Option<u64>,
    /// Bytes of ours that the other end's kernel has.
    pub acked: Option<u64>,
    /// Bytes of ours wait in this end's kernel, or on their way.
    pub has_outstanding: bool,
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
    /// Asks the kernel. Counts and windows are summed over streams, round-trip times averaged, buffers taken from the first.
    pub fn read(streams: &[Stream], sends: bool) -> Self {
        let infos: Vec<_> = streams.iter().filter_map(|stream| TcpInfo::of(&stream.socket).ok()).collect();
        let sum = |field: fn(&TcpInfo) -> Option<u64>| infos.iter().map(field).sum::<Option<u64>>();
        let mean = |field: fn(&TcpInfo) -> Option<u64>| sum(field).map(|total| total as f64 / infos.len() as f64);
        let mut state = Self::default();
        let Some(first) = streams.first() else { return state };
        (state.send_buffer, state.recv_buffer) = socket::granted_buffers(&first.socket);
        state.congestion = socket::congestion_control(&first.socket);
        if !infos.is_empty() {
            state.retransmits = sum(TcpInfo::total_retransmits);
            state.acked = sum(TcpInfo::bytes_acked);
            state.has_outstanding = infos.iter().any(TcpInfo::has_outstanding);
            state.mss = infos.iter().filter_map(|info| if sends { info.send_mss() } else { info.recv_mss() }).max();
            state.rtt_us = mean(TcpInfo::rtt_us);
            state.rtt_var_us = mean(TcpInfo::rtt_var_us);
            state.min_rtt_us = infos.iter().filter_map(TcpInfo::min_rtt_us).min();
            state.cwnd_bytes = sum(|info| Some(info.send_cwnd()? * info.send_mss()?));
        }
        state
    }
}

/// One line of `tcpsink`.
#[derive(Debug, Clone)]
pub struct Record {
    /// The shared columns.
    pub line: Line,
    tcp: Tcp,
}

/// What stays the same for all lines of one direction of a run.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The shared columns of it.
    pub identity: Identity,
    /// How bytes are moved.
    pub method: &'static str,
    /// Bytes per call, at most.
    pub message_bytes: u64,
    /// Connections.
    pub streams: u64,
}

impl Record {
    /// The line of `sample`, which began in the state `from` and ended in `to`.
    pub fn new(subject: &Subject, epoch: &Epoch, span: Span, sample: &Sample, from: &TcpState, to: &TcpState) -> Self {
        let errors = to.retransmits.zip(from.retransmits).map(|(now, then)| now.saturating_sub(then));
        let tcp = Tcp {
            streams: subject.streams,
            method: subject.method,
            message_bytes: subject.message_bytes,
            send_buffer_bytes: to.send_buffer,
            recv_buffer_bytes: to.recv_buffer,
            mss_bytes: to.mss,
            congestion: to.congestion.clone(),
            rtt_us: to.rtt_us.and_then(Fixed::new),
            rtt_var_us: to.rtt_var_us.and_then(Fixed::new),
            min_rtt_us: to.min_rtt_us.and_then(|us| Fixed::new(us as f64)),
            cwnd_bytes: to.cwnd_bytes,
        };
        Self { line: sample.line(&subject.identity, epoch, span, errors, Flags::default()), tcp }
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
