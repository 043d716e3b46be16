//! A finished line of either end, with the few cells that the client must understand.

use anyhow::{Context, bail};
use common::schema::line::Flag;
use common::schema::tcpsink::SCHEMA;
use common::units;
use csv::StringRecord;

/// A line.
#[derive(Debug)]
pub struct Report {
    cells: StringRecord,
    text: String,
}

impl Report {
    /// Takes a line of CSV, if it is one of this schema.
    pub fn read(text: String) -> anyhow::Result<Self> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let cells = reader.records().next().context("a line of the sink is empty")??;
        if cells.get(0) != Some(SCHEMA.tag) || cells.len() != SCHEMA.columns().count() {
            bail!("a line of the sink does not have the columns of {}: use the same version at both ends", SCHEMA.tag);
        }
        Ok(Self { cells, text })
    }

    /// The line, LF included.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a warning.
    pub fn raise(&mut self, flag: Flag) -> anyhow::Result<()> {
        let place = column("flags");
        let cells = self.cells.iter().enumerate().map(|(index, cell)| match cell {
            _ if index != place => cell.to_owned(),
            "" => flag.word().to_owned(),
            _ => format!("{cell} {}", flag.word()),
        });
        self.cells = cells.collect();
        self.text = common::output::line_of(&self.cells.iter().collect::<Vec<_>>())?;
        Ok(())
    }

    /// Whether it says that the measurement did not run to its end.
    pub fn is_partial(&self) -> bool {
        self.cell("flags").split(' ').any(|word| word == Flag::Partial.word())
    }

    /// Whether it is a total.
    pub fn is_total(&self) -> bool {
        self.cell("span") == "total"
    }

    /// What was done.
    pub fn test(&self) -> &str {
        self.cell("test")
    }

    /// Where it stands among the totals of a run: up before down, sender before receiver.
    pub fn place(&self) -> (bool, bool) {
        let test = self.test();
        (self.cell("direction") == "down", test.starts_with("tcp_recv") || test == "tcp_pong")
    }

    /// A cell as a number.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.cell(column).parse().ok()
    }

    /// The result in words: what arrived, or how fast the answers came. Nothing for a line that is no result.
    pub fn summary(&self, host: &str) -> Option<String> {
        let rate = self.number("bytes_per_s").map_or_else(|| "too short for a rate".into(), units::rate_text);
        let direction = if self.cell("direction") == "down" { "from" } else { "to" };
        match self.test() {
            "tcp_recv" => Some(format!(
                "{} {direction} {host} in {:.3} s: {rate}",
                units::bytes_text(self.cell("bytes").parse().ok()?),
                self.number("seconds")?
            )),
            "tcp_send" => {
                Some(format!("{} retransmits", self.cell("errors"))).filter(|_| self.number("errors") > Some(0.0))
            }
            test @ ("tcp_ping" | "tcp_connect" | "tcp_idle_ping" | "tcp_loaded_ping") => Some(format!(
                "{}: {:.0}/s, median {:.0} us, 99 % {:.0} us",
                test.trim_start_matches("tcp_").replace('_', " "),
                self.number("ops_per_s")?,
                self.number("p50_us")?,
                self.number("p99_us")?
            )),
            _ => None,
        }
    }

    fn cell(&self, name: &str) -> &str {
        self.cells.get(column(name)).unwrap_or_default()
    }
}

/// The place of a column.
fn column(name: &str) -> usize {
    SCHEMA.columns().position(|column| column.name == name).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(flags: &str) -> String {
        let own = ",".repeat(SCHEMA.own.len());
        format!("tcpsink/1,t,h,\"a,\"\"b\",tcp_recv,p,1,total,2.0,100,3,0,50.0,1.5,9.1,5.0,{flags}{own}\n")
    }

    #[test]
    fn reads_the_cells_and_keeps_the_line() {
        let report = Report::read(line("short")).unwrap();
        assert_eq!((report.number("bytes"), report.number("rtt_us"), report.is_partial()), (Some(100.0), None, false));
        assert!(report.is_total() && report.test() == "tcp_recv" && report.place() == (false, true));
        assert_eq!(report.text(), line("short"));
    }

    #[test]
    fn a_flag_is_added_and_nothing_else_changes() {
        let mut report = Report::read(line("")).unwrap();
        report.raise(Flag::Partial).unwrap();
        assert_eq!(report.text(), line("partial"));
        report.raise(Flag::Unsettled).unwrap();
        assert_eq!(report.text(), line("partial unsettled"));
        assert!(report.is_partial());
    }

    #[test]
    fn another_schema_is_refused() {
        assert!(Report::read("tcpsink/2,x\n".into()).is_err());
        assert!(Report::read(String::new()).is_err());
    }
}
