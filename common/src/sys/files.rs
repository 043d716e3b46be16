//! What no crate offers about files: statx(2) that asks the server, and shared blocks (`FICLONE`).

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

mod ioctls {
    //! From `linux/fs.h`.
    #![allow(missing_docs, reason = "the macro makes an undocumented function")]

    nix::ioctl_write_int!(clone_range_of_all, 0x94, 9);
}

/// Asks for the basic attributes of `name` in `directory`, symbolic links not followed. With `from_server` a network file
/// system must ask its server (`AT_STATX_FORCE_SYNC`); without, its cache may answer.
pub fn stat(directory: BorrowedFd<'_>, name: &CStr, from_server: bool) -> io::Result<()> {
    let mode = if from_server { libc::AT_STATX_FORCE_SYNC } else { libc::AT_STATX_SYNC_AS_STAT };
    let flags = libc::AT_SYMLINK_NOFOLLOW | mode;
    let mut answer = MaybeUninit::<libc::statx>::uninit();
    // SAFETY: the name is a C string, and `answer` has room for one statx.
    let status = unsafe {
        libc::statx(directory.as_raw_fd(), name.as_ptr(), flags, libc::STATX_BASIC_STATS, answer.as_mut_ptr())
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes the empty file `target` share all blocks of `source` (`ioctl_ficlone(2)`).
pub fn share_blocks(source: &File, target: &File) -> io::Result<()> {
    let source = libc::c_ulong::try_from(source.as_raw_fd()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the argument is a descriptor's number, which the kernel checks.
    unsafe { ioctls::clone_range_of_all(target.as_raw_fd(), source) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn both_ways_of_asking_find_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("name"), "x").unwrap();
        let opened = File::open(directory.path()).unwrap();
        for from_server in [false, true] {
            stat(opened.as_fd(), c"name", from_server).unwrap();
            let error = stat(opened.as_fd(), c"other", from_server).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }
}
