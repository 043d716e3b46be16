//! The verdict in three sentences: what limits the path, what the others have left, and how sure that is.

use super::layer::{Figure, Layer, LayerKind, Path, Waiting, Way};
use super::measured::Measured;
use super::verdict::{Decision, Limit, Role, Why};
use crate::figures::{Unit, digits, text_in};

/// Explains a verdict.
pub struct Explanation<'a> {
    pub path: &'a Path,
    pub measured: &'a Measured,
    pub decision: &'a Decision,
    pub unit: Unit,
}

impl Explanation<'_> {
    /// The three sentences.
    pub fn sentences(&self) -> [String; 3] {
        [self.verdict(), self.others(), self.certainty()]
    }

    /// What limits the path, for a cell.
    pub fn limit_name(&self) -> String {
        match &self.decision.limit {
            Limit::Layer(index) => self.layer(*index).name(),
            Limit::RoundTrips => "round trips".into(),
            Limit::Undecided(_) => "undecided".into(),
        }
    }

    fn layer(&self, index: usize) -> &Layer {
        &self.measured.layers[index]
    }

    fn rate(&self, figure: &Figure) -> String {
        format!("{} {}", text_in(self.unit, figure.median), self.unit.name)
    }

    /// With its interval, if there is one.
    fn range(&self, figure: &Figure) -> String {
        if figure.n < 2 {
            return self.rate(figure);
        }
        format!("{} ({}..{})", self.rate(figure), text_in(self.unit, figure.low), text_in(self.unit, figure.high))
    }

    fn end_to_end(&self) -> String {
        self.path.rate.as_ref().map_or_else(|| "it".into(), |rate| self.range(rate))
    }

    fn used(&self, layer: &Layer) -> String {
        self.path.rate.map_or_else(String::new, |rate| format!("{:.0} %", rate.percent_of(&layer.rate)))
    }

    fn verdict(&self) -> String {
        let name = self.path.name();
        match &self.decision.limit {
            Limit::Layer(index) => {
                let layer = self.layer(*index);
                format!(
                    "The bottleneck of {name} is {}: end to end {} get through, {} of the {} that it carries by itself.",
                    layer.name(),
                    self.end_to_end(),
                    self.used(layer),
                    self.range(&layer.rate)
                )
            }
            Limit::RoundTrips => match &self.path.waiting {
                Some(waiting) => format!("{name} is bound by latency: {}.", round_trips(waiting)),
                None => format!("{name} is bound by latency."),
            },
            Limit::Undecided(why) => format!("The lines do not decide what limits {name}: {}.", self.why(why)),
        }
    }

    fn why(&self, why: &Why) -> String {
        let described = |index: usize| {
            let layer = self.layer(index);
            format!("{} with {}", layer.name(), self.range(&layer.rate))
        };
        match *why {
            Why::NoLayers => "no layer was measured by itself".into(),
            Why::NoRates => "no bytes are counted, and no round trips explain the time".into(),
            Why::Alike(a, b) => format!("{} cannot be told from {}", described(a), described(b)),
            Why::NotDriven(a, b) => format!(
                "{} is the slowest that was driven to its limit, but {} was not, and carried only {}",
                described(a),
                self.layer(b).name(),
                self.rate(&self.layer(b).rate)
            ),
            Why::Faster(a) => format!(
                "end to end {} get through, more than {} carries by itself, so that the lines are not of one path, or a \
                 cache helped",
                self.end_to_end(),
                described(a)
            ),
            Why::Alone(a) => {
                format!("{} is all that was measured, and end to end {} get through", described(a), self.end_to_end())
            }
            Why::Unexplained(a) => format!(
                "end to end {} get through, far less than the slowest layer carries, {}",
                self.end_to_end(),
                described(a)
            ),
            Why::PartlyWaiting => match &self.path.waiting {
                Some(waiting) => format!("{}, neither most of the time nor little", round_trips(waiting)),
                None => "round trips take part of the time".into(),
            },
        }
    }

    fn others(&self) -> String {
        let all = || self.measured.layers.iter().zip(&self.decision.roles);
        let with = |role: Role| -> Vec<String> {
            let layers = all().filter(|(_, other)| **other == role);
            layers.map(|(layer, _)| self.with_share(layer)).collect()
        };
        let (little, much) = (with(Role::HasLittleRoom), with(Role::HasRoom));
        let mut parts = Vec::new();
        if !little.is_empty() {
            parts.push(format!("next, with little room, would be {}", little.join(", ")));
        }
        if !much.is_empty() {
            parts.push(format!("room is left in {}", much.join(", ")));
        }
        let mut text = if parts.is_empty() { "no other layer is known to have room".into() } else { parts.join("; ") };
        if let (Limit::RoundTrips, Some(ping), Some(waiting)) =
            (&self.decision.limit, self.measured.ping_us, &self.path.waiting)
        {
            let share = (100.0 * ping / waiting.rtt_us.median).min(100.0);
            let ping = digits(ping);
            text = format!("{text}; the network alone answers in {ping} us, {share:.0} % of a round trip");
        }
        sentence(&text)
    }

    fn with_share(&self, layer: &Layer) -> String {
        match self.path.rate {
            Some(_) => format!("{} ({}, {} used)", layer.name(), self.range(&layer.rate), self.used(layer)),
            None => format!("{} ({})", layer.name(), self.range(&layer.rate)),
        }
    }

    fn certainty(&self) -> String {
        let on_path =
            || self.measured.layers.iter().zip(&self.decision.roles).filter(|(_, role)| **role != Role::NotOnPath);
        let figures = on_path().map(|(layer, _)| layer.rate.n).chain([self.path.spots.len()]);
        let fewest = figures.min().unwrap_or_default();
        let kinds: Vec<LayerKind> = on_path().map(|(layer, _)| layer.kind).collect();
        let mut missing = Vec::new();
        if !kinds.contains(&LayerKind::Disk) {
            missing.push("the disk (diskread, at the server)");
        }
        if !kinds.iter().any(|kind| *kind != LayerKind::Disk) {
            missing.push("the network (tcpsink or udpblast, to the server)");
        }
        let missing =
            if missing.is_empty() { String::new() } else { format!("{} was not measured; ", missing.join(" and ")) };
        let runs = match fewest {
            0 | 1 => "some figures are single runs, without an interval: --runs 6 or more gives them one",
            2..=5 => "intervals are from the smallest to the largest of few runs: --runs 6 or more makes them 95 %",
            _ => "intervals are those of the medians, 95 %",
        };
        let writes = self.path.way == Way::Up && kinds.contains(&LayerKind::Disk);
        let caveat = if writes { "; the disk was read, and may be slower to write" } else { "" };
        sentence(&format!("{missing}{runs}{caveat}"))
    }
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str() + ".")
}

fn round_trips(waiting: &Waiting) -> String {
    let interval = if waiting.share_pct.n > 1 {
        format!(" ({:.0}..{:.0})", waiting.share_pct.low, waiting.share_pct.high)
    } else {
        String::new()
    };
    format!(
        "{:.0} calls of {} us each take {:.0} %{interval} of the time",
        waiting.rpcs.median,
        digits(waiting.rtt_us.median),
        waiting.share_pct.median
    )
}
