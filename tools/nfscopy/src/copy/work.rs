//! What the worker of a copy does, entry by entry, and how a copy is compared.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context;
use common::files::buffer;
use common::stop::Stop;
use nix::unistd::syncfs;
use xxhash_rust::xxh3::Xxh3;

use crate::calls::{close, settle};
use crate::copy::content;
use crate::copy::place::Naming;
use crate::copy::scan::{Entry, EntryKind, Source};
use crate::measure::Work;
use crate::shown::shown;
use crate::worker::{Step, Worker};

/// A copy to make.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    pub source: &'a Source,
    /// Where; nowhere if it is discarded.
    pub copy: Option<&'a Path>,
    pub block: u64,
    /// The kernel or the server may copy.
    pub may_offload: bool,
    /// Takes what was read of each entry, if somebody wants to compare.
    pub hashes: Option<&'a [OnceLock<u128>]>,
}

/// The entry's place below `root`, which itself is the place of an entry without a name.
fn below(root: &Path, entry: &Entry) -> PathBuf {
    if entry.path.as_os_str().is_empty() { root.to_owned() } else { root.join(&entry.path) }
}

impl<'a> Job<'a> {
    /// The work; at its end the copy may get its name. All memory is there before the clock starts.
    pub fn copying(self, naming: Option<&'a Naming>) -> anyhow::Result<Work<'a>> {
        let mut buffer = buffer::blank(usize::try_from(self.block)?)?;
        Ok(Box::new(move |worker| {
            for index in 0..self.source.entries.len() {
                if worker.is_halted() {
                    return Ok(());
                }
                self.entry(worker, index, &mut buffer)?;
            }
            self.finish(worker)?;
            name(worker, naming, self.copy)
        }))
    }

    fn entry(&self, worker: &Worker<'_>, index: usize, buffer: &mut [u8]) -> anyhow::Result<()> {
        let entry = &self.source.entries[index];
        let from = below(&self.source.root, entry);
        let to = self.copy.map(|copy| below(copy, entry));
        let took = match (&entry.kind, &to) {
            (EntryKind::File { bytes }, to) => self.file(worker, &from, to.as_deref(), index, *bytes, buffer)?,
            (_, None) => return Ok(()),
            (kind, Some(to)) => {
                worker.at(to);
                match kind {
                    EntryKind::Directory => {
                        // Ours alone, and to be written in, until all of it is there.
                        worker.must(Step::Mkdir, "make it", || DirBuilder::new().mode(0o700).create(to))?;
                    }
                    EntryKind::Symlink(target) => {
                        worker.must(Step::Link, "make the symbolic link", || symlink(target, to))?;
                    }
                    EntryKind::HardLink(first) => {
                        let first = below(self.copy.unwrap_or(to), &self.source.entries[*first]);
                        worker.must(Step::Link, "make the hard link", || fs::hard_link(&first, to))?;
                    }
                    EntryKind::File { .. } => {}
                }
                worker.took()
            }
        };
        worker.done(0, took);
        Ok(())
    }

    fn file(
        &self,
        worker: &Worker<'_>,
        from: &Path,
        to: Option<&Path>,
        index: usize,
        bytes: u64,
        buffer: &mut [u8],
    ) -> anyhow::Result<Duration> {
        worker.at(from);
        let source = worker.must(Step::Open, "open it", || File::open(from))?;
        let mut took = worker.took();
        let mut target = None;
        if let Some(to) = to {
            worker.at(to);
            target =
                Some(worker.must(Step::Open, "create it", || {
                    File::options().write(true).create_new(true).mode(0o600).open(to)
                })?);
            took += worker.took();
            worker.reading(from);
        }
        let mut hash = self.hashes.map(|_| Xxh3::new());
        let mut offset = 0;
        if let (true, Some(target)) = (self.may_offload, &target) {
            let (end, time) = content::offload(worker, &source, target, bytes)?;
            (offset, took) = (end, took + time);
            if offset > 0 {
                // Who did not see the bytes cannot have hashed them.
                hash = None;
            }
        }
        let (_, time) = content::read_and_write(worker, &source, target.as_ref(), offset, buffer, hash.as_mut())?;
        took += time;
        if let (Some(hash), Some(hashes)) = (hash, self.hashes) {
            hashes[index].get_or_init(|| hash.digest128());
        }
        if let Some(target) = target {
            let mode = Permissions::from_mode(self.source.entries[index].mode);
            worker.must(Step::Write, "set its permissions", || target.set_permissions(mode.clone()))?;
            took += worker.took();
            // The files of a tree become safe together, at the end.
            if self.source.is_tree {
                close(worker, target)?;
            } else {
                settle(worker, target)?;
            }
            took += worker.took();
        }
        worker.count_file();
        Ok(took)
    }

    /// What has to wait until everything is there.
    fn finish(&self, worker: &Worker<'_>) -> anyhow::Result<()> {
        let (Some(copy), true) = (self.copy, self.source.is_tree) else { return Ok(()) };
        // The root follows when it has its name: a directory that may not be written cannot be moved.
        for entry in self.source.entries.iter().skip(1).rev().filter(|entry| entry.kind == EntryKind::Directory) {
            let path = below(copy, entry);
            worker.at(&path);
            let mode = Permissions::from_mode(entry.mode);
            worker.must(Step::Mkdir, "set its permissions", || fs::set_permissions(&path, mode.clone()))?;
        }
        if worker.is_cut() {
            return Ok(());
        }
        worker.at(copy);
        let directory = copy.parent().unwrap_or(copy);
        let directory = worker.must(Step::Open, "open it", || File::open(directory))?;
        worker.must(Step::Fsync, "make it safe (syncfs)", || Ok(syncfs(&directory)?))
    }

    /// Reads the sources that were copied without us.
    pub fn hash_what_nobody_read(&self, stop: &Stop) -> anyhow::Result<()> {
        let Some(hashes) = self.hashes else { return Ok(()) };
        let mut buffer = buffer::blank(usize::try_from(self.block)?)?;
        for (entry, hash) in self.source.entries.iter().zip(hashes) {
            if !matches!(entry.kind, EntryKind::File { .. }) || hash.get().is_some() || stop.is_set() {
                continue;
            }
            let path = below(&self.source.root, entry);
            let found = hash_of(&path, &mut buffer, stop).with_context(|| format!("cannot read {}", shown(&path)))?;
            hash.get_or_init(|| found);
        }
        Ok(())
    }

    /// Reads the copy and compares it with what was read of the source; at its end the copy may get its name.
    pub fn verifying(self, copy: &'a Path, naming: Option<&'a Naming>) -> anyhow::Result<Work<'a>> {
        let mut buffer = buffer::blank(usize::try_from(self.block)?)?;
        Ok(Box::new(move |worker| {
            let Some(hashes) = self.hashes else { return Ok(()) };
            for (entry, expected) in self.source.entries.iter().zip(hashes) {
                if worker.is_halted() {
                    return Ok(());
                }
                if !matches!(entry.kind, EntryKind::File { .. }) {
                    continue;
                }
                let path = below(copy, entry);
                worker.at(&path);
                let file = worker.must(Step::Open, "open it", || File::open(&path))?;
                let mut took = worker.took();
                let mut hash = Xxh3::new();
                let (_, time) = content::read_and_write(worker, &file, None, 0, &mut buffer, Some(&mut hash))?;
                took += time;
                close(worker, file)?;
                if !worker.is_halted() && expected.get() != Some(&hash.digest128()) {
                    let source = shown(&below(&self.source.root, entry));
                    let error = io::Error::new(io::ErrorKind::InvalidData, "its content is another");
                    return Err(worker.fail(Step::Read, error, &format!("take it for a copy of {source}")));
                }
                worker.done(0, took + worker.took());
                worker.count_file();
            }
            name(worker, naming, Some(copy))
        }))
    }
}

/// Gives a copy its name, unless something was left out.
fn name(worker: &Worker<'_>, naming: Option<&Naming>, copy: Option<&Path>) -> anyhow::Result<()> {
    match (naming, copy) {
        (Some(naming), Some(copy)) if !worker.is_halted() => naming.give(worker, copy),
        _ => Ok(()),
    }
}

fn hash_of(path: &Path, buffer: &mut [u8], stop: &Stop) -> io::Result<u128> {
    let file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut offset = 0;
    while !stop.is_set() {
        match file.read_at(buffer, offset) {
            Ok(0) => break,
            Ok(length) => {
                hash.update(&buffer[..length]);
                offset += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hash.digest128())
}
