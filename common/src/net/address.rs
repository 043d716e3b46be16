//! An IP address as people type it, with the link that a link-local one needs: `192.0.2.1`, `2001:db8::1`, `fe80::2%eth0`,
//! `fe80::2%3` (RFC 4007, 11).

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::str::FromStr;

use anyhow::bail;
use nix::net::if_::{if_nameindex, if_nametoindex};

/// An address of this host, or of one that its links reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    ip: IpAddr,
    /// Number of the link; 0 where the address needs none.
    scope: u32,
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is none at all.
    #[error("no IP address")]
    Syntax,
    /// Every link has such an address.
    #[error("a link-local address needs its link, as in {0}%{1}")]
    NoLink(IpAddr, String),
    /// There is no such link.
    #[error("there is no link '{0}' here (ip link lists them)")]
    UnknownLink(String),
    /// A link where none belongs.
    #[error("only a link-local address (fe80::...) has a link: leave %{0} out")]
    NeedsNoLink(String),
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (ip, link) = text.split_once('%').map_or((text, None), |(ip, link)| (ip, Some(link)));
        let ip = ip.parse().map_err(|_| AddressError::Syntax)?;
        let scope = match (is_link_local(ip), link) {
            (false, None) => 0,
            (false, Some(link)) => return Err(AddressError::NeedsNoLink(link.to_owned())),
            (true, None) => return Err(AddressError::NoLink(ip, some_link())),
            (true, Some(link)) => number_of(link).ok_or_else(|| AddressError::UnknownLink(link.to_owned()))?,
        };
        Ok(Self { ip, scope })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match links().into_iter().find(|(_, number)| self.scope == *number) {
            Some((name, _)) => write!(f, "{}%{name}", self.ip),
            None if self.scope > 0 => write!(f, "{}%{}", self.ip, self.scope),
            None => write!(f, "{}", self.ip),
        }
    }
}

impl Address {
    /// Without its link.
    pub fn ip(self) -> IpAddr {
        self.ip
    }

    /// Whether it is of IPv4.
    pub fn is_ipv4(self) -> bool {
        self.ip.is_ipv4()
    }

    /// For a socket; 0 is a port that the kernel chooses.
    pub fn with_port(self, port: u16) -> SocketAddr {
        match self.ip {
            IpAddr::V4(ip) => (ip, port).into(),
            IpAddr::V6(ip) => SocketAddrV6::new(ip, port, 0, self.scope).into(),
        }
    }

    /// Those of the addresses of `host` that this one, given as `--bind`, can reach: of its family, and if both are
    /// link-local of its link. The error says what is missing where there is none.
    pub fn reaching(self, host: &str, addresses: &[SocketAddr]) -> anyhow::Result<Vec<SocketAddr>> {
        let same_family: Vec<_> = addresses.iter().filter(|there| there.is_ipv4() == self.is_ipv4()).copied().collect();
        if same_family.is_empty() {
            let [own, others] = if self.is_ipv4() { ["IPv4", "IPv6"] } else { ["IPv6", "IPv4"] };
            bail!("--bind {self} is an address of {own}, and {host} has addresses of {others} only");
        }
        let is_elsewhere = |there: &SocketAddr| match there {
            SocketAddr::V6(there) => self.scope != 0 && there.scope_id() != 0 && there.scope_id() != self.scope,
            SocketAddr::V4(_) => false,
        };
        let reached: Vec<_> = same_family.into_iter().filter(|there| !is_elsewhere(there)).collect();
        if reached.is_empty() {
            bail!("--bind {self} is an address of another link than {host}");
        }
        Ok(reached)
    }
}

/// An address that every link may have: `fe80::/10`, and groups of a link or an interface (RFC 4291, 2.7).
pub(super) fn is_link_local(ip: IpAddr) -> bool {
    let is_group_of_link = |ip: Ipv6Addr| matches!(ip.segments()[0] & 0xff0f, 0xff01 | 0xff02);
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local() || is_group_of_link(ip))
}

/// The links of this namespace, with their numbers; none where the kernel does not tell.
fn links() -> Vec<(String, u32)> {
    let listed = if_nameindex();
    let links = listed.iter().flat_map(|links| links.iter());
    links.map(|link| (link.name().to_string_lossy().into_owned(), link.index())).collect()
}

/// The number of the link with this name or number.
fn number_of(link: &str) -> Option<u32> {
    let by_number = || link.parse().ok().filter(|number| links().iter().any(|(_, known)| known == number));
    if_nametoindex(link).ok().or_else(by_number)
}

/// A link for an example: the first that leads anywhere.
fn some_link() -> String {
    links().into_iter().map(|(name, _)| name).find(|name| name != "lo").unwrap_or_else(|| "eth0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Address, AddressError> {
        text.parse()
    }

    #[test]
    fn a_link_is_told_by_name_or_number() {
        let number = if_nametoindex("lo").unwrap();
        let by_name = parsed("fe80::2%lo").unwrap();
        assert_eq!(Ok(by_name), parsed(&format!("fe80::2%{number}")));
        assert_eq!((by_name.to_string().as_str(), by_name.is_ipv4()), ("fe80::2%lo", false));
        assert_eq!(by_name.with_port(5), SocketAddrV6::new("fe80::2".parse().unwrap(), 5, 0, number).into());
        assert!(parsed("ff02::1%lo").is_ok() && parsed("ff02::1").is_err());
        for plain in ["192.0.2.1", "2001:db8::1", "::", "::1", "ff05::1"] {
            let address = parsed(plain).unwrap();
            assert_eq!((address.to_string().as_str(), address.ip().to_string().as_str()), (plain, plain));
            assert_eq!(address.with_port(5).ip(), address.ip());
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        for (text, words) in [
            ("fe80::2", "needs its link, as in fe80::2%"),
            ("fe80::2%no.such.link", "no link 'no.such.link'"),
            ("fe80::2%4000000000", "no link '4000000000'"),
            ("fe80::2%", "no link ''"),
            ("2001:db8::1%lo", "leave %lo out"),
            ("127.0.0.1%lo", "leave %lo out"),
            ("nowhere", "no IP address"),
            ("", "no IP address"),
        ] {
            let error = parsed(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn an_address_reaches_its_family_and_its_link() {
        let [v4, v6, here, there] = ["192.0.2.1:1", "[2001:db8::1]:1", "[fe80::1%1]:1", "[fe80::1%2]:1"]
            .map(|text| text.parse::<SocketAddr>().unwrap());
        let reached = |own: Address, addresses: &[SocketAddr]| own.reaching("nas", addresses);
        let (own4, own6) = (parsed("192.0.2.9").unwrap(), parsed("2001:db8::9").unwrap());
        assert_eq!(reached(own4, &[v6, v4]).unwrap(), [v4]);
        assert_eq!(reached(own6, &[v6, v4, there]).unwrap(), [v6, there]);
        let local = Address { ip: "fe80::9".parse().unwrap(), scope: 1 };
        assert_eq!(reached(local, &[there, here, v4]).unwrap(), [here]);
        for (own, addresses, words) in [
            (own6, v4, "of IPv6, and nas has addresses of IPv4 only"),
            (own4, v6, "of IPv4, and nas has addresses of IPv6 only"),
            (local, there, "another link than nas"),
        ] {
            let error = reached(own, &[addresses]).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
