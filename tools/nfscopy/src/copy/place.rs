//! Where a copy goes, and how it gets its name: in one step, when all of it is safe.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use common::console::Console;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use nix::sys::stat::{major, minor};

use crate::copy::scan::refuse_special;
use crate::shown::shown;
use crate::worker::{Step, Worker};
use crate::workspace::{self, check_directory};

/// Where a copy goes.
#[derive(Debug)]
pub enum Destination {
    /// What is read is discarded.
    Nowhere,
    At {
        /// Holds the copy, and its temporary name.
        directory: PathBuf,
        path: PathBuf,
    },
}

impl Destination {
    /// As cp(1) has it: a directory receives a copy of the source's name. What exists is refused unless `may_replace`.
    pub fn of(source: &Path, target: &Path, may_replace: bool) -> anyhow::Result<Self> {
        let metadata = source.metadata().with_context(|| format!("cannot look at {}", shown(source)))?;
        // Before its path is asked for: a pipe has none.
        refuse_special(source, &metadata)?;
        let from = source.canonicalize().with_context(|| format!("cannot look at {}", shown(source)))?;
        let found = target.metadata().ok();
        if found.as_ref().is_some_and(is_null) {
            return Ok(Self::Nowhere);
        }
        // The name as typed, which a symbolic link has too; `..` has none.
        let name = source.file_name().or(from.file_name());
        let path = match (found.is_some_and(|found| found.is_dir()), name) {
            (true, Some(name)) => target.join(name),
            (true, None) => bail!("{} has no name to copy it by: name the copy", shown(source)),
            (false, _) => target.to_owned(),
        };
        let Some(directory) = path.parent() else { bail!("cannot write {}: it is no name", shown(target)) };
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        check_directory(directory)?;
        let inside = directory.canonicalize().with_context(|| format!("cannot use {}", shown(directory)))?;
        if from.is_dir() && inside.starts_with(&from) {
            bail!("cannot copy {} into itself ({})", shown(source), shown(&path));
        }
        if let Ok(old) = path.symlink_metadata() {
            let there = path.canonicalize().ok();
            if there.as_ref() == Some(&from) {
                bail!("{} and {} are the same", shown(source), shown(&path));
            }
            if !may_replace {
                bail!("{} exists already (--force replaces it)", shown(&path));
            }
            // What is replaced is removed, and the source would be with it.
            if old.is_dir() && there.is_some_and(|there| from.starts_with(there)) {
                bail!("cannot replace {}: {} is in it", shown(&path), shown(source));
            }
            if old.is_dir() && !from.is_dir() {
                bail!("cannot replace {}: it is a directory, and {} is a file", shown(&path), shown(source));
            }
        }
        Ok(Self::At { directory: directory.to_owned(), path })
    }

    /// The copy's own path.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Nowhere => None,
            Self::At { path, .. } => Some(path),
        }
    }
}

fn is_null(metadata: &fs::Metadata) -> bool {
    let number = metadata.rdev();
    metadata.file_type().is_char_device() && (major(number), minor(number)) == (1, 3)
}

/// The name that a copy gets when all of it is there.
#[derive(Debug)]
pub struct Naming {
    path: PathBuf,
    directory: PathBuf,
    mode: u32,
    may_replace: bool,
    /// Where a tree that is replaced waits for its removal.
    aside: PathBuf,
    is_done: AtomicBool,
}

impl Naming {
    /// The name `path` in `directory`, with these permission bits.
    pub fn new(directory: &Path, path: &Path, mode: u32, may_replace: bool) -> Self {
        let aside = directory.join(format!(".nfscopy-{:016x}.replaced", rand::random::<u64>()));
        let [path, directory] = [path, directory].map(Path::to_owned);
        Self { path, directory, mode, may_replace, aside, is_done: AtomicBool::new(false) }
    }

    /// Whether the copy has it.
    pub fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    /// Gives it to `copy`, as calls of the measurement.
    pub fn give(&self, worker: &Worker<'_>, copy: &Path) -> anyhow::Result<()> {
        worker.at(&self.path);
        worker.must(Step::Rename, "give the copy this name", || self.rename(copy))?;
        self.is_done.store(true, Ordering::Relaxed);
        let mode = Permissions::from_mode(self.mode);
        worker.must(Step::Rename, "set its permissions", || fs::set_permissions(&self.path, mode.clone()))?;
        worker.at(&self.directory);
        let directory = worker.must(Step::Open, "open it", || File::open(&self.directory))?;
        worker.must(Step::Fsync, "make the copy's name safe (fsync)", || match directory.sync_all() {
            // Some file systems cannot sync a directory; then there is nothing to do about it.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            outcome => outcome,
        })
    }

    /// Removes what the copy has replaced; says what stays and why. False if something does.
    pub fn remove_replaced(&self, console: &Console) -> bool {
        !self.is_done() || workspace::remove(&self.aside, console)
    }

    fn rename(&self, copy: &Path) -> io::Result<()> {
        let Ok(old) = self.path.symlink_metadata() else { return without_replacing(copy, &self.path) };
        if !self.may_replace {
            return Err(io::Error::from_raw_os_error(libc::EEXIST));
        }
        if !old.is_dir() && !copy.is_dir() {
            return fs::rename(copy, &self.path);
        }
        // A directory can be replaced only by an empty place.
        fs::rename(&self.path, &self.aside)?;
        without_replacing(copy, &self.path).inspect_err(|_| {
            // If even that fails, what was there stays beside its place: it is not ours to remove.
            let _ = fs::rename(&self.aside, &self.path);
        })
    }
}

/// Where the file system cannot promise it (NFS), somebody may come between the look and the name.
fn without_replacing(copy: &Path, path: &Path) -> io::Result<()> {
    match renameat2(AT_FDCWD, copy, AT_FDCWD, path, RenameFlags::RENAME_NOREPLACE) {
        Err(Errno::EINVAL | Errno::ENOSYS) if path.symlink_metadata().is_err() => fs::rename(copy, path),
        Err(Errno::EINVAL | Errno::ENOSYS) => Err(io::Error::from_raw_os_error(libc::EEXIST)),
        outcome => Ok(outcome?),
    }
}
