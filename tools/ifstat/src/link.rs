//! One interface at one moment: what `RTM_NEWLINK` says of it (rtnetlink(7)), and its counters.

use std::borrow::Cow;

use common::sys::netlink::{attribute, attributes, u8_of, u32_of, u64_of};

/// A name of up to 15 bytes as the kernel has it: any bytes but `/`, `:` and white space. Also the name of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Name([u8; 16]);

impl Name {
    /// `None` when it is too long to be one.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let mut name = [0; 16];
        name[..15].get_mut(..end)?.copy_from_slice(&bytes[..end]);
        (end > 0).then_some(Self(name))
    }

    /// As the kernel wants it, NUL included.
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// For people and lines; bytes that are no UTF-8 become U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..end])
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text().fmt(f)
    }
}

/// Defines the counters with their places in struct `rtnl_link_stats64` (`linux/if_link.h`).
macro_rules! counters {
    ($($name:ident,)*) => {
        /// A counter, in the order of the kernel's struct.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "documented in linux/if_link.h")]
        pub enum Counter { $($name,)* }

        /// How many there are.
        const COUNTERS: usize = [$(Counter::$name,)*].len();
    };
}

counters! {
    RxPackets, TxPackets, RxBytes, TxBytes, RxErrors, TxErrors, RxDropped, TxDropped, Multicast, Collisions,
    RxLength, RxOver, RxCrc, RxFrame, RxFifo, RxMissed,
    TxAborted, TxCarrier, TxFifo, TxHeartbeat, TxWindow,
    RxCompressed, TxCompressed, RxNohandler, RxOtherhost,
}

/// All counters, absolute or of a span. Older kernels have fewer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    values: [u64; COUNTERS],
    known: usize,
}

impl Counters {
    /// Reads struct `rtnl_link_stats64`, however long this kernel's is.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut counters = Self::default();
        for (value, bytes) in counters.values.iter_mut().zip(bytes.chunks_exact(8)) {
            *value = u64_of(bytes).unwrap_or_default();
            counters.known += 1;
        }
        counters
    }

    /// `None` where this kernel does not count it.
    pub fn get(&self, counter: Counter) -> Option<u64> {
        self.values[..self.known].get(counter as usize).copied()
    }

    /// What was added since `earlier`; `None` when any of them went back, since then none of them tells.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let mut delta = Self { known: self.known.min(earlier.known), ..Self::default() };
        for place in 0..delta.known {
            delta.values[place] = self.values[place].checked_sub(earlier.values[place])?;
        }
        Some(delta)
    }

    /// Adds a span to others; the sum knows what all of them know.
    pub fn add(&mut self, span: &Self) {
        self.known = self.known.min(span.known);
        for (sum, value) in self.values.iter_mut().zip(span.values) {
            *sum = sum.saturating_add(value);
        }
    }

    /// All counters at zero: where a sum begins.
    pub fn zero() -> Self {
        Self { values: [0; COUNTERS], known: COUNTERS }
    }

    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0)
    }
}

/// An interface as a dump or a notice describes it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Link {
    /// Its number, unique in its namespace while it lives.
    pub index: u32,
    /// Its name at that moment.
    pub name: Name,
    /// lo.
    pub is_loopback: bool,
    /// `veth`, `bridge`, ...; none for hardware.
    pub kind: Option<Name>,
    /// Bytes.
    pub mtu: Option<u32>,
    /// Whether there is a carrier.
    pub carrier: Option<bool>,
    /// How often it came or went since the interface exists.
    pub carrier_changes: Option<u32>,
    /// The interface below this one (VLAN, macvlan), or the other end (veth), if it is in the same namespace.
    pub lower: Option<u32>,
    /// The bridge, bond or the like that this one is a port of.
    pub master: Option<u32>,
    /// Absolute.
    pub counters: Counters,
}

/// Length of struct ifinfomsg, which attributes follow.
pub const FIXED: usize = 16;

/// `AF_UNSPEC`: the message is about the interface itself.
const ANY_FAMILY: u8 = 0;

impl Link {
    /// Reads the payload of `RTM_NEWLINK` or `RTM_DELLINK`. `None` for what is no interface coming or going: bridges send
    /// messages of the same types about their ports, in their own family.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        if payload.len() < FIXED || payload[0] != ANY_FAMILY {
            return None;
        }
        let flags = u32_of(&payload[8..])?;
        let mut link = Self {
            index: u32_of(&payload[4..])?,
            is_loopback: flags & libc::IFF_LOOPBACK.cast_unsigned() != 0,
            ..Self::default()
        };
        let mut is_elsewhere = false;
        for (kind, value) in attributes(&payload[FIXED..]) {
            match kind {
                libc::IFLA_IFNAME => link.name = Name::new(value)?,
                libc::IFLA_MTU => link.mtu = u32_of(value),
                libc::IFLA_CARRIER => link.carrier = u8_of(value).map(|up| up != 0),
                libc::IFLA_CARRIER_CHANGES => link.carrier_changes = u32_of(value),
                libc::IFLA_LINK => link.lower = u32_of(value),
                libc::IFLA_LINK_NETNSID => is_elsewhere = true,
                libc::IFLA_MASTER => link.master = u32_of(value),
                libc::IFLA_LINKINFO => link.kind = attribute(value, libc::IFLA_INFO_KIND).and_then(Name::new),
                libc::IFLA_STATS64 => link.counters = Counters::parse(value),
                _ => {}
            }
        }
        link.lower = link.lower.filter(|lower| !is_elsewhere && *lower != 0 && *lower != link.index);
        link.master = link.master.filter(|master| *master != 0);
        (link.name != Name::default()).then_some(link)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Counters with some of them set.
    pub fn counters(set: &[(Counter, u64)]) -> Counters {
        let mut counters = Counters::zero();
        for (counter, value) in set {
            counters.values[*counter as usize] = *value;
        }
        counters
    }

    #[test]
    fn an_older_kernels_struct_is_shorter() {
        let bytes: Vec<u8> = (1..=23_u64).flat_map(u64::to_ne_bytes).collect();
        let counters = Counters::parse(&bytes);
        assert_eq!(counters.get(Counter::RxPackets), Some(1));
        assert_eq!(counters.get(Counter::TxCompressed), Some(23));
        assert_eq!(counters.get(Counter::RxNohandler), None);
        let newer = [bytes, vec![0; 80]].concat();
        assert_eq!(Counters::parse(&newer).get(Counter::RxOtherhost), Some(0), "a longer one is no trouble");
    }

    #[test]
    fn a_counter_that_went_back_takes_all_with_it() {
        let earlier = counters(&[(Counter::RxBytes, 100), (Counter::TxBytes, 100)]);
        let later = counters(&[(Counter::RxBytes, 200), (Counter::TxBytes, 99)]);
        assert_eq!(later.since(&earlier), None);
        assert_eq!(earlier.since(&earlier), Some(Counters::zero()));
    }

    #[test]
    fn names_have_fifteen_bytes() {
        assert_eq!(Name::new(b"fifteen-bytes-x").unwrap().text(), "fifteen-bytes-x");
        assert_eq!(Name::new(b"sixteen-bytes-xx"), None);
        assert_eq!(Name::new(b"eth0\0").unwrap().text(), "eth0");
        assert_eq!(Name::new("=1+1,\"#ü".as_bytes()).unwrap().text(), "=1+1,\"#ü");
        assert_eq!(Name::new(b""), None);
    }

    #[test]
    fn a_port_leaving_a_bridge_is_no_interface_going() {
        let mut payload = vec![0; FIXED];
        payload[0] = u8::try_from(libc::AF_BRIDGE).unwrap();
        assert!(Link::parse(&payload).is_none());
        assert!(Link::parse(&[0; 3]).is_none());
    }
}
