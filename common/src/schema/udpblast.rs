//! The columns of `udpblast`. `ops` are datagrams (pings: transactions), `errors` those lost.

use super::cell::Fixed;
use super::column::columns;
use super::role::{AMOUNT, FOUND, Form, GAUGE, LATENCY, LOSS, NAME, RATE, SETTING, quantile, share, sweep};
use super::set::{Schema, Tests};

/// What `udpblast` prints.
pub const SCHEMA: Schema = Schema::of_lines("udpblast/1", Udp::COLUMNS).of_tests(Tests {
    ops: "datagrams",
    errors: "lost",
    in_bits: true,
    transfers: &["udp_send", "udp_recv", "udp_search"],
    transactions: &["udp_ping", "udp_pong"],
    ..Tests::BOTH
});

columns! {
    /// The columns of `udpblast` after the shared ones. What only the receiver can know stands on a sender's total too,
    /// from the receiver's report, and is empty on a sender's interval.
    pub struct Udp {
        direction: &'static str, "", NAME, "up (client to listener), down (listener to client) or echo (there and back)";
        rate_bits_per_s: Option<u64>, "bit/s", sweep(7), "rate of payload asked for; empty for as fast as it goes";
        datagram_bytes: Option<u64>, "B", sweep(6), "payload of a datagram, with this tool's header of 24 bytes; empty where nobody named it and nothing arrived";
        offload: &'static str, "", FOUND, "how this end handed datagrams over: gso or gro (many per call, cut and joined by the kernel or the card), mmsg (many per call) or none (one per call)";
        sent: Option<u64>, "", AMOUNT, "datagrams that the sender's kernel accepted";
        received: Option<u64>, "", AMOUNT, "distinct datagrams that arrived";
        lost: Option<u64>, "", LOSS, "sent - received, the tail of the run included";
        lost_pct: Option<Fixed<4>>, "%", share("lost", "sent").low().shown(5, "lost", Form::Percent), "lost / sent";
        duplicated: Option<u64>, "", LOSS, "arrivals of datagrams that had arrived before";
        reordered: Option<u64>, "", LOSS, "arrivals after one that was sent later";
        late: Option<u64>, "", LOSS, "arrivals more than 262144 datagrams behind: given up before, and counted as lost";
        network_lost: Option<u64>, "", LOSS.shown(7, "network", Form::Count), "lost between the two sockets: lost - socket_drops";
        socket_drops: Option<u64>, "", LOSS.shown(7, "socket", Form::Count), "lost in the receiver's own full socket buffer (SO_RXQ_OVFL)";
        sender_drops: Option<u64>, "", LOSS.shown(8, "sender", Form::Count), "not sent: the sender's own queue was full (ENOBUFS); not part of lost";
        strangers: Option<u64>, "", AMOUNT, "datagrams of others that reached this end's socket, ignored";
        jitter_us: Option<Fixed<3>>, "us", LATENCY.shown(9, "jitter", Form::Micros), "interarrival jitter (RFC 3550, 6.4.1), from the kernel's receive time stamps";
        wire_bytes_per_s: Option<Fixed<1>>, "B/s", RATE, "rate with UDP and IP headers (28 bytes a datagram for IPv4, 48 for IPv6)";
        mtu_bytes: Option<u64>, "B", SETTING, "MTU of the route";
        send_buffer_bytes: Option<u64>, "B", GAUGE, "SO_SNDBUF as granted, with the kernel's overhead (socket(7))";
        recv_buffer_bytes: Option<u64>, "B", GAUGE, "SO_RCVBUF as granted, with the kernel's overhead (socket(7))";
        p50_us: Option<Fixed<3>>, "us", quantile(500).headline(3).shown(3, "p50", Form::Micros), "median round-trip time; ping only, as are the next four";
        p90_us: Option<Fixed<3>>, "us", quantile(900), "90th percentile";
        p99_us: Option<Fixed<3>>, "us", quantile(990).shown(4, "p99", Form::Micros), "99th percentile";
        p999_us: Option<Fixed<3>>, "us", quantile(999).shown(8, "p99.9", Form::Micros), "99.9th percentile";
        max_us: Option<Fixed<3>>, "us", quantile(1000).shown(9, "max", Form::Micros), "longest";
    }
}
