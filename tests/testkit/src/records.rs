//! Lines of CSV, read with their header.

use std::collections::HashMap;

/// One line, by column name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record(HashMap<String, String>);

impl Record {
    /// The cell of `column`.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn text(&self, column: &str) -> &str {
        self.get(column).unwrap_or_else(|| panic!("no column {column} in {self:?}"))
    }

    /// The cell of `column`, if there is such a column.
    pub fn get(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str)
    }

    /// The cell as a number.
    ///
    /// # Panics
    /// If it is not one.
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} is no number in {self:?}"))
    }

    /// The cell as a count.
    ///
    /// # Panics
    /// If it is not one.
    pub fn count(&self, column: &str) -> u64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} is no count in {self:?}"))
    }

    /// Whether the flag is raised.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.text("flags").split(' ').any(|word| word == flag)
    }
}

/// Reads CSV that begins with a header; further headers take over from there.
///
/// # Panics
/// If it is not valid CSV, or a line has not as many cells as its header.
pub fn records(text: &str) -> Vec<Record> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut header: Vec<String> = Vec::new();
    let mut records = Vec::new();
    for row in reader.records() {
        let cells: Vec<String> = row.expect("valid CSV").iter().map(str::to_owned).collect();
        if cells.first().is_some_and(|cell| cell == "schema") {
            header = cells;
        } else {
            assert_eq!(cells.len(), header.len(), "cells of {cells:?}");
            records.push(Record(header.iter().cloned().zip(cells).collect()));
        }
    }
    records
}

/// The lines of one test and span; there are some, so that a loop over them looks at something.
///
/// # Panics
/// If there is none.
pub fn some(records: &[Record], test: &str, span: &str) -> Vec<Record> {
    let is_one = |record: &&Record| (record.text("test"), record.text("span")) == (test, span);
    let some: Vec<_> = records.iter().filter(is_one).cloned().collect();
    assert!(!some.is_empty(), "no {span} of {test} in {records:?}");
    some
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_lines_are_never_none() {
        let all = records("schema,test,span\nx/1,read,total\nschema,span,test\nx/2,total,write\n");
        assert_eq!(some(&all, "write", "total")[0].text("schema"), "x/2");
        assert!(std::panic::catch_unwind(|| some(&all, "write", "interval")).is_err());
    }
}
