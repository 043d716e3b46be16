//! What a network driver says of itself, by `ioctl(SIOCETHTOOL)` (linux/ethtool.h): the parts that netlink does not have,
//! and the link's speed, which is cheaper this way when asked every interval.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

const GET_DRIVER: u32 = 0x03;
const GET_STRINGS: u32 = 0x1b;
const GET_STATISTICS: u32 = 0x1d;
const GET_SET_SIZES: u32 = 0x37;
const GET_LINK_SETTINGS: u32 = 0x4c;

/// `ETH_SS_STATS`: the names of the driver's own counters.
const STATISTICS: u32 = 1;
/// `ETH_GSTRING_LEN`.
const STRING: usize = 32;
/// `sizeof(struct ethtool_drvinfo)`.
const DRIVER: usize = 196;
/// `sizeof(struct ethtool_link_settings)` and three bitmaps of the most words that its signed byte can count.
const LINK_SETTINGS: usize = 48 + 3 * 127 * 4;
/// Counters that a driver may add between being asked for their number and for their values: the kernel writes as many
/// as there are at that moment (a queue more or less means tens).
const SLACK: usize = 4096;

/// `struct ethtool_drvinfo`; empty where the driver says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Driver {
    /// Kernel module or kind of virtual interface.
    pub name: String,
    /// Its version: for most drivers the kernel's.
    pub version: String,
    /// Of the card.
    pub firmware: String,
    /// Place on the bus, such as `0000:00:03.0`.
    pub bus: String,
}

/// `struct ethtool_link_settings`, as far as it changes while a link is in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkSettings {
    /// Mbit/s; 0, 65535 and 4294967295 mean unknown.
    pub speed: u32,
    /// 0 half, 1 full, 255 unknown.
    pub duplex: u8,
}

/// Driver of the interface `name`.
pub fn driver(socket: BorrowedFd<'_>, name: &[u8; 16]) -> io::Result<Driver> {
    let mut buffer = [0; DRIVER];
    call(socket, name, GET_DRIVER, &mut buffer)?;
    let text = |place: usize| c_text(&buffer[4 + place * STRING..4 + (place + 1) * STRING]);
    Ok(Driver { name: text(0), version: text(1), firmware: text(2), bus: text(3) })
}

/// Speed and duplex of the interface `name`. `words` remembers the size of the kernel's bitmaps between calls, which
/// saves the second call; begin with 0.
pub fn link_settings(socket: BorrowedFd<'_>, name: &[u8; 16], words: &mut u8) -> io::Result<LinkSettings> {
    const WORDS: usize = 15;
    let mut buffer = [0; LINK_SETTINGS];
    for _ in 0..2 {
        buffer[WORDS] = *words;
        call(socket, name, GET_LINK_SETTINGS, &mut buffer)?;
        // A size that the kernel does not use is answered by the negative of its own, and nothing else.
        match i8::from_ne_bytes([buffer[WORDS]]) {
            own if own < 0 => *words = own.unsigned_abs(),
            _ => return Ok(LinkSettings { speed: word(&buffer[4..]), duplex: buffer[8] }),
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// The driver's own counters (`ethtool -S`), in its order.
pub fn statistics(socket: BorrowedFd<'_>, name: &[u8; 16]) -> io::Result<Vec<(String, u64)>> {
    let mut sizes = [0; 20];
    sizes[8..16].copy_from_slice(&(1_u64 << STATISTICS).to_ne_bytes());
    call(socket, name, GET_SET_SIZES, &mut sizes)?;
    let has_set = sizes[8..16].iter().any(|byte| *byte != 0);
    let count = if has_set { word(&sizes[16..]) as usize } else { 0 };
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut names = vec![0; 12 + (count + SLACK) * STRING];
    names[4..8].copy_from_slice(&STATISTICS.to_ne_bytes());
    names[8..12].copy_from_slice(&sizes[16..20]);
    call(socket, name, GET_STRINGS, &mut names)?;
    let mut values = vec![0; 8 + (count + SLACK) * 8];
    values[4..8].copy_from_slice(&sizes[16..20]);
    call(socket, name, GET_STATISTICS, &mut values)?;
    let count = (word(&names[8..]).min(word(&values[4..])) as usize).min(count);
    let pairs = names[12..].chunks_exact(STRING).zip(values[8..].chunks_exact(8)).take(count);
    Ok(pairs.map(|(name, value)| (c_text(name), u64::from_ne_bytes(value.try_into().unwrap_or_default()))).collect())
}

/// Hands `buffer`, which begins with the command's number, to the driver. Every caller sizes it for what the kernel
/// writes for its command.
fn call(socket: BorrowedFd<'_>, name: &[u8; 16], command: u32, buffer: &mut [u8]) -> io::Result<()> {
    buffer[..4].copy_from_slice(&command.to_ne_bytes());
    let request = libc::ifreq {
        ifr_name: name.map(|byte| libc::c_char::from_ne_bytes([byte])),
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: buffer.as_mut_ptr().cast() },
    };
    // SAFETY: `request` lives through the call and its pointer is to `buffer`, in which the kernel has room for all it
    // writes for this command; the kernel checks the name's end itself (it overwrites the last byte with 0).
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw const request) };
    if status >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

/// Text up to the first NUL.
fn c_text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn an_interface_that_is_not_there_is_an_error() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let nobody = *b"no.such.iface\0\0\0";
        assert!(driver(socket.as_fd(), &nobody).is_err());
        assert!(link_settings(socket.as_fd(), &nobody, &mut 0).is_err());
        assert!(statistics(socket.as_fd(), &nobody).is_err());
    }
}
