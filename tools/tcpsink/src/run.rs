//! What each verb does, in one screen.

use common::cli::Ending;

use crate::args::{Args, Verb};
use crate::request::TestKind;
use crate::{client, lobby};

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Verb::Listen(args) => lobby::listen(&args),
        Verb::Send(args) => client::send(&args),
        Verb::Recv(args) => client::transfer(TestKind::Recv, &args, None),
        Verb::Both(args) => client::transfer(TestKind::Both, &args, None),
        Verb::Ping(args) => client::ping(&args),
        Verb::Connect(args) => client::connect(&args),
    }
}
