//! What there is to copy, looked at before anything is written; the files leave the page cache on the way.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use common::files::page_cache;
use common::stop::Stop;
use nix::unistd::{Whence, lseek};
use walkdir::WalkDir;

use crate::shown::shown;

/// A file or a tree.
#[derive(Debug)]
pub struct Source {
    pub root: PathBuf,
    pub is_tree: bool,
    /// Directories stand before what is in them.
    pub entries: Vec<Entry>,
    /// Share of the bytes in the page cache after the eviction; `None` if the kernel does not say.
    pub cached_pct: Option<f64>,
    /// A file has holes.
    pub is_sparse: bool,
}

/// One thing to copy.
#[derive(Debug)]
pub struct Entry {
    /// Below the root; empty for the root itself.
    pub path: PathBuf,
    pub kind: EntryKind,
    /// Permission bits; nobody's privileges are copied.
    pub mode: u32,
}

/// What it is.
#[derive(Debug, PartialEq, Eq)]
pub enum EntryKind {
    Directory,
    File {
        bytes: u64,
    },
    /// The same file as the entry with this index.
    HardLink(usize),
    Symlink(PathBuf),
}

impl Source {
    /// Looks at everything below `root`, which itself may be reached by a symbolic link.
    pub fn scan(root: &Path, stop: &Stop) -> anyhow::Result<Self> {
        let metadata = root.metadata().with_context(|| format!("cannot look at {}", shown(root)))?;
        let mut scan = Scan { seen: HashMap::new(), entries: Vec::new(), cached: Some(0), is_sparse: false };
        if metadata.is_dir() {
            let walk = WalkDir::new(root).follow_root_links(true).follow_links(false).sort_by_file_name();
            for found in walk {
                if stop.is_set() {
                    break;
                }
                let found = found.map_err(|error| unreadable(root, &error))?;
                let path = found.path().strip_prefix(root).unwrap_or(found.path()).to_owned();
                let metadata = found.metadata().map_err(|error| unreadable(root, &error))?;
                scan.take(found.path(), path, &metadata)?;
            }
        } else {
            scan.take(root, PathBuf::new(), &metadata)?;
        }
        let mut source = Self {
            root: root.to_owned(),
            is_tree: metadata.is_dir(),
            entries: scan.entries,
            cached_pct: None,
            is_sparse: scan.is_sparse,
        };
        let bytes = source.bytes();
        source.cached_pct = scan.cached.filter(|_| bytes > 0).map(|cached| 100.0 * cached as f64 / bytes as f64);
        Ok(source)
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.sizes().sum()
    }

    /// Bytes of the largest file.
    pub fn largest(&self) -> Option<u64> {
        self.sizes().max()
    }

    /// Permission bits of the root.
    pub fn mode(&self) -> u32 {
        self.entries.first().map_or(0o700, |entry| entry.mode)
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().filter_map(|entry| match entry.kind {
            EntryKind::File { bytes } => Some(bytes),
            _ => None,
        })
    }
}

fn unreadable(root: &Path, error: &walkdir::Error) -> anyhow::Error {
    let path = shown(error.path().unwrap_or(root));
    let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
    anyhow::anyhow!(cause).context(format!("cannot read {path}"))
}

struct Scan {
    /// Files with several names, by device and inode.
    seen: HashMap<(u64, u64), usize>,
    entries: Vec<Entry>,
    cached: Option<u64>,
    is_sparse: bool,
}

impl Scan {
    fn take(&mut self, at: &Path, path: PathBuf, metadata: &Metadata) -> anyhow::Result<()> {
        let kind = if metadata.is_dir() {
            EntryKind::Directory
        } else if metadata.is_symlink() {
            EntryKind::Symlink(fs::read_link(at).with_context(|| format!("cannot read the link {}", shown(at)))?)
        } else {
            refuse_special(at, metadata)?;
            self.file(at, metadata)?
        };
        self.entries.push(Entry { path, kind, mode: metadata.permissions().mode() & 0o777 });
        Ok(())
    }

    fn file(&mut self, at: &Path, metadata: &Metadata) -> anyhow::Result<EntryKind> {
        if metadata.nlink() > 1 {
            let index = self.entries.len();
            match self.seen.entry((metadata.dev(), metadata.ino())) {
                std::collections::hash_map::Entry::Occupied(first) => return Ok(EntryKind::HardLink(*first.get())),
                std::collections::hash_map::Entry::Vacant(place) => place.insert(index),
            };
        }
        let bytes = metadata.len();
        let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(at);
        let file = opened.with_context(|| format!("cannot open {}", shown(at)))?;
        page_cache::evict(&file);
        if bytes > 0 {
            self.cached = self.cached.zip(page_cache::resident_bytes(&file, 0, bytes)).map(|(sum, more)| sum + more);
            let hole = lseek(&file, 0, Whence::SeekHole).ok().and_then(|at| u64::try_from(at).ok());
            self.is_sparse |= hole.is_some_and(|at| at < bytes);
        }
        Ok(EntryKind::File { bytes })
    }
}

/// Refuses what has no content of its own.
pub fn refuse_special(at: &Path, metadata: &Metadata) -> anyhow::Result<()> {
    let file_type = metadata.file_type();
    let what = if file_type.is_file() || file_type.is_dir() {
        return Ok(());
    } else if file_type.is_fifo() {
        "a FIFO"
    } else if file_type.is_socket() {
        "a socket"
    } else if file_type.is_block_device() {
        "a block device"
    } else {
        "a character device"
    };
    bail!("cannot copy {}: it is {what} (only files, directories and symbolic links)", shown(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_tree_is_what_is_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("empty")).unwrap();
        fs::write(root.join("file"), "content").unwrap();
        fs::hard_link(root.join("file"), root.join("link")).unwrap();
        symlink("nowhere", root.join("symlink")).unwrap();
        let source = Source::scan(root, &Stop::on_signals(None).unwrap()).unwrap();
        let found: Vec<_> = source.entries.iter().map(|entry| (entry.path.to_str().unwrap(), &entry.kind)).collect();
        let target = PathBuf::from("nowhere");
        assert_eq!(
            found,
            [
                ("", &EntryKind::Directory),
                ("empty", &EntryKind::Directory),
                ("file", &EntryKind::File { bytes: 7 }),
                ("link", &EntryKind::HardLink(2)),
                ("symlink", &EntryKind::Symlink(target)),
            ]
        );
        assert_eq!((source.bytes(), source.is_tree), (7, true));
    }
}
