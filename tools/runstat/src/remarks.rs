//! What is seen beside the groups while lines are read, to be said at the end.

use common::lines::{ColumnIndex, Line, Wanted};

use crate::group::Group;
use crate::layout::LastLayout;
use crate::limit::Limit;
use crate::sample::Spot;

/// Runs beyond a limit that are named.
const NAMED_ALARMS: usize = 5;

/// What was seen beside the groups.
#[derive(Debug, Default)]
pub struct Remarks {
    /// Measurements, of whatever group.
    pub lines: u64,
    /// Cells of a metric that hold no finite number, and the first of them.
    pub odd_cells: u64,
    pub first_odd_cell: Option<(String, Spot)>,
    /// Metrics that are no results, and change inside runs of intervals.
    pub torn: Vec<Torn>,
    /// Runs beyond a limit, and the first of them.
    pub alarms: u64,
    pub first_alarms: Vec<Alarm>,
}

/// A metric that changes inside runs.
#[derive(Debug)]
pub struct Torn {
    pub column: String,
    pub runs: u64,
    /// Where the first of them ends.
    pub first: Spot,
}

/// A run beyond a limit.
#[derive(Debug)]
pub struct Alarm {
    pub limit: String,
    pub value: f64,
    pub group: String,
    pub spot: Spot,
}

impl Remarks {
    /// The figure in `column`, counted if there is something else.
    pub fn figure(&mut self, line: &Line<'_>, column: ColumnIndex, spot: Spot, name: &str) -> Option<f64> {
        let figure = line.figure(column);
        if figure.is_none() && !line.cell(column).is_empty() {
            self.odd_cells += 1;
            self.first_odd_cell.get_or_insert_with(|| (name.to_owned(), spot));
        }
        figure
    }

    /// Counts a run of intervals that has no value, because they do not agree on it.
    pub fn note_torn(&mut self, column: &str, spot: Spot) {
        match self.torn.iter_mut().find(|torn| torn.column == column) {
            Some(torn) => torn.runs += 1,
            None => self.torn.push(Torn { column: column.to_owned(), runs: 1, first: spot }),
        }
    }

    /// Counts a value that is beyond its limit.
    pub fn check(&mut self, limit: &Limit, value: f64, group: &Group, spot: Spot) {
        if limit.is_exceeded(value) {
            self.alarms += 1;
            if self.first_alarms.len() < NAMED_ALARMS {
                let group = group.name();
                self.first_alarms.push(Alarm { limit: limit.to_string(), value, group, spot });
            }
        }
    }
}

/// Which of the columns that the command line names any line has: a slip of the pen must not look like an empty column.
#[derive(Debug)]
pub struct NamedColumns {
    columns: Vec<(ColumnIndex, bool)>,
    last_layout: LastLayout,
}

impl NamedColumns {
    /// Looks for the columns `names`.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>, wanted: &mut Wanted) -> Self {
        Self { columns: names.map(|name| (wanted.column(name), false)).collect(), last_layout: LastLayout::default() }
    }

    /// Looks at the columns of the line at `spot`.
    pub fn look(&mut self, spot: Spot, line: &Line<'_>) {
        if self.last_layout.changes(spot, line) {
            for (column, is_there) in &mut self.columns {
                *is_there |= line.has(*column);
            }
        }
    }

    /// The first column that no line has; `None` without lines.
    pub fn missing<'w>(&self, wanted: &'w Wanted) -> Option<&'w str> {
        let (column, _) = self.columns.iter().find(|(_, is_there)| !is_there && !self.last_layout.is_none())?;
        Some(wanted.name(*column))
    }
}
