//! Where packets were lost: from the card up to the socket, as far as the counters of each layer tell.

use common::schema::ifstat::Interface;
use common::schema::line::{Flag, Flags};

use crate::record::{Figures, Form, Row, Stretch};
use crate::stack::Layer;
use crate::tracker::Span;
use crate::warning::{LossPlace, Warning};

/// The layers' deltas of one span, each with its line, and the verdict's.
pub fn rows(form: &Form, stretch: &Stretch, spans: &[Span], before: &[Layer], now: &[Layer]) -> (Vec<Row>, Verdict) {
    let mut rows = Vec::new();
    let mut verdict = Verdict::of_card(spans);
    for layer in now {
        // One that was not there before has no span.
        let Some(earlier) = before.iter().find(|earlier| layer.is_successor_of(earlier)) else { continue };
        let delta = layer.since(earlier);
        match &delta {
            Some(delta) => verdict.add(delta.place(), delta.columns.lost),
            None => verdict.flags.raise_if(true, Flag::Reset),
        }
        rows.push(row(form, stretch, layer, delta));
    }
    rows.push(verdict.row(form, stretch));
    (rows, verdict)
}

fn row(form: &Form, stretch: &Stretch, layer: &Layer, delta: Option<Layer>) -> Row {
    let mut flags = Flags::default();
    flags.raise_if(delta.is_none(), Flag::Reset);
    let delta = delta.unwrap_or_else(|| layer.unknown());
    let [bytes, ops, errors] = delta.figures;
    let figures = Figures { bytes, ops, errors, flags };
    let line = form.line(layer.test, &layer.target, stretch, (stretch.from.at, stretch.to.at), figures);
    (line, Interface { netns: form.netns.clone(), ..delta.columns })
}

/// Lost packets by place, in the order of their way.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    lost: Vec<(LossPlace, u64)>,
    flags: Flags,
}

impl Verdict {
    /// What the cards and their drivers lost.
    fn of_card(spans: &[Span]) -> Self {
        let mut verdict = Self::default();
        for span in spans.iter().filter(|span| !is_in_a_bond(span, spans)) {
            match &span.delta {
                Some(delta) => verdict.add(LossPlace::Card, Some(crate::record::lost(delta))),
                None => verdict.flags.raise_if(true, Flag::Reset),
            }
        }
        verdict
    }

    fn add(&mut self, place: LossPlace, lost: Option<u64>) {
        let lost = lost.unwrap_or(0);
        match self.lost.iter_mut().find(|(found, _)| *found == place) {
            Some((_, sum)) => *sum += lost,
            None => self.lost.push((place, lost)),
        }
    }

    fn places(&self) -> Vec<&'static str> {
        self.lost.iter().filter(|(_, lost)| *lost > 0).map(|(place, _)| place.word()).collect()
    }

    fn row(&self, form: &Form, stretch: &Stretch) -> Row {
        let lost = self.lost.iter().map(|(_, lost)| lost).sum();
        let places = self.places();
        let figures = Figures { errors: Some(lost), flags: self.flags.clone(), ..Figures::default() };
        let line = form.line("stack", &form.netns, stretch, (stretch.from.at, stretch.to.at), figures);
        let lost_at = if places.is_empty() { "none".to_owned() } else { places.join(" ") };
        (
            line,
            Interface { netns: form.netns.clone(), lost: Some(lost), lost_at: Some(lost_at), ..Interface::default() },
        )
    }

    /// What there is to say: a warning for each place that lost packets.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.lost.iter().filter(|(_, lost)| *lost > 0).map(|(place, packets)| Warning::Lost(*place, *packets))
    }
}

/// Whether this is a port of a measured bond or team, whose counters include those of its ports.
fn is_in_a_bond(port: &Span, spans: &[Span]) -> bool {
    let master = port.link.master.and_then(|master| spans.iter().find(|span| span.link.index == master));
    let kind = master.and_then(|master| master.link.kind);
    kind.is_some_and(|kind| ["bond", "team"].contains(&&*kind.text()))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::link::tests::counters;
    use crate::link::{Counter, Link, Name};
    use crate::settings::Settings;

    #[test]
    fn what_a_bond_lost_is_not_counted_at_its_ports_too() {
        let lossy = |index, master, kind: &str| {
            let counters = counters(&[(Counter::RxErrors, 5), (Counter::TxDropped, 2), (Counter::RxDropped, 100)]);
            let kind = Name::new(kind.as_bytes());
            let now = Instant::now();
            Span {
                link: Link { index, kind, master, ..Link::default() },
                settings: Settings::default(),
                from: now,
                to: now,
                delta: Some(counters),
                carrier_changes: None,
                flags: Flags::default(),
            }
        };
        let lost = |spans: &[Span]| Verdict::of_card(spans).lost[0].1;
        assert_eq!(lost(&[lossy(1, None, "bond"), lossy(2, Some(1), ""), lossy(3, Some(1), "")]), 7);
        assert_eq!(lost(&[lossy(1, None, "bridge"), lossy(2, Some(1), "")]), 14);
        assert_eq!(lost(&[lossy(2, Some(1), "")]), 7, "its bond is not measured");
    }

    #[test]
    fn only_places_that_lost_are_named_in_the_order_of_the_way() {
        let mut verdict = Verdict::default();
        for (place, lost) in [
            (LossPlace::Card, Some(0)),
            (LossPlace::Softirq, None),
            (LossPlace::Queue, Some(3)),
            (LossPlace::Socket, Some(1)),
        ] {
            verdict.add(place, lost);
        }
        verdict.add(LossPlace::Socket, Some(4));
        assert_eq!(verdict.places(), ["queue", "socket"]);
        assert_eq!(verdict.warnings().nth(1), Some(Warning::Lost(LossPlace::Socket, 5)));
    }
}
