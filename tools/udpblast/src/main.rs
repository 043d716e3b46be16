//! `udpblast`: send datagrams at a rate; say what was sent, what arrived, and where the rest was lost.

mod args;
mod asker;
mod attendant;
mod client;
mod conclusion;
mod engine;
mod exchange;
mod flow;
mod habits;
mod kept;
mod letter;
mod listen;
mod local;
mod opening;
mod packet;
mod part;
mod pieces;
mod plan;
mod protocol;
mod record;
mod request;
mod role;
mod run;
mod search;
mod serve;
mod session;
mod stamps;
mod taken;
mod tally;
mod told;
mod udp;
mod warning;

fn main() -> std::process::ExitCode {
    common::cli::main(
        &common::cli::Tool { schema: &common::schema::udpblast::SCHEMA, habits: habits::HABITS },
        run::run,
    )
}
