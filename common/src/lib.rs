//! What every linebench tool shares, so that who knows one tool knows all.
//!
//! A tool goes the same way each time: arguments as typed ([`cli`], [`units`]) become a plan; [`workers`] run the
//! hot loops and only add to their [`counters`]; the [`sampler`] wakes on absolute deadlines and subtracts snapshots;
//! a span becomes one line of the columns in [`schema`], which [`output`] writes in one flushed write. [`stop`] is how
//! all of it ends, [`console`] is what people see meanwhile. [`lines`] reads back what [`output`] wrote. Nothing here knows what a tool measures.

pub mod access;
pub mod buffer;
pub mod cli;
pub mod console;
pub mod counters;
pub mod cpu;
pub mod facts;
pub mod latency;
pub mod lines;
pub mod median;
pub mod mount;
pub mod output;
pub mod pace;
pub mod page_cache;
pub mod peer;
pub mod repeat;
pub mod sampler;
pub mod scale;
pub mod schema;
pub mod shuffle;
pub mod socket;
pub mod stop;
pub mod sys;
pub mod tcp_info;
pub mod units;
pub mod wire;
pub mod workers;
