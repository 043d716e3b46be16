//! What the lines of one path say of its parts: what each layer carries by itself, and what gets through end to end.

use crate::group::Group;
use crate::plan::Plan;
use crate::sample::Spot;
use crate::statistics::{CONFIDENCE, median};

/// Columns that tell layers apart.
pub const BY: &[&str] = &[
    "schema",
    "test",
    "target",
    "label",
    "host",
    "direction",
    "pattern",
    "method",
    "proto",
    "pacing",
    "rate_bits_per_s",
    "threads",
];

/// Columns that the verdict is calculated from.
pub const METRICS: &[&str] = &["bytes_per_s", "lost", "rpcs", "rpc_rtt_us", "seconds", "p50_us"];

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
pub enum Kind {
    Disk,
    Tcp,
    Udp,
}

impl Kind {
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
    pub kind: Kind,
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
    /// What it is and where.
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Disk if self.host.is_empty() => format!("disk {}", self.target),
            Kind::Disk => format!("disk {} on {}", self.target, self.host),
            kind => match self.way {
                Some(Way::Up) => format!("{} up to {}", kind.name(), self.target),
                Some(Way::Down) => format!("{} down from {}", kind.name(), self.target),
                None => format!("{} to {}", kind.name(), self.target),
            },
        }
    }

    fn is_same_place(&self, other: &Self) -> bool {
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

/// All that the lines say.
#[derive(Debug, Default)]
pub struct Measured {
    pub paths: Vec<Path>,
    pub layers: Vec<Layer>,
    /// Median round-trip time of the network alone, microseconds.
    pub ping_us: Option<f64>,
}

impl Measured {
    /// Sorts groups into layers and paths. Of several measurements of one place the fastest is its limit.
    pub fn of(groups: &[Group], plan: &Plan) -> Self {
        let mut measured = Self::default();
        for (index, group) in groups.iter().enumerate() {
            let reading = Reading { group, plan, index };
            match reading.cell("schema") {
                "nfscopy" => measured.paths.extend(reading.path()),
                "tcpsink" if reading.cell("test") == "tcp_ping" => {
                    measured.ping_us = reading.values("p50_us").and_then(Figure::of).map(|figure| figure.median);
                }
                _ => measured.layers.extend(reading.layer()),
            }
        }
        measured.prefer_what_arrived(groups, plan);
        measured.keep_fastest();
        measured
    }

    /// What a sender's kernel took is no measure where the receiver's count is known.
    fn prefer_what_arrived(&mut self, groups: &[Group], plan: &Plan) {
        let test = |layer: &Layer| Reading { group: &groups[layer.group], plan, index: layer.group }.cell("test");
        let has_received = self.layers.iter().any(|layer| test(layer) == "tcp_recv");
        self.layers.retain(|layer| !has_received || test(layer) != "tcp_send");
    }

    fn keep_fastest(&mut self) {
        let mut kept: Vec<Layer> = Vec::new();
        for layer in std::mem::take(&mut self.layers) {
            match kept.iter_mut().find(|other| other.is_same_place(&layer)) {
                Some(other) if other.rate.median < layer.rate.median => *other = layer,
                Some(_) => {}
                None => kept.push(layer),
            }
        }
        self.layers = kept;
    }
}

/// One group, read as a layer or a path.
struct Reading<'a> {
    group: &'a Group,
    plan: &'a Plan,
    index: usize,
}

impl<'a> Reading<'a> {
    fn cell(&self, column: &str) -> &'a str {
        self.plan.by_index(column).map_or("", |index| &self.group.key[index])
    }

    /// All values with their places.
    fn placed(&self, metric: &str) -> Vec<(f64, Spot)> {
        let index = METRICS.iter().position(|name| *name == metric);
        index.map(|index| self.group.samples[index].placed().collect()).unwrap_or_default()
    }

    fn values(&self, metric: &str) -> Option<Vec<f64>> {
        let index = METRICS.iter().position(|name| *name == metric)?;
        Some(self.group.samples[index].values().to_vec()).filter(|values| !values.is_empty())
    }

    fn way(&self) -> Option<Way> {
        match self.cell("direction") {
            "up" => Some(Way::Up),
            "down" => Some(Way::Down),
            _ => None,
        }
    }

    fn layer(&self) -> Option<Layer> {
        let (tool, test) = (self.cell("schema"), self.cell("test"));
        let is_whole = self.cell("pacing").is_empty();
        let has_lost = self.values("lost").is_some_and(|lost| lost.iter().any(|lost| *lost > 0.0));
        let (kind, is_limit) = match (tool, test) {
            ("diskread", _) if !matches!(self.cell("method"), "cached" | "null") => (Kind::Disk, true),
            ("tcpsink", "tcp_recv" | "tcp_send") => (Kind::Tcp, is_whole),
            ("udpblast", "udp_recv") => (Kind::Udp, has_lost || self.cell("rate_bits_per_s").is_empty()),
            ("udpblast", "udp_search") => (Kind::Udp, true),
            _ => return None,
        };
        let spots = self.placed("bytes_per_s").into_iter().map(|(_, spot)| spot).collect();
        let rate = Figure::of(self.values("bytes_per_s")?).filter(|rate| rate.median > 0.0)?;
        Some(Layer {
            group: self.index,
            kind,
            target: self.cell("target").to_owned(),
            host: self.cell("host").to_owned(),
            label: self.cell("label").to_owned(),
            way: self.way(),
            is_random: self.cell("pattern") == "rand",
            rate,
            is_limit,
            spots,
        })
    }

    fn path(&self) -> Option<Path> {
        let test = self.cell("test");
        let seconds = self.placed("seconds");
        let rate = self.values("bytes_per_s").and_then(Figure::of).filter(|rate| rate.median > 0.0);
        let reads = test.contains("read") || test.contains("seek") || test.contains("stat");
        Some(Path {
            group: self.index,
            test: test.to_owned(),
            target: self.cell("target").to_owned(),
            label: self.cell("label").to_owned(),
            way: if reads { Way::Down } else { Way::Up },
            is_random: test.starts_with("rand_") || test == "seek",
            proto: self.cell("proto").to_owned(),
            rate,
            threads: self.threads(),
            waiting: self.waiting(),
            spots: seconds.into_iter().map(|(_, spot)| spot).collect(),
        })
        .filter(|path| path.rate.is_some() || path.waiting.is_some())
    }

    fn threads(&self) -> f64 {
        self.cell("threads").parse::<f64>().ok().filter(|threads| *threads > 0.0).unwrap_or(1.0)
    }

    /// Calls x round-trip time / threads, beside the time, run by run.
    fn waiting(&self) -> Option<Waiting> {
        let threads = self.threads();
        let [rpcs, rtt, seconds] = ["rpcs", "rpc_rtt_us", "seconds"].map(|metric| self.placed(metric));
        let at = |values: &[(f64, Spot)], spot: Spot| {
            values.iter().find(|(_, other)| *other == spot).map(|(value, _)| *value)
        };
        let shares = rpcs.iter().filter_map(|(rpcs, spot)| {
            let seconds = at(&seconds, *spot).filter(|seconds| *seconds > 0.0)?;
            Some(100.0 * rpcs * at(&rtt, *spot)? / 1e6 / threads / seconds)
        });
        Some(Waiting {
            share_pct: Figure::of(shares.collect())?,
            rpcs: Figure::of(self.values("rpcs")?)?,
            rtt_us: Figure::of(self.values("rpc_rtt_us")?)?,
        })
    }
}
