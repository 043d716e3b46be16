//! A finished line of the other end, as it came over the wire, with the cells that this end must understand.

use anyhow::{Context, bail};
use csv::StringRecord;

use crate::output;
use crate::schema::Schema;
use crate::schema::line::Flag;

/// A line of the other end.
#[derive(Debug, Clone)]
pub struct PeerLine {
    schema: &'static Schema,
    cells: StringRecord,
}

impl PeerLine {
    /// Takes a line of CSV, if it is one of this schema.
    pub fn read(schema: &'static Schema, text: &str) -> anyhow::Result<Self> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let cells = reader.records().next().context("a line of the other end is empty")??;
        if cells.get(0) != Some(schema.tag) || cells.len() != schema.columns().count() {
            bail!(
                "a line of the other end does not have the columns of {}: use the same version at both ends",
                schema.tag
            );
        }
        Ok(Self { schema, cells })
    }

    /// The line as CSV, LF included.
    pub fn text(&self) -> anyhow::Result<String> {
        output::line_of(&self.cells.iter().collect::<Vec<_>>())
    }

    /// Adds a warning.
    pub fn raise(&mut self, flag: Flag) {
        let place = self.place("flags");
        let cells = self.cells.iter().enumerate().map(|(index, cell)| match cell {
            _ if index != place => cell.to_owned(),
            "" => flag.word().to_owned(),
            _ => format!("{cell} {}", flag.word()),
        });
        self.cells = cells.collect();
    }

    /// Whether it has the flag.
    pub fn has(&self, flag: Flag) -> bool {
        self.cell("flags").split(' ').any(|word| word == flag.word())
    }

    /// Whether it is a total.
    pub fn is_total(&self) -> bool {
        self.cell("span") == "total"
    }

    /// What the column `name` says; empty where it says nothing, or is none of the schema's.
    pub fn cell(&self, name: &str) -> &str {
        self.cells.get(self.place(name)).unwrap_or_default()
    }

    /// A cell as a number.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.cell(column).parse().ok()
    }

    fn place(&self, name: &str) -> usize {
        self.schema.columns().position(|column| column.name == name).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tcpsink::SCHEMA;

    fn line(flags: &str) -> String {
        let own = ",".repeat(SCHEMA.own.len());
        format!("{},t,h,\"a,\"\"b\",tcp_recv,p,1,total,2.0,100,3,0,50.0,1.5,9.1,5.0,{flags}{own}\n", SCHEMA.tag)
    }

    #[test]
    fn reads_the_cells_and_keeps_the_line() {
        let read = PeerLine::read(&SCHEMA, &line("short")).unwrap();
        assert_eq!((read.number("bytes"), read.number("rtt_us"), read.has(Flag::Partial)), (Some(100.0), None, false));
        assert!(read.is_total() && read.cell("test") == "tcp_recv" && read.cell("no_column").is_empty());
        assert_eq!(read.text().unwrap(), line("short"));
    }

    #[test]
    fn a_flag_is_added_and_nothing_else_changes() {
        let mut read = PeerLine::read(&SCHEMA, &line("")).unwrap();
        read.raise(Flag::Partial);
        assert_eq!(read.text().unwrap(), line("partial"));
        read.raise(Flag::Unsettled);
        assert_eq!(read.text().unwrap(), line("partial unsettled"));
        assert!(read.has(Flag::Partial));
    }

    #[test]
    fn another_schema_is_refused() {
        assert!(PeerLine::read(&SCHEMA, "tcpsink/999,x\n").is_err());
        assert!(PeerLine::read(&SCHEMA, "").is_err());
    }
}
