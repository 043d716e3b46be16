//! Where packets were lost: from the card up to the socket, as far as the counters of each layer tell.

use common::schema::ifstat::Interface;
use common::schema::line::{Flag, Flags};

use crate::record::{Figures, Form, Part, Row};
use crate::stack::Layer;
use crate::tracker::Span;

/// The layers' deltas of one span, each with its line, and the verdict's.
pub fn rows(form: &Form, part: &Part, spans: &[Span], before: &[Layer], now: &[Layer]) -> (Vec<Row>, Verdict) {
    let mut rows = Vec::new();
    let mut verdict = Verdict::of_card(spans);
    for layer in now {
        // One that was not there before has no span.
        let Some(earlier) = before.iter().find(|earlier| earlier.test == layer.test && earlier.target == layer.target)
        else {
            continue;
        };
        let delta = layer.since(earlier);
        match &delta {
            Some(delta) => verdict.add(delta.place(), delta.columns.lost),
            None => verdict.flags.raise_if(true, Flag::Reset),
        }
        rows.push(row(form, part, layer, delta));
    }
    rows.push(verdict.row(form, part));
    (rows, verdict)
}

fn row(form: &Form, part: &Part, layer: &Layer, delta: Option<Layer>) -> Row {
    let mut flags = Flags::default();
    flags.raise_if(delta.is_none(), Flag::Reset);
    let delta = delta.unwrap_or_else(|| layer.unknown());
    let [bytes, ops, errors] = delta.figures;
    let figures = Figures { bytes, ops, errors, flags };
    let line = form.line(layer.test, &layer.target, part, (part.from.at, part.to.at), figures);
    (line, Interface { netns: form.netns.clone(), ..delta.columns })
}

/// Lost packets by place, in the order of their way.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    lost: Vec<(&'static str, u64)>,
    flags: Flags,
}

impl Verdict {
    /// What the cards and their drivers lost.
    fn of_card(spans: &[Span]) -> Self {
        let mut verdict = Self::default();
        for span in spans {
            match &span.delta {
                Some(delta) => verdict.add("card", Some(crate::record::lost(delta))),
                None => verdict.flags.raise_if(true, Flag::Reset),
            }
        }
        verdict
    }

    fn add(&mut self, place: &'static str, lost: Option<u64>) {
        let lost = lost.unwrap_or(0);
        match self.lost.iter_mut().find(|(found, _)| *found == place) {
            Some((_, sum)) => *sum += lost,
            None => self.lost.push((place, lost)),
        }
    }

    fn places(&self) -> Vec<&'static str> {
        self.lost.iter().filter(|(_, lost)| *lost > 0).map(|(place, _)| *place).collect()
    }

    fn row(&self, form: &Form, part: &Part) -> Row {
        let lost = self.lost.iter().map(|(_, lost)| lost).sum();
        let places = self.places();
        let figures = Figures { errors: Some(lost), flags: self.flags.clone(), ..Figures::default() };
        let line = form.line("stack", &form.netns, part, (part.from.at, part.to.at), figures);
        let lost_at = if places.is_empty() { "none".to_owned() } else { places.join(" ") };
        (
            line,
            Interface { netns: form.netns.clone(), lost: Some(lost), lost_at: Some(lost_at), ..Interface::default() },
        )
    }

    /// One sentence for each place that lost packets, with what to do about it.
    pub fn advice(&self) -> Vec<String> {
        let lost = self.lost.iter().filter(|(_, lost)| *lost > 0);
        lost.map(|(place, lost)| format!("{lost} packets lost at the {place}: {}", remedy(place))).collect()
    }
}

fn remedy(place: &str) -> &'static str {
    match place {
        "card" => "see the lines rx and tx, and ifstat stats; cable, duplex, ring size (ethtool -G)",
        "softirq" => "the CPU was behind: spread the work (RPS, more queues), or raise net.core.netdev_max_backlog",
        "queue" => "more was sent than the queueing discipline lets through (tc -s qdisc)",
        "ip" => "no memory, no route or fragments that did not fit (MTU)",
        _ => "the application reads too slowly: larger socket buffers (net.core.rmem_max), or a faster reader",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_that_lost_are_named_in_the_order_of_the_way() {
        let mut verdict = Verdict::default();
        for (place, lost) in [("card", Some(0)), ("softirq", None), ("queue", Some(3)), ("socket", Some(1))] {
            verdict.add(place, lost);
        }
        verdict.add("socket", Some(4));
        assert_eq!(verdict.places(), ["queue", "socket"]);
        assert!(verdict.advice()[1].starts_with("5 packets lost at the socket"));
    }
}
