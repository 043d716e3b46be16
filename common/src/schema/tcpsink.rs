//! The columns of `tcpsink`. `ops` are calls (send or receive), `errors` segments retransmitted in the span.

use super::{Fixed, Schema, columns};

/// What `tcpsink` prints.
pub const SCHEMA: Schema = Schema::of_lines("tcpsink/1", Tcp::COLUMNS);

columns! {
    /// The columns of `tcpsink` after the shared ones, from `TCP_INFO` (linux/tcp.h) at the end of the span unless it says otherwise.
    pub struct Tcp {
        streams: u64, "", "TCP connections that carried the bytes";
        method: &'static str, "", "how this end moved them: write, discard (received with MSG_TRUNC, never copied to memory) or copy (read into memory)";
        message_bytes: u64, "B", "size of each send call, or most that one receive call takes";
        send_buffer_bytes: Option<u64>, "B", "SO_SNDBUF as granted, with the kernel's overhead (socket(7))";
        recv_buffer_bytes: Option<u64>, "B", "SO_RCVBUF as granted, with the kernel's overhead (socket(7))";
        mss_bytes: Option<u64>, "B", "largest segment: sent (tcpi_snd_mss) at a sender, received (tcpi_rcv_mss) at a receiver";
        congestion: Option<String>, "", "congestion control of this end";
        rtt_us: Option<Fixed<1>>, "us", "smoothed round-trip time seen by this end (tcpi_rtt; a receiver knows little but the handshake)";
        rtt_var_us: Option<Fixed<1>>, "us", "its mean deviation (tcpi_rttvar)";
        min_rtt_us: Option<Fixed<1>>, "us", "smallest round-trip time seen lately (tcpi_min_rtt)";
        cwnd_bytes: Option<u64>, "B", "congestion window, summed over streams (tcpi_snd_cwnd x tcpi_snd_mss)";
    }
}
