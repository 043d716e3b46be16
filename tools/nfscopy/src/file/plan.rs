//! What to do with large files, valid by construction, before any directory is looked at.

use std::time::Duration;

use common::cli::Usage;
use common::sys::mapping;

use crate::args::{FileArgs, Like, PhaseName};

/// What all files together hold when nobody says.
const DEFAULT_SIZE: u64 = 1 << 30;

/// What random phases do when nobody says.
const DEFAULT_OPS: u64 = 8192;

/// Largest block: a call moves no more than 2 GiB (write(2)).
const MAX_BLOCK: u64 = 1 << 30;

/// Most memory that the blocks of all threads may take together.
const MAX_MEMORY: u64 = 4 << 30;

/// Smallest unit of a direct call on any device.
const SECTOR: u64 = 512;

/// Phases with one number of threads.
#[derive(Debug, Clone)]
pub struct Sweep {
    pub threads: u32,
    pub phases: Vec<FilePhase>,
}

/// One phase.
#[derive(Debug, Clone, Copy)]
pub struct FilePhase {
    /// The word in the test column.
    pub test: &'static str,
    pub name: PhaseName,
    /// Bytes per call.
    pub block: u64,
    /// Operations of all threads, at random; without it until the time is over.
    pub ops: Option<u64>,
    /// Empty the page cache of the files first.
    pub evicts: bool,
}

/// Everything about the files.
#[derive(Debug, Clone)]
pub struct FilePlan {
    /// Bytes of all files together.
    pub size: u64,
    pub sweeps: Vec<Sweep>,
    /// Whose habits are followed beside the phases: tiobench lays its files out before it writes them, bonnie++ goes on
    /// with files without content.
    pub like: Option<Like>,
    pub is_sync: bool,
    pub is_direct: bool,
    /// End each phase after this long.
    pub time: Option<Duration>,
}

impl FilePlan {
    /// What was asked for in single options.
    pub fn own(args: &FileArgs) -> Self {
        let default =
            [PhaseName::Write, PhaseName::Rewrite, PhaseName::Read, PhaseName::RandRead, PhaseName::RandWrite];
        let names = if args.phases.is_empty() { &default[..] } else { &args.phases };
        let phases: Vec<_> = names.iter().map(|name| FilePhase::of(*name, args)).collect();
        let threads = if args.threads.is_empty() { &[1][..] } else { &args.threads };
        Self {
            size: size(args),
            sweeps: threads.iter().map(|threads| Sweep { threads: *threads, phases: phases.clone() }).collect(),
            like: None,
            is_sync: args.sync,
            is_direct: args.direct,
            time: args.time,
        }
    }

    /// Refuses what makes no sense.
    pub fn check(self) -> Result<Self, Usage> {
        for Sweep { threads, phases } in &self.sweeps {
            if self.size < u64::from(*threads) {
                return Err(Usage(format!("--size {} is less than a byte for each of --threads {threads}", self.size)));
            }
            for phase in phases {
                phase.check(&self, *threads)?;
            }
        }
        Ok(self)
    }
}

fn size(args: &FileArgs) -> u64 {
    args.size.unwrap_or(DEFAULT_SIZE)
}

impl FilePhase {
    fn of(name: PhaseName, args: &FileArgs) -> Self {
        let (test, block) = match name {
            PhaseName::Write => ("write", 1 << 20),
            PhaseName::Rewrite => ("rewrite", 1 << 20),
            PhaseName::Read => ("read", 1 << 20),
            PhaseName::RandRead => ("rand_read", 4096),
            PhaseName::RandWrite => ("rand_write", 4096),
            PhaseName::Seek => ("seek", 8192),
            PhaseName::StdioWrite => ("stdio_write", 1),
            PhaseName::StdioRead => ("stdio_read", 1),
        };
        let is_bytewise = matches!(name, PhaseName::StdioWrite | PhaseName::StdioRead);
        let block = args.block.filter(|_| !is_bytewise).unwrap_or(block);
        Self {
            test,
            name,
            block,
            ops: args.ops.or(args.time.is_none().then(|| DEFAULT_OPS.min(size(args).div_ceil(block)))),
            evicts: true,
        }
    }

    fn check(&self, plan: &FilePlan, threads: u32) -> Result<(), Usage> {
        let block = self.block;
        if block > MAX_BLOCK {
            return Err(Usage(format!("--block {block} is too large (at most 1G)")));
        }
        if block.saturating_mul(threads.into()) > MAX_MEMORY {
            return Err(Usage(format!("--block {block} with --threads {threads} needs more than 4G of memory")));
        }
        let reads_at_random = matches!(self.name, PhaseName::RandRead | PhaseName::Seek);
        if reads_at_random && !plan.is_direct && block < mapping::page_bytes() as u64 {
            return Err(Usage(format!(
                "--block {block} is less than a page, of which the cache would hold the rest: {} needs --direct for it",
                self.test
            )));
        }
        if plan.is_direct {
            if block == 1 {
                return Err(Usage(format!("--phases {} moves single bytes, which --direct cannot", self.test)));
            }
            if !block.is_multiple_of(SECTOR) {
                return Err(Usage(format!("--block {block} is not a multiple of {SECTOR}, which --direct needs")));
            }
            if !plan.size.is_multiple_of(block * u64::from(threads)) {
                return Err(Usage(format!(
                    "--size {} is not a multiple of --block {block} x --threads {threads}, which --direct needs",
                    plan.size
                )));
            }
        }
        Ok(())
    }
}
