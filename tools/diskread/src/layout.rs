//! The parts of a file that no device has to read: holes, and blocks that were allocated but never written.

use std::fs::File;
use std::io;

use common::sys::extents;
use nix::errno::Errno;
use nix::unistd::{Whence, lseek};

use crate::target::{Target, TargetKind};

/// How much of a range reads as zeros without any device. Unknown where the file system does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// Bytes in holes.
    pub sparse: Option<u64>,
    /// Bytes in blocks that were never written.
    pub unwritten: Option<u64>,
}

impl Layout {
    /// The layout of a range of the target. `FIEMAP` tells holes from unwritten blocks; `SEEK_HOLE` may take both for
    /// holes and is asked only where there is no `FIEMAP`.
    pub fn of(target: &Target, start: u64, end: u64) -> Self {
        if !matches!(target.kind, TargetKind::File { .. }) || start >= end {
            return Self::default();
        }
        by_extents(&target.file, start, end)
            .unwrap_or_else(|_| Self { sparse: by_seeking(&target.file, start, end).ok(), unwritten: None })
    }

    /// Share of the range, `length` bytes long, that no device has to read, in percent.
    pub fn blank_pct(&self, length: u64) -> f64 {
        let blank = self.sparse.unwrap_or_default() + self.unwritten.unwrap_or_default();
        if length > 0 { 100.0 * blank as f64 / length as f64 } else { 0.0 }
    }
}

fn by_extents(file: &File, start: u64, end: u64) -> io::Result<Layout> {
    let (mut mapped, mut unwritten) = (0, 0);
    extents::for_each(file, start, end, |extent| {
        let inside = extent.start.saturating_add(extent.length).min(end).saturating_sub(extent.start.max(start));
        mapped += inside;
        unwritten += if extent.is_unwritten { inside } else { 0 };
    })?;
    Ok(Layout { sparse: Some((end - start).saturating_sub(mapped)), unwritten: Some(unwritten) })
}

/// lseek(2): `ENXIO` means that there is nothing but a hole to the end.
fn by_seeking(file: &File, start: u64, end: u64) -> Result<u64, Errno> {
    let seek = |at: u64, whence| match lseek(file, i64::try_from(at).map_err(|_| Errno::EOVERFLOW)?, whence) {
        Ok(found) => Ok(u64::try_from(found).unwrap_or(end).min(end)),
        Err(Errno::ENXIO) => Ok(end),
        Err(error) => Err(error),
    };
    let (mut at, mut holes) = (start, 0);
    while at < end {
        let data = seek(at, Whence::SeekData)?;
        holes += data - at;
        at = if data < end { seek(data, Whence::SeekHole)? } else { end };
    }
    Ok(holes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn both_ways_find_the_holes() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(&vec![1; 65_536], 131_072).unwrap();
        file.sync_all().unwrap();
        let holes = (1 << 20) - 65_536;
        assert_eq!(by_seeking(&file, 0, 1 << 20), Ok(holes));
        assert_eq!(by_seeking(&file, 131_072, 196_608), Ok(0));
        if let Ok(layout) = by_extents(&file, 0, 1 << 20) {
            assert_eq!(layout, Layout { sparse: Some(holes), unwritten: Some(0) });
        }
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        assert!(Layout::default().blank_pct(0) == 0.0);
        let half = Layout { sparse: Some(25), unwritten: Some(25) };
        assert!((half.blank_pct(100) - 50.0).abs() < 1e-9);
    }
}
