//! What the lines of one path say of its parts: what each layer carries by itself, and what gets through end to end.

use crate::sample::Spot;
use crate::statistics::{CONFIDENCE, median};

/// A figure of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub n: usize,
    pub median: f64,
    /// The interval of the median; below six runs the smallest and the largest.
    pub low: f64,
    pub high: f64,
}

impl Figure {
    /// `None` of no values.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let median = median::median(&values)?;
        let interval = median::interval(&values, CONFIDENCE).map(|interval| (interval.low, interval.high));
        let (low, high) = interval.unwrap_or((values[0], values[values.len() - 1]));
        Some(Self { n: values.len(), median, low, high })
    }

    /// Whether the two cannot be told apart.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// The same in percent of another one's median.
    pub fn percent_of(&self, whole: &Self) -> f64 {
        100.0 * self.median / whole.median
    }
}

/// What a layer is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerKind {
    Disk,
    Tcp,
    Udp,
}

impl LayerKind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Tcp => "network (TCP)",
            Self::Udp => "network (UDP)",
        }
    }

    fn is_network(self) -> bool {
        self != Self::Disk
    }
}

/// Which way bytes go, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Up,
    Down,
}

/// A layer by itself.
#[derive(Debug, Clone)]
pub struct Layer {
    pub group: usize,
    pub kind: LayerKind,
    pub target: String,
    pub host: String,
    pub label: String,
    pub way: Option<Way>,
    pub is_random: bool,
    pub rate: Figure,
    /// Whether it was driven as hard as it goes; else it carries at least this.
    pub is_limit: bool,
    pub spots: Vec<Spot>,
}

impl Layer {
    /// What it is and where, and under which label.
    pub fn name(&self) -> String {
        let label = if self.label.is_empty() { String::new() } else { format!(" ({})", self.label) };
        self.place() + &label
    }

    fn place(&self) -> String {
        match self.kind {
            LayerKind::Disk if self.host.is_empty() => format!("disk {}", self.target),
            LayerKind::Disk => format!("disk {} on {}", self.target, self.host),
            kind => match self.way {
                Some(Way::Up) => format!("{} up to {}", kind.name(), self.target),
                Some(Way::Down) => format!("{} down from {}", kind.name(), self.target),
                None => format!("{} to {}", kind.name(), self.target),
            },
        }
    }

    /// Whether both are measurements of one place.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.target == other.target
            && (self.kind.is_network() || self.host == other.host)
            && (&self.label, self.way, self.is_random, self.is_limit)
                == (&other.label, other.way, other.is_random, other.is_limit)
    }
}

/// One end-to-end measurement.
#[derive(Debug, Clone)]
pub struct Path {
    pub group: usize,
    pub test: String,
    pub target: String,
    pub label: String,
    pub way: Way,
    pub is_random: bool,
    pub proto: String,
    pub threads: f64,
    /// Bytes per second, if it is about bytes.
    pub rate: Option<Figure>,
    pub waiting: Option<Waiting>,
    pub spots: Vec<Spot>,
}

/// Time that end-to-end work spends waiting for answers.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// Share of the time of every thread, in percent; above 100 where calls overlap.
    pub share_pct: Figure,
    pub rpcs: Figure,
    pub rtt_us: Figure,
}

impl Path {
    /// The test and its place, for people.
    pub fn name(&self) -> String {
        let threads = if self.threads > 1.0 { format!(", {} threads", self.threads) } else { String::new() };
        let label = if self.label.is_empty() { String::new() } else { format!(" ({})", self.label) };
        format!("{} {}{threads}{label}", self.test, self.target)
    }
}
