//! Where a file's blocks are, and whether they were ever written: `FS_IOC_FIEMAP`
//! (Documentation/filesystems/fiemap.rst).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// One run of blocks that belongs to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins in the file, bytes.
    pub start: u64,
    /// Its length, bytes.
    pub length: u64,
    /// Allocated but never written: it reads as zeros without any device.
    pub is_unwritten: bool,
}

/// Extents per call.
const BATCH: usize = 256;
/// The file has no extent after this one.
const LAST: u32 = 0x1;
/// Allocated, never written.
const UNWRITTEN: u32 = 0x800;

/// `struct fiemap_extent` (linux/fiemap.h).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap`, with room for a batch of extents.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [RawExtent; BATCH],
}

/// Bytes of `struct fiemap` without extents, which is what the request's number is made of.
const HEADER: usize = 32;

/// Visits the extents that overlap `start..end` in order. `EOPNOTSUPP` where the file system has no such call.
pub fn for_each(file: &File, start: u64, end: u64, mut visit: impl FnMut(Extent)) -> io::Result<()> {
    let mut at = start;
    while at < end {
        let mut request = Request {
            start: at,
            length: end - at,
            flags: 0,
            mapped: 0,
            room: u32::try_from(BATCH).unwrap_or_default(),
            reserved: 0,
            extents: [RawExtent::default(); BATCH],
        };
        // SAFETY: the request has the kernel's layout and room for as many extents as it says.
        let status =
            unsafe { libc::ioctl(file.as_raw_fd(), nix::request_code_readwrite!(b'f', 11, HEADER), &raw mut request) };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        let found = &request.extents[..(request.mapped as usize).min(BATCH)];
        for raw in found {
            visit(Extent { start: raw.logical, length: raw.length, is_unwritten: raw.flags & UNWRITTEN != 0 });
        }
        match found.last() {
            Some(last) if last.flags & LAST == 0 && last.logical + last.length > at => at = last.logical + last.length,
            _ => return Ok(()),
        }
    }
    Ok(())
}
