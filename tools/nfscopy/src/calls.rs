//! The calls that all verbs make on open files: whole blocks, and an end that tells every failure.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use crate::worker::{Step, Worker};

/// Makes it safe and closes it: either may be the first to say that a write failed.
pub fn settle(worker: &Worker<'_>, file: File) -> anyhow::Result<()> {
    if !worker.is_cut() {
        worker.must(Step::Fsync, "make it safe (fsync)", || file.sync_all())?;
    }
    close(worker, file)
}

/// Closes it: on NFS this may be the first to say that a write failed (close(2)).
pub fn close(worker: &Worker<'_>, file: File) -> anyhow::Result<()> {
    let mut file = Some(file);
    // After an interruption the descriptor is gone all the same.
    worker.must(Step::Close, "close it", || file.take().map_or(Ok(()), |file| Ok(nix::unistd::close(file)?)))
}

/// Writes all of `block`.
pub fn put(worker: &Worker<'_>, file: &File, block: &[u8], offset: u64) -> anyhow::Result<Duration> {
    whole(worker, Step::Write, block.len(), offset, |done, at| match file.write_at(&block[done..], at) {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        outcome => outcome,
    })
}

/// Reads all of `block`.
pub fn get(worker: &Worker<'_>, file: &File, block: &mut [u8], offset: u64) -> anyhow::Result<Duration> {
    whole(worker, Step::Read, block.len(), offset, |done, at| match file.read_at(&mut block[done..], at) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        outcome => outcome,
    })
}

/// Calls until all of `length` is done; `call` is told how much is, and where the file goes on. What was done before a
/// failure counts.
fn whole(
    worker: &Worker<'_>,
    step: Step,
    length: usize,
    offset: u64,
    mut call: impl FnMut(usize, u64) -> io::Result<usize>,
) -> anyhow::Result<Duration> {
    let mut done = 0;
    let mut took = Duration::ZERO;
    while done < length {
        let at = offset + done as u64;
        let outcome = worker.timed(step, || call(done, at));
        took += worker.took();
        match outcome {
            Ok(more) => done += more,
            Err(error) => {
                worker.count(done as u64, 0);
                return Err(worker.fail(step, error, &format!("{} at offset {at}", step.name())));
            }
        }
    }
    Ok(took)
}
