//! From lines to a chart: which kind suits them, and which columns it shows.

mod percentiles;
mod rows;
mod runs;
mod sweep;
mod time;
mod words;

pub use words::MOST_SERIES;

use std::collections::BTreeSet;

use anyhow::bail;

use crate::args::ChartKind;
use crate::chart::Chart;
use crate::columns;
use crate::plan::Request;
use crate::table::Table;
use rows::is_request;

/// Draws what was asked for, or what suits.
pub fn chart(table: &Table, request: &Request) -> anyhow::Result<Chart> {
    if let Some(missing) = table.missing_column() {
        bail!("no line has a column {missing}");
    }
    if let Some(missing) = request.y.iter().find(|column| !table.any(column, |_, _| true)) {
        bail!("no line has a number in {missing} (--y)");
    }
    let mut chart = match request.kind.unwrap_or_else(|| suiting(table, request)) {
        ChartKind::Time => time::chart(table, request)?,
        ChartKind::Runs => runs::chart(table, request)?,
        ChartKind::Percentiles => percentiles::chart(table, request)?,
        ChartKind::Sweep => sweep::chart(table, request)?,
    };
    if let Some(title) = &request.title {
        chart.title.clone_from(title);
    }
    chart.make_harmless();
    Ok(chart)
}

fn suiting(table: &Table, request: &Request) -> ChartKind {
    if let Some(x) = &request.x {
        let is_number = || table.any(x, |_, _| true);
        return match x.as_str() {
            "time" | "elapsed" => ChartKind::Time,
            _ if is_number() => ChartKind::Sweep,
            _ => ChartKind::Runs,
        };
    }
    let has_intervals = table.rows.iter().any(|row| row.is_interval);
    if has_intervals || is_history(table) {
        ChartKind::Time
    } else if request.y.is_empty() && is_of_latencies(table) {
        ChartKind::Percentiles
    } else if sweep::setting(table).is_some() {
        ChartKind::Sweep
    } else {
        ChartKind::Runs
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
    let ends = [columns::latency(), columns::tail()];
    let has_curve = |index: usize| ends.iter().flatten().all(|column| table.figure(column, index).is_some());
    table.rows.iter().all(|row| is_request(table.value(row.key, "test"))) && (0..table.rows.len()).any(has_curve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{request, table_of};

    #[test]
    fn the_lines_choose_the_kind() {
        let header = "time,label,test,run,span,seconds,bytes_per_s,threads,p50_us,p99_us";
        let kind = |lines: &[&str]| {
            let request = request(|_| ());
            suiting(&table_of(&request, header, lines), &request)
        };
        assert_eq!(kind(&[",a,seq_read,1,interval,1,5,1,,", ",a,seq_read,1,total,1,5,1,,"]), ChartKind::Time);
        assert_eq!(kind(&[",a,seq_read,1,total,1,5,1,,", ",b,seq_read,1,total,1,5,2,,"]), ChartKind::Runs);
        assert_eq!(kind(&[",a,seq_read,1,total,1,5,1,7,8", ",a,seq_read,1,total,1,5,2,7,8"]), ChartKind::Sweep);
        assert_eq!(kind(&[",a,tcp_ping,1,total,1,5,1,7,8", ",b,tcp_ping,1,total,1,5,1,7,8"]), ChartKind::Percentiles);
        let daily: Vec<String> =
            (10..30).map(|day| format!("2026-11-{day}T00:00:00Z,a,tcp_recv,1,total,3,5,,,")).collect();
        assert_eq!(kind(&daily.iter().map(String::as_str).collect::<Vec<_>>()), ChartKind::Time);
    }
}
