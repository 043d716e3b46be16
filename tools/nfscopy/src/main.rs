//! `nfscopy`: files to, from and within a mounted directory, with the mount's own facts beside the speed.

mod args;
mod bench;
mod calls;
mod copy;
mod facts;
mod file;
mod fresh;
mod habits;
mod measure;
mod mechanism;
mod mounted;
mod mountstats;
mod record;
mod run;
mod shown;
mod tree;
mod warning;
mod worker;
mod workspace;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::cli::Tool { schema: &common::schema::nfscopy::SCHEMA, habits: habits::HABITS }, run::run)
}
