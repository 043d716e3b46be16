//! What a driver knows of its card and how it is set: ethtool over generic netlink (`linux/ethtool_netlink.h`), and the
//! driver's name by ioctl. What a driver does not support, the kernel leaves out or answers with an error: no fact.

use std::io;
use std::os::fd::BorrowedFd;

use common::sys::ethtool;
use netlink_sys::protocols::NETLINK_GENERIC;

use super::Findings;
use super::properties::on_off;
use crate::link::Link;
use crate::settings;
use common::sys::netlink::{Netlink, Question, attribute, attributes, text_of, u8_of, u32_of};

/// How an attribute's value is told.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// A number and its unit.
    Number(&'static str),
    /// One byte: on or off.
    Switch,
}
use Form::{Number, Switch};

/// A question and the numbers of its answer's attributes.
struct Group {
    command: u8,
    prefix: &'static str,
    members: &'static [(u16, &'static str, Form)],
}

const RINGS: Group = Group {
    command: 15,
    prefix: "rings",
    members: &[
        (2, "rx_max", Number("")),
        (3, "rx_mini_max", Number("")),
        (4, "rx_jumbo_max", Number("")),
        (5, "tx_max", Number("")),
        (6, "rx", Number("")),
        (7, "rx_mini", Number("")),
        (8, "rx_jumbo", Number("")),
        (9, "tx", Number("")),
        (10, "rx_buf_len", Number("B")),
        (12, "cqe_size", Number("B")),
        (13, "tx_push", Switch),
        (14, "rx_push", Switch),
    ],
};

const CHANNELS: Group = Group {
    command: 17,
    prefix: "channels",
    members: &[
        (2, "rx_max", Number("")),
        (3, "tx_max", Number("")),
        (4, "other_max", Number("")),
        (5, "combined_max", Number("")),
        (6, "rx", Number("")),
        (7, "tx", Number("")),
        (8, "other", Number("")),
        (9, "combined", Number("")),
    ],
};

const COALESCE: Group = Group {
    command: 19,
    prefix: "coalesce",
    members: &[
        (2, "rx_usecs", Number("us")),
        (3, "rx_max_frames", Number("")),
        (4, "rx_usecs_irq", Number("us")),
        (5, "rx_max_frames_irq", Number("")),
        (6, "tx_usecs", Number("us")),
        (7, "tx_max_frames", Number("")),
        (8, "tx_usecs_irq", Number("us")),
        (9, "tx_max_frames_irq", Number("")),
        (10, "stats_block_usecs", Number("us")),
        (11, "adaptive_rx", Switch),
        (12, "adaptive_tx", Switch),
        (13, "pkt_rate_low", Number("1/s")),
        (14, "rx_usecs_low", Number("us")),
        (15, "rx_max_frames_low", Number("")),
        (16, "tx_usecs_low", Number("us")),
        (17, "tx_max_frames_low", Number("")),
        (18, "pkt_rate_high", Number("1/s")),
        (19, "rx_usecs_high", Number("us")),
        (20, "rx_max_frames_high", Number("")),
        (21, "tx_usecs_high", Number("us")),
        (22, "tx_max_frames_high", Number("")),
        (23, "rate_sample_interval", Number("s")),
        (24, "cqe_mode_tx", Switch),
        (25, "cqe_mode_rx", Switch),
        (26, "tx_aggr_max_bytes", Number("B")),
        (27, "tx_aggr_max_frames", Number("")),
        (28, "tx_aggr_time_usecs", Number("us")),
    ],
};

const PAUSE: Group = Group {
    command: 21,
    prefix: "pause",
    members: &[(2, "autonegotiation", Switch), (3, "rx", Switch), (4, "tx", Switch)],
};

const GET_LINK_INFO: u8 = 2;
const GET_LINK_MODES: u8 = 4;
const GET_FEATURES: u8 = 11;

/// Connectors (`linux/ethtool.h`: `PORT_*`).
const PORTS: [(u8, &str); 8] = [
    (0, "twisted_pair"),
    (1, "aui"),
    (2, "mii"),
    (3, "fibre"),
    (4, "bnc"),
    (5, "direct_attach"),
    (0xef, "none"),
    (0xff, "other"),
];

/// Length of struct genlmsghdr.
const FIXED: usize = 4;

/// The kernel's families for such questions; none on a kernel without them.
#[derive(Debug)]
pub struct DriverFacts {
    generic: Netlink,
    ethtool: Option<u16>,
    wireless: Option<u16>,
}

impl DriverFacts {
    /// Opens generic netlink and asks for the families.
    pub fn open() -> io::Result<Self> {
        let mut generic = Netlink::open(NETLINK_GENERIC)?;
        let ethtool = family(&mut generic, b"ethtool\0");
        let wireless = family(&mut generic, b"nl80211\0");
        Ok(Self { generic, ethtool, wireless })
    }

    /// Adds how the card is set.
    pub fn tell(&mut self, link: &Link, findings: &mut Findings) {
        self.link(link, findings);
        for group in [CHANNELS, RINGS, COALESCE, PAUSE] {
            let Some(answer) = self.ask(group.command, link) else { continue };
            for (number, name, form) in group.members {
                let key = format!("{}.{name}", group.prefix);
                let value = attribute(&answer, *number);
                match form {
                    Number(unit) => findings.add(key, value.and_then(u32_of), unit),
                    Switch => findings.add(key, value.and_then(u8_of).map(on_off), ""),
                }
            }
        }
        self.offloads(link, findings);
        self.radio(link, findings);
    }

    fn link(&mut self, link: &Link, findings: &mut Findings) {
        if let Some(answer) = self.ask(GET_LINK_INFO, link) {
            let port = attribute(&answer, 2).and_then(u8_of);
            let name = PORTS.iter().find(|(code, _)| Some(*code) == port).map(|(_, name)| *name);
            findings.add("port", name, "");
        }
        if let Some(answer) = self.ask(GET_LINK_MODES, link) {
            findings.add("speed", attribute(&answer, 5).and_then(u32_of).and_then(settings::speed), "Mbit/s");
            findings.add("duplex", attribute(&answer, 6).and_then(u8_of).and_then(settings::duplex), "");
            let autonegotiation = attribute(&answer, 2).and_then(u8_of);
            findings.add("autonegotiation", autonegotiation.filter(|code| *code <= 1).map(on_off), "");
            let ours = attribute(&answer, 3).map(bits).unwrap_or_default();
            let names = |bits: Vec<Bit>| bits.into_iter().map(|bit| bit.name).collect::<Vec<_>>().join(" ");
            let advertised = ours.iter().filter(|bit| bit.is_set).cloned().collect();
            findings.add("link_modes.supported", Some(names(ours)), "");
            findings.add("link_modes.advertised", Some(names(advertised)), "");
            let of_peer = attribute(&answer, 4).map(bits).unwrap_or_default();
            findings.add("link_modes.peer", Some(names(of_peer)), "");
        }
    }

    fn offloads(&mut self, link: &Link, findings: &mut Findings) {
        const ALL: u16 = 2;
        const ACTIVE: u16 = 4;
        let Some(answer) = self.ask(GET_FEATURES, link) else { return };
        let active = attribute(&answer, ACTIVE).map(bits).unwrap_or_default();
        for feature in attribute(&answer, ALL).map(bits).unwrap_or_default() {
            let is_active = active.iter().any(|bit| bit.name == feature.name);
            findings.add(format!("offload.{}", feature.name), Some(on_off(is_active.into())), "");
        }
    }

    /// Whether it is a radio, and its frequency (`linux/nl80211.h`).
    fn radio(&mut self, link: &Link, findings: &mut Findings) {
        const GET_INTERFACE: u8 = 5;
        const INDEX: u16 = 3;
        const FREQUENCY: u16 = 38;
        let Some(family) = self.wireless else { return };
        let question = Question::new(family, &[GET_INTERFACE, 0, 0, 0]).with(INDEX, &link.index.to_ne_bytes());
        if let Some(answer) = answer(&mut self.generic, question) {
            findings.add("wireless", Some("yes"), "");
            findings.add("wireless.frequency", attribute(&answer, FREQUENCY).and_then(u32_of), "MHz");
        }
    }

    fn ask(&mut self, command: u8, link: &Link) -> Option<Vec<u8>> {
        const VERSION: u8 = 1;
        const HEADER: u16 = 1;
        const INDEX: u16 = 1;
        let question = Question::new(self.ethtool?, &[command, VERSION, 0, 0])
            .with_nested(HEADER, &[(INDEX, &link.index.to_ne_bytes())]);
        answer(&mut self.generic, question)
    }
}

/// Adds which driver it is.
pub fn identify(socket: BorrowedFd<'_>, link: &Link, findings: &mut Findings) {
    let Ok(driver) = ethtool::driver(socket, link.name.bytes()) else { return };
    for (key, value) in [
        ("driver", driver.name),
        ("driver.version", driver.version),
        ("driver.firmware", driver.firmware),
        ("driver.bus", driver.bus),
    ] {
        // Some drivers say so in words.
        findings.add(key, (value != "N/A").then_some(value), "");
    }
}

/// The attributes of the answer; `None` if there is an error instead.
fn answer(generic: &mut Netlink, mut question: Question) -> Option<Vec<u8>> {
    generic.ask(&mut question, |payload| payload.get(FIXED..).map(<[u8]>::to_vec)).ok().flatten()
}

/// The number of a family (`linux/genetlink.h`).
fn family(generic: &mut Netlink, name: &[u8]) -> Option<u16> {
    const CONTROLLER: u16 = 0x10;
    const GET_FAMILY: u8 = 3;
    const ID: u16 = 1;
    const NAME: u16 = 2;
    let answer = answer(generic, Question::new(CONTROLLER, &[GET_FAMILY, 1, 0, 0]).with(NAME, name))?;
    attribute(&answer, ID)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

/// A named bit.
#[derive(Debug, Clone)]
struct Bit {
    name: String,
    is_set: bool,
}

/// The bits in a bit set's verbose form: those of its mask, or those set if it has none.
fn bits(set: &[u8]) -> Vec<Bit> {
    const NO_MASK: u16 = 1;
    const BITS: u16 = 3;
    const NAME: u16 = 2;
    const VALUE: u16 = 3;
    let has_mask = attribute(set, NO_MASK).is_none();
    let members = attribute(set, BITS).unwrap_or_default();
    let read = |bit: &[u8]| {
        // The kernel has bits without a name: parts of a feature.
        let name = attribute(bit, NAME).map(text_of).filter(|name| !name.is_empty())?;
        Some(Bit { name, is_set: !has_mask || attribute(bit, VALUE).is_some() })
    };
    attributes(members).filter_map(|(_, bit)| read(bit)).collect()
}
