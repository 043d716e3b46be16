//! From lines to a chart: which kind suits them, and which columns it shows.

mod percentiles;
mod runs;
mod sweep;
mod time;

use std::collections::BTreeSet;

use anyhow::bail;

use common::schema::registry;

use crate::args::Kind;
use crate::chart::axis::Fit;
use crate::chart::{Axis, Chart};
use crate::columns;
use crate::plan::Request;
use crate::table::Table;

/// What a run is judged by when nobody says: the first of these that any line has above zero.
const METRICS: &[&str] = &["bytes_per_s", "ops_per_s", "p50_us", "seconds"];

/// Most series in one chart: as many looks as can be told apart, more or less.
pub const MOST_SERIES: usize = 16;

/// Draws what was asked for, or what suits.
pub fn chart(table: &Table, request: &Request) -> anyhow::Result<Chart> {
    if let Some(missing) = table.missing_column() {
        bail!("no line has a column {missing}");
    }
    if let Some(missing) = request.y.iter().find(|column| !table.any(column, |_, _| true)) {
        bail!("no line has a number in {missing} (--y)");
    }
    let mut chart = match request.kind.unwrap_or_else(|| suiting(table, request)) {
        Kind::Time => time::chart(table, request)?,
        Kind::Runs => runs::chart(table, request)?,
        Kind::Percentiles => percentiles::chart(table, request)?,
        Kind::Sweep => sweep::chart(table, request)?,
    };
    if let Some(title) = &request.title {
        chart.title.clone_from(title);
    }
    chart.make_harmless();
    Ok(chart)
}

fn suiting(table: &Table, request: &Request) -> Kind {
    if let Some(x) = &request.x {
        let is_number = || table.any(x, |_, _| true);
        return match x.as_str() {
            "time" | "elapsed" => Kind::Time,
            _ if is_number() => Kind::Sweep,
            _ => Kind::Runs,
        };
    }
    let has_intervals = table.rows.iter().any(|row| row.is_interval);
    if has_intervals || is_history(table) {
        Kind::Time
    } else if request.y.is_empty() && is_of_latencies(table) {
        Kind::Percentiles
    } else if sweep::setting(table).is_some() {
        Kind::Sweep
    } else {
        Kind::Runs
    }
}

/// A log of more than a day: cron measures again and again.
fn is_history(table: &Table) -> bool {
    /// Fewer are a comparison that somebody made by hand.
    const FEWEST: usize = 12;
    const DAY: f64 = 86_400.0;
    let times = || table.rows.iter().filter_map(|row| row.time);
    let span = times().max_by(f64::total_cmp).zip(times().min_by(f64::total_cmp));
    let series: BTreeSet<_> = table.rows.iter().map(|row| row.key).collect();
    span.is_some_and(|(last, first)| last - first > DAY) && table.rows.len() >= FEWEST * series.len()
}

/// Whether requests were timed, and nothing else measured.
fn is_of_latencies(table: &Table) -> bool {
    let has_curve = |index: usize| table.figure("p50_us", index).is_some() && table.figure("p99_us", index).is_some();
    table.rows.iter().all(|row| is_request(table.value(row.key, "test"))) && (0..table.rows.len()).any(has_curve)
}

/// Whether a test's result is its latency, not its rate; `pong` is what the other end counted.
pub fn is_request(test: &str) -> bool {
    ["ping", "pong", "connect"].iter().any(|word| test.contains(word))
}

/// The rows that a chart of runs draws: totals.
fn totals(table: &Table) -> anyhow::Result<Vec<usize>> {
    let totals: Vec<usize> = (0..table.rows.len()).filter(|index| !table.rows[*index].is_interval).collect();
    if totals.is_empty() {
        bail!("there are interval lines but no totals (--kind time draws them)");
    }
    Ok(totals)
}

/// The column that rows are judged by.
fn metric<'a>(table: &Table, request: &'a Request, rows: &[usize]) -> anyhow::Result<&'a str> {
    match request.y.as_slice() {
        [] => {}
        [one] => return Ok(one),
        several => bail!("only a time series has several columns (--y {})", several.join(",")),
    }
    let is_there = |name: &&&str| rows.iter().any(|row| table.figure(name, *row).is_some_and(|value| value > 0.0));
    let all_requests = rows.iter().all(|row| is_request(table.value(table.rows[*row].key, "test")));
    let latency = ["p50_us"].iter().find(|name| all_requests && is_there(name));
    let has_any = |name: &&&str| rows.iter().any(|row| table.figure(name, *row).is_some());
    match latency.or_else(|| METRICS.iter().find(is_there)).or_else(|| METRICS.iter().find(has_any)) {
        Some(name) => Ok(name),
        None => bail!("no line has a number in {} (--y)", METRICS.join(", ")),
    }
}

/// The axis of a metric's values.
fn values_axis(metric: &str, values: &[f64], request: &Request) -> Axis {
    let fit = match (request.is_log, request.is_zoomed) {
        (true, _) => Fit::Log,
        (_, true) => Fit::Values,
        _ => Fit::Zero,
    };
    Axis::of_values(&columns::title(metric), registry::unit(metric), request.unit, values, fit)
}

/// The rows of each test, in the order of their first row: a panel for each.
fn by_test<'a>(table: &'a Table, rows: &[usize]) -> Vec<(&'a str, Vec<usize>)> {
    let mut tests: Vec<(&str, Vec<usize>)> = Vec::new();
    for row in rows {
        let test = table.value(table.rows[*row].key, "test");
        match tests.iter_mut().find(|(known, _)| *known == test) {
            Some((_, rows)) => rows.push(*row),
            None => tests.push((test, vec![*row])),
        }
    }
    tests
}

/// A heading: what is drawn, and what all of it has in common.
fn title(what: &str, table: &Table, keys: &[usize]) -> String {
    let shared = ["label", "test", "target"].into_iter().filter_map(|dimension| {
        let value = table.value(*keys.first()?, dimension);
        (!value.is_empty() && keys.iter().all(|key| table.value(*key, dimension) == value)).then_some(value)
    });
    let shared: Vec<&str> = shared.collect();
    if shared.is_empty() { what.into() } else { format!("{what}: {}", shared.join(", ")) }
}

/// Keys of these rows, each once, in the order of their first row.
fn keys_of(table: &Table, rows: &[usize]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    rows.iter().map(|row| table.rows[*row].key).filter(|key| seen.insert(*key)).collect()
}

/// Keeps the first series, and says what was left out.
fn limit_series(names: &mut Vec<String>, remarks: &mut Vec<String>) {
    if names.len() > MOST_SERIES {
        let count = names.len();
        remarks.push(format!(
            "{count} series are too many to tell apart: the first {MOST_SERIES} are drawn (--where, --by)"
        ));
        names.truncate(MOST_SERIES);
    }
}

/// A caption for hollow marks, where there are any.
fn about_flagged(table: &Table, rows: &[usize], request: &Request) -> &'static str {
    if !rows.iter().any(|row| table.rows[*row].is_doubtful) {
        ""
    } else if request.keeps_flagged {
        "; hollow: flagged as doubtful"
    } else {
        "; hollow: flagged as doubtful, not counted"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{request, table_of};
    use crate::table::{PERCENTILES, SETTINGS};

    #[test]
    fn every_column_that_is_looked_for_exists() {
        let known: Vec<_> = columns::drawable().columns().map(|column| column.name).collect();
        for name in SETTINGS.iter().chain(&PERCENTILES).chain(METRICS) {
            assert!(known.contains(name), "{name}");
        }
    }

    #[test]
    fn the_lines_choose_the_kind() {
        let header = "time,label,test,run,span,seconds,bytes_per_s,threads,p50_us,p99_us";
        let kind = |lines: &[&str]| {
            let request = request(|_| ());
            suiting(&table_of(&request, header, lines), &request)
        };
        assert_eq!(kind(&[",a,seq_read,1,interval,1,5,1,,", ",a,seq_read,1,total,1,5,1,,"]), Kind::Time);
        assert_eq!(kind(&[",a,seq_read,1,total,1,5,1,,", ",b,seq_read,1,total,1,5,2,,"]), Kind::Runs);
        assert_eq!(kind(&[",a,seq_read,1,total,1,5,1,7,8", ",a,seq_read,1,total,1,5,2,7,8"]), Kind::Sweep);
        assert_eq!(kind(&[",a,tcp_ping,1,total,1,5,1,7,8", ",b,tcp_ping,1,total,1,5,1,7,8"]), Kind::Percentiles);
        let daily: Vec<String> =
            (10..30).map(|day| format!("2026-11-{day}T00:00:00Z,a,tcp_recv,1,total,3,5,,,")).collect();
        assert_eq!(kind(&daily.iter().map(String::as_str).collect::<Vec<_>>()), Kind::Time);
    }
}
