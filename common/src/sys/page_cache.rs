//! How much of a file lies in the page cache: cachestat(2), which no crate offers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The same number on every architecture but alpha (`asm-generic/unistd.h`).
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` (linux/mman.h); a length of 0 means to the end.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat`, all in pages.
#[repr(C)]
#[derive(Default)]
struct Answer {
    cache: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of the range that lie in the page cache. `ENOSYS` before Linux 6.5, `EPERM` for files of others that one may
/// not write.
pub fn resident_pages(file: &File, offset: u64, length: u64) -> io::Result<u64> {
    let range = Range { offset, length };
    let mut answer = Answer::default();
    // SAFETY: both point to structs of the kernel's layout that outlive the call; it reads one and writes the other.
    let status =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut answer, 0 as libc::c_uint) };
    if status == 0 { Ok(answer.cache) } else { Err(io::Error::last_os_error()) }
}
