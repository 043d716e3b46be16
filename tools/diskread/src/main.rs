//! `diskread`: read a device or file and say how fast the *device* was.

mod args;
mod cache;
mod device;
mod direct;
mod driver;
mod engine;
mod facts;
mod familiar;
mod habits;
mod layout;
mod like;
mod measure;
mod offsets;
mod plan;
mod reading;
mod record;
mod run;
mod source;
mod target;
mod warning;
mod worker;

fn main() -> std::process::ExitCode {
    common::cli::main(
        &common::cli::Tool { schema: &common::schema::diskread::SCHEMA, habits: habits::HABITS },
        run::run,
    )
}
