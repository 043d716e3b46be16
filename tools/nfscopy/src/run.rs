//! What each verb does, in one screen.

use common::cli::Ending;

use crate::args::{Args, Verb};
use crate::{copy, facts, file, tree};

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Verb::Copy(args) => copy::run(&args),
        Verb::File(args) => file::run(&args),
        Verb::Tree(args) => tree::run(&args),
        Verb::Facts(args) => facts::print(&args),
    }
}
