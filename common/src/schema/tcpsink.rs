//! The columns of `tcpsink`. `ops` are calls (send or receive) or, for ping and connect, transactions; `errors` are
//! segments retransmitted in the span by this end, for connect: attempts that failed.

use super::cell::Fixed;
use super::column::columns;
use super::role::{FOUND, Form, GAUGE, LATENCY, LOSS, NAME, OF_TIME, RATE, SETTING, SMALLEST, SPENT, quantile, sweep};
use super::set::{Schema, Tests};

/// What `tcpsink` prints.
pub const SCHEMA: Schema = Schema::of_lines("tcpsink/2", Tcp::COLUMNS).of_tests(Tests {
    ops: "calls",
    errors: "retrans",
    in_bits: true,
    transfers: &["tcp_send", "tcp_recv", "tcp_send_stream", "tcp_recv_stream"],
    transactions: &["tcp_ping", "tcp_pong", "tcp_connect", "tcp_idle_ping", "tcp_loaded_ping"],
    ..Tests::BOTH
});

columns! {
    /// The columns of `tcpsink` after the shared ones: from `TCP_INFO` (linux/tcp.h), gauges at the end of the span and
    /// counters over the span, unless it says otherwise.
    pub struct Tcp {
        streams: u64, "", sweep(2), "TCP connections of this direction";
        stream: Option<u64>, "", NAME, "which of them, from 0, on lines of --per-stream; empty on the line of all";
        direction: &'static str, "", NAME.shown(13, "way", Form::Text(4)), "up (client to sink), down (sink to client) or echo (there and back)";
        method: &'static str, "", SETTING, "how this end moved the bytes: write, sendfile, zerocopy (MSG_ZEROCOPY), file (--input, --output), discard (received with MSG_TRUNC, never copied to memory), copy (read into memory)";
        pacing: Option<&'static str>, "", SETTING, "what kept --rate: sender (absolute deadlines) or kernel (those, and SO_MAX_PACING_RATE between them); empty without --rate";
        message_bytes: u64, "B", sweep(5), "most that one call moves; for ping: size of a request";
        response_bytes: Option<u64>, "B", sweep(8), "size of a response; ping only";
        send_buffer_bytes: Option<u64>, "B", GAUGE, "SO_SNDBUF as granted, with the kernel's overhead (socket(7)), of the first stream";
        recv_buffer_bytes: Option<u64>, "B", GAUGE, "SO_RCVBUF as granted, with the kernel's overhead (socket(7)), of the first stream";
        mss_bytes: Option<u64>, "B", FOUND, "largest segment: sent (tcpi_snd_mss) at a sender, received (tcpi_rcv_mss) at a receiver";
        congestion: Option<String>, "", SETTING, "congestion control of this end";
        rtt_us: Option<Fixed<1>>, "us", LATENCY.shown(7, "rtt", Form::Micros), "smoothed round-trip time seen by this end (tcpi_rtt; a receiver knows little but the handshake), mean of streams";
        rtt_var_us: Option<Fixed<1>>, "us", LATENCY, "its mean deviation (tcpi_rttvar)";
        min_rtt_us: Option<Fixed<1>>, "us", SMALLEST, "smallest round-trip time seen lately (tcpi_min_rtt)";
        cwnd_bytes: Option<u64>, "B", GAUGE.shown(10, "cwnd", Form::Bytes), "congestion window, summed over streams (tcpi_snd_cwnd x tcpi_snd_mss)";
        delivery_bytes_per_s: Option<u64>, "B/s", RATE, "the kernel's own latest estimate of what gets through (tcpi_delivery_rate), summed over streams; senders only";
        pacing_bytes_per_s: Option<u64>, "B/s", GAUGE, "limit of SO_MAX_PACING_RATE as granted, summed over streams; empty without";
        busy_pct: Option<Fixed<2>>, "%", OF_TIME, "share of the span in which there was something to send (tcpi_busy_time), mean of streams; senders only";
        rwnd_limited_pct: Option<Fixed<2>>, "%", OF_TIME.low(), "share of the span in which the receiver's window held the sender up (tcpi_rwnd_limited); senders only";
        sndbuf_limited_pct: Option<Fixed<2>>, "%", OF_TIME.low(), "share of the span in which the send buffer held it up (tcpi_sndbuf_limited); senders only";
        retransmitted_bytes: Option<u64>, "B", LOSS, "bytes sent again in the span (tcpi_bytes_retrans)";
        reorderings: Option<u64>, "", LOSS, "reorderings that the sender noticed in the span (tcpi_reord_seen)";
        out_of_order_packets: Option<u64>, "", LOSS, "packets that the receiver got out of order in the span (tcpi_rcv_ooopack)";
        p50_us: Option<Fixed<3>>, "us", quantile(500).headline(3).shown(3, "p50", Form::Micros), "median latency of the span's transactions; ping and connect only, as are the next four";
        p90_us: Option<Fixed<3>>, "us", quantile(900), "90th percentile";
        p99_us: Option<Fixed<3>>, "us", quantile(990).shown(4, "p99", Form::Micros), "99th percentile";
        p999_us: Option<Fixed<3>>, "us", quantile(999).shown(8, "p99.9", Form::Micros), "99.9th percentile";
        max_us: Option<Fixed<3>>, "us", quantile(1000).shown(9, "max", Form::Micros), "longest";
        read_s: Option<Fixed<6>>, "s", SPENT, "time in the span spent reading --input";
        send_s: Option<Fixed<6>>, "s", SPENT, "time in the span spent handing it to the socket";
        write_s: Option<Fixed<6>>, "s", SPENT, "time in the span spent writing --output";
        fsync_s: Option<Fixed<6>>, "s", SPENT, "time in the span spent in fsync of --output";
        depth: Option<u64>, "", sweep(3), "requests of a stream under way at a time; ping only";
    }
}
