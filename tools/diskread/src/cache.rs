//! The page cache before a run: emptied, filled, and looked at. None of it is inside the time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use anyhow::Context;
use common::stop::Stop;
use common::sys::mapping::{self, FileMap};
use common::sys::{block, page_cache};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::unistd::fdatasync;
use procfs::Current;

use crate::target::{Kind, Target};

/// Bytes per read while filling it.
const CHUNK: usize = 1 << 20;

/// Largest range that mincore(2) is asked about, since it wants a byte of room per page: 64 MiB.
const MINCORE_MOST: usize = 256 << 30;

/// Drops the target from the page cache, as far as this user may. Dirty pages would stay, so they are written first.
/// None of it is an error: what remains is counted afterwards.
pub fn evict(target: &Target) {
    // A file of a read-only file system cannot be synced and need not be.
    let _ = fdatasync(&target.file);
    let _ = posix_fadvise(&target.file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    if matches!(target.kind, Kind::Device { .. }) {
        // Only for the superuser.
        let _ = block::flush_buffers(&target.file);
    }
}

/// Reads the range into the page cache.
pub fn fill(file: &File, start: u64, end: u64, stop: &Stop) -> anyhow::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut at = start;
    while at < end && !stop.is_set() {
        let wanted = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
        match file.read_at(&mut buffer[..wanted], at) {
            Ok(0) => break,
            Ok(length) => at += length as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read at offset {at}")),
        }
    }
    Ok(())
}

/// Memory that could hold a file, bytes.
pub fn room() -> Option<u64> {
    procfs::Meminfo::current().ok()?.mem_available
}

/// Bytes of the range that lie in the page cache; `None` if the kernel does not say.
pub fn resident_bytes(file: &File, start: u64, end: u64) -> Option<u64> {
    let length = end.checked_sub(start).filter(|length| *length > 0)?;
    let bytes = match page_cache::resident_pages(file, start, length) {
        Ok(pages) => pages * mapping::page_bytes() as u64,
        // mincore(2) says that all of it is there where it may not tell, and so may be asked only if cachestat(2) is missing.
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            let length = usize::try_from(length).ok().filter(|length| *length <= MINCORE_MOST)?;
            let (pages, page) = FileMap::new(file, start, length).ok()?.resident_pages().ok()?;
            pages * page
        }
        Err(_) => return None,
    };
    // The first and the last page may be shared with what lies outside.
    Some(bytes.min(length))
}
