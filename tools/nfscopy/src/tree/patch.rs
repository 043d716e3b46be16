//! One thread's directory and the names of its files.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use anyhow::Context;
use common::files::page_cache;
use common::files::shuffle::{Shuffle, share};
use common::stop::Stop;

use crate::shown::shown;
use crate::tree::name::Name;
use crate::tree::plan::Tree;
use crate::workspace::Workspace;

/// A thread's part of the tree.
#[derive(Debug)]
pub struct Patch {
    pub path: PathBuf,
    pub directory: File,
    first: u64,
    count: u64,
    are_renamed: bool,
    is_random: bool,
    seed: u64,
}

impl Patch {
    /// The part of thread `index`: its directory exists, its files do not.
    pub fn create(workspace: &Workspace, tree: Tree, index: u32, seed: u64) -> anyhow::Result<Self> {
        let path = workspace.join(&if tree.is_shared { "files".to_owned() } else { format!("files-{index}") });
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", shown(&path)))?;
        let directory = File::open(&path).with_context(|| format!("cannot open {}", shown(&path)))?;
        let (first, count) = share(tree.files, tree.threads.into(), index.into());
        Ok(Self { path, directory, first, count, are_renamed: false, is_random: tree.is_random, seed })
    }

    /// From here on the files are called by their new names.
    pub fn take_new_names(&mut self) {
        self.are_renamed = true;
    }

    /// Every file's name and new name, in the order of the tree; each `round` at random has an order of its own.
    pub fn names(&self, round: u64) -> impl Iterator<Item = (Name, Name)> {
        let shuffle = self.is_random.then(|| Shuffle::new(self.count, self.seed));
        (0..self.count).map(move |index| {
            let number = self.first + shuffle.as_ref().map_or(index, |shuffle| shuffle.at(index, round));
            let name = |is_renamed| Name::new(number, self.seed, self.is_random, is_renamed);
            (name(self.are_renamed), name(true))
        })
    }
}

/// Drops all files from the page cache; the share that stays, in percent, if the kernel says.
pub fn evict(patches: &[Patch], stop: &Stop) -> anyhow::Result<Option<f64>> {
    let (mut cached, mut whole) = (0, 0);
    for patch in patches {
        for (name, _) in patch.names(0) {
            if stop.is_set() {
                return Ok(None);
            }
            let path = patch.path.join(OsStr::from_bytes(name.to_bytes()));
            let file = File::open(&path).with_context(|| format!("cannot open {}", shown(&path)))?;
            page_cache::evict(&file);
            let bytes = file.metadata().with_context(|| format!("cannot look at {}", shown(&path)))?.len();
            let Some(resident) = page_cache::resident_bytes(&file, 0, bytes) else { return Ok(None) };
            cached += resident;
            whole += bytes;
        }
    }
    Ok((whole > 0).then(|| 100.0 * cached as f64 / whole as f64))
}
