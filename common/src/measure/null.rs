//! A gauge that measures nothing but the engine: what a line costs, and whether intervals add up.

use std::time::{Duration, Instant};

use super::crew::Work;
use super::lane::Lane;
use super::spans::Cut;
use super::watch::{Gauge, Halt};

/// Keeps what it is given.
#[derive(Debug, Default)]
pub struct Null {
    /// The intervals.
    pub intervals: Vec<Cut<()>>,
    /// How it was halted.
    pub halts: Vec<Halt>,
}

impl Null {
    /// A worker that counts bytes that are not there, as fast as it can, until the halt.
    pub fn work(lane: &Lane) -> Work<'_> {
        Box::new(move || {
            lane.begin(Instant::now());
            while !lane.is_halted() {
                lane.counters.add(1);
                lane.record(Duration::from_nanos(1));
            }
            lane.finish(Instant::now());
            Ok(())
        })
    }
}

impl Gauge for Null {
    type State = ();

    fn read(&mut self) -> ((), Option<u64>) {
        ((), None)
    }

    fn print(&mut self, interval: &Cut<()>) -> anyhow::Result<()> {
        self.intervals.push(interval.clone());
        Ok(())
    }

    fn halt(&mut self, how: Halt) {
        self.halts.push(how);
    }
}
