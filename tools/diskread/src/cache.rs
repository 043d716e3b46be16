//! The page cache before a run: emptied or filled. None of it is inside the time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use anyhow::Context;
use common::files::page_cache;
use common::stop::Stop;
use common::sys::block;
use procfs::Current;

use crate::target::{Target, TargetKind};

/// Bytes per read while filling it.
const CHUNK: usize = 1 << 20;

/// Drops the target from the page cache, as far as this user may. What remains is counted afterwards.
pub fn evict(target: &Target) {
    page_cache::evict(&target.file);
    if matches!(target.kind, TargetKind::Device { .. }) {
        // Only for the superuser.
        let _ = block::flush_buffers(&target.file);
    }
}

/// Reads the range into the page cache.
pub fn fill(file: &File, start: u64, end: u64, stop: &Stop) -> anyhow::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut at = start;
    while at < end && !stop.is_set() {
        let wanted = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
        match file.read_at(&mut buffer[..wanted], at) {
            Ok(0) => break,
            Ok(length) => at += length as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read at offset {at}")),
        }
    }
    Ok(())
}

/// Memory that could hold a file, bytes.
pub fn room() -> Option<u64> {
    procfs::Meminfo::current().ok()?.mem_available
}
