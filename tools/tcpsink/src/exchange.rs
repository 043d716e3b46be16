//! What came out of a test: the totals of both ends, and what to say of them.

use common::measure::series::{Outcome, Rate};
use common::net::peer_line::PeerLine;
use common::output::RecordWriter;
use common::schema::Fixed;
use common::schema::line::Flag;
use common::units;

use crate::record::Record;

/// The totals of a test, in the order in which they are printed.
#[derive(Debug, Default)]
pub struct Exchange {
    totals: Vec<Total>,
    /// The median round trip before all that.
    idle_us: Option<f64>,
    /// What went wrong.
    pub failure: Option<anyhow::Error>,
}

/// A total of either end.
#[derive(Debug)]
enum Total {
    /// This end's.
    Own(Box<Record>),
    /// The sink's.
    Sinks(PeerLine),
}

/// The cells of a total that this end must understand.
#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    bytes: Option<f64>,
    seconds: Option<f64>,
    errors: Option<f64>,
    bytes_per_s: Option<f64>,
    ops_per_s: Option<f64>,
    p50_us: Option<f64>,
    p99_us: Option<f64>,
    p999_us: Option<f64>,
}

impl Exchange {
    /// Of these totals, and what went wrong.
    pub fn new(own: Vec<Record>, sinks: Vec<PeerLine>, failure: Option<anyhow::Error>) -> Self {
        let mut exchange = Self { totals: Vec::new(), idle_us: None, failure };
        exchange.extend(own.into_iter().map(|record| Total::Own(Box::new(record))));
        exchange.extend(sinks.into_iter().map(Total::Sinks));
        exchange
    }

    /// The same with the totals of another, and its failure if there was none.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.totals.extend(other.totals);
        self.failure = self.failure.or(other.failure);
        self
    }

    /// The same, measured after the line had been idle, as `idle` found.
    #[must_use]
    pub fn after(self, idle: &Self) -> Self {
        Self { idle_us: idle.totals.first().and_then(|total| total.figures().p50_us), ..self }
    }

    /// What the senders had to send again, by direction where there are two.
    fn retransmitted(&self) -> Option<String> {
        let senders: Vec<_> = self.totals.iter().filter(|total| total.test() == "tcp_send").collect();
        let pings = self.totals.iter().filter(|total| ["tcp_ping", "tcp_pong"].contains(&total.test()));
        let errors = |total: &Total| total.figures().errors;
        let again: Vec<_> = match senders.len() {
            0 | 1 => vec![format!(
                "{}",
                senders.into_iter().chain(pings).filter_map(errors).fold(0.0, |sum, errors| sum + errors)
            )],
            _ => senders
                .into_iter()
                .filter_map(|total| Some((errors(total)?, total.is_down())))
                .map(in_direction)
                .collect(),
        };
        again.iter().any(|text| !text.starts_with('0')).then(|| format!("retransmitted: {}", again.join(", ")))
    }

    /// Puts each at its place: up before down, sender before receiver.
    fn extend(&mut self, totals: impl Iterator<Item = Total>) {
        self.totals.extend(totals);
        self.totals.sort_by_key(Total::place);
    }

    fn moves_bytes(&self) -> bool {
        self.totals.iter().any(|total| total.test() == "tcp_recv")
    }
}

impl Total {
    fn test(&self) -> &str {
        match self {
            Self::Own(record) => record.line.test,
            Self::Sinks(line) => line.cell("test"),
        }
    }

    fn is_down(&self) -> bool {
        match self {
            Self::Own(record) => record.own.direction == "down",
            Self::Sinks(line) => line.cell("direction") == "down",
        }
    }

    fn place(&self) -> (bool, bool) {
        let test = self.test();
        (self.is_down(), test.starts_with("tcp_recv") || test == "tcp_pong")
    }

    fn text(&self) -> anyhow::Result<String> {
        match self {
            Self::Own(record) => record.text(),
            Self::Sinks(line) => line.text(),
        }
    }

    fn figures(&self) -> Figures {
        match self {
            Self::Own(record) => {
                let (line, own) = (&record.line, &record.own);
                Figures {
                    bytes: line.bytes.map(|bytes| bytes as f64),
                    seconds: line.seconds.map(Fixed::value),
                    errors: line.errors.map(|errors| errors as f64),
                    bytes_per_s: line.bytes_per_s.map(Fixed::value),
                    ops_per_s: line.ops_per_s.map(Fixed::value),
                    p50_us: own.p50_us.map(Fixed::value),
                    p99_us: own.p99_us.map(Fixed::value),
                    p999_us: own.p999_us.map(Fixed::value),
                }
            }
            Self::Sinks(line) => Figures {
                bytes: line.number("bytes"),
                seconds: line.number("seconds"),
                errors: line.number("errors"),
                bytes_per_s: line.number("bytes_per_s"),
                ops_per_s: line.number("ops_per_s"),
                p50_us: line.number("p50_us"),
                p99_us: line.number("p99_us"),
                p999_us: line.number("p999_us"),
            },
        }
    }

    /// The result in words: what arrived, or how fast the answers came. Nothing for a line that is no result.
    fn sentence(&self, host: &str, idle_us: Option<f64>) -> Option<String> {
        let figures = self.figures();
        let rate = figures.bytes_per_s.map_or_else(|| "too short for a rate".into(), units::rate_text);
        let direction = if self.is_down() { "from" } else { "to" };
        match self.test() {
            "tcp_recv" => {
                // A count below 2^53: exact.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of bytes")]
                let bytes = units::bytes_text(figures.bytes? as u64);
                Some(format!("{bytes} {direction} {host} in {:.3} s: {rate}", figures.seconds?))
            }
            "tcp_loaded_ping" => {
                let [median, tail] = [figures.p50_us?, figures.p99_us?].map(units::micros_text);
                let idle = idle_us.map_or_else(String::new, |idle| format!("idle {}, ", units::micros_text(idle)));
                Some(format!("round trip {idle}loaded {median} (99 %: {tail})"))
            }
            test @ ("tcp_ping" | "tcp_connect") => {
                let [median, tail] = [figures.p50_us?, figures.p99_us?].map(units::micros_text);
                let (name, rate) = (test.trim_start_matches("tcp_"), figures.ops_per_s?);
                let last =
                    figures.p999_us.map_or_else(String::new, |last| format!(", 99.9 % {}", units::micros_text(last)));
                Some(format!("{name}: {rate:.0}/s, median {median}, 99 % {tail}{last}"))
            }
            _ => None,
        }
    }

    fn target(&self) -> Option<&str> {
        match self {
            Self::Own(record) => Some(&record.line.target),
            Self::Sinks(_) => None,
        }
    }
}

impl Outcome for Exchange {
    /// Bytes per second received, of all directions, or operations per second.
    fn rate(&self) -> Option<Rate> {
        let of = |tests: &[&str], figure: fn(&Figures) -> Option<f64>| -> Option<f64> {
            let results = self.totals.iter().filter(|total| tests.contains(&total.test()));
            results.map(|total| figure(&total.figures())).sum()
        };
        if self.moves_bytes() {
            of(&["tcp_recv"], |figures| figures.bytes_per_s).map(Rate::Bytes)
        } else {
            of(&["tcp_ping", "tcp_connect"], |figures| figures.ops_per_s).map(Rate::Ops)
        }
    }

    fn raise(&mut self, flag: Flag) {
        for total in &mut self.totals {
            match total {
                Total::Own(record) => record.raise_if(true, flag),
                Total::Sinks(line) if line.has(flag) => {}
                Total::Sinks(line) => line.raise(flag),
            }
        }
    }

    fn print(&self, lines: &RecordWriter) -> anyhow::Result<()> {
        self.totals.iter().try_for_each(|total| lines.write_line(&total.text()?))
    }

    fn take_failure(&mut self) -> Option<anyhow::Error> {
        self.failure.take()
    }

    fn sentence(&self) -> String {
        let host = self.totals.iter().find_map(Total::target).unwrap_or_default();
        let results = self.totals.iter().filter_map(|total| total.sentence(host, self.idle_us));
        results.chain(self.retransmitted()).collect::<Vec<_>>().join("; ")
    }
}

fn in_direction((count, is_down): (f64, bool)) -> String {
    format!("{count} {}", if is_down { "down" } else { "up" })
}
