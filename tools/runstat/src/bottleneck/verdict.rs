//! Which layer limits a path.
//!
//! A path is never faster than its slowest layer. So the layer with the lowest rate of its own is the bottleneck if that
//! rate is clearly lower than all others' and end to end nearly gets it. Headers, acknowledgements and layers that take
//! turns cost up to some two fifths. If much less gets through, no layer's rate explains it; then the time spent on round
//! trips may. Everything else the lines do not decide.

use super::layer::{Figure, Layer, LayerKind, Path};
use super::measured::Measured;

/// Share of a layer's own rate, in percent, from which the end-to-end rate coincides with it.
const COINCIDES_PCT: f64 = 60.0;

/// Share from which it does so no more: what is that much faster than a layer did not go through it as it was measured.
const EXCEEDS_PCT: f64 = 125.0;

/// The least share for a layer that is the only one measured: the others might be as slow.
const COINCIDES_ALONE_PCT: f64 = 90.0;

/// Share of the time, in percent, from which round trips explain it ...
const EXPLAINS_PCT: f64 = 70.0;

/// ... and up to which they do: beyond, calls overlap, and their waiting is not the path's.
const OVERLAPS_PCT: f64 = 130.0;

/// What limits a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Limit {
    /// The layer with this index.
    Layer(usize),
    RoundTrips,
    Undecided(Why),
}

/// Why the lines do not decide.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// No layer was measured by itself.
    NoLayers,
    /// Nothing but the time of the calls could tell, and it is not known.
    NoRates,
    /// These cannot be told apart.
    Alike(usize, usize),
    /// The second was not driven to its limit, which may be below the first's.
    NotDriven(usize, usize),
    /// End to end is faster than this layer by itself.
    Faster(usize),
    /// Only this one was measured, and something else may be slower.
    Alone(usize),
    /// Much less gets through than this slowest layer carries.
    Unexplained(usize),
    /// Round trips take some of the time, but not most of it.
    PartlyWaiting,
}

/// What a layer has to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Bottleneck,
    HasRoom,
    /// The next one, as soon as the bottleneck is wider.
    HasLittleRoom,
    MayBeIt,
    /// More got through end to end than it carries by itself.
    Exceeded,
    NotDriven,
    NotOnPath,
}

impl Role {
    /// The words in the verdict column.
    pub fn words(self) -> &'static str {
        match self {
            Self::Bottleneck => "bottleneck",
            Self::HasRoom => "has room",
            Self::HasLittleRoom => "has little room",
            Self::MayBeIt => "may be it",
            Self::Exceeded => "slower than end to end",
            Self::NotDriven => "not driven to its limit",
            Self::NotOnPath => "not on the path",
        }
    }
}

/// The verdict on a path.
#[derive(Debug)]
pub struct Decision {
    pub limit: Limit,
    /// One for each layer that was measured.
    pub roles: Vec<Role>,
}

/// Weighs what was measured.
pub fn decide(path: &Path, measured: &Measured) -> Decision {
    let layers = &measured.layers;
    let mut roles: Vec<Role> = on_path(path, layers)
        .into_iter()
        .map(|is_on_path| if is_on_path { Role::HasRoom } else { Role::NotOnPath })
        .collect();
    let on_path: Vec<usize> = (0..layers.len()).filter(|index| roles[*index] == Role::HasRoom).collect();
    let limit = limit(path, layers, &on_path);
    for &index in on_path.iter().filter(|index| !layers[**index].is_limit) {
        let reaches = path.rate.is_none_or(|rate| layers[index].rate.low <= rate.high);
        roles[index] = if reaches { Role::NotDriven } else { Role::HasRoom };
    }
    if let Some(rate) = path.rate {
        for &index in on_path.iter().filter(|index| rate.percent_of(&layers[**index].rate) >= COINCIDES_PCT) {
            if roles[index] == Role::HasRoom {
                roles[index] = Role::HasLittleRoom;
            }
        }
    }
    match limit {
        Limit::Layer(index) => roles[index] = Role::Bottleneck,
        Limit::Undecided(Why::Alike(a, b)) => (roles[a], roles[b]) = (Role::MayBeIt, Role::MayBeIt),
        Limit::Undecided(Why::NotDriven(a, b)) => (roles[a], roles[b]) = (Role::MayBeIt, Role::NotDriven),
        Limit::Undecided(Why::Alone(a)) => roles[a] = Role::MayBeIt,
        Limit::Undecided(Why::Faster(a)) => roles[a] = Role::Exceeded,
        _ => {}
    }
    Decision { limit, roles }
}

fn limit(path: &Path, layers: &[Layer], on_path: &[usize]) -> Limit {
    let lowest = on_path.iter().copied().filter(|index| layers[*index].is_limit);
    let lowest = lowest.min_by(|a, b| layers[*a].rate.median.total_cmp(&layers[*b].rate.median));
    let by_layers = match (path.rate, lowest) {
        (Some(rate), Some(lowest)) => by_layers(&rate, layers, on_path, lowest),
        (Some(_), None) => Limit::Undecided(Why::NoLayers),
        (None, _) => Limit::Undecided(Why::NoRates),
    };
    // Rates come first: a call that waits for a slow disk waits for the disk.
    let is_explained = !matches!(by_layers, Limit::Undecided(Why::Unexplained(_) | Why::NoLayers | Why::NoRates));
    match path.waiting {
        Some(waiting) if !is_explained => by_waiting(&waiting.share_pct).unwrap_or(by_layers),
        _ => by_layers,
    }
}

fn by_layers(rate: &Figure, layers: &[Layer], on_path: &[usize], lowest: usize) -> Limit {
    let limit = &layers[lowest].rate;
    let used_pct = rate.percent_of(limit);
    if rate.low > limit.high || used_pct > EXCEEDS_PCT {
        return Limit::Undecided(Why::Faster(lowest));
    }
    if used_pct < COINCIDES_PCT {
        return Limit::Undecided(Why::Unexplained(lowest));
    }
    let others = || on_path.iter().copied().filter(|index| *index != lowest);
    if let Some(rival) = others().find(|index| layers[*index].is_limit && layers[*index].rate.overlaps(limit)) {
        return Limit::Undecided(Why::Alike(lowest, rival));
    }
    if let Some(other) = others().find(|index| !layers[*index].is_limit && layers[*index].rate.low <= limit.high) {
        return Limit::Undecided(Why::NotDriven(lowest, other));
    }
    let kind_of = |index: usize| layers[index].kind == LayerKind::Disk;
    let is_alone = !others().any(|index| kind_of(index) != kind_of(lowest));
    if is_alone && used_pct < COINCIDES_ALONE_PCT {
        return Limit::Undecided(Why::Alone(lowest));
    }
    Limit::Layer(lowest)
}

fn by_waiting(share_pct: &Figure) -> Option<Limit> {
    if share_pct.low >= EXPLAINS_PCT && share_pct.high <= OVERLAPS_PCT {
        Some(Limit::RoundTrips)
    } else if share_pct.high >= EXPLAINS_PCT / 2.0 && share_pct.low <= OVERLAPS_PCT {
        Some(Limit::Undecided(Why::PartlyWaiting))
    } else {
        None
    }
}

/// Which layers belong to the path. Where none of a kind fits in label, direction or pattern, those that there are do.
fn on_path(path: &Path, layers: &[Layer]) -> Vec<bool> {
    let mut is_on_path: Vec<bool> = layers
        .iter()
        .map(|layer| match layer.kind {
            LayerKind::Disk => true,
            LayerKind::Tcp => !path.proto.starts_with("udp") && path.proto != "rdma",
            LayerKind::Udp => !path.proto.starts_with("tcp") && path.proto != "rdma",
        })
        .collect();
    let fits: [&dyn Fn(&Layer) -> bool; 3] = [
        &|layer| layer.label == path.label || layer.label.is_empty(),
        &|layer| layer.way.is_none_or(|way| way == path.way),
        &|layer| layer.kind != LayerKind::Disk || layer.is_random == path.is_random,
    ];
    for fit in fits {
        for kind in [LayerKind::Disk, LayerKind::Tcp, LayerKind::Udp] {
            let candidates: Vec<usize> =
                (0..layers.len()).filter(|index| is_on_path[*index] && layers[*index].kind == kind).collect();
            if candidates.iter().any(|index| fit(&layers[*index])) {
                for index in candidates {
                    is_on_path[index] = fit(&layers[index]);
                }
            }
        }
    }
    is_on_path
}
