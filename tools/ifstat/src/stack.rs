//! The layers above the card: softirq, queueing disciplines, IP, UDP and TCP, each with what it carried and what it lost.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use anyhow::Context;
use common::schema::ifstat::Interface;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::link::Link;
use crate::warning::LossPlace;
use common::sys::netlink::{Netlink, Question};
use common::sys::qdisc::Qdisc;

/// What a layer has counted so far: absolute in its columns, gauges among them.
#[derive(Debug, Clone)]
pub struct Layer {
    /// `softnet`, `qdisc`, `ip`, `udp`, `tcp`.
    pub test: &'static str,
    /// Which of several: an interface, `ipv4`, `ipv6`.
    pub target: String,
    /// The layer was set up anew when this differs: its counters are another one's.
    generation: u64,
    /// Bytes, operations, errors.
    pub figures: [Option<u64>; 3],
    /// The other counters, where they stand in a line.
    pub columns: Interface,
}

/// The counters among the columns of a layer.
const COUNTERS: [fn(&mut Interface) -> &mut Option<u64>; 19] = [
    |row| &mut row.dropped,
    |row| &mut row.lost,
    |row| &mut row.squeezed,
    |row| &mut row.overlimits,
    |row| &mut row.requeues,
    |row| &mut row.in_discards,
    |row| &mut row.out_discards,
    |row| &mut row.frag_fails,
    |row| &mut row.reasm_fails,
    |row| &mut row.rcvbuf_errors,
    |row| &mut row.sndbuf_errors,
    |row| &mut row.no_ports,
    |row| &mut row.in_errors,
    |row| &mut row.csum_errors,
    |row| &mut row.timeouts,
    |row| &mut row.listen_drops,
    |row| &mut row.listen_overflows,
    |row| &mut row.pruned,
    |row| &mut row.backlog_drops,
];

impl Layer {
    fn new(test: &'static str, target: impl Into<String>) -> Self {
        Self { test, target: target.into(), generation: 0, figures: [None; 3], columns: Interface::default() }
    }

    /// Whether this is the same layer of the same interface at another moment; a rename does not matter.
    pub fn is_successor_of(&self, earlier: &Self) -> bool {
        let same_place = match self.columns.ifindex {
            Some(index) => earlier.columns.ifindex == Some(index),
            None => earlier.target == self.target,
        };
        earlier.test == self.test && same_place
    }

    /// What was added since `earlier`, gauges as they are; `None` when a counter went back or the layer was set up anew.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        if self.generation != earlier.generation {
            return None;
        }
        let mut delta = self.clone();
        let mut earlier = earlier.clone();
        for (now, then) in delta.figures.iter_mut().zip(earlier.figures) {
            subtract(now, then)?;
        }
        for place in COUNTERS {
            subtract(place(&mut delta.columns), *place(&mut earlier.columns))?;
        }
        delta.columns.retrans_segs = if self.test == "tcp" { delta.figures[2] } else { None };
        Some(delta)
    }

    /// The same layer with every counter unknown.
    pub fn unknown(&self) -> Self {
        let mut unknown = Self { figures: [None; 3], ..self.clone() };
        for place in COUNTERS {
            *place(&mut unknown.columns) = None;
        }
        unknown
    }

    /// Where packets that this layer lost were lost.
    pub fn place(&self) -> LossPlace {
        match self.test {
            "softnet" => LossPlace::Softirq,
            "qdisc" => LossPlace::Queue,
            "ip" => LossPlace::Ip,
            _ => LossPlace::Socket,
        }
    }
}

/// Leaves the difference, or nothing where one of the two is unknown. `None`: it went back.
fn subtract(now: &mut Option<u64>, then: Option<u64>) -> Option<()> {
    *now = match now.zip(then) {
        Some((now, then)) => Some(now.checked_sub(then)?),
        None => None,
    };
    Some(())
}

/// The open sources: files of /proc stay in the namespace in which they were opened.
#[derive(Debug)]
pub struct Stack {
    softnet: Option<File>,
    snmp: Option<File>,
    snmp6: Option<File>,
    netstat: Option<File>,
    route: Netlink,
    all_qdiscs: Question,
}

impl Stack {
    /// Opens what there is: a kernel without IPv6 has no file for it.
    pub fn open() -> anyhow::Result<Self> {
        let file = |name: &str| File::open(format!("/proc/self/net/{name}")).ok();
        Ok(Self {
            softnet: file("softnet_stat"),
            snmp: file("snmp"),
            snmp6: file("snmp6"),
            netstat: file("netstat"),
            route: Netlink::open(NETLINK_ROUTE).context("cannot open netlink")?,
            all_qdiscs: Qdisc::all(),
        })
    }

    /// All layers from the card upwards; queues of the interfaces in `links` only.
    pub fn read(&mut self, links: &[&Link]) -> anyhow::Result<Vec<Layer>> {
        let text = |file: &Option<File>| file.as_ref().map(whole).transpose().map(Option::unwrap_or_default);
        let mut layers = Vec::new();
        layers.extend(softnet(&text(&self.softnet).context("cannot read /proc/net/softnet_stat")?));
        layers.extend(self.qdiscs(links).context("cannot list the queueing disciplines")?);
        let snmp = text(&self.snmp).context("cannot read /proc/net/snmp")?;
        let snmp6 = text(&self.snmp6).context("cannot read /proc/net/snmp6")?;
        let netstat = text(&self.netstat).context("cannot read /proc/net/netstat")?;
        layers.extend(protocols(&snmp, &snmp6, &netstat));
        Ok(layers)
    }

    /// The outermost queueing discipline of each interface: what its inner ones drop, it counts too.
    fn qdiscs(&mut self, links: &[&Link]) -> io::Result<Vec<Layer>> {
        let (found, _) = Qdisc::list(&mut self.route, &mut self.all_qdiscs)?;
        Ok(found.into_iter().filter_map(|found| qdisc(found, links)).collect())
    }
}

/// A file of /proc from its beginning, however long.
fn whole(file: &File) -> io::Result<String> {
    let mut text = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        match file.read_at(&mut piece, text.len() as u64)? {
            0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
            length => text.extend(&piece[..length]),
        }
    }
}

/// One line per CPU, hexadecimal: processed, dropped, squeezed, ...; the twelfth is the length of the backlog.
fn softnet(text: &str) -> Option<Layer> {
    const BACKLOG: usize = 11;
    let cpus: Vec<Vec<Option<u64>>> = text
        .lines()
        .map(|line| line.split_whitespace().map(|word| u64::from_str_radix(word, 16).ok()).collect())
        .collect();
    let sum = |place: usize| cpus.iter().map(|cpu: &Vec<_>| cpu.get(place).copied().flatten()).sum::<Option<u64>>();
    let mut layer = Layer::new("softnet", "cpus");
    layer.figures = [None, sum(0), sum(1)];
    layer.columns.dropped = sum(1);
    layer.columns.lost = sum(1);
    layer.columns.squeezed = sum(2);
    layer.columns.backlog_packets = sum(BACKLOG);
    (!cpus.is_empty()).then_some(layer)
}

/// The layer that a qdisc of one of `links` is; `None` for inner ones and other interfaces'.
fn qdisc(qdisc: Qdisc, links: &[&Link]) -> Option<Layer> {
    let link = links.iter().find(|link| link.index == qdisc.index && qdisc.is_root())?;
    // One without counters counts nothing.
    let bytes = qdisc.sent[0]?;
    let mut layer = Layer::new("qdisc", link.name.text());
    let number = u64::from(qdisc.handle) << 32 | u64::from(qdisc.index);
    layer.generation = qdisc.kind.bytes().fold(number, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    layer.figures = [Some(bytes), qdisc.sent[1], qdisc.dropped];
    layer.columns = Interface {
        ifindex: Some(qdisc.index.into()),
        driver: Some(qdisc.kind),
        backlog_packets: qdisc.backlog[0],
        backlog_bytes: qdisc.backlog[1],
        dropped: qdisc.dropped,
        lost: qdisc.dropped,
        requeues: qdisc.requeues,
        overlimits: qdisc.overlimits,
        ..Interface::default()
    };
    Some(layer)
}

/// IP and UDP of both families, and TCP.
fn protocols(snmp: &str, snmp6: &str, netstat: &str) -> Vec<Layer> {
    let v4 = |group: &str, name: &str| paired(snmp, group, name);
    let extended = |group: &str, name: &str| paired(netstat, group, name);
    let v6 = |name: &str| listed(snmp6, name);
    let ip4 = |name: &str| v4("Ip", name);
    let ip6 = |name: &str| v6(&format!("Ip6{name}"));
    let udp4 = |name: &str| v4("Udp", name);
    let udp6 = |name: &str| v6(&format!("Udp6{name}"));
    let layers = [
        ip("ipv4", extended("IpExt", "InOctets"), &ip4),
        ip("ipv6", ip6("InOctets"), &ip6),
        udp("ipv4", &udp4),
        udp("ipv6", &udp6),
        tcp(&|name| v4("Tcp", name), &|name| extended("TcpExt", name)),
    ];
    layers.into_iter().flatten().collect()
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<u64>;

fn ip(target: &str, bytes: Option<u64>, get: Lookup<'_>) -> Option<Layer> {
    let mut layer = Layer::new("ip", target);
    let columns = &mut layer.columns;
    columns.in_discards = get("InDiscards");
    columns.out_discards = get("OutDiscards");
    columns.frag_fails = get("FragFails");
    columns.reasm_fails = get("ReasmFails");
    columns.lost =
        [columns.in_discards, columns.out_discards, columns.frag_fails, columns.reasm_fails].into_iter().sum();
    layer.figures = [bytes, Some(get("InReceives")?), layer.columns.lost];
    Some(layer)
}

fn udp(target: &str, get: Lookup<'_>) -> Option<Layer> {
    let mut layer = Layer::new("udp", target);
    let columns = &mut layer.columns;
    columns.rcvbuf_errors = get("RcvbufErrors");
    columns.sndbuf_errors = get("SndbufErrors");
    columns.no_ports = get("NoPorts");
    columns.in_errors = get("InErrors");
    columns.csum_errors = get("InCsumErrors");
    columns.lost = [columns.in_errors, columns.sndbuf_errors].into_iter().sum();
    layer.figures = [None, Some(get("InDatagrams")?), layer.columns.lost];
    Some(layer)
}

fn tcp(get: Lookup<'_>, extended: Lookup<'_>) -> Option<Layer> {
    let mut layer = Layer::new("tcp", "ipv4+ipv6");
    let columns = &mut layer.columns;
    columns.csum_errors = get("InCsumErrors");
    columns.timeouts = extended("TCPTimeouts");
    columns.listen_drops = extended("ListenDrops");
    columns.listen_overflows = extended("ListenOverflows");
    columns.backlog_drops = extended("TCPBacklogDrop");
    columns.pruned = ["RcvPruned", "OfoPruned", "TCPRcvQDrop"].into_iter().map(extended).sum();
    columns.lost = [columns.listen_drops, columns.pruned, columns.backlog_drops].into_iter().sum();
    layer.figures = [None, Some(get("InSegs")?), get("RetransSegs")];
    Some(layer)
}

/// Reads /proc/net/snmp and netstat: `Udp: InDatagrams NoPorts ...`, then `Udp: 12 3 ...`.
fn paired(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(": ")).filter(|(found, _)| *found == group);
    let (names, values) = (lines.next()?.1, lines.next()?.1);
    let place = names.split_whitespace().position(|found| found == name)?;
    values.split_whitespace().nth(place)?.parse().ok()
}

/// Reads /proc/net/snmp6: `Udp6InDatagrams  12`.
fn listed(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '\t'])))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNMP: &str = "Ip: InReceives InDiscards OutDiscards ReasmFails FragFails\nIp: 50 1 2 3 4\n\
                        Udp: InDatagrams NoPorts InErrors SndbufErrors RcvbufErrors\nUdp: 10 7 5 2 4\n\
                        Tcp: InSegs RetransSegs\nTcp: 9 8\n";
    const NETSTAT: &str = "TcpExt: ListenDrops TCPTimeouts RcvPruned OfoPruned TCPRcvQDrop TCPBacklogDrop\n\
                           TcpExt: 1 6 2 3 4 5\nIpExt: InOctets\nIpExt: 5000\n";

    #[test]
    fn each_layer_has_its_own_counters() {
        let layers = protocols(SNMP, "Udp6InDatagrams\t3\nUdp6InErrors 1\nUdp6SndbufErrors 0\n", NETSTAT);
        let told: Vec<_> =
            layers.iter().map(|layer| (layer.test, layer.target.as_str(), layer.figures, layer.columns.lost)).collect();
        assert_eq!(
            told,
            [
                ("ip", "ipv4", [Some(5000), Some(50), Some(10)], Some(10)),
                ("udp", "ipv4", [None, Some(10), Some(7)], Some(7)),
                ("udp", "ipv6", [None, Some(3), Some(1)], Some(1)),
                ("tcp", "ipv4+ipv6", [None, Some(9), Some(8)], Some(15)),
            ]
        );
    }

    #[test]
    fn softnet_is_summed_over_cpus() {
        let text = "0000000a 00000001 00000002 0 0 0 0 0 0 0 0 00000003 0\n00000014 00000002 00000000 0 0 0 0 0 0 0 0 00000001 1\n";
        let layer = softnet(text).unwrap();
        assert_eq!(layer.figures, [None, Some(30), Some(3)]);
        assert_eq!((layer.columns.squeezed, layer.columns.backlog_packets), (Some(2), Some(4)));
        assert!(softnet("").is_none());
    }

    #[test]
    fn gauges_are_not_subtracted_and_a_counter_that_went_back_is_unknown() {
        let mut earlier = Layer::new("qdisc", "eth0");
        earlier.figures = [Some(1), Some(1), Some(1)];
        (earlier.columns.overlimits, earlier.columns.backlog_packets) = (Some(5), Some(9));
        let mut later = earlier.clone();
        (later.columns.overlimits, later.columns.backlog_packets) = (Some(7), Some(4));
        let delta = later.since(&earlier).unwrap();
        assert_eq!((delta.columns.overlimits, delta.columns.backlog_packets), (Some(2), Some(4)));
        assert!(earlier.since(&later).is_none());
        later.generation = 1;
        assert!(later.since(&earlier).is_none(), "another qdisc");
    }
}
