//! What came out of a run: both ends' totals, and what to say of them.

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
    /// This end's total.
    pub own: Record,
    /// The listener's total.
    pub others: Option<PeerLine>,
    /// Why it did not run to its end.
    pub failure: Option<anyhow::Error>,
    /// What was done.
    pub kind: TestKind,
    /// Bits of payload per second asked for.
    pub asked: Option<u64>,
}

impl Exchange {
    /// Whether the sender got rid of what the rate asks for, within a hundredth, and no more than so much was lost.
    pub fn keeps(&self, bits_per_s: u64, most_lost_pct: f64) -> bool {
        let sent = self.own.line.bytes_per_s.map(Fixed::value);
        let lost = self.own.own.lost_pct.map(Fixed::value);
        sent.is_some_and(|rate| rate * 8.0 >= 0.99 * bits_per_s as f64)
            && lost.is_some_and(|lost| lost <= most_lost_pct)
    }
}

impl Outcome for Exchange {
    fn rate(&self) -> Option<Rate> {
        let line = &self.own.line;
        match self.kind {
            TestKind::Send => self.others.as_ref()?.number("bytes_per_s").map(Rate::Bytes),
            TestKind::Recv => line.bytes_per_s.map(|rate| Rate::Bytes(rate.value())),
            TestKind::Ping => line.ops_per_s.map(|rate| Rate::Ops(rate.value())),
        }
    }

    fn raise(&mut self, flag: Flag) {
        self.own.raise_if(true, flag);
        if let Some(others) = &mut self.others {
            others.raise(flag);
        }
    }

    /// The sender's first.
    fn print(&self, lines: &RecordWriter) -> anyhow::Result<()> {
        let own = self.own.text()?;
        let others = self.others.as_ref().map(PeerLine::text).transpose()?;
        let both = if self.kind == TestKind::Recv { [others, Some(own)] } else { [Some(own), others] };
        both.into_iter().flatten().try_for_each(|line| lines.write_line(&line))
    }

    fn take_failure(&mut self) -> Option<anyhow::Error> {
        self.failure.take()
    }

    fn advise(&self, console: &Console) {
        for warning in Warning::of(&self.own) {
            console.notice(&warning.to_string());
        }
    }

    fn sentence(&self) -> String {
        let (line, own) = (&self.own.line, &self.own.own);
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
        ];
        let at = |(count, place): (Option<u64>, &str)| {
            count.filter(|count| *count > 0).map(|count| format!("{count} {place}"))
        };
        let places: Vec<_> = places.into_iter().filter_map(at).collect();
        let places = if places.is_empty() { String::new() } else { format!(": {}", places.join(", ")) };
        text + &lost + &places
    }
}
