//! `tcpsink`: move bytes over TCP and say what arrived.

mod args;
mod client;
mod flow;
mod lobby;
mod protocol;
mod record;
mod report;
mod run;
mod serve;
mod worker;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::schema::tcpsink::SCHEMA, run::run)
}
