//! A directory of our own in the one to be measured. Whatever happens, it goes away at the end.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use common::console::Console;
use walkdir::WalkDir;

use crate::shown::shown;

/// NFS keeps a file that somebody has open under a name `.nfs...` when it is deleted. How long to wait for its end.
const SILLY_WAIT: Duration = Duration::from_secs(5);
const SILLY_POLL: Duration = Duration::from_millis(100);

/// Refuses what is no directory, before anything is done.
pub fn check_directory(path: &Path) -> anyhow::Result<()> {
    let metadata = path.metadata().with_context(|| format!("cannot use {}", shown(path)))?;
    if metadata.is_dir() { Ok(()) } else { bail!("cannot use {}: it is not a directory", shown(path)) }
}

/// The directory.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    is_there: bool,
}

impl Workspace {
    /// Makes it in `parent`.
    pub fn create(parent: &Path) -> anyhow::Result<Self> {
        let path = parent.join(format!(".nfscopy-{:016x}", rand::random::<u64>()));
        DirBuilder::new().mode(0o700).create(&path).with_context(|| format!("cannot write in {}", shown(parent)))?;
        Ok(Self { path, is_there: true })
    }

    /// A name in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Removes it with all that is in it; says what stays and why. False if something does.
    pub fn remove(mut self, console: &Console) -> bool {
        self.is_there = false;
        remove(&self.path, console)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.is_there {
            // An error is on its way already.
            let _ = clear(&self.path);
        }
    }
}

/// Removes a directory or file of ours; says what stays and why. False if something does.
pub fn remove(path: &Path, console: &Console) -> bool {
    let Err(error) = clear(path) else { return true };
    let silly = if is_held(&error) { " (.nfs files in it are held open by another process)" } else { "" };
    console.error(&format!("left behind: {}: {}{silly}", shown(path), common::cli::message(&error.into())));
    false
}

fn clear(path: &Path) -> io::Result<()> {
    let deadline = Instant::now() + SILLY_WAIT;
    let mut is_opened = false;
    loop {
        let is_directory = fs::symlink_metadata(path).map(|metadata| metadata.is_dir());
        let outcome = match is_directory {
            Ok(true) => fs::remove_dir_all(path),
            Ok(false) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if is_held(&error) && Instant::now() < deadline => std::thread::sleep(SILLY_POLL),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_opened => {
                is_opened = true;
                open_directories(path);
            }
            outcome => return outcome,
        }
    }
}

/// Makes the directories of a copied tree ours to write in: they have the permissions of their originals.
fn open_directories(path: &Path) {
    for found in WalkDir::new(path).into_iter().filter_map(Result::ok).filter(|found| found.file_type().is_dir()) {
        // What cannot be changed cannot be removed, and that will be said.
        let _ = fs::set_permissions(found.path(), Permissions::from_mode(0o700));
    }
}

fn is_held(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOTEMPTY | libc::EBUSY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stays_even_if_nobody_removes_it() {
        let parent = tempfile::tempdir().unwrap();
        let workspace = Workspace::create(parent.path()).unwrap();
        fs::write(workspace.join("file"), "x").unwrap();
        drop(workspace);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_gone_is_removed() {
        assert!(clear(Path::new("/nonexistent/x")).is_ok());
    }
}
