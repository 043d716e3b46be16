//! The story of a measurement.
//!
//! A tool makes a [`lane::Track`] with a lane for each worker and implements [`watch::Gauge`]: what to read beside what the
//! lanes count, and how to print it. [`watch::Measurement::run`] starts a [`crew`] of workers, wakes by the clock
//! ([`sample::Ticker`]) or by news, and lets [`spans`], which is arithmetic alone, say what became a line. [`record`] is that
//! line, and [`series`] does it all again as often as `--runs` wants.

pub mod counters;
pub mod crew;
pub mod lane;
pub mod latency;
pub mod null;
pub mod record;
pub mod repeat;
pub mod sample;
pub mod series;
pub mod spans;
pub mod watch;
