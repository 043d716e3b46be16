//! The mount beneath a directory: what it is, and for NFS how it is set up and what it counts.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use common::files::mount;
use procfs::process::MountInfo;

use crate::mountstats::Stats;

/// A mount; all of it is unknown where there is no `/proc`.
#[derive(Debug, Clone, Default)]
pub struct Mounted {
    info: Option<MountInfo>,
    /// Connections to the server when it was looked at; of NFS only.
    connections: Option<u64>,
}

impl Mounted {
    /// The mount that holds `path`, which must exist. Nothing is asked of it, so that a silent server is no hindrance.
    pub fn holding(path: &Path) -> Self {
        let file = File::options().read(true).custom_flags(libc::O_PATH).open(path);
        let mut mounted = Self { info: file.ok().and_then(|file| mount::holding(&file)), connections: None };
        mounted.connections = mounted.stats().map(|stats| stats.transports.len() as u64).filter(|count| *count > 0);
        mounted
    }

    /// Its connections, which other mounts of the same server may share.
    pub fn connections(&self) -> Option<u64> {
        self.connections
    }

    /// Whether a server is behind it.
    pub fn is_nfs(&self) -> bool {
        self.fs_type().is_some_and(|fs_type| matches!(fs_type, "nfs" | "nfs4"))
    }

    /// The kernel's name of the file system.
    pub fn fs_type(&self) -> Option<&str> {
        self.info.as_ref().map(|mount| mount.fs_type.as_str())
    }

    /// What is mounted.
    pub fn source(&self) -> Option<String> {
        self.info.as_ref()?.mount_source.as_deref().map(mount::unescaped)
    }

    /// The kernel's own record of it.
    pub fn info(&self) -> Option<&MountInfo> {
        self.info.as_ref()
    }

    /// An option of an NFS mount, as `/proc/mounts` shows it.
    pub fn nfs_option(&self, name: &str) -> Option<&str> {
        self.nfs()?.super_options.get(name)?.as_deref()
    }

    /// `hard`, `soft` or `softerr`, and `sync`, as far as they are set on an NFS mount.
    pub fn mode(&self) -> Option<String> {
        let mount = self.nfs()?;
        let is_set = |word: &&str| mount.super_options.contains_key(*word) || mount.mount_options.contains_key(*word);
        Some(["hard", "soft", "softerr", "sync"].into_iter().filter(is_set).collect::<Vec<_>>().join(" "))
    }

    /// What an NFS mount has counted so far.
    pub fn stats(&self) -> Option<Stats> {
        let text = std::fs::read_to_string("/proc/self/mountstats").ok()?;
        Stats::of(&text, &self.nfs()?.mount_point.to_string_lossy())
    }

    fn nfs(&self) -> Option<&MountInfo> {
        self.info.as_ref().filter(|_| self.is_nfs())
    }
}
