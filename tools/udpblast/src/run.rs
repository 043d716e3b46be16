//! What each verb does, in one screen.

use common::cli::Ending;

use crate::args::{Args, Verb};
use crate::protocol::Kind;
use crate::{client, listen, search};

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Verb::Listen(args) => listen::listen(&args),
        Verb::Send(args) => client::transfer(Kind::Send, &args),
        Verb::Recv(args) => client::transfer(Kind::Recv, &args),
        Verb::Ping(args) => client::ping(&args),
        Verb::Search(args) => search::search(&args),
    }
}
