//! What rtnetlink knows of an interface besides its counters: address, queue, kind, and what it is stacked on.

use anyhow::Context;
use netlink_sys::protocols::NETLINK_ROUTE;

use super::Findings;
use crate::link::{FIXED, Link};
use common::sys::netlink::{Netlink, Question, attribute, text_of, u8_of, u32_of};

/// `enum`s of `linux/if.h` (RFC 2863).
const OPERATIONAL_STATES: [&str; 7] = ["unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"];

/// Modes of a bond (`linux/if_bonding.h`), as `ip` names them.
const BOND_MODES: [&str; 7] =
    ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];

/// All interfaces' attributes, as they came.
#[derive(Debug)]
pub struct Properties(Vec<(u32, Vec<u8>)>);

impl Properties {
    /// One dump.
    pub fn read() -> anyhow::Result<Self> {
        let mut found = Vec::new();
        let mut all = Question::new(libc::RTM_GETLINK, &[0; FIXED]);
        let keep = |payload: &[u8]| Some((u32_of(payload.get(4..)?)?, payload.get(FIXED..)?.to_vec()));
        let route = Netlink::open(NETLINK_ROUTE);
        let dump = route.and_then(|mut route| route.dump(&mut all, &mut found, keep));
        let _ = dump.context("cannot list the interfaces")?;
        Ok(Self(found))
    }

    /// Adds what is known of `link`, one of `all`.
    pub fn tell(&self, link: &Link, all: &[Link], findings: &mut Findings) {
        let attributes = self.0.iter().find(|(index, _)| *index == link.index).map(|(_, bytes)| bytes.as_slice());
        let attributes = attributes.unwrap_or_default();
        let get = |kind| attribute(attributes, kind);
        let number = |kind| get(kind).and_then(u32_of);
        let name = |index: u32| all.iter().find(|link| link.index == index).map(|link| link.name.text().into_owned());
        findings.add("ifindex", Some(link.index), "");
        findings.add("address", get(libc::IFLA_ADDRESS).map(hardware_address), "");
        findings.add("mtu", link.mtu, "B");
        findings.add("queue_length", number(libc::IFLA_TXQLEN), "");
        findings.add("qdisc", get(libc::IFLA_QDISC).map(text_of), "");
        let state = get(libc::IFLA_OPERSTATE).and_then(u8_of);
        findings.add("state", state.and_then(|state| OPERATIONAL_STATES.get(usize::from(state))), "");
        findings.add("queues.rx", number(libc::IFLA_NUM_RX_QUEUES), "");
        findings.add("queues.tx", number(libc::IFLA_NUM_TX_QUEUES), "");
        findings.add("kind", link.kind.map(|kind| kind.text().into_owned()), "");
        findings.add("parent", link.lower.and_then(name), "");
        // Only an interface of another namespace has a number without a name.
        let is_elsewhere = get(libc::IFLA_LINK_NETNSID).is_some();
        findings.add("parent_netnsid", number(libc::IFLA_LINK_NETNSID).filter(|_| is_elsewhere), "");
        findings.add("master", link.master.and_then(name), "");
        if let Some(info) = get(libc::IFLA_LINKINFO) {
            findings.add("port_kind", attribute(info, libc::IFLA_INFO_SLAVE_KIND).map(text_of), "");
            let details = attribute(info, libc::IFLA_INFO_DATA).unwrap_or_default();
            kind_details(link.kind.map(|kind| kind.text().into_owned()).as_deref(), details, findings);
        }
    }
}

/// What a kind of virtual interface is set to (`linux/if_link.h`: `IFLA_VLAN_*`, `IFLA_BOND_*`, `IFLA_BR_*`).
fn kind_details(kind: Option<&str>, details: &[u8], findings: &mut Findings) {
    let get = |number| attribute(details, number);
    let on = |number| get(number).and_then(u8_of).map(on_off);
    match kind {
        Some("vlan") => {
            let id = get(1).and_then(|value| value.first_chunk()).map(|bytes| u16::from_ne_bytes(*bytes));
            findings.add("vlan.id", id, "");
        }
        Some("bond") => {
            let mode = get(1).and_then(u8_of).and_then(|mode| BOND_MODES.get(usize::from(mode)));
            findings.add("bond.mode", mode, "");
            findings.add("bond.miimon", get(3).and_then(u32_of), "ms");
        }
        Some("bridge") => {
            findings.add("bridge.stp", get(5).and_then(u32_of).map(|state| on_off(u8::from(state != 0))), "");
            findings.add("bridge.vlan_filtering", on(7), "");
        }
        _ => {}
    }
}

/// A flag of the kernel in words.
pub fn on_off(flag: u8) -> &'static str {
    if flag == 0 { "off" } else { "on" }
}

fn hardware_address(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}
