//! What every linebench tool shares, so that who knows one tool knows all.
//!
//! A tool goes the same way each time: arguments as typed ([`cli`], [`units`]) become a plan; [`measure`] runs its workers,
//! wakes on absolute deadlines, subtracts, and makes each span a line of the columns in [`schema`], which [`output`] writes
//! in one flushed write. [`stop`] is how all of it ends, [`console`] is what people see meanwhile. [`lines`] reads back what
//! [`output`] wrote, [`figures`] is what readers do with it. Nothing here knows what a tool measures.

pub mod cli;
pub mod console;
pub mod cpu;
pub mod figures;
pub mod files;
pub mod lines;
pub mod measure;
pub mod net;
pub mod output;
pub mod pace;
pub mod schema;
pub mod stop;
pub mod sys;
pub mod text;
pub mod units;
