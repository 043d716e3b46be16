//! The hot loops on small files: calls relative to an open directory.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::time::Duration;

use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, syncfs, unlinkat};
use rustix::fs::{AtFlags, StatxFlags, statx};

use crate::calls::{close, get, put};
use crate::fresh::Fresh;
use crate::measure::Work;
use crate::tree::patch::Patch;
use crate::tree::plan::{Deed, Tree};
use crate::worker::{Step, Worker};

/// Larger files take several calls.
pub const LARGEST_BLOCK: u64 = 1 << 20;

/// What a worker does to every file of its patch. All memory is there before the clock starts.
pub fn of(tree: Tree, deed: Deed, patch: &Patch) -> anyhow::Result<Work<'_>> {
    let block = tree.size.min(LARGEST_BLOCK);
    let round = deed as u64;
    Ok(match deed {
        Deed::Create => {
            let mut fresh = Fresh::new(block.max(1))?;
            Box::new(move |worker| {
                each(worker, patch, round, |name, _| create(worker, patch, tree, name, &mut fresh))?;
                settle(worker, patch)
            })
        }
        Deed::Read => {
            let mut buffer = common::files::buffer::blank(usize::try_from(block.max(1))?)?;
            Box::new(move |worker| {
                each(worker, patch, round, |name, _| read(worker, patch, tree.size, name, &mut buffer))
            })
        }
        Deed::Stat | Deed::StatServer => {
            let from_server = deed == Deed::StatServer;
            Box::new(move |worker| {
                each(worker, patch, round, |name, _| {
                    one(worker, Step::Stat, name, || stat(&patch.directory, name, from_server))
                })
            })
        }
        Deed::Rename => Box::new(move |worker| {
            each(worker, patch, round, |name, new| {
                let directory = &patch.directory;
                one(worker, Step::Rename, name, || Ok(renameat(directory, name, directory, new)?))
            })?;
            settle(worker, patch)
        }),
        Deed::Delete => Box::new(move |worker| {
            each(worker, patch, round, |name, _| {
                one(worker, Step::Unlink, name, || Ok(unlinkat(&patch.directory, name, UnlinkatFlags::NoRemoveDir)?))
            })?;
            settle(worker, patch)
        }),
    })
}

/// Asks for the basic attributes of `name` in `directory`, symbolic links not followed. With `from_server` a network file
/// system must ask its server (`AT_STATX_FORCE_SYNC`); without, its cache may answer.
fn stat(directory: &File, name: &CStr, from_server: bool) -> io::Result<()> {
    let sync = if from_server { AtFlags::STATX_FORCE_SYNC } else { AtFlags::STATX_SYNC_AS_STAT };
    statx(directory, name, AtFlags::SYMLINK_NOFOLLOW | sync, StatxFlags::BASIC_STATS)?;
    Ok(())
}

/// What an operation moved, and how long it took.
type Done = (u64, Duration);

fn each(
    worker: &Worker<'_>,
    patch: &Patch,
    round: u64,
    mut operation: impl FnMut(&CStr, &CStr) -> anyhow::Result<Done>,
) -> anyhow::Result<()> {
    worker.at(&patch.path);
    for (name, new_name) in patch.names(round) {
        if worker.is_halted() {
            break;
        }
        let (bytes, took) = operation(&name, &new_name)?;
        worker.done(bytes, took);
        worker.count_file();
    }
    Ok(())
}

/// An operation of one call that moves nothing.
fn one(worker: &Worker<'_>, step: Step, name: &CStr, call: impl FnMut() -> io::Result<()>) -> anyhow::Result<Done> {
    worker.timed(step, call).map_err(|error| failed(worker, step, error, name))?;
    Ok((0, worker.took()))
}

fn failed(worker: &Worker<'_>, step: Step, error: io::Error, name: &CStr) -> anyhow::Error {
    worker.fail(step, error, &format!("{} {}", step.name(), name.to_string_lossy()))
}

fn open(worker: &Worker<'_>, patch: &Patch, name: &CStr, flags: OFlag) -> anyhow::Result<File> {
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    let opened = worker.timed(Step::Open, || Ok(openat(&patch.directory, name, flags | OFlag::O_CLOEXEC, mode)?));
    opened.map(File::from).map_err(|error| failed(worker, Step::Open, error, name))
}

fn create(worker: &Worker<'_>, patch: &Patch, tree: Tree, name: &CStr, fresh: &mut Fresh) -> anyhow::Result<Done> {
    let sync = if tree.is_sync { OFlag::O_SYNC } else { OFlag::empty() };
    let file = open(worker, patch, name, OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | sync)?;
    let mut took = worker.took();
    let mut at = 0;
    while at < tree.size {
        let length = (tree.size - at).min(LARGEST_BLOCK);
        took += put(worker, &file, &fresh.next()[..usize::try_from(length)?], at)?;
        at += length;
    }
    close(worker, file)?;
    Ok((at, took + worker.took()))
}

fn read(worker: &Worker<'_>, patch: &Patch, size: u64, name: &CStr, buffer: &mut [u8]) -> anyhow::Result<Done> {
    let file = open(worker, patch, name, OFlag::O_RDONLY)?;
    let mut took = worker.took();
    let mut at = 0;
    while at < size {
        let length = (size - at).min(LARGEST_BLOCK);
        took += get(worker, &file, &mut buffer[..usize::try_from(length)?], at)?;
        at += length;
    }
    close(worker, file)?;
    Ok((at, took + worker.took()))
}

/// Names are safe when the file system says so.
fn settle(worker: &Worker<'_>, patch: &Patch) -> anyhow::Result<()> {
    if worker.is_cut() {
        return Ok(());
    }
    worker.must(Step::Fsync, "make it safe (syncfs)", || Ok(syncfs(&patch.directory)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_asking_find_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("name"), "x").unwrap();
        let opened = File::open(directory.path()).unwrap();
        for from_server in [false, true] {
            stat(&opened, c"name", from_server).unwrap();
            assert_eq!(stat(&opened, c"other", from_server).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }
}
