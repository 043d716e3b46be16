//! Settings that differ inside a group without being part of its name: figures of different things under one heading.

use common::lines::{ColumnIndex, Line, Wanted};
use common::schema::{Column, registry};

use crate::cells::are_same;
use crate::layout::LastLayout;
use crate::sample::Spot;

/// The columns that are watched: what lines of all measurements are told apart by.
#[derive(Debug)]
pub struct Watch {
    columns: Vec<(&'static str, ColumnIndex)>,
    has_varied: Vec<bool>,
    last_layout: LastLayout,
    /// Indices of those that lines of this layout have, and that have not varied yet.
    watched: Vec<usize>,
}

/// The cells of a group's first run.
#[derive(Debug, Default)]
pub struct Seen(Vec<Option<Box<[u8]>>>);

impl Watch {
    /// Watches all but those in `by`.
    pub fn new(by: &[String], wanted: &mut Wanted) -> Self {
        // Of a schema only the tool matters, and one tool's tests are not called like another's.
        let is_hidden = |column: &&Column| {
            column.role.tells_runs_apart() && column.name != "schema" && !by.iter().any(|name| name == column.name)
        };
        let hidden = registry::measured_columns().filter(is_hidden);
        let columns: Vec<_> = hidden.map(|column| (column.name, wanted.column(column.name))).collect();
        let has_varied = vec![false; columns.len()];
        Self { columns, has_varied, last_layout: LastLayout::default(), watched: Vec::new() }
    }

    /// Compares the line at `spot` with the group's first. An empty cell is a value, too: not paced, say.
    pub fn look(&mut self, spot: Spot, line: &Line<'_>, seen: &mut Seen) {
        if self.last_layout.changes(spot, line) {
            self.watched = (0..self.columns.len())
                .filter(|index| !self.has_varied[*index] && line.has(self.columns[*index].1))
                .collect();
        }
        seen.0.resize(self.columns.len(), None);
        let mut varies = false;
        for &index in &self.watched {
            let cell = line.cell(self.columns[index].1);
            match &seen.0[index] {
                Some(first) if are_same(first, cell) => {}
                Some(_) => (self.has_varied[index], varies) = (true, true),
                None => seen.0[index] = Some(cell.into()),
            }
        }
        if varies {
            self.watched.retain(|index| !self.has_varied[*index]);
        }
    }

    /// The columns that differed inside a group.
    pub fn varied(&self) -> Vec<&'static str> {
        let pairs = self.columns.iter().zip(&self.has_varied);
        pairs.filter(|(_, has_varied)| **has_varied).map(|((name, _), _)| *name).collect()
    }
}
