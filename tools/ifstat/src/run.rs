//! What each verb does, in one screen.

use common::cli::Ending;

use crate::args::{Args, Verb};
use crate::{facts, stats, watch};

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        None => watch::watch(&args.watch),
        Some(Verb::Facts(args)) => facts::facts(&args),
        Some(Verb::Stats(args)) => stats::stats(&args),
    }
}
