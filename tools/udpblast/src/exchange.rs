//! What came out of a run: both ends' totals, whether they agree, and what to say of them.

use anyhow::anyhow;
use common::console::Console;
use common::measure::series::{Outcome, Rate};
use common::net::peer_line::PeerLine;
use common::output::RecordWriter;
use common::schema::Fixed;
use common::schema::line::Flag;
use common::units;

use crate::record::Record;
use crate::request::TestKind;
use crate::warning::Warning;

/// What came out of a run.
pub struct Exchange {
    /// This end's totals; the last is that of all streams.
    pub own: Vec<Record>,
    /// The listener's.
    pub others: Vec<PeerLine>,
    /// Why it did not run to its end.
    pub failure: Option<anyhow::Error>,
    /// What was done.
    pub kind: TestKind,
    /// Bits of payload per second asked for.
    pub asked: Option<u64>,
    /// Both ends count from the first datagram to the last.
    pub is_whole: bool,
}

/// Counts that both ends have from one account: where they differ, one of the lines is wrong.
const SHARED: [&str; 5] = ["sent", "received", "lost", "duplicated", "reordered"];

impl Exchange {
    /// The line of all streams.
    pub fn total(&self) -> &Record {
        // There is always one.
        self.own.last().unwrap_or_else(|| unreachable!("a run has a total"))
    }

    /// Whether the sender got rid of what the rate asks for, within a hundredth, and no more than so much was lost.
    pub fn keeps(&self, bits_per_s: u64, most_lost_pct: f64) -> bool {
        let sent = self.total().line.bytes_per_s.map(Fixed::value);
        sent.is_some_and(|rate| rate * 8.0 >= 0.99 * bits_per_s as f64)
            && self.lost_pct().is_some_and(|lost| lost <= most_lost_pct)
    }

    /// Lost, percent.
    pub fn lost_pct(&self) -> Option<f64> {
        self.total().own.lost_pct.map(Fixed::value)
    }

    /// Fails if the two ends' lines contradict each other.
    pub fn check(&mut self) {
        let found = self.contradiction();
        if self.failure.is_none()
            && let Some(found) = found
        {
            self.raise(Flag::Partial);
            self.failure = Some(anyhow!("the lines of the two ends contradict each other: {found}"));
        }
    }

    fn contradiction(&self) -> Option<String> {
        let (own, others) = (&self.total().own, self.others.last()?);
        if self.kind == TestKind::Ping {
            return None;
        }
        let counts = [own.sent, own.received, own.lost, own.duplicated, own.reordered];
        let differs = SHARED.iter().zip(counts).find_map(|(name, here)| {
            let (here, there) = (here?, others.cell(name).parse::<u64>().ok()?);
            (here != there).then(|| format!("{name} is {here} here and {there} there"))
        });
        let (received, sent) = (own.received?, own.sent?);
        let ops = self.total().line.ops.filter(|_| self.is_whole && self.kind == TestKind::Send);
        differs
            .or_else(|| (received > sent).then(|| format!("{received} were received of {sent} that were sent")))
            .or_else(|| {
                ops.filter(|ops| *ops != sent).map(|ops| format!("{ops} were sent here, and {sent} says the other"))
            })
    }
}

impl Outcome for Exchange {
    fn rate(&self) -> Option<Rate> {
        let line = &self.total().line;
        match self.kind {
            TestKind::Send => self.others.last()?.number("bytes_per_s").map(Rate::Bytes),
            TestKind::Recv => line.bytes_per_s.map(|rate| Rate::Bytes(rate.value())),
            TestKind::Ping => line.ops_per_s.map(|rate| Rate::Ops(rate.value())),
        }
    }

    fn raise(&mut self, flag: Flag) {
        self.own.iter_mut().for_each(|own| own.raise_if(true, flag));
        self.others.iter_mut().filter(|others| !others.has(flag)).for_each(|others| others.raise(flag));
    }

    /// The sender's first.
    fn print(&self, lines: &RecordWriter) -> anyhow::Result<()> {
        let own: Vec<String> = self.own.iter().map(Record::text).collect::<Result<_, _>>()?;
        let others: Vec<String> = self.others.iter().map(PeerLine::text).collect::<Result<_, _>>()?;
        let both = if self.kind == TestKind::Recv { [others, own] } else { [own, others] };
        both.iter().flatten().try_for_each(|line| lines.write_line(line))
    }

    fn take_failure(&mut self) -> Option<anyhow::Error> {
        self.failure.take()
    }

    fn advise(&self, console: &Console) {
        for warning in Warning::of(self.total()) {
            console.notice(&warning.to_string());
        }
    }

    fn sentence(&self) -> String {
        let (line, own) = (&self.total().line, &self.total().own);
        let text = if self.kind == TestKind::Ping {
            let times = [("median", own.p50_us), ("99 %", own.p99_us), ("99.9 %", own.p999_us)];
            let told = |(name, time): (&str, Option<Fixed<3>>)| {
                Some(format!(", {name} {}", units::micros_text(time?.value())))
            };
            let times: String = times.into_iter().filter_map(told).collect();
            format!("{}: {} round trips{times}", line.target, line.ops.unwrap_or_default())
        } else {
            let rate = self.asked.map_or_else(|| "max".into(), |bits| units::bit_rate_text(bits as f64));
            let moved = self.rate().map_or_else(|| "nothing".into(), |rate| rate.to_string());
            format!("{}: {moved} received at --rate {rate}", line.target)
        };
        let lost = own.lost_pct.map_or_else(String::new, |lost| format!(", {:.2} % lost", lost.value()));
        let places = [
            (own.network_lost, "in the network"),
            (own.socket_drops, "in the receiver's socket"),
            (own.sender_drops, "at the sender"),
            (own.forward_lost, "on the way there"),
            (own.reverse_lost, "on the way back"),
        ];
        let at = |(count, place): (Option<u64>, &str)| {
            count.filter(|count| *count > 0).map(|count| format!("{count} {place}"))
        };
        let places: Vec<_> = places.into_iter().filter_map(at).collect();
        let places = if places.is_empty() { String::new() } else { format!(": {}", places.join(", ")) };
        text + &lost + &places
    }
}
