//! TCP sockets: resolve, connect, listen, and read back what the kernel granted and knows.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use socket2::{Domain, Socket, Type};

use crate::sys;

/// Connections that the kernel may hold ready for `accept(2)`; it caps this at `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// Looks `host` up, giving up at `deadline` however long the resolver goes on.
pub fn resolve(host: &str, port: u16, deadline: Instant) -> anyhow::Result<Vec<SocketAddr>> {
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
        Ok(found) => found.with_context(|| format!("cannot resolve {host}")),
        Err(_) => bail!("cannot resolve {host}: no answer in time (--connect-timeout)"),
    }
}

/// Connects to the first of the addresses that answers before `deadline`.
pub fn connect(addresses: &[SocketAddr], deadline: Instant) -> anyhow::Result<TcpStream> {
    let mut last = anyhow!("no address to connect to");
    for address in addresses {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => {
                let late = error.kind() == io::ErrorKind::TimedOut;
                let hint = if late { " (--connect-timeout)" } else { "" };
                last = anyhow!("cannot connect to {address}: {error}{hint}");
            }
        }
    }
    Err(last)
}

/// Listens on `address`, or on all addresses of both families through one socket (of IPv4 only, where there is no IPv6).
pub fn listen(address: Option<IpAddr>, port: u16) -> anyhow::Result<TcpListener> {
    let any_v6 = SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, port));
    let any_v4 = SocketAddr::from((std::net::Ipv4Addr::UNSPECIFIED, port));
    let (wanted, listener) = match address {
        Some(address) => ((address, port).into(), listen_on((address, port).into())),
        None => match listen_on(any_v6) {
            Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => (any_v4, listen_on(any_v4)),
            listener => (any_v6, listener),
        },
    };
    listener.with_context(|| format!("cannot listen on {wanted}"))
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// The address of the other end, IPv4 shown as IPv4.
pub fn peer_address(stream: &TcpStream) -> String {
    stream.peer_addr().map(|peer| peer.ip().to_canonical().to_string()).unwrap_or_default()
}

/// Send and receive buffer as granted, in bytes. The kernel counts its own overhead in: twice what was asked (socket(7)).
pub fn granted_buffers(stream: &TcpStream) -> (Option<u64>, Option<u64>) {
    let socket = socket2::SockRef::from(stream);
    let bytes = |size: io::Result<usize>| size.ok().map(|size| size as u64);
    (bytes(socket.send_buffer_size()), bytes(socket.recv_buffer_size()))
}

/// The congestion control in force, e.g. `cubic`.
pub fn congestion_control(stream: &TcpStream) -> Option<String> {
    let name = socket2::SockRef::from(stream).tcp_congestion().ok()?;
    let name: Vec<u8> = name.into_iter().take_while(|byte| *byte != 0).collect();
    String::from_utf8(name).ok()
}

/// Receives give up after `timeout` without a byte.
pub fn set_read_timeout(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    // Zero would mean for ever.
    stream.set_read_timeout(Some(timeout.max(Duration::from_millis(1))))
}

/// What the kernel knows of a connection: `struct tcp_info` of linux/tcp.h. Fields that an older kernel does not fill are `None`.
#[derive(Debug, Clone, Copy)]
pub struct TcpInfo {
    raw: [u8; Self::SIZE],
    filled: usize,
}

impl TcpInfo {
    /// Enough for the fields read here; the kernel cuts its answer to fit.
    const SIZE: usize = 256;

    /// Asks the kernel.
    pub fn of(stream: &TcpStream) -> io::Result<Self> {
        let mut raw = [0; Self::SIZE];
        let filled = sys::socket_option(stream.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut raw)?;
        Ok(Self { raw, filled })
    }

    fn field<const WIDTH: usize>(&self, offset: usize) -> Option<[u8; WIDTH]> {
        let end = offset + WIDTH;
        if end > self.filled { None } else { self.raw.get(offset..end)?.try_into().ok() }
    }

    fn u32(&self, offset: usize) -> Option<u64> {
        self.field(offset).map(|bytes| u64::from(u32::from_ne_bytes(bytes)))
    }

    fn u64(&self, offset: usize) -> Option<u64> {
        self.field(offset).map(u64::from_ne_bytes)
    }

    /// `tcpi_snd_mss`, bytes.
    pub fn send_mss(&self) -> Option<u64> {
        self.u32(16)
    }

    /// `tcpi_rcv_mss`, bytes.
    pub fn recv_mss(&self) -> Option<u64> {
        self.u32(20)
    }

    /// `tcpi_rtt`, microseconds; `None` before the first measurement.
    pub fn rtt_us(&self) -> Option<u64> {
        self.u32(68).filter(|rtt| *rtt > 0)
    }

    /// `tcpi_rttvar`, microseconds; `None` before the first measurement.
    pub fn rtt_var_us(&self) -> Option<u64> {
        self.rtt_us().and(self.u32(72))
    }

    /// `tcpi_snd_cwnd`, segments.
    pub fn send_cwnd(&self) -> Option<u64> {
        self.u32(80)
    }

    /// `tcpi_total_retrans`, segments.
    pub fn total_retransmits(&self) -> Option<u64> {
        self.u32(100)
    }

    /// `tcpi_bytes_acked`, bytes of ours that the other end's kernel has.
    pub fn bytes_acked(&self) -> Option<u64> {
        self.u64(120)
    }

    /// Whether `tcpi_unacked` or `tcpi_notsent_bytes` says that bytes of ours are still to be acknowledged.
    pub fn has_outstanding(&self) -> bool {
        [24, 144].iter().any(|offset| self.u32(*offset).is_some_and(|amount| amount > 0))
    }

    /// `tcpi_min_rtt`, microseconds; the kernel's ~0 says that there is none.
    pub fn min_rtt_us(&self) -> Option<u64> {
        self.u32(148).filter(|rtt| *rtt != u64::from(u32::MAX) && *rtt > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_socket_serves_both_families() {
        let listener = listen(None, 0).unwrap();
        let port = listener.local_addr().unwrap().port();
        let soon = Instant::now() + Duration::from_secs(5);
        let stream = connect(&resolve("127.0.0.1", port, soon).unwrap(), soon).unwrap();
        assert_eq!(peer_address(&stream), "127.0.0.1");
        assert_eq!(peer_address(&listener.accept().unwrap().0), "127.0.0.1");
        assert!(TcpInfo::of(&stream).unwrap().send_mss().unwrap() > 500);
        assert!(congestion_control(&stream).is_some());
    }

    #[test]
    fn fields_beyond_an_older_kernels_answer_are_unknown() {
        let mut info = TcpInfo { raw: [7; TcpInfo::SIZE], filled: 104 };
        assert_eq!(info.total_retransmits(), Some(0x0707_0707));
        assert_eq!(info.bytes_acked(), None);
        assert_eq!(info.min_rtt_us(), None);
        info.filled = TcpInfo::SIZE;
        info.raw[148..152].fill(0xff);
        assert_eq!(info.min_rtt_us(), None, "the kernel's word for none");
    }

    #[test]
    fn errors_name_what_was_tried() {
        let soon = Instant::now() + Duration::from_secs(5);
        let error = resolve("no.such.host.invalid", 1, soon).unwrap_err();
        assert!(error.to_string().starts_with("cannot resolve no.such.host.invalid"), "{error:#}");
        let closed = listen(Some("127.0.0.1".parse().unwrap()), 0).unwrap().local_addr().unwrap();
        let error = connect(&[closed], soon).unwrap_err();
        assert!(error.to_string().contains("Connection refused"), "{error:#}");
    }
}
