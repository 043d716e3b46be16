//! The queues that datagrams pass on this host before the wire, and what those drop.

use std::io;
use std::net::{IpAddr, SocketAddr};

use netlink_sys::protocols::NETLINK_ROUTE;

use crate::net::address::is_link_local;
use crate::sys::netlink::{Dump, Netlink, Question, attribute, text_of, u32_of};
use crate::sys::qdisc::Qdisc;

/// The queues (qdiscs) of the device that the route to a peer leaves by, and of the devices below it (those that a VLAN or
/// macvlan stands on, the ports of a bond or bridge).
#[derive(Debug, Clone)]
pub struct Queues {
    qdiscs: Vec<Qdisc>,
}

/// What a qdisc does to what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// It takes all of it, or refuses all of it and says so.
    Plain,
    /// It may take all of it and drop it later, in silence (active queue management).
    Late,
    /// It may cut a buffer into datagrams, take some, drop the others, and report success.
    Cutting,
    /// Both, or nobody here knows.
    Unknown,
}

impl Manner {
    /// `net/sched/sch_*.c`: who calls `skb_gso_segment`, and who drops outside of its enqueue.
    fn of(kind: &str) -> Self {
        match kind {
            "noqueue" | "pfifo_fast" | "pfifo" | "bfifo" | "mq" | "mqprio" | "fq" => Self::Plain,
            "fq_codel" | "codel" | "fq_pie" | "pie" | "sfq" => Self::Late,
            "tbf" | "htb" | "hfsc" | "prio" | "drr" | "ets" | "qfq" => Self::Cutting,
            _ => Self::Unknown,
        }
    }
}

impl Queues {
    /// Those on the way to `peer` from the source address `local`, which may be unspecified; a link-local peer is looked
    /// for on the link of its scope. In the network namespace of the calling thread.
    ///
    /// `None` where the kernel does not tell: no such route, a tunnel, or a device that stands on one of another namespace.
    pub fn towards(local: IpAddr, peer: SocketAddr) -> Option<Self> {
        let mut route = Netlink::open(NETLINK_ROUTE).ok()?;
        let device = device_towards(&mut route, local, peer).ok()??;
        let devices = with_those_below(device, &links(&mut route).ok()??)?;
        let mut qdiscs = all_qdiscs(&mut route).ok()??;
        qdiscs.retain(|qdisc| devices.contains(&qdisc.index));
        let has_root = |device: &u32| qdiscs.iter().any(|qdisc| qdisc.index == *device && qdisc.is_root());
        devices.iter().all(has_root).then_some(Self { qdiscs })
    }

    /// Whether one of them may cut a buffer of `UDP_SEGMENT`, drop a part of it, and report success. True for one that is
    /// unknown here.
    pub fn cuts(&self) -> bool {
        self.is_any(&[Manner::Cutting, Manner::Unknown])
    }

    /// Whether one of them may drop what it took before, in silence. A buffer of `UDP_SEGMENT` that is dropped so is one
    /// drop, however many datagrams it holds. True for one that is unknown here.
    pub fn drops_later(&self) -> bool {
        self.is_any(&[Manner::Late, Manner::Unknown])
    }

    fn is_any(&self, manners: &[Manner]) -> bool {
        self.qdiscs.iter().any(|qdisc| manners.contains(&Manner::of(&qdisc.kind)))
    }

    /// What these qdiscs have dropped since they were made, of all traffic, counted anew by this call: datagrams, or whole
    /// buffers of `UDP_SEGMENT` where one was dropped before it was cut.
    ///
    /// `None` where the kernel does not tell, or when a qdisc was replaced, came or went since [`Queues::towards`].
    pub fn drops(&self) -> Option<u64> {
        let mut route = Netlink::open(NETLINK_ROUTE).ok()?;
        let found = all_qdiscs(&mut route).ok()??;
        let is_ours = |qdisc: &&Qdisc| self.qdiscs.iter().any(|ours| ours.index == qdisc.index);
        if found.iter().filter(is_ours).count() != self.qdiscs.len() {
            return None;
        }
        let mut drops = 0_u64;
        for ours in &self.qdiscs {
            let dropped = found.iter().find(|qdisc| qdisc.is(ours))?.dropped?;
            // Made anew under the same number.
            dropped.checked_sub(ours.dropped?)?;
            // A root repeats what those inside it drop.
            drops = drops.checked_add(if ours.is_root() { dropped } else { 0 })?;
        }
        Some(drops)
    }

    /// What they are, for people: `tbf, fq_codel`.
    pub fn kinds(&self) -> String {
        let mut kinds: Vec<_> = self.qdiscs.iter().map(|qdisc| qdisc.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.join(", ")
    }
}

/// All qdiscs on the way out; `None` when they change faster than they can be listed.
fn all_qdiscs(route: &mut Netlink) -> io::Result<Option<Vec<Qdisc>>> {
    /// `TC_H_INGRESS`, also `clsact`: its counter is of both directions, and what it drops on the way out is refused.
    const INGRESS: u32 = 0xffff_fff1;
    let (mut qdiscs, dump) = Qdisc::list(route, &mut Qdisc::all())?;
    qdiscs.retain(|qdisc| qdisc.parent != INGRESS);
    Ok((dump == Dump::Whole).then_some(qdiscs))
}

/// The number of the device that the route leaves by: `RTM_GETROUTE` (rtnetlink(7)).
fn device_towards(route: &mut Netlink, local: IpAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    /// Length of struct rtmsg.
    const FIXED: usize = 12;
    let (peer_address, local) = (peer.ip().to_canonical(), local.to_canonical());
    let (family, bits) = if peer_address.is_ipv4() { (libc::AF_INET, 32) } else { (libc::AF_INET6, 128) };
    let family = u8::try_from(family).map_err(io::Error::other)?;
    let source = Some(local).filter(|local| !local.is_unspecified() && local.is_ipv4() == peer_address.is_ipv4());
    let mut fixed = [0; FIXED];
    fixed[..3].copy_from_slice(&[family, bits, if source.is_some() { bits } else { 0 }]);
    let mut question = Question::new(libc::RTM_GETROUTE, &fixed).with(libc::RTA_DST, &octets(peer_address));
    if let Some(source) = source {
        question = question.with(libc::RTA_SRC, &octets(source));
    }
    if let SocketAddr::V6(peer) = peer
        && peer.scope_id() != 0
        && is_link_local(peer_address)
    {
        question = question.with(libc::RTA_OIF, &peer.scope_id().to_ne_bytes());
    }
    route.ask(&mut question, |payload| attribute(payload.get(FIXED..)?, libc::RTA_OIF).and_then(u32_of))
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// Length of struct ifinfomsg.
const LINK_FIXED: usize = 16;

/// Where a device stands in a stack of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Link {
    index: u32,
    /// The device that it hands its packets to.
    lower: Option<u32>,
    /// What is below it cannot be seen: it is in another namespace, or found anew for each packet.
    is_blind: bool,
    /// The bond or bridge that it is a port of.
    master: Option<u32>,
}

impl Link {
    /// Reads the payload of `RTM_NEWLINK`.
    fn parse(payload: &[u8]) -> Option<Self> {
        /// Kinds whose link is the other end, not what is below.
        const PAIRS: [&str; 2] = ["veth", "netkit"];
        let index = u32_of(payload.get(4..)?)?;
        let attributes = payload.get(LINK_FIXED..)?;
        let other = |kind| attribute(attributes, kind).and_then(u32_of).filter(|other| ![0, index].contains(other));
        let kind = attribute(attributes, libc::IFLA_LINKINFO).and_then(|info| attribute(info, libc::IFLA_INFO_KIND));
        let kind = kind.map(text_of).unwrap_or_default();
        let has_lower = !PAIRS.contains(&kind.as_str()) && attribute(attributes, libc::IFLA_LINK).is_some();
        let is_elsewhere = has_lower && attribute(attributes, libc::IFLA_LINK_NETNSID).is_some();
        // They hand on by a route or a table of their own.
        let is_tunnel = matches!(
            kind.as_str(),
            "gre"
                | "gretap"
                | "ip6gre"
                | "ip6gretap"
                | "erspan"
                | "ip6erspan"
                | "ipip"
                | "ip6tnl"
                | "sit"
                | "vxlan"
                | "geneve"
                | "wireguard"
                | "xfrm"
                | "vti"
                | "vti6"
                | "ppp"
                | "openvswitch"
        );
        Some(Self {
            index,
            lower: other(libc::IFLA_LINK).filter(|_| has_lower),
            is_blind: is_elsewhere || is_tunnel,
            master: other(libc::IFLA_MASTER),
        })
    }
}

/// All devices; `None` when they change faster than they can be listed.
fn links(route: &mut Netlink) -> io::Result<Option<Vec<Link>>> {
    let mut found = Vec::new();
    let dump = route.dump(&mut Question::new(libc::RTM_GETLINK, &[0; LINK_FIXED]), &mut found, Link::parse)?;
    Ok((dump == Dump::Whole).then_some(found))
}

/// `device` and all below it, each once; `None` where some of them cannot be seen.
fn with_those_below(device: u32, links: &[Link]) -> Option<Vec<u32>> {
    let mut devices = vec![device];
    let mut seen = 0;
    while let Some(index) = devices.get(seen).copied() {
        seen += 1;
        let link = links.iter().find(|link| link.index == index).filter(|link| !link.is_blind)?;
        let ports = links.iter().filter(|port| port.master == Some(index)).map(|port| port.index);
        for below in link.lower.into_iter().chain(ports) {
            if !devices.contains(&below) {
                devices.push(below);
            }
        }
    }
    Some(devices)
}

#[cfg(test)]
mod tests;
