//! One thread's directory and the names of its files, made before the clock starts.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use common::page_cache;
use common::shuffle::{Shuffle, mix, share};
use common::stop::Stop;

use crate::shown::shown;
use crate::tree::Tree;
use crate::workspace::Workspace;

/// A thread's part of the tree.
#[derive(Debug)]
pub struct Patch {
    pub path: PathBuf,
    pub directory: File,
    names: Vec<CString>,
    new_names: Vec<CString>,
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
        let key = |number: u64| if tree.is_random { mix(number ^ seed) } else { number };
        let names = |prefix: &str| {
            (first..first + count)
                .map(|number| CString::new(format!("{prefix}{:016x}", key(number))))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            path,
            directory,
            names: names("")?,
            new_names: names("renamed-")?,
            is_random: tree.is_random,
            seed: seed ^ u64::from(index),
        })
    }

    /// From here on the files are called by their new names.
    pub fn take_new_names(&mut self) {
        std::mem::swap(&mut self.names, &mut self.new_names);
    }

    /// Every file's name and new name, in the order of the tree; each `round` at random has an order of its own.
    pub fn names(&self, round: u64) -> impl Iterator<Item = (&CStr, &CStr)> {
        let count = self.names.len() as u64;
        let shuffle = self.is_random.then(|| Shuffle::new(count, self.seed));
        (0..count).map(move |index| {
            let at = shuffle.as_ref().map_or(index, |shuffle| shuffle.at(index, round));
            // It was the length of a Vec.
            let at = usize::try_from(at).unwrap_or_default();
            (self.names[at].as_c_str(), self.new_names[at].as_c_str())
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
            let path = patch.path.join(Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())));
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
