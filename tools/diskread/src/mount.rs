//! The mount that holds a file, or that a device holds, from `/proc/self/mountinfo`.

use std::path::Path;

use nix::sys::stat::{major, minor};
use procfs::process::{MountInfo, Process};

use crate::target::{Kind, Target};

/// For a device, the first mount of it; for a file, the one whose path is the longest above it.
pub fn of(target: &Target) -> Option<MountInfo> {
    let mounts = Process::myself().ok()?.mountinfo().ok()?.0;
    if matches!(target.kind, Kind::Device { .. }) {
        let number = target.device_number();
        let number = format!("{}:{}", major(number), minor(number));
        return mounts.into_iter().find(|mount| mount.majmin == number);
    }
    let path = std::fs::canonicalize(&target.name).ok()?;
    let depth = |mount: &MountInfo| Path::new(&mount.mount_point).components().count();
    // Of two at the same place the later one hides the earlier.
    mounts.into_iter().filter(|mount| path.starts_with(&mount.mount_point)).max_by_key(depth)
}
