//! The columns of `udpblast`. `ops` are datagrams (pings: transactions), `errors` those lost.

use super::{Fixed, Schema, columns};

/// What `udpblast` prints.
pub const SCHEMA: Schema = Schema::of_lines("udpblast/1", Udp::COLUMNS);

columns! {
    /// The columns of `udpblast` after the shared ones. What only the receiver can know stands on a sender's total too,
    /// from the receiver's report, and is empty on a sender's interval.
    pub struct Udp {
        direction: &'static str, "", "up (client to listener), down (listener to client) or echo (there and back)";
        rate_bits_per_s: Option<u64>, "bit/s", "rate of payload asked for; empty for as fast as it goes";
        datagram_bytes: u64, "B", "payload of a datagram, with this tool's header of 24 bytes";
        offload: &'static str, "", "how this end handed datagrams over: gso or gro (many per call, cut and joined by the kernel or the card), mmsg (many per call) or none (one per call)";
        sent: Option<u64>, "", "datagrams that the sender's kernel accepted";
        received: Option<u64>, "", "distinct datagrams that arrived";
        lost: Option<u64>, "", "sent - received, the tail of the run included";
        lost_pct: Option<Fixed<4>>, "%", "lost / sent";
        duplicated: Option<u64>, "", "arrivals of datagrams that had arrived before";
        reordered: Option<u64>, "", "arrivals after one that was sent later";
        late: Option<u64>, "", "arrivals more than 262144 datagrams behind: given up before, and counted as lost";
        network_lost: Option<u64>, "", "lost between the two sockets: lost - socket_drops";
        socket_drops: Option<u64>, "", "lost in the receiver's own full socket buffer (SO_RXQ_OVFL)";
        sender_drops: Option<u64>, "", "not sent: the sender's own queue was full (ENOBUFS); not part of lost";
        strangers: Option<u64>, "", "datagrams of others that reached this end's socket, ignored";
        jitter_us: Option<Fixed<3>>, "us", "interarrival jitter (RFC 3550, 6.4.1), from the kernel's receive time stamps";
        wire_bytes_per_s: Option<Fixed<1>>, "B/s", "rate with UDP and IP headers (28 bytes a datagram for IPv4, 48 for IPv6)";
        mtu_bytes: Option<u64>, "B", "MTU of the route";
        send_buffer_bytes: Option<u64>, "B", "SO_SNDBUF as granted, with the kernel's overhead (socket(7))";
        recv_buffer_bytes: Option<u64>, "B", "SO_RCVBUF as granted, with the kernel's overhead (socket(7))";
        p50_us: Option<Fixed<3>>, "us", "median round-trip time; ping only, as are the next four";
        p90_us: Option<Fixed<3>>, "us", "90th percentile";
        p99_us: Option<Fixed<3>>, "us", "99th percentile";
        p999_us: Option<Fixed<3>>, "us", "99.9th percentile";
        max_us: Option<Fixed<3>>, "us", "longest";
    }
}
