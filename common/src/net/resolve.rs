//! Names of hosts.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Instant;

use anyhow::bail;

use crate::cli::Usage;
use crate::net::address::{Address, AddressError};

/// Looks `host` up, giving up at `deadline` however long the resolver goes on.
pub fn resolve(host: &str, port: u16, deadline: Instant) -> anyhow::Result<Vec<SocketAddr>> {
    match host.parse::<Address>() {
        Ok(address) => return Ok(vec![address.with_port(port)]),
        Err(AddressError::Syntax) => {}
        Err(error @ AddressError::UnknownLink(_)) => bail!("cannot reach {host}: {error}"),
        Err(error) => return Err(Usage(format!("{host}: {error}")).into()),
    }
    let (sender, receiver) = mpsc::channel();
    let name = host.to_owned();
    // Left to itself when it is late: getaddrinfo(3) cannot be interrupted.
    std::thread::Builder::new().name("resolve".into()).spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Vec::from_iter);
        // Nobody listens any more: the deadline has passed.
        let _ = sender.send(found);
    })?;
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Ok(addresses)) if addresses.is_empty() => bail!("cannot resolve {host}: no address"),
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => {
            bail!("cannot resolve {host}: {error} (check the spelling, or give its address)")
        }
        Err(_) => bail!("cannot resolve {host}: no answer in time (--connect-timeout)"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn addresses_need_no_looking_up_and_errors_name_the_host() {
        let soon = Instant::now() + Duration::from_secs(5);
        assert_eq!(resolve("::1", 5, soon).unwrap()[0].to_string(), "[::1]:5");
        assert!(resolve("fe80::1%lo", 5, soon).unwrap()[0].to_string().starts_with("[fe80::1%"));
        let error = resolve("fe80::1%no.such.link", 5, soon).unwrap_err();
        assert!(error.to_string().contains("no link 'no.such.link'") && !error.is::<Usage>(), "{error:#}");
        let error = resolve("fe80::1", 5, soon).unwrap_err();
        assert!(error.to_string().contains("fe80::1%") && error.is::<Usage>(), "{error:#}");
        let error = resolve("no.such.host.invalid", 1, soon).unwrap_err();
        assert!(error.to_string().starts_with("cannot resolve no.such.host.invalid"), "{error:#}");
    }
}
