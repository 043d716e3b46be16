//! What each verb does, in one screen.

use common::cli::Ending;

use crate::args::{Args, Verb};
use crate::{client, lobby};

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Verb::Listen(args) => lobby::listen(&args),
        Verb::Send(args) => client::send(&args),
    }
}
