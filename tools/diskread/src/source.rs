//! How one read is done: a trait with a method per `--method`, each for one thread.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use common::sys::mapping::FileMap;
use memmap2::MmapMut;

/// Reads one block.
pub trait Source {
    /// Reads `length` bytes at `offset`, fewer only at the end of the file.
    fn read(&mut self, offset: u64, length: u64) -> Result<u64, Failure>;
}

/// A read that failed.
#[derive(Debug)]
pub struct Failure {
    /// Bytes of the block that had been read.
    pub done: u64,
    pub error: io::Error,
}

/// pread(2), through the page cache or past it.
#[derive(Debug)]
pub struct Pread {
    pub file: Arc<File>,
    /// One block, rounded up to the alignment.
    pub buffer: MmapMut,
    /// What lengths must be a multiple of: 1 unless it is a direct read.
    pub alignment: u64,
}

impl Source for Pread {
    fn read(&mut self, offset: u64, length: u64) -> Result<u64, Failure> {
        // A direct read may ask beyond the end of the file; it gets what is there.
        let wanted = usize::try_from(length.next_multiple_of(self.alignment)).unwrap_or(usize::MAX);
        let mut done = 0_u64;
        loop {
            let rest = &mut self.buffer[..wanted][usize::try_from(done).unwrap_or(wanted)..];
            match self.file.read_at(rest, offset + done) {
                Ok(0) => return Ok(done),
                Ok(more) => {
                    done += more as u64;
                    if done >= length || !done.is_multiple_of(self.alignment) {
                        return Ok(done.min(length));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure { done, error }),
            }
        }
    }
}

/// mmap(2): loads every cache line of a block.
#[derive(Debug)]
pub struct Mapped {
    pub map: Arc<FileMap>,
    pub file: File,
    /// Where in the file the mapping begins.
    pub start: u64,
    pub is_device: bool,
}

impl Source for Mapped {
    fn read(&mut self, offset: u64, length: u64) -> Result<u64, Failure> {
        let [at, bytes] = [offset - self.start, length].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        match self.map.read(at, bytes) {
            Ok(()) => Ok(length),
            Err(_) => self.what_is_left(offset, length),
        }
    }
}

impl Mapped {
    /// Pages were missing: either the file is shorter by now, or the device failed.
    fn what_is_left(&self, offset: u64, length: u64) -> Result<u64, Failure> {
        let size = self.file.metadata().map_or(0, |metadata| metadata.len());
        if !self.is_device && size < offset + length {
            Ok(size.saturating_sub(offset))
        } else {
            Err(Failure { done: 0, error: io::Error::from_raw_os_error(libc::EIO) })
        }
    }
}

/// Reads nothing.
#[derive(Debug)]
pub struct Null;

impl Source for Null {
    fn read(&mut self, _offset: u64, length: u64) -> Result<u64, Failure> {
        Ok(length)
    }
}
