//! The content of one file: read and written by us, or copied by whoever can do it cheaper.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::copy_file_range;
use rustix::fs::ioctl_ficlone;
use xxhash_rust::xxh3::Xxh3;

use crate::calls::put;
use crate::mechanism::Mechanism;
use crate::worker::{Step, Worker};

/// What one call of `copy_file_range(2)` may move: it cannot be interrupted, and intervals should show something.
const RANGE: usize = 64 << 20;

/// Refusals: what is asked for is not possible here, but another way may be.
const REFUSALS: [Errno; 7] =
    [Errno::EXDEV, Errno::EINVAL, Errno::ENOSYS, Errno::EOPNOTSUPP, Errno::ENOTTY, Errno::EPERM, Errno::EBADF];

/// Reads from `from` at `offset` to its end, writes what it reads to `to`, and hashes it. Returns where it ended.
pub fn read_and_write(
    worker: &Worker<'_>,
    from: &File,
    to: Option<&File>,
    mut offset: u64,
    buffer: &mut [u8],
    mut hash: Option<&mut Xxh3>,
) -> anyhow::Result<(u64, Duration)> {
    let mut took = Duration::ZERO;
    while !worker.is_halted() {
        let length = worker
            .timed(Step::Read, || from.read_at(buffer, offset))
            .map_err(|error| worker.fail(Step::Read, error, &format!("read at offset {offset}")))?;
        took += worker.took();
        if length == 0 {
            break;
        }
        worker.note_mechanism(Mechanism::ReadWrite as u8);
        let block = &buffer[..length];
        if let Some(to) = to {
            took += put(worker, to, block, offset)?;
        }
        if let Some(hash) = &mut hash {
            hash.update(block);
        }
        worker.count(length as u64, 0);
        offset += length as u64;
    }
    Ok((offset, took))
}

/// Has the kernel or the server copy as far as it can: to the offset that it returns.
pub fn offload(worker: &Worker<'_>, from: &File, to: &File, bytes: u64) -> anyhow::Result<(u64, Duration)> {
    if bytes == 0 {
        return Ok((0, Duration::ZERO));
    }
    match worker.timed(Step::Write, || Ok(ioctl_ficlone(to, from)?)) {
        Ok(()) => {
            worker.note_mechanism(Mechanism::Reflink as u8);
            worker.count(bytes, 0);
            return Ok((bytes, worker.took()));
        }
        Err(error) if is_refusal(&error) => {}
        Err(error) => return Err(worker.fail(Step::Write, error, "share its blocks")),
    }
    let (mut offset, mut took) = (0, worker.took());
    while !worker.is_halted() {
        let moved = worker.timed(Step::Write, || {
            let (mut at, mut to_at) = (i64_of(offset)?, i64_of(offset)?);
            Ok(copy_file_range(from, Some(&mut at), to, Some(&mut to_at), RANGE)?)
        });
        took += worker.took();
        match moved {
            Ok(0) => break,
            Ok(length) => {
                worker.note_mechanism(Mechanism::CopyFileRange as u8);
                worker.count(length as u64, 0);
                offset += length as u64;
            }
            Err(error) if is_refusal(&error) => break,
            Err(error) => return Err(worker.fail(Step::Write, error, &format!("copy at offset {offset}"))),
        }
    }
    Ok((offset, took))
}

fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|number| REFUSALS.contains(&Errno::from_raw(number)))
}

fn i64_of(offset: u64) -> io::Result<i64> {
    i64::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}
