//! `tcpsink`: move bytes over TCP and say what arrived.

mod activation;
mod args;
mod client;
mod control;
mod dialogue;
mod engine;
mod flow;
mod lobby;
mod part;
mod plan;
mod protocol;
mod pulse;
mod record;
mod report;
mod request;
mod role;
mod run;
mod serve;
mod tcp_info;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::schema::tcpsink::SCHEMA, run::run)
}
