//! What each verb does, in one screen.

use common::cli::Ending;

use crate::args::{Args, Verb};
use crate::request::Kind;
use crate::{client, lobby};

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Verb::Listen(args) => lobby::listen(&args),
        Verb::Send(args) => client::send(&args),
        Verb::Recv(args) => client::transfer(Kind::Recv, &args, None),
        Verb::Both(args) => client::transfer(Kind::Both, &args, None),
        Verb::Ping(args) => client::ping(&args),
        Verb::Connect(args) => client::connect(&args),
    }
}
