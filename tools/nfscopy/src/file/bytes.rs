//! A call for every byte, as bonnie++ measures what a call costs. The clock is read once for many of them, since reading
//! it costs as much as they do: these phases have no latencies.

use std::fs::File;
use std::io::{self, Read, Write};

use crate::calls::{close, settle};
use crate::file::blocks::Target;
use crate::fresh::Fresh;
use crate::worker::{Step, Worker};

/// bonnie++ does no more of a file.
const MOST: u64 = 3 << 20;

/// Bytes between two looks at the clock.
pub const CHUNK: u64 = 4096;

/// Single bytes into a file.
pub fn write(worker: &Worker<'_>, target: Target<'_>, fresh: &mut Fresh) -> anyhow::Result<()> {
    let mut file = target.open(worker, File::options().write(true).create(true).truncate(false), "create it")?;
    let mut chunk = Vec::new();
    in_chunks(worker, target.file.size, Step::Write, |index| {
        if index == 0 {
            chunk.clear();
            chunk.extend_from_slice(fresh.next());
        }
        file.write_all(&chunk[index..=index])
    })?;
    settle(worker, file)
}

/// Single bytes out of a file.
pub fn read(worker: &Worker<'_>, target: Target<'_>) -> anyhow::Result<()> {
    let mut file = target.open(worker, File::options().read(true), "open it")?;
    let mut byte = [0];
    in_chunks(worker, target.file.size, Step::Read, |_| file.read_exact(&mut byte))?;
    close(worker, file)
}

/// Does `one` for every byte; it is told which of its chunk.
fn in_chunks(
    worker: &Worker<'_>,
    size: u64,
    step: Step,
    mut one: impl FnMut(usize) -> io::Result<()>,
) -> anyhow::Result<()> {
    let end = size.min(MOST);
    let mut at = 0;
    while at < end && !worker.is_halted() {
        let length = usize::try_from((end - at).min(CHUNK)).unwrap_or_default();
        let mut done = 0;
        let outcome = worker.timed(step, || {
            // Where each byte has to reach storage a chunk takes long, and who asked to leave would wait.
            while done < length && !worker.is_halted() {
                one(done)?;
                done += 1;
            }
            Ok(())
        });
        worker.count(done as u64, done as u64);
        at += done as u64;
        outcome.map_err(|error| worker.fail(step, error, &format!("{} a byte at offset {at}", step.name())))?;
    }
    Ok(())
}
