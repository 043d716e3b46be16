//! All that the lines of a log say of paths and their layers.

use super::layer::{Figure, Layer, Path};
use super::reading::Reading;
use crate::group::Group;
use crate::plan::Plan;

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
