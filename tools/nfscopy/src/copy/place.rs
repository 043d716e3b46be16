//! Where a copy goes, and how it gets its name: in one step, when all of it is safe.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use nix::sys::stat::{major, minor};

use crate::copy::scan::refuse_special;
use crate::run::check_directory;
use crate::shown::shown;
use crate::workspace::Workspace;

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

/// Gives `copy` its name `path` and permissions. What it replaces stays in the workspace, which is about to go.
pub fn commit(workspace: &Workspace, copy: &Path, path: &Path, mode: u32, may_replace: bool) -> anyhow::Result<()> {
    rename(workspace, copy, path, may_replace)
        .and_then(|()| fs::set_permissions(path, Permissions::from_mode(mode)))
        .with_context(|| format!("cannot give the copy its name {}", shown(path)))?;
    let Some(directory) = path.parent() else { return Ok(()) };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Some file systems cannot sync a directory; then there is nothing to do about it.
        Err(error) if error.raw_os_error() != Some(libc::EINVAL) => {
            Err(error).with_context(|| format!("{}: cannot make the name safe (fsync)", shown(directory)))
        }
        _ => Ok(()),
    }
}

fn rename(workspace: &Workspace, copy: &Path, path: &Path, may_replace: bool) -> io::Result<()> {
    let Ok(old) = path.symlink_metadata() else { return without_replacing(copy, path) };
    if !may_replace {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if old.is_dir() || copy.is_dir() {
        // A directory can be replaced only by an empty place.
        let aside = workspace.join("replaced");
        fs::rename(path, &aside)?;
        return without_replacing(copy, path).inspect_err(|_| {
            // If even that fails, the first error is the one to tell.
            let _ = fs::rename(&aside, path);
        });
    }
    fs::rename(copy, path)
}

/// Where the file system cannot promise it (NFS), somebody may come between the look and the name.
fn without_replacing(copy: &Path, path: &Path) -> io::Result<()> {
    match renameat2(AT_FDCWD, copy, AT_FDCWD, path, RenameFlags::RENAME_NOREPLACE) {
        Err(Errno::EINVAL | Errno::ENOSYS) if path.symlink_metadata().is_err() => fs::rename(copy, path),
        Err(Errno::EINVAL | Errno::ENOSYS) => Err(io::ErrorKind::AlreadyExists.into()),
        outcome => Ok(outcome?),
    }
}
