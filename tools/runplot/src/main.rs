//! `runplot`: read the lines of the other tools and draw them: a picture, or a chart in the terminal.

mod args;
mod chart;
mod columns;
mod habits;
mod kinds;
mod names;
mod picture;
mod plan;
mod run;
mod table;
mod tee;
mod terminal;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::cli::Tool { schema: columns::drawable(), habits: habits::HABITS }, run::run)
}
