//! `ifstat`: say what the interfaces and the layers above them carried and dropped.

mod args;
mod command;
mod facts;
mod habits;
mod lines;
mod link;
mod netns;
mod plan;
mod record;
mod report;
mod run;
mod settings;
mod source;
mod stack;
mod stats;
mod sum;
mod tracker;
mod verdict;
mod warning;
mod watch;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::cli::Tool { schema: &common::schema::ifstat::SCHEMA, habits: habits::HABITS }, run::run)
}
