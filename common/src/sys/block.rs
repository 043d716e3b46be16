//! What only ioctl(2) tells of block devices, and no crate offers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

mod ioctls {
    //! From `linux/fs.h`.
    #![allow(missing_docs, reason = "the macros make undocumented functions")]

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

/// Drops the device's page cache after writing it back (`BLKFLSBUF`); needs `CAP_SYS_ADMIN`.
pub fn flush_buffers(device: &File) -> io::Result<()> {
    // SAFETY: it takes no argument; on anything but a block device it fails.
    unsafe { ioctls::flush_buffers(device.as_raw_fd()) }?;
    Ok(())
}
