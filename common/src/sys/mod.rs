//! The only place of `unsafe`: system calls that no crate offers, behind functions that are safe to call; and what the
//! kernel says over netlink(7).
#![allow(unsafe_code, reason = "raw system calls are this module's purpose")]

pub mod block;
pub mod ethtool;
pub mod extents;
pub mod mapping;
pub mod netlink;
pub mod page_cache;
pub mod qdisc;
pub mod ring;
pub mod stdout;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

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

/// `SO_MAX_PACING_RATE` in its 64-bit form (Linux 4.20), bytes per second.
pub fn set_max_pacing_rate(socket: BorrowedFd<'_>, bytes_per_s: u64) -> io::Result<()> {
    set_socket_option(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &bytes_per_s.to_ne_bytes())
}

/// `SO_ZEROCOPY`: allows `MSG_ZEROCOPY` (the kernel's `Documentation/networking/msg_zerocopy.rst`).
pub fn set_zerocopy(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_socket_option(socket, libc::SOL_SOCKET, libc::SO_ZEROCOPY, &1_i32.to_ne_bytes())
}
