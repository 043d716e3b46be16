//! The story of a measurement.

pub mod counters;
pub mod crew;
pub mod latency;
pub mod repeat;
pub mod sample;
