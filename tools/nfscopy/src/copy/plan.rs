//! What to copy and where to, valid by construction, before anything is read.

use std::path::PathBuf;

use common::cli::Usage;

use crate::args::CopyArgs;
use crate::copy::place::Destination;

/// Bytes per read and write when nobody says.
const DEFAULT_BLOCK: u64 = 1 << 20;

/// Largest block: a call moves no more than 2 GiB (write(2)).
const MAX_BLOCK: u64 = 1 << 30;

/// A copy.
#[derive(Debug)]
pub struct CopyPlan {
    pub source: PathBuf,
    pub destination: Destination,
    /// Bytes per read and write.
    pub block: u64,
    /// The kernel or the server may copy.
    pub may_offload: bool,
    /// Read the copy again and compare.
    pub verifies: bool,
    /// What is there may go.
    pub may_replace: bool,
}

impl CopyPlan {
    /// What was asked for, as far as the source and the target's place allow it.
    pub fn of(args: &CopyArgs) -> anyhow::Result<Self> {
        let block = args.block.unwrap_or(DEFAULT_BLOCK);
        if block > MAX_BLOCK {
            return Err(Usage(format!("--block {block} is too large (at most 1G)")).into());
        }
        let destination = Destination::of(&args.source, &args.target, args.force)?;
        if matches!(destination, Destination::Nowhere) && (args.verify || args.offload) {
            return Err(Usage("--verify and --offload make no sense with /dev/null: nothing is written".into()).into());
        }
        Ok(Self {
            source: args.source.clone(),
            destination,
            block,
            may_offload: args.offload,
            verifies: args.verify,
            may_replace: args.force,
        })
    }
}
