//! `tcpsink`: move bytes over TCP and say what arrived.

mod activation;
mod args;
mod client;
mod control;
mod dialogue;
mod engine;
mod exchange;
mod finished;
mod flow;
mod guest;
mod habits;
mod lobby;
mod ongoing;
mod opening;
mod outbox;
mod part;
mod peer;
mod plan;
mod protocol;
mod pulse;
mod record;
mod request;
mod role;
mod run;
mod serve;
mod sink;
mod socket;
mod tcp_info;
mod tcp_state;
mod works;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::cli::Tool { schema: &common::schema::tcpsink::SCHEMA, habits: habits::HABITS }, run::run)
}
