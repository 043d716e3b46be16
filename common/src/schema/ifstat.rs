//! The columns of `ifstat`. `bytes` are as the driver counts them: of frames with their Ethernet header for cards and veth,
//! without it for lo, never with preamble. `ops` are packets as the driver sees them (one for a whole GSO packet), `errors`
//! depend on `test`.

use super::cell::Fixed;
use super::column::columns;
use super::line::Time;
use super::role::{AMOUNT, Form, GAUGE, INSTANCE, LOSS, NAME, NOTE, OF_TIME, SETTING};
use super::set::{Pair, Schema, Tests};

/// What `ifstat` prints.
pub const SCHEMA: Schema = Schema::of_lines("ifstat/1", Interface::COLUMNS).of_tests(Tests {
    ops: "pkt",
    in_bits: true,
    has_targets: true,
    pairs: &[
        Pair { rx: "rx", tx: "tx", word: "" },
        Pair { rx: "rx_all", tx: "tx_all", word: "" },
        Pair { rx: "rx_boot", tx: "tx_boot", word: "since boot" },
    ],
    ..Tests::BOTH
});
/// What `ifstat facts` prints.
pub const FACTS: Schema = Schema::of_facts("ifstat-facts/1");
/// What `ifstat facts --compare` prints.
pub const DIFFERENCES: Schema = Schema::of_facts_in("ifstat-changed-facts/1", Difference::COLUMNS);
/// What `ifstat stats` prints.
pub const STATS: Schema = Schema::of_lines("ifstat-stats/1", Statistic::COLUMNS);

columns! {
    /// The columns of `ifstat` after the shared ones. Counters are what was added in the span. Those from `dropped` to
    /// `collisions` are named as in struct rtnl_link_stats64 (linux/if_link.h), each in its direction's line only.
    pub struct Interface {
        ifindex: Option<u64>, "", INSTANCE, "number of the interface in its namespace; a name may come back, a number rarely does";
        netns: String, "", INSTANCE, "network namespace: as given with --netns, else as /proc/self/ns/net names it";
        driver: Option<String>, "", SETTING, "as ethtool -i says it; qdisc: its kind";
        mtu: Option<u64>, "B", SETTING, "largest payload of a frame";
        speed_mbit: Option<u64>, "Mbit/s", SETTING, "what the driver says; flagged nominal where no wire stands behind it";
        duplex: Option<&'static str>, "", SETTING, "half or full";
        carrier_up: Option<u64>, "", GAUGE, "1: there was a carrier at the end of the span, 0: there was none";
        carrier_changes: Option<u64>, "", LOSS, "how often it came or went in the span";
        util_pct: Option<Fixed<2>>, "%", OF_TIME.shown(5, "used", Form::Percent), "bytes of this direction as share of speed_mbit; not clamped";
        dropped: Option<u64>, "", LOSS.shown(8, "dropped", Form::Count), "rx, tx: not processed, at rx also for want of a taker: no loss by itself; softnet, qdisc: dropped";
        missed: Option<u64>, "", LOSS, "rx: the host was too slow for the card";
        nohandler: Option<u64>, "", AMOUNT, "rx: arrived at an inactive port of a bond or the like";
        otherhost: Option<u64>, "", AMOUNT, "rx: for another address (rx_otherhost_dropped)";
        multicast: Option<u64>, "", AMOUNT, "rx: multicast frames";
        fifo: Option<u64>, "", LOSS, "rx, tx: overrun as ifconfig says it";
        crc: Option<u64>, "", LOSS, "rx: checksum wrong on the wire";
        frame: Option<u64>, "", LOSS, "rx: not aligned";
        length: Option<u64>, "", LOSS, "rx: too long or too short";
        over: Option<u64>, "", LOSS, "rx: no room in the ring";
        aborted: Option<u64>, "", LOSS, "tx: given up, half duplex after too many collisions";
        carrier: Option<u64>, "", LOSS, "tx: carrier lost while sending";
        heartbeat: Option<u64>, "", LOSS, "tx: no heartbeat";
        window: Option<u64>, "", LOSS, "tx: late collisions";
        collisions: Option<u64>, "", LOSS, "tx: collisions";
        compressed: Option<u64>, "", AMOUNT, "rx, tx: compressed packets (SLIP, PPP)";
        lost: Option<u64>, "", LOSS.shown(4, "lost", Form::Count), "packets surely lost here: rx errors + missed; tx errors + dropped; softnet and qdisc dropped; ip discards + fragment failures; udp in_errors + sndbuf_errors; tcp listen_drops + pruned + backlog_drops; stack all of these";
        squeezed: Option<u64>, "", LOSS, "softnet (of all CPUs and namespaces): work left over when its budget or time was spent";
        backlog_bytes: Option<u64>, "B", GAUGE, "qdisc: waiting at the end of the span";
        backlog_packets: Option<u64>, "", GAUGE, "softnet, qdisc: waiting at the end of the span";
        overlimits: Option<u64>, "", LOSS, "qdisc: delayed or refused by a limit";
        requeues: Option<u64>, "", LOSS, "qdisc: the card was full";
        in_discards: Option<u64>, "", LOSS, "ip: fine, but thrown away (InDiscards)";
        out_discards: Option<u64>, "", LOSS, "ip: OutDiscards";
        frag_fails: Option<u64>, "", LOSS, "ip: too large and not to be fragmented (FragFails)";
        reasm_fails: Option<u64>, "", LOSS, "ip: fragments that did not become a packet (ReasmFails)";
        rcvbuf_errors: Option<u64>, "", LOSS, "udp: the socket's receive buffer was full; part of in_errors";
        sndbuf_errors: Option<u64>, "", LOSS, "udp: no room to send";
        no_ports: Option<u64>, "", AMOUNT, "udp: nobody listens; not counted as lost";
        in_errors: Option<u64>, "", LOSS, "udp: InErrors";
        csum_errors: Option<u64>, "", LOSS, "udp, tcp: checksum wrong; at udp part of in_errors";
        retrans_segs: Option<u64>, "", LOSS, "tcp: sent again, lost anywhere (the errors of this line)";
        timeouts: Option<u64>, "", LOSS, "tcp: retransmission timer ran out (TCPTimeouts)";
        listen_drops: Option<u64>, "", LOSS, "tcp: connection attempts dropped (ListenDrops)";
        listen_overflows: Option<u64>, "", LOSS, "tcp: because accept was too slow (ListenOverflows)";
        pruned: Option<u64>, "", LOSS, "tcp: thrown out of a full receive queue (RcvPruned + OfoPruned + TCPRcvQDrop)";
        backlog_drops: Option<u64>, "", LOSS, "tcp: the socket was busy and its backlog full (TCPBacklogDrop)";
        lost_at: Option<String>, "", NOTE.shown(7, "lost at", Form::Text(14)), "stack: where packets were lost: card, softirq, queue, ip, socket; none if nowhere";
        summed: Option<u64>, "", GAUGE, "rx_all, tx_all: interfaces in the sum";
        left_out: Option<String>, "", NOTE, "rx_all, tx_all: interfaces that carry the same packets as others, and lo; each with the reason";
    }
}

columns! {
    /// A fact that is not what it was.
    pub struct Difference {
        schema: &'static str, "", NAME, "tool-changed-facts and number of its set of columns";
        time: Time, "RFC 3339 UTC", INSTANCE, "when the later fact was read";
        host: String, "", NAME, "node name of the machine";
        label: String, "", NAME, "the user's --label: which set-up this is";
        target: String, "", NAME.shown(3, "target", Form::Text(12)), "interface";
        key: String, "", NAME.shown(1, "key", Form::Text(20)), "what it is, as in the facts";
        before: String, "", NOTE.shown(2, "before", Form::Text(9)), "value in the file; empty if the file does not have it";
        after: String, "", NOTE.shown(2, "after", Form::Text(9)), "value as it is; empty if there is none";
        unit: String, "", NOTE, "base unit of the values, empty for text and counts";
    }
}

columns! {
    /// The columns of `ifstat stats` after the shared ones.
    pub struct Statistic {
        counter: String, "", NAME.shown(2, "counter", Form::Text(28)), "name of the counter as the driver gives it (ethtool -S)";
        value: Option<u64>, "", GAUGE.shown(4, "value", Form::Count), "the counter at the end of the span";
        delta: Option<u64>, "", AMOUNT.shown(1, "delta", Form::Count), "what it grew by in the span; empty when it went back";
    }
}
