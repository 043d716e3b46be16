//! Listening on both families.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Context;

use crate::net::address::Address;

/// Opens a socket on `address`, or on all addresses of both families through one socket (of IPv4 only, where there is no
/// IPv6). `open` must not restrict a socket of IPv6 to that family.
pub fn on_all_families<S>(
    address: Option<Address>,
    port: u16,
    open: impl Fn(SocketAddr) -> io::Result<S>,
) -> anyhow::Result<S> {
    let any_v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    let any_v4 = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let (wanted, socket) = match address {
        Some(address) => {
            let wanted = address.with_port(port);
            (wanted, open(wanted))
        }
        None => match open(any_v6) {
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => (any_v4, open(any_v4)),
            socket => (any_v6, socket),
        },
    };
    socket.with_context(|| format!("cannot listen on {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_ipv6_it_is_ipv4() {
        let open = |address: SocketAddr| match address {
            SocketAddr::V6(_) => Err(io::Error::from_raw_os_error(libc::EAFNOSUPPORT)),
            v4 @ SocketAddr::V4(_) => Ok(v4),
        };
        assert_eq!(on_all_families(None, 5, open).unwrap().to_string(), "0.0.0.0:5");
        let asked = "::1".parse().unwrap();
        let error = on_all_families(Some(asked), 5, open).unwrap_err();
        assert!(error.to_string().contains("[::1]:5"), "{error}");
        let taken = |_| Err::<(), _>(io::Error::from_raw_os_error(libc::EADDRINUSE));
        assert!(on_all_families(None, 5, taken).unwrap_err().to_string().contains("[::]:5"));
    }
}
