//! What only ioctl(2) and statx(2) tell about block devices and direct I/O.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

mod ioctls {
    //! From `linux/fs.h`.
    #![allow(missing_docs, reason = "the macros make undocumented functions")]

    nix::ioctl_read_bad!(logical_block, 0x1268, libc::c_int);
    nix::ioctl_none_bad!(flush_buffers, 0x1261);
    nix::ioctl_read!(size_bytes, 0x12, 114, u64);
}

/// Bytes of the block device (`BLKGETSIZE64`).
pub fn device_bytes(device: &File) -> io::Result<u64> {
    let mut bytes = 0;
    // SAFETY: the kernel writes one u64 to a valid place; on anything but a block device it fails.
    unsafe { ioctls::size_bytes(device.as_raw_fd(), &raw mut bytes) }?;
    Ok(bytes)
}

/// The device's smallest addressable unit in bytes (`BLKSSZGET`).
pub fn logical_block_bytes(device: &File) -> io::Result<u64> {
    let mut bytes = 0;
    // SAFETY: the kernel writes one int to a valid place; on anything but a block device it fails.
    unsafe { ioctls::logical_block(device.as_raw_fd(), &raw mut bytes) }?;
    Ok(u64::try_from(bytes).unwrap_or_default())
}

/// Drops the device's page cache after writing it back (`BLKFLSBUF`); needs `CAP_SYS_ADMIN`.
pub fn flush_buffers(device: &File) -> io::Result<()> {
    // SAFETY: it takes no argument; on anything but a block device it fails.
    unsafe { ioctls::flush_buffers(device.as_raw_fd()) }?;
    Ok(())
}

/// What offset and length of a direct read must be a multiple of, by statx(2)'s `STATX_DIOALIGN`; `None` where the
/// file system does not say.
pub fn direct_alignment(file: &File) -> Option<u64> {
    let mut answer = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the path is an empty C string, which AT_EMPTY_PATH asks for, and `answer` has room for one statx.
    let status = unsafe {
        libc::statx(file.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN, answer.as_mut_ptr())
    };
    // SAFETY: all of it was zeroed, and every bit pattern is valid for its integers.
    let answer = unsafe { answer.assume_init() };
    let says = status == 0 && answer.stx_mask & libc::STATX_DIOALIGN != 0;
    (says && answer.stx_dio_offset_align > 0).then(|| u64::from(answer.stx_dio_offset_align))
}
