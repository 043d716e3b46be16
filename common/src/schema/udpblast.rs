//! The columns of `udpblast`. `ops` are datagrams (pings: transactions), `errors` those lost.

use super::cell::Fixed;
use super::column::columns;
use super::role::{AMOUNT, FOUND, Form, GAUGE, LATENCY, LOSS, NAME, RATE, SETTING, quantile, share, sweep};
use super::set::{Schema, Tests};

/// What `udpblast` prints.
pub const SCHEMA: Schema = Schema::of_lines("udpblast/2", Udp::COLUMNS).of_tests(Tests {
    ops: "datagrams",
    errors: "lost",
    in_bits: true,
    transfers: &["udp_send", "udp_recv", "udp_search", "udp_send_stream", "udp_recv_stream"],
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
        duplicated: Option<u64>, "", LOSS, "arrivals of datagrams that had arrived before; for ping: of responses";
        reordered: Option<u64>, "", LOSS, "arrivals after one that was sent later";
        late: Option<u64>, "", LOSS, "arrivals more than 262144 datagrams behind: given up before, and counted as lost; for ping: responses more than 1 s after their requests";
        network_lost: Option<u64>, "", LOSS.shown(7, "network", Form::Count), "lost between the two sockets: lost - socket_drops; empty, with the flag unsplit, where the places cannot be told apart";
        socket_drops: Option<u64>, "", LOSS.shown(7, "socket", Form::Count), "lost in the receiver's own full socket buffer (SO_RXQ_OVFL); empty as network_lost is";
        sender_drops: Option<u64>, "", LOSS.shown(8, "sender", Form::Count), "datagrams that the sender's own host refused: its queue was full (ENOBUFS), or its firewall dropped them (EPERM); not part of sent or lost";
        strangers: Option<u64>, "", AMOUNT, "datagrams of others that reached this end's socket, ignored";
        jitter_us: Option<Fixed<3>>, "us", LATENCY.shown(9, "jitter", Form::Micros), "interarrival jitter (RFC 3550, 6.4.1), from the kernel's receive time stamps; mean of streams";
        wire_bytes_per_s: Option<Fixed<1>>, "B/s", RATE, "rate with UDP and IP headers (28 bytes a datagram for IPv4, 48 for IPv6)";
        mtu_bytes: Option<u64>, "B", SETTING, "MTU of the route";
        send_buffer_bytes: Option<u64>, "B", GAUGE, "SO_SNDBUF as granted, with the kernel's overhead (socket(7))";
        recv_buffer_bytes: Option<u64>, "B", GAUGE, "SO_RCVBUF as granted, with the kernel's overhead (socket(7))";
        p50_us: Option<Fixed<3>>, "us", quantile(500).headline(3).shown(3, "p50", Form::Micros), "median round-trip time; ping only, as are the next four";
        p90_us: Option<Fixed<3>>, "us", quantile(900), "90th percentile";
        p99_us: Option<Fixed<3>>, "us", quantile(990).shown(4, "p99", Form::Micros), "99th percentile";
        p999_us: Option<Fixed<3>>, "us", quantile(999).shown(8, "p99.9", Form::Micros), "99.9th percentile";
        max_us: Option<Fixed<3>>, "us", quantile(1000).shown(9, "max", Form::Micros), "longest";
        streams: u64, "", sweep(2), "sockets at each end; rate, amounts and losses are of all of them together";
        stream: Option<u64>, "", NAME, "which of them, from 0, on lines of --per-stream; empty on the line of all";
        every_us: Option<u64>, "us", sweep(13), "time between two requests; empty where each waits for the response before; ping only";
        forward_lost: Option<u64>, "", LOSS, "requests that did not reach the listener, by its own count; ping only, on totals without --warmup, as is the next";
        reverse_lost: Option<u64>, "", LOSS, "responses that did not come back in time: lost - forward_lost";
    }
}
