//! Reading a mapped file that others may shorten meanwhile.
//!
//! A page that is gone raises SIGBUS in whoever touches it. The handler here puts a page of zeros in its place and
//! takes a note for the thread, so that the read ends with an error instead of the process with a signal. Bus errors
//! anywhere else kill as they always did.

use std::fs::File;
use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, compiler_fence};

use memmap2::{Advice, MmapOptions, MmapRaw};

/// Mappings that may exist at one time.
const MOST: usize = 64;
/// A cache line; the byte read brings in all of it.
const LINE: usize = 64;
/// Bytes read between two looks whether a page was gone.
const STRETCH: usize = 4096;

/// Address ranges that the handler may repair; a start of 0 is a free place.
static RANGES: [Range; MOST] = [const { Range { start: AtomicUsize::new(0), end: AtomicUsize::new(0) } }; MOST];

/// [`page_bytes`], for the handler, which may not ask.
static PAGE: AtomicUsize = AtomicUsize::new(4096);

struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
}

thread_local! {
    /// Pages that this thread found gone.
    static GONE: AtomicU64 = const { AtomicU64::new(0) };
}

/// How many pages this thread has found gone so far. The handler runs inside this thread's own loads, which the compiler
/// cannot know: the fence has it look again each time.
fn pages_gone() -> u64 {
    compiler_fence(Ordering::SeqCst);
    GONE.with(|gone| gone.load(Ordering::Relaxed))
}

/// A range of a file in memory, read-only.
#[derive(Debug)]
pub struct FileMap {
    map: MmapRaw,
    place: usize,
}

impl FileMap {
    /// Maps `length` bytes from `offset` on.
    pub fn new(file: &File, offset: u64, length: usize) -> io::Result<Self> {
        install_handler()?;
        let map = MmapOptions::new().offset(offset).len(length).map_raw_read_only(file)?;
        let start = map.as_ptr() as usize;
        let place = RANGES
            .iter()
            .position(|range| {
                let taken = range.start.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok();
                if taken {
                    range.end.store(start + map.len(), Ordering::Release);
                }
                taken
            })
            .ok_or_else(|| io::Error::other("too many mapped files at once"))?;
        Ok(Self { map, place })
    }

    /// Tells the kernel that reads jump about (`MADV_RANDOM`).
    pub fn expect_random(&self) -> io::Result<()> {
        self.map.advise(Advice::Random)
    }

    /// Reads the range by loading every cache line of it. `UnexpectedEof` if a page of it is gone or unreadable.
    ///
    /// # Panics
    /// If the range is not inside the mapping.
    pub fn read(&self, offset: usize, length: usize) -> io::Result<()> {
        let end = offset.checked_add(length).expect("a range of the mapping");
        assert!(end <= self.map.len(), "a range of the mapping");
        let before = pages_gone();
        let mut at = offset;
        while at < end {
            let next = (at + STRETCH).min(end);
            for line in (at..next).step_by(LINE) {
                // SAFETY: `line` is inside the mapping, which lives as long as `self`. The load is volatile, since others
                // may change the file, and any bit pattern is a valid u8; a page that is gone is replaced by the handler.
                unsafe { self.map.as_ptr().add(line).read_volatile() };
            }
            if pages_gone() != before {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            at = next;
        }
        Ok(())
    }

    /// Pages of the mapping that lie in the page cache, and how large one is (`mincore(2)`).
    pub fn resident_pages(&self) -> io::Result<(u64, u64)> {
        let page = page_bytes();
        let mut pages = vec![0_u8; self.map.len().div_ceil(page)];
        // SAFETY: the range is the mapping itself, and there is one byte of room for each of its pages.
        let status = unsafe { libc::mincore(self.map.as_mut_ptr().cast(), self.map.len(), pages.as_mut_ptr()) };
        if status != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((pages.iter().filter(|page| **page & 1 == 1).count() as u64, page as u64))
    }
}

impl Drop for FileMap {
    fn drop(&mut self) {
        RANGES[self.place].end.store(0, Ordering::Release);
        RANGES[self.place].start.store(0, Ordering::Release);
    }
}

/// Bytes of a page of memory.
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Replaces the page at the bus error's address, if it is one of ours.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid siginfo, and for SIGBUS it holds an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let is_ours = RANGES.iter().any(|range| {
        let start = range.start.load(Ordering::Acquire);
        start != 0 && (start..range.end.load(Ordering::Acquire)).contains(&address)
    });
    let page = PAGE.load(Ordering::Relaxed);
    let start = address / page * page;
    // SAFETY: mmap is a plain system call here. MAP_FIXED replaces a page inside a live mapping of ours, which nobody
    // writes to; the mapping's owner unmaps the whole range later, this page included.
    let replaced = is_ours
        && unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            libc::mmap(start as *mut libc::c_void, page, libc::PROT_READ, flags, -1, 0) != libc::MAP_FAILED
        };
    if replaced {
        GONE.with(|gone| gone.fetch_add(1, Ordering::Relaxed));
    } else {
        // SAFETY: signal(2) may be called in a handler; the access is repeated on return and kills as usual.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

fn install_handler() -> io::Result<()> {
    static ONCE: Once = Once::new();
    let mut outcome = Ok(());
    ONCE.call_once(|| {
        PAGE.store(page_bytes(), Ordering::Relaxed);
        // SAFETY: an all-zero sigaction is valid, the handler has the signature that SA_SIGINFO asks for, and it calls
        // nothing but system calls and touches nothing but atomics and a constant-initialised thread-local.
        let status = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut())
        };
        if status != 0 {
            outcome = Err(io::Error::last_os_error());
        }
    });
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_resident() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(64 * 1024).unwrap();
        let map = FileMap::new(&file, 0, 64 * 1024).unwrap();
        map.read(0, 64 * 1024).unwrap();
        let (pages, page) = map.resident_pages().unwrap();
        assert_eq!(pages * page, 64 * 1024);
    }

    #[test]
    fn a_file_that_shrinks_is_an_error_not_a_signal() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(64 * 1024).unwrap();
        let map = FileMap::new(&file, 0, 64 * 1024).unwrap();
        map.read(0, 64 * 1024).unwrap();
        file.set_len(8 * 1024).unwrap();
        map.read(0, 8 * 1024).unwrap();
        let gone = map.read(4096, 16 * 1024).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::UnexpectedEof);
        map.read(0, 8 * 1024).unwrap();
    }
}
