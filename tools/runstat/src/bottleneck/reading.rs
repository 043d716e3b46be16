//! From a group of lines to a layer or a path: which tool's lines say what.

use super::layer::{Figure, Layer, LayerKind, Path, Waiting, Way};
use crate::group::Group;
use crate::plan::Plan;
use crate::sample::Spot;

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

/// One group, read as a layer or a path.
pub struct Reading<'a> {
    pub group: &'a Group,
    pub plan: &'a Plan,
    /// Index of the group.
    pub index: usize,
}

impl<'a> Reading<'a> {
    /// The cell of one of the columns that make the group.
    pub fn cell(&self, column: &str) -> &'a str {
        self.plan.by_index(column).map_or("", |index| &self.group.key[index])
    }

    /// All values with their places.
    fn placed(&self, metric: &str) -> Vec<(f64, Spot)> {
        let index = METRICS.iter().position(|name| *name == metric);
        index.map(|index| self.group.samples[index].placed().collect()).unwrap_or_default()
    }

    /// All values of a metric; `None` of none.
    pub fn values(&self, metric: &str) -> Option<Vec<f64>> {
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

    /// The group as a layer by itself, if it is one.
    pub fn layer(&self) -> Option<Layer> {
        let (tool, test) = (self.cell("schema"), self.cell("test"));
        let is_whole = self.cell("pacing").is_empty();
        let has_lost = self.values("lost").is_some_and(|lost| lost.iter().any(|lost| *lost > 0.0));
        let (kind, is_limit) = match (tool, test) {
            ("diskread", _) if !matches!(self.cell("method"), "cached" | "null") => (LayerKind::Disk, true),
            ("tcpsink", "tcp_recv" | "tcp_send") => (LayerKind::Tcp, is_whole),
            ("udpblast", "udp_recv") => (LayerKind::Udp, has_lost || self.cell("rate_bits_per_s").is_empty()),
            ("udpblast", "udp_search") => (LayerKind::Udp, true),
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

    /// The group as an end-to-end measurement, if it says anything.
    pub fn path(&self) -> Option<Path> {
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
