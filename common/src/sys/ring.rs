//! Reads through `io_uring(7)`, from one file into memory of its own.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};
use memmap2::MmapMut;

/// A queue of reads. It must be used by the thread that made it (`IORING_SETUP_SINGLE_ISSUER`).
#[derive(Debug)]
pub struct ReadRing {
    // Dropped before the memory that its reads go to.
    ring: Ring,
    memory: Option<MmapMut>,
    slot_bytes: usize,
    in_flight: usize,
    has_fixed_buffers: bool,
}

/// The one registered file; the ring keeps it open.
const FILE: types::Fixed = types::Fixed(0);

struct Ring(IoUring);

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IoUring")
    }
}

/// Whether this process may use `io_uring` at all: `ENOSYS` or `EPERM` if not.
pub fn is_allowed() -> io::Result<()> {
    IoUring::new(1).map(drop)
}

impl ReadRing {
    /// A queue of at most `depth` reads of `file`, each into its own `slot_bytes` of `memory`. The buffers are registered
    /// if the limit on locked memory allows it.
    ///
    /// # Panics
    /// If the memory is too small.
    pub fn new(file: &File, memory: MmapMut, depth: u32, slot_bytes: usize) -> io::Result<Self> {
        assert!(memory.len() / slot_bytes >= depth as usize, "a slot for every read");
        // Completions are then handled when we wait for them, not by interrupting us (6.1; 6.0 knows the first).
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(depth)
            .or_else(|_| IoUring::builder().setup_coop_taskrun().build(depth))
            .or_else(|_| IoUring::new(depth))?;
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        let slots: Vec<_> = (0..depth as usize)
            .map(|slot| libc::iovec {
                iov_base: memory[slot * slot_bytes..].as_ptr().cast_mut().cast(),
                iov_len: slot_bytes,
            })
            .collect();
        // SAFETY: the memory belongs to the queue from here on, is not touched by anyone else, and is unmapped only
        // after the ring is gone.
        let has_fixed_buffers = unsafe { ring.submitter().register_buffers(&slots) }.is_ok();
        let ring = Ring(ring);
        Ok(Self { ring, memory: Some(memory), slot_bytes, in_flight: 0, has_fixed_buffers })
    }

    /// Prepares a read of `length` bytes at `offset` into the slot, behind the `skip` bytes that it holds already.
    /// A slot must have one read in flight at most, and the caller keeps to `depth` slots.
    ///
    /// # Panics
    /// If it does not fit into the slot.
    pub fn start(&mut self, slot: u32, skip: usize, offset: u64, length: usize) -> io::Result<()> {
        assert!(skip + length <= self.slot_bytes, "it fits into the slot");
        let memory = self.memory.as_mut().expect("it is there until the end");
        let first = slot as usize * self.slot_bytes;
        let target = memory[first..first + self.slot_bytes][skip..].as_mut_ptr();
        let length = u32::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        let entry = match u16::try_from(slot) {
            Ok(index) if self.has_fixed_buffers => {
                opcode::ReadFixed::new(FILE, target, length, index).offset(offset).build()
            }
            _ => opcode::Read::new(FILE, target, length).offset(offset).build(),
        };
        let entry = entry.user_data(u64::from(slot));
        // SAFETY: the read goes to memory that the queue owns and keeps until nothing is in flight any more.
        unsafe { self.ring.0.submission().push(&entry) }.map_err(io::Error::other)?;
        self.in_flight += 1;
        Ok(())
    }

    /// How many reads were started and have not been reaped.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Hands over what was prepared and sleeps until a read has ended.
    pub fn submit_and_wait(&mut self) -> io::Result<()> {
        loop {
            match self.ring.0.submit_and_wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome.map(drop),
            }
        }
    }

    /// The next read that has ended: its slot, and how many bytes it brought.
    pub fn reap(&mut self) -> Option<(u32, io::Result<usize>)> {
        let entry = self.ring.0.completion().next()?;
        self.in_flight -= 1;
        let outcome = usize::try_from(entry.result()).map_err(|_| io::Error::from_raw_os_error(-entry.result()));
        Some((u32::try_from(entry.user_data()).unwrap_or_default(), outcome))
    }
}

impl Drop for ReadRing {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.submit_and_wait().is_err() {
                // The kernel may still write to it: better lost than unmapped.
                std::mem::forget(self.memory.take());
                return;
            }
            while self.reap().is_some() {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reads_arrive_in_their_slots() {
        if is_allowed().is_err() {
            return;
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 4096]).unwrap();
        file.write_all(&[2; 100]).unwrap();
        let memory = MmapMut::map_anon(2 * 4096).unwrap();
        let mut ring = ReadRing::new(&file, memory, 2, 4096).unwrap();
        ring.start(0, 0, 4096, 4096).unwrap();
        ring.start(1, 0, 0, 4096).unwrap();
        let mut lengths = [0; 2];
        while ring.in_flight() > 0 {
            ring.submit_and_wait().unwrap();
            while let Some((slot, outcome)) = ring.reap() {
                lengths[slot as usize] = outcome.unwrap();
            }
        }
        assert_eq!(lengths, [100, 4096]);
        let memory = ring.memory.as_ref().unwrap();
        assert_eq!((memory[0], memory[99], memory[100], memory[4096]), (2, 2, 0, 1));
    }
}
