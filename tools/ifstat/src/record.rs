//! From a span to its two lines: pure arithmetic.

use std::time::Instant;

use common::measure::counters::Counts;
use common::measure::sample::{self, Epoch, Identity, Sample, Snapshot};
use common::schema::Fixed;
use common::schema::ifstat::{Interface, SCHEMA};
use common::schema::line::{self, Flag, Flags, Line};

use crate::link::{Counter, Counters};
use crate::tracker::Span;

/// One line: the shared columns, and our own.
pub type Row = (Line, Interface);

/// The tests of a span's two lines.
pub const SPAN: [&str; 2] = ["rx", "tx"];
/// Of the counters as they are, whoever counted them.
pub const SINCE_BOOT: [&str; 2] = ["rx_boot", "tx_boot"];
/// Of the sum over interfaces.
pub const SUM: [&str; 2] = ["rx_all", "tx_all"];

/// A part of the run: begin and end of what is not counted per interface.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// Interval or total.
    pub span: line::Span,
    /// State at its begin.
    pub from: Snapshot,
    /// State at its end.
    pub to: Snapshot,
    /// It was told to end before its planned end.
    pub is_cut: bool,
}

/// What stands in the shared columns besides names and times.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Unknown is `None`.
    pub bytes: Option<u64>,
    /// Packets, for most tests.
    pub ops: Option<u64>,
    /// Depends on the test.
    pub errors: Option<u64>,
    /// What is doubtful.
    pub flags: Flags,
}

/// What all lines of a run have in common.
#[derive(Debug)]
pub struct Form {
    identity: Identity,
    /// The netns column.
    pub netns: String,
    epoch: Epoch,
}

impl Form {
    /// Reads the clocks and the host's name.
    pub fn new(label: Option<&str>, netns: &str) -> Self {
        let identity = Identity {
            schema: SCHEMA.tag,
            host: sample::host_name(),
            label: label.unwrap_or_default().to_owned(),
            test: "",
            target: String::new(),
            run: 1,
        };
        Self { identity, netns: netns.to_owned(), epoch: Epoch::now() }
    }

    /// The same for lines of another schema.
    #[must_use]
    pub fn for_schema(mut self, tag: &'static str) -> Self {
        self.identity.schema = tag;
        self
    }

    /// The shared columns of a span from `from` to `to` within `part`.
    pub fn line(
        &self,
        test: &'static str,
        target: &str,
        stretch: &Stretch,
        (from, to): (Instant, Instant),
        figures: Figures,
    ) -> Line {
        let (mut begin, mut end) = (stretch.from, stretch.to);
        (begin.at, end.at) = (from, to);
        begin.counts = Counts::default();
        end.counts = Counts { bytes: figures.bytes.unwrap_or(0), ops: figures.ops.unwrap_or(0) };
        let identity = Identity { test, target: target.to_owned(), ..self.identity.clone() };
        let sample = Sample::between(&begin, &end);
        let mut line = sample.line(&identity, &self.epoch, stretch.span, figures.errors, figures.flags);
        line.flags.raise_if(stretch.is_cut, Flag::Partial);
        if figures.bytes.is_none() {
            (line.bytes, line.bytes_per_s) = (None, None);
        }
        if figures.ops.is_none() {
            (line.ops, line.ops_per_s) = (None, None);
        }
        line
    }

    /// The line of one direction of an interface's span.
    pub fn row(&self, tests: [&'static str; 2], direction: Direction, span: &Span, stretch: &Stretch) -> Row {
        let (link, settings) = (&span.link, &span.settings);
        let mut flags = span.flags.clone();
        flags.raise_if(settings.is_nominal, Flag::Nominal);
        let figures = direction.figures(span.delta.as_ref(), flags);
        let test = tests[direction as usize];
        let shared = self.line(test, &link.name.text(), stretch, (span.from, span.to), figures);
        let bits_per_s = shared.bytes_per_s.map(|rate| rate.value() * 8.0);
        let mut own = direction.columns(span.delta.as_ref());
        own.ifindex = Some(link.index.into());
        own.netns.clone_from(&self.netns);
        own.driver.clone_from(&settings.driver);
        own.mtu = link.mtu.map(u64::from);
        own.speed_mbit = settings.speed_mbit;
        own.duplex = settings.duplex;
        own.carrier_up = link.carrier.map(u64::from);
        own.carrier_changes = span.carrier_changes;
        own.util_pct = bits_per_s
            .zip(settings.speed_mbit)
            .and_then(|(rate, speed)| Fixed::ratio(rate * 100.0, speed as f64 * 1e6));
        (shared, own)
    }

    /// The two lines of a sum over interfaces.
    pub fn sum_rows(
        &self,
        delta: Option<&Counters>,
        members: u64,
        left_out: &str,
        flags: &Flags,
        stretch: &Stretch,
    ) -> [Row; 2] {
        Direction::BOTH.map(|direction| {
            let figures = direction.figures(delta, flags.clone());
            let line = self.line(SUM[direction as usize], "all", stretch, (stretch.from.at, stretch.to.at), figures);
            let own = Interface {
                netns: self.netns.clone(),
                summed: Some(members),
                left_out: Some(left_out.to_owned()),
                ..direction.columns(delta)
            };
            (line, own)
        })
    }
}

/// Packets surely lost at the card or in its driver, both ways. Not `rx_dropped`: it counts frames that nobody wanted as
/// well as frames that found no memory.
pub fn lost(delta: &Counters) -> u64 {
    Direction::BOTH.iter().filter_map(|direction| direction.lost(delta)).sum()
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    Rx,
    /// Sent.
    Tx,
}

impl Direction {
    /// In the order of their lines.
    pub const BOTH: [Self; 2] = [Self::Rx, Self::Tx];

    fn lost(self, delta: &Counters) -> Option<u64> {
        let [one, other] = match self {
            Self::Rx => [Counter::RxErrors, Counter::RxMissed],
            Self::Tx => [Counter::TxErrors, Counter::TxDropped],
        };
        Some(delta.get(one)? + delta.get(other)?)
    }

    fn figures(self, delta: Option<&Counters>, flags: Flags) -> Figures {
        use Counter::{RxBytes, RxErrors, RxPackets, TxBytes, TxErrors, TxPackets};
        let get = |counter| delta.and_then(|delta| delta.get(counter));
        let [bytes, ops, errors] = match self {
            Self::Rx => [RxBytes, RxPackets, RxErrors].map(get),
            Self::Tx => [TxBytes, TxPackets, TxErrors].map(get),
        };
        Figures { bytes, ops, errors, flags }
    }

    /// This direction's counters in their columns; the other's stay empty.
    fn columns(self, delta: Option<&Counters>) -> Interface {
        use Counter as C;
        let get = |counter| delta.and_then(|delta| delta.get(counter));
        match self {
            Self::Rx => Interface {
                dropped: get(C::RxDropped),
                missed: get(C::RxMissed),
                nohandler: get(C::RxNohandler),
                otherhost: get(C::RxOtherhost),
                multicast: get(C::Multicast),
                fifo: get(C::RxFifo),
                crc: get(C::RxCrc),
                frame: get(C::RxFrame),
                length: get(C::RxLength),
                over: get(C::RxOver),
                compressed: get(C::RxCompressed),
                lost: delta.and_then(|delta| self.lost(delta)),
                ..Interface::default()
            },
            Self::Tx => Interface {
                dropped: get(C::TxDropped),
                fifo: get(C::TxFifo),
                aborted: get(C::TxAborted),
                carrier: get(C::TxCarrier),
                heartbeat: get(C::TxHeartbeat),
                window: get(C::TxWindow),
                collisions: get(C::Collisions),
                compressed: get(C::TxCompressed),
                lost: delta.and_then(|delta| self.lost(delta)),
                ..Interface::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use common::cpu;

    use super::*;
    use crate::link::{Link, Name};
    use crate::settings::Settings;
    use common::sys::netlink::messages;

    /// The interfaces of two machines as `RTM_GETLINK` dumps them (recorded from a kernel 6.18; the counters are those that
    /// ifconfig printed in the report "NFS over 100BASE-TX is slow").
    const DUMP: &[u8] = include_bytes!("../testdata/report-a.nl");

    fn span(link: &Link, seconds: u64) -> Span {
        let from = Instant::now();
        let delta = link.counters.since(&Counters::zero());
        Span {
            link: *link,
            settings: Settings::default(),
            from,
            to: from + Duration::from_secs(seconds),
            delta,
            carrier_changes: None,
            flags: Flags::default(),
        }
    }

    fn rows(form: &Form, span: &Span) -> [Row; 2] {
        let now = Snapshot::take(Instant::now(), Counts::default(), cpu::process_time());
        let stretch = Stretch { span: line::Span::Interval, from: now, to: now, is_cut: false };
        Direction::BOTH.map(|direction| form.row(SPAN, direction, span, &stretch))
    }

    #[test]
    fn the_error_counters_that_named_the_culprit_come_back() {
        let links: Vec<_> = messages(DUMP).filter_map(|message| Link::parse(message.payload())).collect();
        assert_eq!(links.len(), 2);
        let form = Form::new(Some("hub=auto"), "net:[1]");
        let told: Vec<_> = links
            .iter()
            .flat_map(|link| rows(&form, &span(link, 10)))
            .map(|(line, own)| (line.target, line.test, line.ops, line.errors, own.fifo))
            .collect();
        let row =
            |target: &str, test, ops, errors, fifo| (target.to_owned(), test, Some(ops), Some(errors), Some(fifo));
        assert_eq!(
            told,
            [
                row("imac", "rx", 133_121, 2, 0),
                row("imac", "tx", 69_986, 1331, 1330),
                row("pmac", "rx", 68_794, 0, 0),
                row("pmac", "tx", 133_247, 0, 6),
            ]
        );
    }

    fn busy(speed_mbit: Option<u64>) -> Span {
        use crate::link::Counter::{RxBytes, TxBytes};
        let counters = crate::link::tests::counters(&[(RxBytes, 2_500_000_000), (TxBytes, 125_000_000)]);
        let link = Link { name: Name::new(b"veth0").unwrap(), counters, ..Link::default() };
        let mut span = span(&link, 1);
        span.settings.speed_mbit = speed_mbit;
        span.settings.is_nominal = speed_mbit.is_some();
        span
    }

    #[test]
    fn utilisation_is_by_direction_and_not_clamped() {
        let form = Form::new(None, "");
        let busy_rows = rows(&form, &busy(Some(10_000)));
        let told: Vec<_> =
            busy_rows.iter().map(|(line, own)| (own.util_pct.unwrap().value(), line.flags.to_string())).collect();
        assert_eq!(told, [(200.0, "nominal".to_owned()), (10.0, "nominal".to_owned())]);
        assert!(
            rows(&form, &busy(None)).iter().all(|(line, own)| own.util_pct.is_none() && line.flags == Flags::default())
        );
    }

    #[test]
    fn what_is_not_known_is_empty() {
        for (line, own) in rows(&Form::new(None, ""), &Span { delta: None, ..busy(Some(1000)) }) {
            assert_eq!((line.bytes, line.ops, line.errors, line.bytes_per_s), (None, None, None, None));
            assert_eq!((own.util_pct, own.dropped, own.lost), (None, None, None));
            assert!(line.seconds.is_some());
        }
    }
}
