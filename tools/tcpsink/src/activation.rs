//! Socket activation: a listening socket that systemd opened and passes as descriptor 3 (`sd_listen_fds(3)`).

use std::net::TcpListener;

use anyhow::{Context, bail};
use listenfd::ListenFd;

/// The socket passed to this process, if there is one. More than one is a mistake in the unit.
pub fn listener() -> anyhow::Result<Option<TcpListener>> {
    let mut given = ListenFd::from_env();
    match given.len() {
        0 => Ok(None),
        1 => given.take_tcp_listener(0).context("LISTEN_FDS: the socket passed is no listening TCP socket"),
        more => bail!("LISTEN_FDS: {more} sockets were passed, one is needed (one ListenStream= in the socket unit)"),
    }
}
