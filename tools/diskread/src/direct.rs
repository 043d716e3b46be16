//! Whether a target can be read past the page cache, and in which units.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use anyhow::bail;
use common::cli::Usage;
use common::files::buffer;
use common::sys::mapping;
use rustix::fs::{AtFlags, StatxFlags, ioctl_blksszget, statx};

use crate::args::Method;
use crate::offsets::Range;
use crate::plan::Plan;
use crate::target::{Target, TargetKind};

/// The method that is possible, and what its reads must be multiples of. A request that is not is a usage error, before
/// anything is read.
pub fn negotiate(plan: &Plan, target: &Target, range: Range) -> anyhow::Result<(Method, u64)> {
    let alignment = match target.kind {
        TargetKind::Device { .. } => stated_alignment(&target.file).or(logical_block_bytes(&target.file)),
        _ => stated_alignment(&target.file),
    };
    let alignment = alignment.unwrap_or(DEFAULT_ALIGNMENT);
    for (option, value) in [("--block", Some(plan.block)), ("--offset", Some(plan.offset)), ("--bytes", plan.amount)] {
        // What ends at the end of the file is read to its last byte.
        let is_whole = option == "--bytes" && plan.amount.map(|amount| plan.offset + amount) == target.bytes();
        if let Some(value) = value.filter(|value| !value.is_multiple_of(alignment) && !is_whole) {
            return Err(Usage(format!(
                "{option} {value} is not a multiple of {alignment}, which {} needs for direct reads",
                target.name
            ))
            .into());
        }
    }
    match probe(target, range, alignment) {
        Err(error) if is_refusal(&error) && plan.may_fall_back => Ok((Method::Buffered, 1)),
        Err(error) if is_refusal(&error) => {
            bail!("{} refuses direct reads: {error} (--fallback reads it buffered)", target.name)
        }
        // A device that cannot be read fails where it is measured, and with the offset.
        Ok(()) | Err(_) => Ok((Method::Direct, alignment)),
    }
}

/// What every device that reads directly can do, unless it says otherwise.
const DEFAULT_ALIGNMENT: u64 = 4096;

/// What offset and length of a direct read must be a multiple of, by statx(2)'s `STATX_DIOALIGN`; `None` where the file
/// system does not say.
pub fn stated_alignment(file: &File) -> Option<u64> {
    let answer = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let says = answer.stx_mask & StatxFlags::DIOALIGN.bits() != 0 && answer.stx_dio_offset_align > 0;
    says.then(|| answer.stx_dio_offset_align.into())
}

/// The device's smallest addressable unit in bytes (`BLKSSZGET`).
pub fn logical_block_bytes(device: &File) -> Option<u64> {
    ioctl_blksszget(device).ok().map(u64::from)
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

/// Tries a direct read: statx(2) alone is not to be trusted (tmpfs reads directly and does not say so).
fn probe(target: &Target, range: Range, alignment: u64) -> io::Result<()> {
    let file = target.reopen(libc::O_DIRECT)?;
    if range.start == range.end {
        return Ok(());
    }
    let mut memory = buffer::blank(usize::try_from(alignment).unwrap_or(mapping::page_bytes()))?;
    file.read_at(&mut memory, range.start).map(drop)
}
