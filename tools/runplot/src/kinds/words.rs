//! What a chart says of itself: its heading, its axes, and what is left out of it.

use common::schema::registry;

use crate::chart::axis::Fit;
use crate::chart::{Axis, Remark};
use crate::columns;
use crate::plan::Request;
use crate::table::Table;

/// Most series in one chart: as many looks as can be told apart, more or less.
pub const MOST_SERIES: usize = 16;

/// A heading: what is drawn, and what all of it has in common.
pub fn title(what: &str, table: &Table, keys: &[usize]) -> String {
    let shared = columns::CALLED.into_iter().filter_map(|dimension| {
        let value = table.value(*keys.first()?, dimension);
        (!value.is_empty() && keys.iter().all(|key| table.value(*key, dimension) == value)).then_some(value)
    });
    let shared: Vec<&str> = shared.collect();
    if shared.is_empty() { what.into() } else { format!("{what}: {}", shared.join(", ")) }
}

/// The axis of a metric's values.
pub fn values_axis(metric: &str, values: &[f64], request: &Request) -> Axis {
    let fit = match (request.is_log, request.is_zoomed) {
        (true, _) => Fit::Log,
        (_, true) => Fit::Values,
        _ => Fit::Zero,
    };
    Axis::of_values(&columns::title(metric), registry::unit(metric), request.unit, values, fit)
}

/// A caption for hollow marks, where there are any.
pub fn about_flagged(table: &Table, rows: &[usize], request: &Request) -> &'static str {
    if !rows.iter().any(|row| table.rows[*row].is_doubtful) {
        ""
    } else if request.keeps_flagged {
        "; hollow: flagged as doubtful"
    } else {
        "; hollow: flagged as doubtful, not counted"
    }
}

/// Keeps the first series, and says what was left out.
pub fn limit_series(names: &mut Vec<String>, remarks: &mut Vec<Remark>) {
    if names.len() > MOST_SERIES {
        remarks.push(Remark::Series { drawn: MOST_SERIES, of: names.len() });
        names.truncate(MOST_SERIES);
    }
}
