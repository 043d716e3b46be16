//! The columns of a time series: which have something to tell, and of which tests.

use common::schema::registry;
use common::schema::role::RoleKind;

use crate::columns::{self, ERRORS, ROUND_TRIPS};
use crate::kinds::rows::is_request;
use crate::table::Table;

/// Most panels that are chosen without being asked for.
const MOST_PANELS: usize = 4;

/// The columns that have something to tell: throughput above, what explains it below.
pub fn suiting(table: &Table, rows: &[usize]) -> Vec<Drawn<'static>> {
    let mut is_taken = vec![false; table.rows.len()];
    for row in rows {
        is_taken[*row] = true;
    }
    let test = |index: usize| table.value(table.rows[index].key, "test");
    let moves = |index: usize, value: f64| is_taken[index] && value > 0.0 && !is_request(test(index));
    let stands = |index: usize, _| is_taken[index] && !is_request(test(index));
    let answers = |index: usize, _| is_taken[index] && is_request(test(index));
    let rate = columns::rates().into_iter().find(|name| table.any(name, moves));
    // Nothing moved: that is worth a line along zero.
    let rate = rate.or_else(|| columns::rates().into_iter().find(|name| table.any(name, stands)));
    let takes = |index: usize, _| is_taken[index];
    let median = columns::latency().filter(|name| table.any(name, answers));
    let tail = columns::tail().filter(|name| table.any(name, takes));
    // A receiver sends nothing whose way back it could time.
    let trips = |index: usize, _| is_taken[index] && knows_round_trips(test(index)) && !is_request(test(index));
    let trips = ROUND_TRIPS.into_iter().filter(|name| table.any(name, trips));
    let errors = table.any(ERRORS, |index, value| is_taken[index] && value > 0.0).then_some(ERRORS);
    let mut columns: Vec<_> = [rate, median, tail].into_iter().flatten().chain(trips).collect();
    columns.truncate(MOST_PANELS - usize::from(errors.is_some()));
    columns.extend(errors);
    columns.into_iter().map(Drawn::suiting).collect()
}

/// A column that is drawn.
pub struct Drawn<'a> {
    pub name: &'a str,
    of: Of,
}

/// The tests of which a column is a result, and not a line along zero.
#[derive(Clone, Copy)]
enum Of {
    All,
    Transfers,
    Senders,
}

impl<'a> Drawn<'a> {
    /// One that was asked for, whatever the test.
    pub fn asked(name: &'a str) -> Self {
        Self { name, of: Of::All }
    }

    /// One that nobody asked for.
    fn suiting(name: &'a str) -> Self {
        let of = match registry::role(name).kind {
            RoleKind::Rate => Of::Transfers,
            _ if ROUND_TRIPS.contains(&name) => Of::Senders,
            _ => Of::All,
        };
        Self { name, of }
    }

    /// The number that is drawn of a row.
    pub fn figure(&self, table: &Table, row: usize) -> Option<f64> {
        let test = table.value(table.rows[row].key, "test");
        let is_result = match self.of {
            Of::All => true,
            Of::Transfers => !is_request(test),
            Of::Senders => knows_round_trips(test) && !is_request(test),
        };
        table.figure(self.name, row).filter(|_| is_result)
    }
}

fn knows_round_trips(test: &str) -> bool {
    !test.ends_with("_recv")
}
