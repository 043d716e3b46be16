//! The sum over interfaces that counts no packet twice.

use std::fmt::Write;

use common::schema::line::{Flag, Flags};

use crate::link::{Counters, Link};
use crate::tracker::Span;

/// A cell must stay well below what a pipe takes in one piece.
const MAX_TEXT: usize = 1000;

/// What the interfaces of a sample counted together.
#[derive(Debug, Clone)]
pub struct Sum {
    /// `None` when nothing is known of any.
    pub delta: Option<Counters>,
    /// How many were added.
    pub members: u64,
    /// Who was left out, and why.
    pub left_out: String,
    /// What is doubtful.
    pub flags: Flags,
}

impl Sum {
    /// Adds up the spans of one sample.
    pub fn of(spans: &[Span]) -> Self {
        let mut sum = Self { delta: None, members: 0, left_out: String::new(), flags: Flags::default() };
        for span in spans {
            if let Some(reason) = twice(&span.link, spans) {
                sum.leave_out(&span.link, &reason);
                continue;
            }
            sum.members += 1;
            sum.flags.raise_if(span.flags.has(Flag::Reset) || span.delta.is_none(), Flag::Reset);
            if let Some(delta) = &span.delta {
                sum.delta.get_or_insert_with(Counters::zero).add(delta);
            }
        }
        sum
    }

    /// Adds the next sample's: counters add up, the rest is as it is last.
    pub fn add(&mut self, next: &Self) {
        match (&mut self.delta, &next.delta) {
            (Some(sum), Some(delta)) => sum.add(delta),
            (sum @ None, delta) => *sum = *delta,
            (Some(_), None) => {}
        }
        self.flags.raise_if(next.flags.has(Flag::Reset), Flag::Reset);
        self.members = next.members;
        self.left_out.clone_from(&next.left_out);
    }

    fn leave_out(&mut self, link: &Link, reason: &str) {
        if self.left_out.len() + reason.len() < MAX_TEXT {
            let gap = if self.left_out.is_empty() { "" } else { " " };
            // Names hold no white space.
            let _ = write!(self.left_out, "{gap}{}:{reason}", link.name.text());
        } else if !self.left_out.ends_with(" ...") {
            self.left_out += " ...";
        }
    }
}

/// Why the packets of `link` are not to be counted beside those of `all`; `None` if they are.
fn twice(link: &Link, all: &[Span]) -> Option<String> {
    if link.is_loopback {
        return Some("loopback".into());
    }
    let measured = |index: Option<u32>| index.and_then(|index| all.iter().find(|span| span.link.index == index));
    if let Some(master) = measured(link.master) {
        return Some(format!("port-of-{}", master.link.name.text()));
    }
    let lower = &measured(link.lower)?.link;
    // The two ends of a veth name each other: the first counts, or the other if that one is left out as a port.
    let is_pair = lower.lower == Some(link.index);
    let counts = is_pair && (link.index < lower.index || measured(lower.master).is_some());
    (!counts).then(|| format!("on-{}", lower.name.text()))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::link::Counter::RxBytes;
    use crate::link::Name;
    use crate::link::tests::counters;
    use crate::settings::Settings;

    fn span(index: u32, name: &str, link: &Link) -> Span {
        let now = Instant::now();
        let name = Name::new(name.as_bytes()).unwrap();
        Span {
            link: Link { index, name, ..*link },
            settings: Settings::default(),
            from: now,
            to: now,
            delta: Some(counters(&[(RxBytes, 10_u64.pow(index))])),
            carrier_changes: None,
            flags: Flags::default(),
        }
    }

    #[test]
    fn no_packet_is_counted_twice() {
        let plain = Link::default();
        let spans = [
            span(1, "lo", &Link { is_loopback: true, ..plain }),
            span(2, "eth0", &Link { master: Some(3), ..plain }),
            span(3, "bond0", &plain),
            span(4, "bond0.5", &Link { lower: Some(3), ..plain }),
            span(5, "va", &Link { lower: Some(6), ..plain }),
            span(6, "vb", &Link { lower: Some(5), ..plain }),
            span(7, "eth1", &Link { master: Some(99), ..plain }),
        ];
        let sum = Sum::of(&spans);
        assert_eq!(
            sum.delta.unwrap().get(RxBytes),
            Some(10_101_000),
            "bond0, va and eth1, whose master is not measured"
        );
        assert_eq!(
            (sum.members, sum.left_out.as_str()),
            (3, "lo:loopback eth0:port-of-bond0 bond0.5:on-bond0 vb:on-va")
        );
    }

    #[test]
    fn a_thousand_names_do_not_make_a_long_line() {
        let spans: Vec<_> =
            (1..9).map(|index| span(index, "lo", &Link { is_loopback: true, ..Link::default() })).collect();
        let many: Vec<_> = spans.iter().cycle().take(1000).cloned().collect();
        assert!(Sum::of(&many).left_out.len() < MAX_TEXT + 10);
    }
}
