//! The hot loops on blocks: in order and at random. Each call is timed, since latency is a measure.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use common::files::shuffle::Shuffle;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::calls::{close, get, put, settle};
use crate::file::set::FileOf;
use crate::fresh::Fresh;
use crate::worker::{Step, Worker};

/// Of so many seeks one writes, as in bonnie++.
const WRITES_OF_SEEKS: u64 = 10;

/// A file to work on.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub file: &'a FileOf,
    /// Bytes per call; only the last one of a file is shorter.
    pub block: u64,
    /// Every write reaches storage before the next.
    pub is_sync: bool,
    /// Past the page cache.
    pub is_direct: bool,
    /// At random, begin again when all blocks were visited: they lie in the cache then, or were not yet written.
    pub may_repeat: bool,
}

/// Which places of a random order a worker visits.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    pub first: u64,
    pub stride: u64,
    pub ops: u64,
    pub seed: u64,
}

impl Target<'_> {
    /// Opens it as a call of the measurement.
    pub fn open(&self, worker: &Worker<'_>, options: &mut OpenOptions, what: &str) -> anyhow::Result<File> {
        let sync = if self.is_sync { libc::O_SYNC } else { 0 };
        let direct = if self.is_direct { libc::O_DIRECT } else { 0 };
        worker.at(&self.file.path);
        let opened = worker.must(Step::Open, what, || options.custom_flags(sync | direct).open(&self.file.path))?;
        worker.count_file();
        Ok(opened)
    }

    fn length_at(&self, offset: u64) -> usize {
        usize::try_from(self.block.min(self.file.size - offset)).unwrap_or(usize::MAX)
    }

    /// Where a worker's blocks are, in a random order that visits none twice before all were visited, and ends there unless
    /// it may repeat.
    fn offsets(self, turns: Turns) -> impl Iterator<Item = u64> {
        let blocks = self.file.size.div_ceil(self.block);
        let shuffle = Shuffle::new(blocks, turns.seed);
        (0..turns.ops).map_while(move |turn| {
            let index = turn.saturating_mul(turns.stride).saturating_add(turns.first);
            let round = index / blocks;
            (round == 0 || self.may_repeat).then(|| shuffle.at(index % blocks, round) * self.block)
        })
    }
}

/// A new file from its first block to its last.
pub fn write(worker: &Worker<'_>, target: Target<'_>, fresh: &mut Fresh, lays_out: bool) -> anyhow::Result<()> {
    let file = target.open(worker, File::options().write(true).create_new(true), "create it")?;
    if lays_out {
        worker.must(Step::Open, "lay it out", || file.set_len(target.file.size))?;
    }
    let mut offset = 0;
    while offset < target.file.size && !worker.is_halted() {
        let length = target.length_at(offset);
        let took = put(worker, &file, &fresh.next()[..length], offset)?;
        worker.done(length as u64, took);
        offset += length as u64;
    }
    settle(worker, file)
}

/// Every block of a file.
pub fn read(worker: &Worker<'_>, target: Target<'_>, buffer: &mut [u8]) -> anyhow::Result<()> {
    let file = target.open(worker, File::options().read(true), "open it")?;
    let mut offset = 0;
    while offset < target.file.size && !worker.is_halted() {
        let block = &mut buffer[..target.length_at(offset)];
        let took = get(worker, &file, block, offset)?;
        worker.done(block.len() as u64, took);
        offset += block.len() as u64;
    }
    close(worker, file)
}

/// Every block of a file is read, changed and written back; it counts once.
pub fn rewrite(worker: &Worker<'_>, target: Target<'_>, buffer: &mut [u8]) -> anyhow::Result<()> {
    let file = target.open(worker, File::options().read(true).write(true), "open it")?;
    let mut offset = 0;
    while offset < target.file.size && !worker.is_halted() {
        let block = &mut buffer[..target.length_at(offset)];
        let took = change(worker, &file, block, offset)?;
        worker.done(block.len() as u64, took);
        offset += block.len() as u64;
    }
    settle(worker, file)
}

/// Blocks of a file at random.
pub fn read_at_random(
    worker: &Worker<'_>,
    target: Target<'_>,
    buffer: &mut [u8],
    ops: u64,
    seed: u64,
) -> anyhow::Result<()> {
    let file = target.open(worker, File::options().read(true), "open it")?;
    expect_random(&file);
    for offset in target.offsets(Turns { first: 0, stride: 1, ops, seed }) {
        if worker.is_halted() {
            break;
        }
        let block = &mut buffer[..target.length_at(offset)];
        let took = get(worker, &file, block, offset)?;
        worker.done(block.len() as u64, took);
    }
    close(worker, file)
}

/// Blocks of a file at random.
pub fn write_at_random(
    worker: &Worker<'_>,
    target: Target<'_>,
    fresh: &mut Fresh,
    ops: u64,
    seed: u64,
) -> anyhow::Result<()> {
    let file = target.open(worker, File::options().write(true), "open it")?;
    for offset in target.offsets(Turns { first: 0, stride: 1, ops, seed }) {
        if worker.is_halted() {
            break;
        }
        let length = target.length_at(offset);
        let took = put(worker, &file, &fresh.next()[..length], offset)?;
        worker.done(length as u64, took);
    }
    settle(worker, file)
}

/// One of bonnie++'s seekers.
pub fn seek(worker: &Worker<'_>, target: Target<'_>, buffer: &mut [u8], turns: Turns) -> anyhow::Result<()> {
    let file = target.open(worker, File::options().read(true).write(true), "open it")?;
    expect_random(&file);
    for (turn, offset) in (0_u64..).zip(target.offsets(turns)) {
        if worker.is_halted() {
            break;
        }
        let block = &mut buffer[..target.length_at(offset)];
        let took = if turn.is_multiple_of(WRITES_OF_SEEKS) {
            change(worker, &file, block, offset)?
        } else {
            get(worker, &file, block, offset)?
        };
        worker.done(block.len() as u64, took);
    }
    settle(worker, file)
}

/// Reads a block, changes a byte, writes it back.
fn change(worker: &Worker<'_>, file: &File, block: &mut [u8], offset: u64) -> anyhow::Result<Duration> {
    let reading = get(worker, file, block, offset)?;
    if let Some(byte) = block.first_mut() {
        *byte = byte.wrapping_add(1);
    }
    Ok(reading + put(worker, file, block, offset)?)
}

/// What is read ahead of a random read is read for nothing. Files that know no advice have no read-ahead.
fn expect_random(file: &File) {
    let _ = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_RANDOM);
}
