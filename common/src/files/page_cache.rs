//! What of a file lies in the page cache, and how to get it out: reads that should come from storage begin here.

use std::fs::File;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use nix::unistd::fdatasync;

use crate::sys::mapping::{self, FileMap};
use crate::sys::page_cache;

/// Largest range that mincore(2) is asked about, since it wants a byte of room per page: 64 MiB.
const MINCORE_MOST: usize = 256 << 30;

/// Drops a file from the page cache. Dirty pages would stay, so they are written first. None of it is an error: what
/// remains is counted by [`resident_bytes`].
pub fn evict(file: &File) {
    // A file of a read-only file system cannot be synced and need not be.
    let _ = fdatasync(file);
    let _ = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_just_written_lies_in_memory() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 10_000]).unwrap();
        assert_eq!(resident_bytes(&file, 0, 10_000), Some(10_000));
        assert_eq!(resident_bytes(&file, 5, 5), None, "there is no share of nothing");
    }
}
