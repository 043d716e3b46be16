//! Names of hosts.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, TryRecvError};
use std::time::Instant;

use anyhow::bail;
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::cli::Usage;
use crate::net::address::{Address, AddressError, is_link_local};
use crate::stop::{Stop, Stopped};

/// Looks `host` up, giving up at `deadline` however long the resolver goes on. The error is [`Stopped`] if `stop` came first.
pub fn resolve(host: &str, port: u16, deadline: Instant, stop: &Stop) -> anyhow::Result<Vec<SocketAddr>> {
    match host.parse::<Address>() {
        Ok(address) => return Ok(vec![address.with_port(port)]),
        Err(AddressError::Syntax) => {}
        Err(error @ AddressError::UnknownLink(_)) => bail!("cannot reach {host}: {error}"),
        Err(error) => return Err(Usage(format!("{host}: {error}")).into()),
    }
    match look_up(host, port, deadline, stop)? {
        Some(Ok(addresses)) if addresses.is_empty() => bail!("cannot resolve {host}: no address"),
        Some(Ok(addresses)) => usable(host, addresses),
        Some(Err(error)) => bail!("cannot resolve {host}: {error} (check the spelling, or give its address)"),
        None if stop.is_set() => Err(Stopped.into()),
        None => bail!("cannot resolve {host}: no answer in time (--connect-timeout)"),
    }
}

/// Those that can be reached. A hosts(5) file may have link-local ones, of which nobody knows the link.
fn usable(host: &str, mut addresses: Vec<SocketAddr>) -> anyhow::Result<Vec<SocketAddr>> {
    let first = addresses.first().map(SocketAddr::ip);
    addresses.retain(|address| match address {
        SocketAddr::V6(v6) => v6.scope_id() != 0 || !is_link_local(address.ip()),
        SocketAddr::V4(_) => true,
    });
    match first.filter(|_| addresses.is_empty()) {
        Some(first) => {
            bail!("cannot reach {host}: it is {first}, of an unknown link (give the address, as in {first}%eth0)")
        }
        None => Ok(addresses),
    }
}

/// What the resolver says; `None` when `deadline` or `stop` came first.
fn look_up(
    host: &str,
    port: u16,
    deadline: Instant,
    stop: &Stop,
) -> anyhow::Result<Option<io::Result<Vec<SocketAddr>>>> {
    let bell = Arc::new(EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?);
    let (sender, receiver) = mpsc::channel();
    let (name, ringer) = (host.to_owned(), Arc::clone(&bell));
    // Left to itself when it is late: getaddrinfo(3) cannot be interrupted.
    std::thread::Builder::new().name("resolve".into()).spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Vec::from_iter);
        // Nobody listens any more: the deadline has passed.
        let _ = (sender.send(found), ringer.write(1));
    })?;
    while !stop.is_set() && Instant::now() < deadline {
        stop.wait(&[bell.as_fd()], Some(deadline))?;
        match receiver.try_recv() {
            Ok(found) => return Ok(Some(found)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => bail!("cannot resolve {host}: the resolver failed"),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn addresses_need_no_looking_up_and_errors_name_the_host() {
        let (soon, stop) = (Instant::now() + Duration::from_secs(5), Stop::on_request().unwrap());
        let resolve = |host: &str| resolve(host, 5, soon, &stop);
        assert_eq!(resolve("::1").unwrap()[0].to_string(), "[::1]:5");
        assert!(resolve("fe80::1%lo").unwrap()[0].to_string().starts_with("[fe80::1%"));
        let error = resolve("fe80::1%no.such.link").unwrap_err();
        assert!(error.to_string().contains("no link 'no.such.link'") && !error.is::<Usage>(), "{error:#}");
        let error = resolve("fe80::1").unwrap_err();
        assert!(error.to_string().contains("fe80::1%") && error.is::<Usage>(), "{error:#}");
        assert!(resolve("localhost").unwrap().iter().all(|address| address.ip().is_loopback()));
        let error = resolve("no.such.host.invalid").unwrap_err();
        assert!(error.to_string().starts_with("cannot resolve no.such.host.invalid"), "{error:#}");
        let [v4, local, scoped] =
            ["192.0.2.1:5", "[fe80::1]:5", "[fe80::1%1]:5"].map(|text| text.parse::<SocketAddr>().unwrap());
        assert_eq!(usable("nas", vec![local, v4, scoped]).unwrap(), [v4, scoped]);
        assert!(usable("nas", vec![local]).unwrap_err().to_string().contains("fe80::1%eth0"));
        stop.set();
        assert!(resolve("no.such.host.invalid").unwrap_err().is::<Stopped>());
    }
}
