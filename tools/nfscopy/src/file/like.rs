//! `--like`: the phases, block sizes, counts and order of programs whose figures people know.
//!
//! Nothing is evicted where they do not evict: the flag `cached` says when a read came from memory, and the default size,
//! twice the memory, is how they avoid that. What differs on purpose:
//! - all: every write phase ends with fsync and close inside the time, content is new and incompressible, and the rate is
//!   bytes/s instead of their K/s and MB of 1048576 bytes.
//! - bonnie++: random seeks visit no block twice; the seekers do not wait three seconds before they start; what it shows
//!   as `+++++` is a figure.
//! - tiobench: remainders by threads are not lost; opening and laying out the file are apart (`open_s`).
//! - dd: `conv=fsync`, which people leave out.

use common::cli::Usage;

use crate::args::{FileArgs, Like, PhaseName};
use crate::file::plan::{FilePhase, FilePlan, Sweep};

/// bonnie++'s chunk and tiobench's block.
const CHUNK: u64 = 8192;
const SMALL: u64 = 4096;

/// What the program would do.
pub fn plan(program: Like, args: &FileArgs) -> Result<FilePlan, Usage> {
    let size = match args.size {
        Some(size) => size,
        None => twice_the_memory()?,
    };
    let (default, phases) = match program {
        Like::Bonnie => (&[1][..], bonnie()),
        Like::Tiobench => (&[1, 2, 4, 8][..], tiobench()),
        Like::Dd => (&[1][..], dd()),
    };
    let threads = if args.threads.is_empty() { default } else { &args.threads };
    Ok(FilePlan {
        size,
        sweeps: threads.iter().map(|threads| Sweep { threads: *threads, phases: phases.clone() }).collect(),
        like: Some(program),
        is_sync: false,
        is_direct: false,
        time: args.time,
    })
}

fn twice_the_memory() -> Result<u64, Usage> {
    use procfs::Current;
    let memory = procfs::Meminfo::current().ok().and_then(|memory| memory.mem_total.checked_mul(2));
    memory.ok_or_else(|| Usage("--like needs --size: /proc/meminfo does not say how much memory there is".into()))
}

fn phases<const N: usize>(list: [(&'static str, PhaseName, u64, Option<u64>); N]) -> Vec<FilePhase> {
    list.map(|(test, name, block, ops)| FilePhase { test, name, block, ops, evicts: false }).into()
}

fn bonnie() -> Vec<FilePhase> {
    phases([
        ("bonnie_stdio_write", PhaseName::StdioWrite, 1, None),
        ("bonnie_write", PhaseName::Write, CHUNK, None),
        ("bonnie_rewrite", PhaseName::Rewrite, CHUNK, None),
        ("bonnie_stdio_read", PhaseName::StdioRead, 1, None),
        ("bonnie_read", PhaseName::Read, CHUNK, None),
        ("bonnie_seek", PhaseName::Seek, CHUNK, Some(8192)),
    ])
}

fn tiobench() -> Vec<FilePhase> {
    phases([
        ("tiobench_write", PhaseName::Write, SMALL, None),
        ("tiobench_rand_write", PhaseName::RandWrite, SMALL, Some(4000)),
        ("tiobench_read", PhaseName::Read, SMALL, None),
        ("tiobench_rand_read", PhaseName::RandRead, SMALL, Some(4000)),
    ])
}

fn dd() -> Vec<FilePhase> {
    phases([("dd_write", PhaseName::Write, 1 << 20, None), ("dd_read", PhaseName::Read, 1 << 20, None)])
}
