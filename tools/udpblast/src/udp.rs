//! UDP sockets as this tool needs them: connected, with large buffers, never fragmenting unless asked to.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use anyhow::Context;
use common::net::address::Address;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, getsockopt, recvmsg, sendmsg, setsockopt, sockopt,
};
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// What a receiver asks for, bytes: 100 ms at 1 Gbit/s, with the kernel's overhead.
pub const BUFFER: usize = 32 * 1024 * 1024;

/// Largest payload of a datagram: 65535 less the headers of UDP and IPv4.
pub const MAX_DATAGRAM: u64 = 65_507;

/// Largest buffer that the kernel joins datagrams into (`UDP_GRO`, udp(7)).
pub const LARGEST: usize = 65_536;

/// Takes one buffer and calls `each` for every datagram in it: the kernel may have joined several.
pub fn receive_each(socket: &UdpSocket, buffer: &mut [u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut space = nix::cmsg_space!(i32, u32, libc::timespec);
    let mut parts = [io::IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())?;
    let segment = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::UdpGroSegments(size) => usize::try_from(size).ok(),
        _ => None,
    });
    let length = message.bytes;
    buffer[..length].chunks(segment.unwrap_or(length).max(1)).for_each(&mut each);
    Ok(())
}

/// Whether data is what lies in the socket, and not a word; it stays there.
pub fn has_data(socket: &UdpSocket) -> bool {
    let mut first = [0];
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    nix::sys::socket::recv(socket.as_raw_fd(), &mut first, flags).is_ok_and(|length| length > 0 && first == [0])
}

/// A socket bound to `local`; several may be bound to one port, the connected ones first in turn.
pub fn bind(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if local.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&local.into())?;
    Ok(socket.into())
}

/// Sends a datagram from `own`, one of this machine's addresses, over a socket that is bound to all of them (ip(7), ipv6(7)).
pub fn send_from(socket: &UdpSocket, own: Option<IpAddr>, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
    let parts = [io::IoSlice::new(bytes)];
    let send = |info: &[ControlMessage<'_>]| {
        let to = SockaddrStorage::from(to);
        sendmsg(socket.as_raw_fd(), &parts, info, MsgFlags::empty(), Some(&to)).map(drop).map_err(io::Error::from)
    };
    match own {
        Some(own) if socket.local_addr()?.is_ipv6() => {
            let own = match own {
                IpAddr::V4(own) => own.to_ipv6_mapped(),
                IpAddr::V6(own) => own,
            };
            let address = libc::in6_addr { s6_addr: own.octets() };
            send(&[ControlMessage::Ipv6PacketInfo(&libc::in6_pktinfo { ipi6_addr: address, ipi6_ifindex: 0 })])
        }
        Some(IpAddr::V4(own)) => {
            let address = libc::in_addr { s_addr: u32::from_ne_bytes(own.octets()) };
            let any = libc::in_addr { s_addr: 0 };
            send(&[ControlMessage::Ipv4PacketInfo(&libc::in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: address,
                ipi_addr: any,
            })])
        }
        // A socket of IPv4 has no others.
        Some(IpAddr::V6(_)) | None => send(&[]),
    }
}

/// The way to the other end, as asked for.
#[derive(Debug, Clone, Default)]
pub struct Path {
    /// Local address.
    pub bind: Option<Address>,
    /// `SO_BINDTODEVICE`.
    pub interface: Option<String>,
}

impl Path {
    /// A socket that is connected to `address`. An error outside is one of the options, and every address would have it.
    pub fn connect(&self, address: SocketAddr) -> anyhow::Result<io::Result<UdpSocket>> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if let Some(name) = &self.interface {
            socket.bind_device(Some(name.as_bytes())).with_context(|| format!("--interface {name}"))?;
        }
        if let Some(local) = self.bind {
            socket.bind(&local.with_port(0).into()).with_context(|| format!("--bind {local}"))?;
        }
        Ok(socket.connect(&address.into()).map(|()| socket.into()))
    }
}

/// What a test wants of its socket.
#[derive(Debug, Clone, Copy)]
pub struct Wishes {
    /// Buffers, bytes; the default is [`BUFFER`], with force where that is allowed.
    pub buffer: Option<u64>,
    /// Let the network cut datagrams into pieces.
    pub fragment: bool,
    /// Take joined buffers.
    pub joins: bool,
    /// Differentiated services code point (RFC 2474).
    pub dscp: Option<u8>,
}

/// Prepares a connected socket for a test.
pub fn prepare(socket: &UdpSocket, wishes: Wishes) -> anyhow::Result<()> {
    let peer = socket.peer_addr()?;
    let options = SockRef::from(socket);
    if let Some(bytes) = wishes.buffer {
        let bytes = usize::try_from(bytes.min(i32::MAX.unsigned_abs().into()))?;
        options.set_send_buffer_size(bytes).context("--buffer")?;
        options.set_recv_buffer_size(bytes).context("--buffer")?;
    } else {
        // Root may exceed rmem_max; everybody else gets what there is.
        if setsockopt(socket, sockopt::RcvBufForce, &BUFFER).is_err() {
            options.set_recv_buffer_size(BUFFER)?;
        }
        if setsockopt(socket, sockopt::SndBufForce, &(BUFFER / 4)).is_err() {
            options.set_send_buffer_size(BUFFER / 4)?;
        }
    }
    set_path_options(socket, peer.is_ipv6(), wishes.fragment)?;
    // What the receiver cannot have, it does without: the columns stay empty or say none.
    let _ = setsockopt(socket, sockopt::RxqOvfl, &1);
    let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    if let Some(dscp) = wishes.dscp {
        // The two bits below it belong to congestion notification (RFC 3168).
        let field = u32::from(dscp) << 2;
        if peer.is_ipv6() {
            options.set_tclass_v6(field).with_context(|| format!("--dscp {dscp}"))?;
        } else {
            options.set_tos_v4(field).with_context(|| format!("--dscp {dscp}"))?;
        }
    }
    if wishes.joins {
        let _ = setsockopt(socket, sockopt::UdpGroSegment, &true);
    }
    socket.set_read_timeout(Some(GLANCE))?;
    socket.set_write_timeout(Some(GLANCE))?;
    Ok(())
}

/// What a socket needs so that nothing is lost unsaid: `IP_RECVERR`, without which a datagram dropped by the local queue
/// counts as sent, and path MTU discovery, so that nothing is fragmented unless `fragment` (ip(7), ipv6(7)).
fn set_path_options(socket: &UdpSocket, is_ipv6: bool, fragment: bool) -> io::Result<()> {
    if is_ipv6 {
        setsockopt(socket, sockopt::Ipv6RecvErr, &true)?;
        let discovery = if fragment { Ipv6PathMtuDiscovery::DONT } else { Ipv6PathMtuDiscovery::DO };
        set_ipv6_mtu_discover(socket, discovery)?;
    } else {
        setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
        let discovery = if fragment { Ipv4PathMtuDiscovery::DONT } else { Ipv4PathMtuDiscovery::DO };
        set_ip_mtu_discover(socket, discovery)?;
    }
    Ok(())
}

/// How long a call blocks before its thread looks whether it is time to end.
pub const GLANCE: Duration = Duration::from_millis(50);

/// MTU of the route of a connected socket (ip(7), ipv6(7)).
pub fn mtu(socket: &UdpSocket) -> Option<u64> {
    let is_ipv6 = socket.peer_addr().ok()?.is_ipv6();
    let mtu = if is_ipv6 { rustix::net::sockopt::ipv6_mtu(socket) } else { rustix::net::sockopt::ip_mtu(socket) };
    mtu.ok().map(u64::from)
}

/// Most payload that a datagram over this connected socket may have without being fragmented.
pub fn fits(socket: &UdpSocket) -> u64 {
    let headers = socket.peer_addr().map_or(48, |peer| header_bytes(peer.ip()));
    // Where the kernel does not tell, Ethernet it is.
    mtu(socket).unwrap_or(1500).saturating_sub(headers).min(MAX_DATAGRAM)
}

/// Bytes of the UDP and IP headers of a datagram to `peer`.
fn header_bytes(peer: IpAddr) -> u64 {
    if peer.to_canonical().is_ipv6() { 48 } else { 28 }
}

/// What a connected socket says of the way to the other end.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Bytes of UDP and IP headers.
    pub header_bytes: u64,
    /// MTU.
    pub mtu: Option<u64>,
    /// Send and receive buffer as granted.
    pub buffers: (Option<u64>, Option<u64>),
}

/// What a connected socket says of the way to its other end.
pub fn route(socket: &UdpSocket) -> io::Result<Route> {
    Ok(Route { header_bytes: header_bytes(socket.peer_addr()?.ip()), mtu: mtu(socket), buffers: granted(socket) })
}

/// Send and receive buffer as granted.
fn granted(socket: &UdpSocket) -> (Option<u64>, Option<u64>) {
    let bytes = |size: Result<usize, _>| size.ok().map(|size: usize| size as u64);
    (bytes(getsockopt(socket, sockopt::SndBuf)), bytes(getsockopt(socket, sockopt::RcvBuf)))
}
