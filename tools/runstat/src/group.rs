//! The runs of one group while lines are read.

use std::collections::BTreeSet;

use common::lines::{ColumnIndex, Line, Wanted};

use crate::dimensions::Seen;
use crate::headline::Headlines;
use crate::open_run::{OpenRun, Run};
use crate::plan::Plan;
use crate::sample::Sample;

/// Runs of nothing but intervals that wait for the word whether the group has totals.
const WAITING: usize = 100;

/// Flags that are remembered: there are not so many.
const MOST_FLAGS: usize = 64;

/// Runs after which a group's metric is settled.
const SETTLED: u64 = 100;

/// The runs of one group.
#[derive(Debug)]
pub struct Group {
    /// Values of the columns that make the group, in their order.
    pub key: Vec<String>,
    /// Schema of its first line.
    pub tag: String,
    pub is_of_transactions: bool,
    /// The first and the last file that it has lines in.
    pub files: [u32; 2],
    pub samples: Vec<Sample>,
    /// Runs that count, with and without values.
    pub runs: u64,
    /// Doubtful runs that are not in the samples.
    pub left_out: u64,
    pub sums: Sums,
    /// When the first and the last run began, as lines have it.
    pub began: (String, String),
    /// The machine that measured; empty if there are several.
    pub host: Option<String>,
    /// Flags of the runs that count, and of those that are left out.
    pub flags: BTreeSet<String>,
    pub left_out_flags: BTreeSet<String>,
    pub seen: Seen,
    pub open: Vec<OpenRun>,
    waiting: Vec<Run>,
    has_totals: bool,
    is_of_intervals: bool,
}

/// The shared amounts of all runs together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums([Option<f64>; 4]);

/// Where the shared amounts stand.
#[derive(Debug, Clone, Copy)]
pub struct SumColumns([ColumnIndex; 4]);

impl SumColumns {
    /// Wants the columns.
    pub fn new(wanted: &mut Wanted) -> Self {
        Self(["seconds", "bytes", "ops", "errors"].map(|name| wanted.column(name)))
    }
}

impl Sums {
    /// Adds a line's.
    pub fn add(&mut self, line: &Line<'_>, columns: SumColumns) {
        for (sum, column) in self.0.iter_mut().zip(columns.0) {
            if let Some(value) = line.figure(column) {
                *sum = Some(sum.unwrap_or_default() + value);
            }
        }
    }

    /// Seconds, bytes, operations, errors.
    pub fn values(self) -> [Option<f64>; 4] {
        self.0
    }
}

impl Group {
    /// A group without runs.
    pub fn new(key: Vec<String>, tag: &str, file: u32, plan: &Plan) -> Self {
        Self {
            is_of_transactions: plan.is_of_transactions(&key, tag),
            files: [file, file],
            key,
            tag: tag.to_owned(),
            samples: (0..plan.metrics.len()).map(|_| Sample::default()).collect(),
            runs: 0,
            left_out: 0,
            sums: Sums::default(),
            began: (String::new(), String::new()),
            host: None,
            flags: BTreeSet::new(),
            left_out_flags: BTreeSet::new(),
            seen: Seen::default(),
            open: Vec::new(),
            waiting: Vec::new(),
            has_totals: false,
            is_of_intervals: false,
        }
    }

    /// What a sentence calls it.
    pub fn name(&self) -> String {
        let parts: Vec<_> = self.key.iter().filter(|part| !part.is_empty()).cloned().collect();
        if parts.is_empty() { "all lines".into() } else { parts.join(" ") }
    }

    /// Takes note of when and where a run was.
    pub fn note(&mut self, time: &[u8], host: &[u8]) {
        // RFC 3339 in UTC sorts as text.
        if self.began.0.is_empty() || time < self.began.0.as_bytes() {
            self.began.0 = String::from_utf8_lossy(time).into_owned();
        }
        if time > self.began.1.as_bytes() {
            self.began.1 = String::from_utf8_lossy(time).into_owned();
        }
        match &mut self.host {
            Some(other) if other.as_bytes() != host => other.clear(),
            Some(_) => {}
            none => *none = Some(String::from_utf8_lossy(host).into_owned()),
        }
    }

    /// Takes a run that has a total line, with no value of a metric that is not settled on; whether it counts.
    pub fn take_total(&mut self, run: &Run, keeps_doubtful: bool, samples: usize) -> bool {
        self.has_totals = true;
        self.push(run, keeps_doubtful, samples)
    }

    /// Takes a run that has none. In a group that has totals it was killed, and is doubtful.
    pub fn take_intervals(&mut self, run: Run, keeps_doubtful: bool, samples: usize) {
        if self.is_of_intervals {
            self.push(&run, keeps_doubtful, samples);
            return;
        }
        self.waiting.push(run);
        if self.waiting.len() > WAITING && !self.has_totals {
            self.is_of_intervals = true;
            for run in std::mem::take(&mut self.waiting) {
                self.push(&run, keeps_doubtful, samples);
            }
        } else if self.has_totals {
            self.settle(keeps_doubtful, samples);
        }
    }

    /// At the end of all lines: decides about runs without a total.
    pub fn settle(&mut self, keeps_doubtful: bool, samples: usize) {
        for mut run in std::mem::take(&mut self.waiting) {
            if self.has_totals {
                run.is_doubtful = true;
                run.flags += " partial";
            }
            self.push(&run, keeps_doubtful, samples);
        }
    }

    fn push(&mut self, run: &Run, keeps_doubtful: bool, samples: usize) -> bool {
        let counts = !run.is_doubtful || keeps_doubtful;
        let flags = if counts { &mut self.flags } else { &mut self.left_out_flags };
        for flag in run.flags.split_ascii_whitespace() {
            if flags.len() < MOST_FLAGS && !flags.contains(flag) {
                flags.insert(flag.to_owned());
            }
        }
        if !counts {
            self.left_out += 1;
            return false;
        }
        self.runs += 1;
        for (sample, value) in self.samples.iter_mut().zip(&run.values) {
            if let Some(value) = value {
                sample.push(*value, run.spot, samples);
            }
        }
        true
    }

    /// What a run of it was on average, as far as totals say: seconds, and bytes or else operations.
    pub fn work(&self) -> [Option<f64>; 2] {
        let [seconds, bytes, ops, _] = self.sums.values();
        let amount = bytes.filter(|bytes| *bytes > 0.0).or(ops);
        [seconds, amount].map(|sum| sum.filter(|_| self.runs > 0).map(|sum| sum / self.runs as f64))
    }

    /// The first metric that has any value above zero, once there are enough runs to say.
    pub fn settled_metric(&self, headlines: &Headlines) -> Option<usize> {
        let first = headlines.first(self.is_of_transactions, |metric| self.has_above(metric, 0.0))?;
        (self.samples[first].count() >= SETTLED).then_some(first)
    }

    /// The metric that suits it: the first with any value above zero, else with any value.
    pub fn suiting_metric(&self, headlines: &Headlines) -> usize {
        let first = |above: f64| headlines.first(self.is_of_transactions, |metric| self.has_above(metric, above));
        first(0.0).or_else(|| first(f64::NEG_INFINITY)).unwrap_or_default()
    }

    fn has_above(&self, metric: usize, above: f64) -> bool {
        self.samples[metric].extremes().is_some_and(|(_, max)| max > above)
    }
}
