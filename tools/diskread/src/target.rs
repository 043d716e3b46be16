//! What a path is, and whether it can be measured: looked at through a descriptor that never waits.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, bail};
use common::files::mount;
use common::sys::block;
use nix::sys::stat::{major, minor};
use nix::sys::statfs;
use procfs::process::MountInfo;

/// A block device or file, open for reading.
#[derive(Debug)]
pub struct Target {
    /// The path as typed.
    pub name: String,
    pub kind: TargetKind,
    /// Opened with `O_NONBLOCK`, which `io_uring` would take seriously: readers reopen it.
    pub file: File,
    pub metadata: Metadata,
    pub storage: Storage,
}

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    Device {
        bytes: u64,
    },
    File {
        bytes: u64,
    },
    /// A file that has content though its size is 0, as in `/proc`.
    Unsized,
    /// A character device that never ends.
    Endless,
}

/// Where the bytes come from, as far as the kernel's accounting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// A block device: what is fetched is counted.
    Device,
    /// Memory, by its nature.
    Memory,
    /// A network or user-space file system: reads are not counted here.
    Elsewhere,
}

/// Major number of the memory devices (Documentation/admin-guide/devices.txt), and the minors of those that never end:
/// zero, full, random, urandom.
const MEMORY_MAJOR: u64 = 1;
const ENDLESS_MINORS: [u64; 4] = [5, 7, 8, 9];
/// Consoles, serial lines, pseudo-terminals and USB serial lines.
const TERMINAL_MAJORS: [RangeInclusive<u64>; 4] = [4..=5, 136..=143, 166..=166, 188..=188];

impl Target {
    /// Opens it read-only. Refuses what is no storage.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let name = path.to_string_lossy().into_owned();
        // Looked at first, since opening alone may do something: a FIFO's writer goes on, a modem hangs up.
        if let Some(what) = fs::metadata(path).ok().as_ref().and_then(refused) {
            let hint = if path.is_dir() { " (nfscopy file DIR measures in a directory)" } else { "" };
            bail!("cannot read {name}: it is {what}, not a block device or file{hint}");
        }
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
            .with_context(|| format!("cannot open {name}"))?;
        let metadata = file.metadata().with_context(|| format!("cannot look at {name}"))?;
        let kind = TargetKind::of(&file, &metadata).with_context(|| format!("cannot read {name}"))?;
        let storage = Storage::of(&file, kind);
        Ok(Self { name, kind, file, metadata, storage })
    }

    /// Its size, where there is one.
    pub fn bytes(&self) -> Option<u64> {
        match self.kind {
            TargetKind::Device { bytes } | TargetKind::File { bytes } => Some(bytes),
            TargetKind::Unsized | TargetKind::Endless => None,
        }
    }

    /// Another descriptor of the very same file, with read-ahead of its own.
    pub fn reopen(&self, flags: i32) -> io::Result<File> {
        let link = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        OpenOptions::new().read(true).custom_flags(libc::O_NOCTTY | flags).open(link)
    }

    /// The mount that holds the file, or for a device the first mount of it.
    pub fn mount(&self) -> Option<MountInfo> {
        if matches!(self.kind, TargetKind::Device { .. }) {
            mount::of_device(self.device_number())
        } else {
            mount::holding(&self.file)
        }
    }

    /// Number of the block device that is read or holds the file.
    pub fn device_number(&self) -> u64 {
        if matches!(self.kind, TargetKind::Device { .. }) { self.metadata.rdev() } else { self.metadata.dev() }
    }
}

impl TargetKind {
    fn of(file: &File, metadata: &Metadata) -> anyhow::Result<Self> {
        let file_type = metadata.file_type();
        if file_type.is_block_device() {
            let bytes = block::device_bytes(file).context("cannot ask for its size")?;
            return Ok(Self::Device { bytes });
        }
        if let Some(what) = refused(metadata) {
            bail!("it is {what}, not a block device or file");
        }
        match metadata.len() {
            _ if file_type.is_char_device() => Ok(Self::Endless),
            0 => Self::of_size_zero(file),
            bytes => Ok(Self::File { bytes }),
        }
    }

    /// Files in `/proc` have no size until they are read.
    fn of_size_zero(file: &File) -> anyhow::Result<Self> {
        match file.read_at(&mut [0], 0) {
            Ok(0) => Ok(Self::File { bytes: 0 }),
            Ok(_) => Ok(Self::Unsized),
            Err(error) => Err(error).context("its size is 0 and it cannot be read like a file"),
        }
    }
}

/// What cannot be measured is called so.
fn refused(metadata: &Metadata) -> Option<&'static str> {
    let file_type = metadata.file_type();
    let (major, minor) = (major(metadata.rdev()), minor(metadata.rdev()));
    if file_type.is_dir() {
        Some("a directory")
    } else if file_type.is_fifo() {
        Some("a FIFO")
    } else if file_type.is_socket() {
        Some("a socket")
    } else if file_type.is_char_device() && TERMINAL_MAJORS.iter().any(|range| range.contains(&major)) {
        Some("a terminal")
    } else if file_type.is_char_device() && !(major == MEMORY_MAJOR && ENDLESS_MINORS.contains(&minor)) {
        Some("a character device")
    } else {
        None
    }
}

impl Storage {
    fn of(file: &File, kind: TargetKind) -> Self {
        match kind {
            TargetKind::Device { .. } => return Self::Device,
            TargetKind::Unsized | TargetKind::Endless => return Self::Memory,
            TargetKind::File { .. } => {}
        }
        let Ok(of) = statfs::fstatfs(file) else { return Self::Elsewhere };
        let magic = of.filesystem_type();
        let memory = [
            statfs::TMPFS_MAGIC,
            statfs::PROC_SUPER_MAGIC,
            statfs::SYSFS_MAGIC,
            statfs::HUGETLBFS_MAGIC,
            statfs::DEBUGFS_MAGIC,
            statfs::TRACEFS_MAGIC,
            statfs::CGROUP_SUPER_MAGIC,
            statfs::CGROUP2_SUPER_MAGIC,
            statfs::FsType(RAMFS_MAGIC),
        ];
        let elsewhere = [
            statfs::NFS_SUPER_MAGIC,
            statfs::FUSE_SUPER_MAGIC,
            statfs::SMB_SUPER_MAGIC,
            statfs::FsType(V9FS_MAGIC),
            statfs::AFS_SUPER_MAGIC,
            statfs::CODA_SUPER_MAGIC,
            statfs::FsType(CIFS_MAGIC),
            statfs::FsType(SMB2_MAGIC),
            statfs::FsType(CEPH_MAGIC),
        ];
        if memory.contains(&magic) {
            Self::Memory
        } else if elsewhere.contains(&magic) {
            Self::Elsewhere
        } else {
            Self::Device
        }
    }
}

// From linux/magic.h; nix has no names for them.
const RAMFS_MAGIC: statfs_word = 0x8584_58f6;
const V9FS_MAGIC: statfs_word = 0x0102_1997;
const CIFS_MAGIC: statfs_word = 0xff53_4d42;
const SMB2_MAGIC: statfs_word = 0xfe53_4d42;
const CEPH_MAGIC: statfs_word = 0x00c3_6400;

#[allow(non_camel_case_types, reason = "the C type that the numbers have in struct statfs")]
type statfs_word = libc::__fsword_t;
