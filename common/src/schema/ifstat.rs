//! The columns of `ifstat`. `bytes` are as the driver counts them: of frames with their Ethernet header for cards and veth,
//! without it for lo, never with preamble. `ops` are packets as the driver sees them (one for a whole GSO packet), `errors`
//! depend on `test`.

use super::line::Time;
use super::{Fixed, Schema, columns};

/// What `ifstat` prints.
pub const SCHEMA: Schema = Schema::of_lines("ifstat/1", Interface::COLUMNS);
/// What `ifstat facts` prints.
pub const FACTS: Schema = Schema::of_facts("ifstat-facts/1");
/// What `ifstat facts --compare` prints.
pub const DIFFERENCES: Schema = Schema { tag: "ifstat-changed-facts/1", shared: Difference::COLUMNS, own: &[] };
/// What `ifstat stats` prints.
pub const STATS: Schema = Schema::of_lines("ifstat-stats/1", Statistic::COLUMNS);

columns! {
    /// The columns of `ifstat` after the shared ones. Counters are what was added in the span. Those from `dropped` to
    /// `collisions` are named as in struct rtnl_link_stats64 (linux/if_link.h), each in its direction's line only.
    pub struct Interface {
        ifindex: Option<u64>, "", "number of the interface in its namespace; a name may come back, a number rarely does";
        netns: String, "", "network namespace: as given with --netns, else as /proc/self/ns/net names it";
        driver: Option<String>, "", "as ethtool -i says it; qdisc: its kind";
        mtu: Option<u64>, "B", "largest payload of a frame";
        speed_mbit: Option<u64>, "Mbit/s", "what the driver says; flagged nominal where no wire stands behind it";
        duplex: Option<&'static str>, "", "half or full";
        carrier_up: Option<u64>, "", "1: there was a carrier at the end of the span, 0: there was none";
        carrier_changes: Option<u64>, "", "how often it came or went in the span";
        util_pct: Option<Fixed<2>>, "%", "bytes of this direction as share of speed_mbit; not clamped";
        dropped: Option<u64>, "", "rx, tx: not processed, at rx also for want of a taker: no loss by itself; softnet, qdisc: dropped";
        missed: Option<u64>, "", "rx: the host was too slow for the card";
        nohandler: Option<u64>, "", "rx: arrived at an inactive port of a bond or the like";
        otherhost: Option<u64>, "", "rx: for another address (rx_otherhost_dropped)";
        multicast: Option<u64>, "", "rx: multicast frames";
        fifo: Option<u64>, "", "rx, tx: overrun as ifconfig says it";
        crc: Option<u64>, "", "rx: checksum wrong on the wire";
        frame: Option<u64>, "", "rx: not aligned";
        length: Option<u64>, "", "rx: too long or too short";
        over: Option<u64>, "", "rx: no room in the ring";
        aborted: Option<u64>, "", "tx: given up, half duplex after too many collisions";
        carrier: Option<u64>, "", "tx: carrier lost while sending";
        heartbeat: Option<u64>, "", "tx: no heartbeat";
        window: Option<u64>, "", "tx: late collisions";
        collisions: Option<u64>, "", "tx: collisions";
        compressed: Option<u64>, "", "rx, tx: compressed packets (SLIP, PPP)";
        lost: Option<u64>, "", "packets surely lost here: rx errors + missed; tx errors + dropped; softnet and qdisc dropped; ip discards + fragment failures; udp in_errors + sndbuf_errors; tcp listen_drops + pruned + backlog_drops; stack all of these";
        squeezed: Option<u64>, "", "softnet (of all CPUs and namespaces): work left over when its budget or time was spent";
        backlog_bytes: Option<u64>, "B", "qdisc: waiting at the end of the span";
        backlog_packets: Option<u64>, "", "softnet, qdisc: waiting at the end of the span";
        overlimits: Option<u64>, "", "qdisc: delayed or refused by a limit";
        requeues: Option<u64>, "", "qdisc: the card was full";
        in_discards: Option<u64>, "", "ip: fine, but thrown away (InDiscards)";
        out_discards: Option<u64>, "", "ip: OutDiscards";
        frag_fails: Option<u64>, "", "ip: too large and not to be fragmented (FragFails)";
        reasm_fails: Option<u64>, "", "ip: fragments that did not become a packet (ReasmFails)";
        rcvbuf_errors: Option<u64>, "", "udp: the socket's receive buffer was full; part of in_errors";
        sndbuf_errors: Option<u64>, "", "udp: no room to send";
        no_ports: Option<u64>, "", "udp: nobody listens; not counted as lost";
        in_errors: Option<u64>, "", "udp: InErrors";
        csum_errors: Option<u64>, "", "udp, tcp: checksum wrong; at udp part of in_errors";
        retrans_segs: Option<u64>, "", "tcp: sent again, lost anywhere (the errors of this line)";
        timeouts: Option<u64>, "", "tcp: retransmission timer ran out (TCPTimeouts)";
        listen_drops: Option<u64>, "", "tcp: connection attempts dropped (ListenDrops)";
        listen_overflows: Option<u64>, "", "tcp: because accept was too slow (ListenOverflows)";
        pruned: Option<u64>, "", "tcp: thrown out of a full receive queue (RcvPruned + OfoPruned + TCPRcvQDrop)";
        backlog_drops: Option<u64>, "", "tcp: the socket was busy and its backlog full (TCPBacklogDrop)";
        lost_at: Option<String>, "", "stack: where packets were lost: card, softirq, queue, ip, socket; none if nowhere";
        summed: Option<u64>, "", "rx_all, tx_all: interfaces in the sum";
        left_out: Option<String>, "", "rx_all, tx_all: interfaces that carry the same packets as others, and lo; each with the reason";
    }
}

columns! {
    /// A fact that is not what it was.
    pub struct Difference {
        schema: &'static str, "", "tool-changed-facts and number of its set of columns";
        time: Time, "RFC 3339 UTC", "when the later fact was read";
        host: String, "", "node name of the machine";
        label: String, "", "the user's --label: which set-up this is";
        target: String, "", "interface";
        key: String, "", "what it is, as in the facts";
        before: String, "", "value in the file; empty if the file does not have it";
        after: String, "", "value as it is; empty if there is none";
        unit: String, "", "base unit of the values, empty for text and counts";
    }
}

columns! {
    /// The columns of `ifstat stats` after the shared ones.
    pub struct Statistic {
        counter: String, "", "name of the counter as the driver gives it (ethtool -S)";
        value: Option<u64>, "", "the counter at the end of the span";
        delta: Option<u64>, "", "what it grew by in the span; empty when it went back";
    }
}
