//! The numbers of the lines, column by column.

use common::lines::{ColumnIndex, Line, Wanted};

/// The columns that are kept.
#[derive(Debug)]
pub struct Figures(Vec<Column>);

#[derive(Debug)]
struct Column {
    name: String,
    index: ColumnIndex,
    /// As long as its last number; NaN is none.
    values: Vec<f64>,
}

impl Figures {
    /// Wants the columns `names`.
    pub fn new(names: &[&str], wanted: &mut Wanted) -> Self {
        let column = |name: &&str| Column { name: (*name).into(), index: wanted.column(name), values: Vec::new() };
        Self(names.iter().map(column).collect())
    }

    /// Takes the numbers of the line that becomes row `row`.
    pub fn take(&mut self, line: &Line<'_>, row: usize) {
        for column in &mut self.0 {
            if let Some(value) = line.figure(column.index) {
                column.values.resize(row, f64::NAN);
                column.values.push(value);
            }
        }
    }

    /// The numbers of the column `name`, by row; none of one that is not kept.
    pub fn column(&self, name: &str) -> &[f64] {
        self.0.iter().find(|column| column.name == name).map_or(&[], |column| &column.values)
    }

    /// Forgets the rows that do not stay.
    pub fn retain(&mut self, stays: &[bool]) {
        for column in &mut self.0 {
            let mut stays = stays.iter();
            column.values.retain(|_| stays.next().copied().unwrap_or(true));
        }
    }
}
