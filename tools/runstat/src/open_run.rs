//! Runs as lines tell of them: whole ones, and those of which only intervals came so far.

use crate::cells::are_same;
use crate::collapse::{Heap, Rule};
use crate::sample::Spot;

/// How far times of one run may be apart that should be equal, seconds: a machine may be busy.
const SLACK: f64 = 1.0;

/// One run's value of each metric.
#[derive(Debug, Clone, Default)]
pub struct Run {
    pub values: Vec<Option<f64>>,
    pub spot: Spot,
    /// Its flags, with spaces between them.
    pub flags: String,
    pub is_doubtful: bool,
}

/// A run that has interval lines, and no total so far.
#[derive(Debug)]
pub struct OpenRun {
    host: Box<[u8]>,
    number: Box<[u8]>,
    stream: Box<[u8]>,
    /// When the first interval began and the last one ended, seconds since 1970.
    start: f64,
    end: f64,
    length: f64,
    pub heaps: Vec<Heap>,
    pub spot: Spot,
    flags: String,
    pub is_doubtful: bool,
}

/// What tells one run's intervals from another's, beside its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunName<'a> {
    pub host: &'a [u8],
    pub number: &'a [u8],
    pub stream: &'a [u8],
}

impl OpenRun {
    /// A run without intervals.
    pub fn new(name: RunName<'_>, start: f64, metrics: usize) -> Self {
        Self {
            host: name.host.into(),
            number: name.number.into(),
            stream: name.stream.into(),
            start,
            end: start,
            length: 0.0,
            heaps: vec![Heap::default(); metrics],
            spot: Spot::default(),
            flags: String::new(),
            is_doubtful: false,
        }
    }

    /// Whether the run is called that, but for its number.
    pub fn is_series_of(&self, name: RunName<'_>) -> bool {
        are_same(&self.host, name.host) && are_same(&self.stream, name.stream)
    }

    /// Whether an interval that begins at `start` belongs to it: a stall has interval lines, too, so that a gap is another
    /// run.
    pub fn goes_on(&self, name: RunName<'_>, start: f64) -> bool {
        let gap = start - self.end;
        are_same(&self.number, name.number) && gap.abs() <= self.length.max(SLACK)
    }

    /// Whether a total that began at `start` is its.
    pub fn ends_with(&self, name: RunName<'_>, start: f64) -> bool {
        are_same(&self.number, name.number) && (start - self.start).abs() <= SLACK
    }

    /// When a line without a time began: where the one before ended.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Adds flags that it does not have.
    pub fn add_flags(&mut self, flags: &str) {
        for flag in flags.split_ascii_whitespace() {
            if !self.flags.split(' ').any(|other| other == flag) {
                self.flags.extend([flag, " "]);
            }
        }
    }

    /// Takes note of an interval's place in time.
    pub fn extend(&mut self, start: f64, length: f64) {
        self.end = start + length;
        self.length = length;
    }

    /// The run's values.
    pub fn finish(self, rules: impl Iterator<Item = Rule>) -> Run {
        let values = self.heaps.iter().zip(rules).map(|(heap, rule)| heap.value(rule)).collect();
        Run { values, spot: self.spot, flags: self.flags, is_doubtful: self.is_doubtful }
    }
}
