//! `nfscopy`: files to, from and within a mounted directory, with the mount's own facts beside the speed.

mod args;
mod calls;
mod copy;
mod facts;
mod file;
mod fresh;
mod like;
mod measure;
mod mounted;
mod mountstats;
mod plan;
mod record;
mod run;
mod shown;
mod tree;
mod worker;
mod workspace;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::schema::nfscopy::SCHEMA, run::run)
}
