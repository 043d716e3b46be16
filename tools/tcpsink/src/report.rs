//! The receiver's line as it came over the wire, with the few cells that the client must understand.

use anyhow::{Context, bail};
use common::schema::line::{Flag, Line};
use common::schema::tcpsink::SCHEMA;
use csv::StringRecord;

/// A line of the other end.
#[derive(Debug)]
pub struct Report {
    cells: StringRecord,
    text: String,
}

impl Report {
    /// Takes a line of CSV, if it is one of this schema.
    pub fn read(text: String) -> anyhow::Result<Self> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let cells = reader.records().next().context("the sink's report is empty")??;
        if cells.get(0) != Some(SCHEMA.tag) || cells.len() != SCHEMA.columns().count() {
            bail!("the sink's report does not have the columns of {}: use the same version at both ends", SCHEMA.tag);
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

    /// Payload bytes that arrived.
    pub fn bytes(&self) -> u64 {
        self.cell("bytes").parse().unwrap_or_default()
    }

    /// From the first to the last byte.
    pub fn seconds(&self) -> f64 {
        self.cell("seconds").parse().unwrap_or_default()
    }

    /// The result.
    pub fn bytes_per_s(&self) -> Option<f64> {
        self.cell("bytes_per_s").parse().ok()
    }

    fn cell(&self, name: &str) -> &str {
        self.cells.get(column(name)).unwrap_or_default()
    }
}

/// The place of one of the shared columns.
fn column(name: &str) -> usize {
    Line::COLUMNS.iter().position(|column| column.name == name).unwrap_or(usize::MAX)
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
        assert_eq!((report.bytes(), report.bytes_per_s(), report.is_partial()), (100, Some(50.0), false));
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
