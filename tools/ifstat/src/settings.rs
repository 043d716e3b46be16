//! What belongs to an interface besides its counters: driver, speed and duplex, and whether a wire stands behind the speed.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use common::sys::ethtool::{self, LinkSettings};

use crate::link::Link;

/// The speed is asked for at most this often, unless the carrier came or went. A bond's follows its ports.
const FRESH: Duration = Duration::from_millis(900);

/// Kinds that sit on other interfaces and pass their speed on.
const STACKED: [&str; 9] = ["bond", "team", "vlan", "macvlan", "ipvlan", "macvtap", "ipvtap", "macsec", "bridge"];

/// Drivers of cards that a hypervisor made up.
const PARAVIRTUAL: [&str; 4] = ["virtio_net", "vmxnet3", "hv_netvsc", "vif"];

/// Deeper than any stack of VLAN, bond and bridge.
const MAX_DEPTH: usize = 8;

/// As last seen; unknown is `None`.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// As `ethtool -i` says it.
    pub driver: Option<String>,
    /// Mbit/s.
    pub speed_mbit: Option<u64>,
    /// `half` or `full`.
    pub duplex: Option<&'static str>,
    /// The speed is a claim: no wire limits this interface to it.
    pub is_nominal: bool,
    asked: Option<Asked>,
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    at: Instant,
    carrier: Option<bool>,
    carrier_changes: Option<u32>,
}

impl Settings {
    /// Whether a setting changed after it had been known.
    pub fn differs_from(&self, later: &Self) -> bool {
        self.asked.is_some() && (self.speed_mbit, self.duplex) != (later.speed_mbit, later.duplex)
    }
}

/// A socket for questions to drivers, in the namespace where it was opened.
#[derive(Debug)]
pub struct Drivers {
    socket: UnixDatagram,
    words: u8,
}

impl Drivers {
    /// Any kind of socket does (netdevice(7)); this one needs no address and opens no port.
    pub fn open() -> std::io::Result<Self> {
        Ok(Self { socket: UnixDatagram::unbound()?, words: 0 })
    }

    /// The socket, for the questions that only one verb has.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Brings `settings` of `link` up to date, with as few questions as possible. `all` are the interfaces beside it.
    pub fn look(&mut self, link: &Link, all: &[Link], at: Instant, settings: &mut Settings) {
        let is_fresh = settings.asked.is_some_and(|asked| {
            at.saturating_duration_since(asked.at) < FRESH
                && asked.carrier == link.carrier
                && asked.carrier_changes == link.carrier_changes
        });
        if is_fresh {
            return;
        }
        if settings.asked.is_none() {
            settings.driver = self.driver(link);
        }
        settings.asked = Some(Asked { at, carrier: link.carrier, carrier_changes: link.carrier_changes });
        let said = ethtool::link_settings(self.socket.as_fd(), link.name.bytes(), &mut self.words);
        let said = said.unwrap_or(LinkSettings { speed: u32::MAX, duplex: u8::MAX });
        settings.speed_mbit = speed(said.speed);
        settings.duplex = duplex(said.duplex);
        settings.is_nominal = settings.speed_mbit.is_some() && self.is_nominal(link, all, 0);
    }

    fn driver(&self, link: &Link) -> Option<String> {
        let driver = ethtool::driver(self.socket.as_fd(), link.name.bytes()).ok()?;
        (!driver.name.is_empty()).then_some(driver.name)
    }

    /// Whether the speed of `link` ends in a claim instead of a wire.
    fn is_nominal(&self, link: &Link, all: &[Link], depth: usize) -> bool {
        let Some(kind) = link.kind else {
            return self.driver(link).is_some_and(|driver| PARAVIRTUAL.contains(&driver.as_str()));
        };
        if !STACKED.contains(&&*kind.text()) || depth > MAX_DEPTH {
            return true;
        }
        let is_below = |other: &&Link| Some(other.index) == link.lower || other.master == Some(link.index);
        let mut below = all.iter().filter(is_below).peekable();
        // What a stack stands on may be in another namespace: then nobody knows, and a claim is all there is.
        below.peek().is_none() || below.any(|other| self.is_nominal(other, all, depth + 1))
    }
}

/// What the kernel means by "unknown" becomes `None`.
pub fn speed(mbit: u32) -> Option<u64> {
    const OLD_UNKNOWN: u32 = 65_535;
    (mbit != 0 && mbit != OLD_UNKNOWN && mbit != u32::MAX).then(|| mbit.into())
}

/// Unknown is not half.
pub fn duplex(code: u8) -> Option<&'static str> {
    match code {
        0 => Some("half"),
        1 => Some("full"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_speeds_are_none() {
        for unknown in [0, 65_535, u32::MAX] {
            assert_eq!(speed(unknown), None);
        }
        assert_eq!(speed(10), Some(10));
        assert_eq!(speed(100_000), Some(100_000), "more than sixteen bits");
        assert_eq!(duplex(255), None);
    }
}
