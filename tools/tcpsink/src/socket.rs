//! TCP sockets: connect, listen, and the options of a connection, read back as granted.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use common::net::address::Address;
use common::net::listener;
use common::stop::{Stop, Stopped};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::IpBindAddressNoPort;
use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};

/// Connections that the kernel may hold ready for `accept(2)`; it caps this at `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// Options of a connection, as asked for. Where there is nothing, the kernel's default stays.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `SO_SNDBUF` and `SO_RCVBUF`, bytes; the kernel caps it (`net.core.wmem_max`, `rmem_max`).
    pub buffer: Option<u64>,
    /// `TCP_CONGESTION`.
    pub congestion: Option<String>,
    /// `TCP_MAXSEG`, bytes.
    pub mss: Option<u16>,
    /// Differentiated services code point, 0 to 63 (RFC 2474).
    pub dscp: Option<u8>,
    /// `TCP_NODELAY`.
    pub nodelay: bool,
    /// Local address.
    pub bind: Option<Address>,
    /// `SO_BINDTODEVICE`.
    pub interface: Option<String>,
}

impl Options {
    /// Applies what may be set before connecting and on an accepted connection alike.
    pub fn apply(&self, socket: &Socket, is_ipv6: bool) -> anyhow::Result<()> {
        if let Some(bytes) = self.buffer {
            // setsockopt takes an int; the kernel caps it anyway.
            let bytes = usize::try_from(bytes.min(i32::MAX.unsigned_abs().into())).unwrap_or(usize::MAX);
            socket.set_send_buffer_size(bytes).context("--buffer")?;
            socket.set_recv_buffer_size(bytes).context("--buffer")?;
        }
        if let Some(name) = &self.congestion {
            socket.set_tcp_congestion(name.as_bytes()).with_context(|| {
                let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
                format!("--congestion {name} (this kernel has: {})", known.unwrap_or_default().trim())
            })?;
        }
        if let Some(mss) = self.mss {
            socket.set_tcp_mss(mss.into()).with_context(|| format!("--mss {mss}"))?;
        }
        if let Some(dscp) = self.dscp {
            // The two bits below it belong to congestion notification (RFC 3168).
            let field = u32::from(dscp) << 2;
            if is_ipv6 {
                socket.set_tclass_v6(field).with_context(|| format!("--dscp {dscp}"))?;
            }
            // Also what an IPv4 peer of a socket for both families gets.
            match socket.set_tos_v4(field) {
                Err(error) if !is_ipv6 => return Err(error).with_context(|| format!("--dscp {dscp}")),
                _ => {}
            }
        }
        if self.nodelay {
            socket.set_tcp_nodelay(true).context("--nodelay")?;
        }
        Ok(())
    }

    /// A socket with all of them, for a connection to `address`.
    pub fn socket_for(&self, address: SocketAddr) -> anyhow::Result<Socket> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        self.apply(&socket, address.is_ipv6())?;
        if let Some(name) = &self.interface {
            socket.bind_device(Some(name.as_bytes())).with_context(|| format!("--interface {name}"))?;
        }
        if let Some(local) = self.bind {
            // The port is chosen at connect(2), per destination: more of them, and no clash (ip(7)).
            setsockopt(&socket, IpBindAddressNoPort, &true).context("--bind")?;
            socket.bind(&local.with_port(0).into()).with_context(|| format!("--bind {local}"))?;
        }
        Ok(socket)
    }
}

/// How often an idle connection says that it is still there: firewalls and NAT forget those that do not.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// A connection, or all that a listener accepts, shows every second that it is there, and breaks when nothing gets through
/// for `patience` and a second more: whoever watches it has said so before.
pub fn keep_in_touch(socket: &impl AsFd, patience: Duration) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SIGN_OF_LIFE).with_interval(SIGN_OF_LIFE))?;
    // The kernel counts milliseconds in an int.
    let most = Duration::from_millis(i32::MAX.unsigned_abs().into());
    socket.set_tcp_user_timeout(Some(patience.saturating_add(SIGN_OF_LIFE).min(most)))
}

/// How long an address is tried before the next one is tried beside it (RFC 8305, 5).
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to the first of the addresses that answers before `deadline`: they are tried side by side, each a little later
/// than the one before. The error is [`Stopped`] if `stop` came first.
pub fn connect(
    addresses: &[SocketAddr],
    options: &Options,
    deadline: Instant,
    stop: &Stop,
) -> anyhow::Result<TcpStream> {
    let mut last = anyhow!("no address to connect to");
    let mut waiting = addresses.iter();
    let mut tried: Vec<(SocketAddr, Socket)> = Vec::new();
    loop {
        if stop.is_set() {
            return Err(Stopped.into());
        }
        let Some(address) = waiting.next() else { break };
        match attempt(*address, options)? {
            Ok(socket) => tried.push((*address, socket)),
            Err(error) => last = failed(error, *address),
        }
        let patience = if waiting.len() == 0 { deadline } else { deadline.min(Instant::now() + HEAD_START) };
        while !tried.is_empty() && Instant::now() < patience && !stop.is_set() {
            let sockets: Vec<_> = tried.iter().map(|(_, socket)| socket.as_fd()).collect();
            let ready = stop.wait_to_write(&sockets, Some(patience))?;
            let Some(place) = ready.iter().position(|ready| *ready) else { continue };
            let (address, socket) = tried.swap_remove(place);
            match socket.take_error()? {
                None => {
                    socket.set_nonblocking(false)?;
                    return Ok(socket.into());
                }
                Some(error) => last = failed(error, address),
            }
        }
    }
    match tried.first() {
        Some((address, _)) => bail!("cannot connect to {address} (--connect-timeout): timed out"),
        None => Err(last),
    }
}

/// Begins to connect. An error outside is one of the options, and every address would have it.
fn attempt(address: SocketAddr, options: &Options) -> anyhow::Result<io::Result<Socket>> {
    let socket = options.socket_for(address)?;
    socket.set_nonblocking(true)?;
    Ok(match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    })
}

fn failed(error: io::Error, address: SocketAddr) -> anyhow::Error {
    anyhow::Error::new(error).context(format!("cannot connect to {address}"))
}

/// Listens on `address`, or on all addresses of both families.
pub fn listen(address: Option<Address>, port: u16) -> anyhow::Result<TcpListener> {
    listener::on_all_families(address, port, listen_on)
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
    let socket = SockRef::from(stream);
    let bytes = |size: io::Result<usize>| size.ok().map(|size| size as u64);
    (bytes(socket.send_buffer_size()), bytes(socket.recv_buffer_size()))
}

/// The congestion control in force, e.g. `cubic`.
pub fn congestion_control(stream: &TcpStream) -> Option<String> {
    let name = SockRef::from(stream).tcp_congestion().ok()?;
    let name: Vec<u8> = name.into_iter().take_while(|byte| *byte != 0).collect();
    String::from_utf8(name).ok()
}

/// Blocking calls give up after `timeout` without a byte.
pub fn set_timeouts(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    // Zero would mean for ever.
    let timeout = Some(timeout.max(Duration::from_millis(1)));
    stream.set_read_timeout(timeout)?;
    stream.set_write_timeout(timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_socket_serves_both_families() {
        let listener = listen(None, 0).unwrap();
        let port = listener.local_addr().unwrap().port();
        let soon = Instant::now() + Duration::from_secs(5);
        let stream = connect(&[([127, 0, 0, 1], port).into()], &Options::default(), soon, &stop()).unwrap();
        assert_eq!(peer_address(&stream), "127.0.0.1");
        assert_eq!(peer_address(&listener.accept().unwrap().0), "127.0.0.1");
        assert!(congestion_control(&stream).is_some());
    }

    #[test]
    fn options_that_cannot_be_are_named() {
        let soon = Instant::now() + Duration::from_secs(5);
        let listener = listen(Some("127.0.0.1".parse().unwrap()), 0).unwrap();
        let there = [listener.local_addr().unwrap()];
        for (options, words) in [
            (
                Options { congestion: Some("nosuch".into()), ..Options::default() },
                ["--congestion nosuch", "this kernel"],
            ),
            (Options { interface: Some("nosuch0".into()), ..Options::default() }, ["--interface nosuch0", "No such"]),
            (
                Options { bind: Some("192.0.2.1".parse().unwrap()), ..Options::default() },
                ["--bind 192.0.2.1", "assign"],
            ),
        ] {
            let error = format!("{:#}", connect(&there, &options, soon, &stop()).unwrap_err());
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
        let options = Options { buffer: Some(1 << 40), dscp: Some(46), mss: Some(1000), ..Options::default() };
        let stream = connect(&there, &options, soon, &stop()).unwrap();
        assert_eq!(socket2::SockRef::from(&stream).tos_v4().unwrap(), 46 << 2);
        assert!(granted_buffers(&stream).0.unwrap() < 1 << 32, "capped by the kernel");
    }

    #[test]
    fn errors_name_what_was_tried() {
        let soon = Instant::now() + Duration::from_secs(5);
        let closed = listen(Some("127.0.0.1".parse().unwrap()), 0).unwrap().local_addr().unwrap();
        let error = connect(&[closed], &Options::default(), soon, &stop()).unwrap_err();
        let said = format!("{error:#}");
        assert!(said.contains(&closed.to_string()) && said.contains("Connection refused"), "{said}");
    }

    fn stop() -> Stop {
        Stop::on_request().unwrap()
    }

    /// A listener whose queue is full: the kernel drops what comes.
    fn deaf() -> (Socket, SocketAddr, Vec<Socket>) {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        socket.listen(0).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        let begin = |_| attempt(address, &Options::default()).unwrap().unwrap();
        let guests = (0..4).map(begin).collect();
        std::thread::sleep(Duration::from_millis(50));
        (socket, address, guests)
    }

    #[test]
    fn an_address_that_does_not_answer_does_not_keep_the_others_waiting() {
        let (_deaf, silent, _guests) = deaf();
        let good = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = {
            let gone = TcpListener::bind("127.0.0.1:0").unwrap();
            gone.local_addr().unwrap()
        };
        let stop = stop();
        let far = Instant::now() + Duration::from_mins(1);
        let addresses = [refused, silent, good.local_addr().unwrap()];
        let stream = connect(&addresses, &Options::default(), far, &stop).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addresses[2]);
        let error = connect(&[refused], &Options::default(), far, &stop).unwrap_err();
        assert!(format!("{error:#}").contains("refused"), "{error:#}");
        let soon = Instant::now() + Duration::from_millis(100);
        let error = connect(&[silent], &Options::default(), soon, &stop).unwrap_err();
        assert!(format!("{error:#}").contains("--connect-timeout"), "{error:#}");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(50));
                stop.set();
            });
            let error = connect(&[silent], &Options::default(), far, &stop).unwrap_err();
            assert!(error.is::<Stopped>(), "{error:#}");
        });
        assert!(Instant::now() < far);
    }
}
