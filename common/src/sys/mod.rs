//! The only place of `unsafe`: system calls that no crate offers, behind functions that are safe to call.
#![allow(unsafe_code, reason = "raw system calls are this module's purpose")]

pub mod block;
pub mod ethtool;
pub mod extents;
pub mod files;
pub mod mapping;
pub mod page_cache;
pub mod ring;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::time::ClockId;

/// The CPU-time clock of the calling thread, for other threads to read (`pthread_getcpuclockid(3)`).
pub fn thread_cpu_clock() -> Option<ClockId> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: pthread_self is always valid for the calling thread, and `clock` is a valid place for one clockid_t.
    let status = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
    (status == 0).then(|| ClockId::from_raw(clock))
}

/// `getsockopt(2)` into `value`; returns how many bytes of it the kernel filled.
pub fn socket_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &mut [u8],
) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel writes at most `length` bytes, which `value` has room for, and any byte pattern is a valid u8.
    let status =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &raw mut length) };
    if status == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

/// `setsockopt(2)` with an integer of any width, as its bytes.
fn set_socket_option(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int, value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel reads at most `length` bytes, which `value` has.
    let status = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `IP_BIND_ADDRESS_NO_PORT` (ip(7)).
pub fn set_bind_address_no_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_socket_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &1_i32.to_ne_bytes())
}

/// `SO_MAX_PACING_RATE` in its 64-bit form (Linux 4.20), bytes per second.
pub fn set_max_pacing_rate(socket: BorrowedFd<'_>, bytes_per_s: u64) -> io::Result<()> {
    set_socket_option(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &bytes_per_s.to_ne_bytes())
}

/// `SO_ZEROCOPY`: allows `MSG_ZEROCOPY` (the kernel's `Documentation/networking/msg_zerocopy.rst`).
pub fn set_zerocopy(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_socket_option(socket, libc::SOL_SOCKET, libc::SO_ZEROCOPY, &1_i32.to_ne_bytes())
}

/// `TCP_NOTSENT_LOWAT`, bytes: how much may wait unsent in the socket (tcp(7)).
pub fn set_notsent_low_water(socket: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    set_socket_option(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, &bytes.to_ne_bytes())
}

/// What a UDP socket needs so that nothing is lost unsaid: `IP_RECVERR`, without which a datagram dropped by the local
/// queue counts as sent, and path MTU discovery, so that nothing is fragmented unless `fragment` (ip(7), ipv6(7)).
pub fn set_udp_options(socket: &std::net::UdpSocket, is_ipv6: bool, fragment: bool) -> io::Result<()> {
    let discover = if fragment { libc::IP_PMTUDISC_DONT } else { libc::IP_PMTUDISC_DO };
    let (level, recverr, mtu_discover) = if is_ipv6 {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVERR, libc::IPV6_MTU_DISCOVER)
    } else {
        (libc::IPPROTO_IP, libc::IP_RECVERR, libc::IP_MTU_DISCOVER)
    };
    set_socket_option(socket.as_fd(), level, recverr, &1_i32.to_ne_bytes())?;
    set_socket_option(socket.as_fd(), level, mtu_discover, &discover.to_ne_bytes())
}

/// MTU of a connected socket's route: `IP_MTU`, `IPV6_MTU`.
pub fn udp_mtu(socket: &std::net::UdpSocket, is_ipv6: bool) -> io::Result<u64> {
    let (level, name) = if is_ipv6 { (libc::IPPROTO_IPV6, libc::IPV6_MTU) } else { (libc::IPPROTO_IP, libc::IP_MTU) };
    let mut value = [0; 4];
    socket_option(socket.as_fd(), level, name, &mut value)?;
    u64::try_from(i32::from_ne_bytes(value)).map_err(|_| io::ErrorKind::InvalidData.into())
}
