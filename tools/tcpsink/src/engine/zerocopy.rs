//! `MSG_ZEROCOPY` (the kernel's `Documentation/networking/msg_zerocopy.rst`): send from our pages, and reap the notices
//! that the kernel is done with them. The payload never changes, so that nobody waits for a notice; but unread notices
//! fill the socket's option memory (`net.core.optmem_max`), and then a send fails with ENOBUFS.

use std::io::{self, IoSliceMut};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, send};

/// Sends between two looks at the notices.
const BATCH: u32 = 32;

/// How long the notices of the last sends are waited for: they say whether the kernel copied all the same.
const LAST_NOTICES: Duration = Duration::from_millis(20);

/// `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h: the kernel fell back to a copy.
const COPIED: u8 = 1;

/// Reads the notices of one socket.
#[derive(Debug, Default)]
pub struct Reaper {
    unread: u32,
    has_copied: bool,
}

impl Reaper {
    /// Sends what fits without a copy.
    pub fn send(&mut self, socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        if self.unread >= BATCH {
            self.reap(socket);
        }
        let flags = MsgFlags::from_bits_retain(libc::MSG_ZEROCOPY) | MsgFlags::MSG_NOSIGNAL;
        match send(socket.as_raw_fd(), bytes, flags) {
            Ok(sent) => {
                self.unread += 1;
                Ok(sent)
            }
            Err(error @ (Errno::EAGAIN | Errno::ENOBUFS)) => {
                // A waiting notice makes poll(2) return at once: read them before anybody polls.
                if self.reap(socket) == 0 && error == Errno::ENOBUFS {
                    std::thread::yield_now();
                }
                Err(io::ErrorKind::WouldBlock.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the last notices; returns whether the kernel copied.
    pub fn finish(&mut self, socket: &TcpStream) -> bool {
        let deadline = Instant::now() + LAST_NOTICES;
        while self.reap(socket) > 0 || (!self.has_copied && Instant::now() < deadline) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.has_copied
    }

    /// Reads all notices that are there; returns how many.
    fn reap(&mut self, socket: &TcpStream) -> u32 {
        self.unread = 0;
        let mut notices = 0;
        loop {
            let mut control = nix::cmsg_space!(libc::sock_extended_err, libc::sockaddr_in6);
            let mut nothing = [0; 0];
            let mut parts = [IoSliceMut::new(&mut nothing)];
            let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
            let Ok(message) = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags) else {
                return notices;
            };
            notices += 1;
            for part in message.cmsgs().into_iter().flatten() {
                if let ControlMessageOwned::Ipv4RecvErr(error, _) | ControlMessageOwned::Ipv6RecvErr(error, _) = part {
                    self.has_copied |= error.ee_code == COPIED;
                }
            }
        }
    }
}
