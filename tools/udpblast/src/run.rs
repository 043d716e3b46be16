//! What each verb does, in one screen.

use common::cli::Ending;

use crate::args::{Args, Verb};
use crate::request::TestKind;
use crate::{client, listen, search};

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Verb::Listen(args) => listen::listen(&args),
        Verb::Send(args) => client::transfer(TestKind::Send, &args),
        Verb::Recv(args) => client::transfer(TestKind::Recv, &args),
        Verb::Ping(args) => client::ping(&args),
        Verb::Search(args) => search::search(&args),
    }
}
