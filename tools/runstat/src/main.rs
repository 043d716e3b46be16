//! `runstat`: read the lines of the other tools and say what they come to: statistics, comparison, verdict, bottleneck.

mod advice;
mod args;
mod bottleneck;
mod cells;
mod collapse;
mod columns;
mod comparison;
mod dimensions;
mod distinct;
mod figures;
mod gather;
mod group;
mod habits;
mod headline;
mod layout;
mod limit;
mod means;
mod metric;
mod open_run;
mod plan;
mod record;
mod remarks;
mod report;
mod run;
mod sample;
mod show;
mod statistics;
mod verdict;

fn main() -> std::process::ExitCode {
    common::cli::main(&common::cli::Tool { schema: &common::schema::runstat::SCHEMA, habits: habits::HABITS }, run::run)
}
