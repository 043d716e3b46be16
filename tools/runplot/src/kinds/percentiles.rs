//! Latency percentiles, with equal steps from one nine to the next, so that the tail has as much room as the rest.

use anyhow::bail;
use common::figures::median;
use common::schema::registry;

use super::rows::keys_of;
use super::words::{about_flagged, limit_series, title};
use crate::chart::axis::Fit;
use crate::chart::{Arrangement, Axis, Chart, Mark, Panel, Point, Series};
use crate::columns;
use crate::names;
use crate::plan::Request;
use crate::table::Table;

/// How far the ranges of series stand apart, so that they do not hide each other.
const ASIDE: f64 = 0.05;

/// The chart of total lines or, where there are none, of intervals.
pub fn chart(table: &Table, request: &Request) -> anyhow::Result<Chart> {
    let asked: Vec<&str> = request.y.iter().map(String::as_str).collect();
    let columns: Vec<&str> = if asked.is_empty() { registry::quantiles() } else { asked };
    let has_any = |index: &usize| columns.iter().any(|column| table.figure(column, *index).is_some());
    let of_span =
        |is_interval| (0..table.rows.len()).filter(move |index| table.rows[*index].is_interval == is_interval);
    let mut rows: Vec<usize> = of_span(false).filter(has_any).collect();
    if rows.is_empty() {
        rows = of_span(true).filter(has_any).collect();
    }
    let columns: Vec<&str> =
        columns.into_iter().filter(|column| rows.iter().any(|row| table.figure(column, *row).is_some())).collect();
    if columns.is_empty() {
        bail!("no line has percentiles ({})", registry::quantiles().join(", "));
    }
    let mut remarks = Vec::new();
    let keys = keys_of(table, &rows);
    let mut legend = names::of(table, &keys, &[]);
    limit_series(&mut legend, &mut remarks);

    let mut values = Vec::new();
    let series = keys[..legend.len()].iter().enumerate().map(|(look, key)| {
        let rows: Vec<usize> = rows.iter().copied().filter(|row| table.rows[*row].key == *key).collect();
        let aside = (look as f64 - (legend.len() as f64 - 1.0) / 2.0) * ASIDE;
        curve(table, request, &columns, &rows, look, aside, &mut values)
    });
    let series: Vec<Series> = series.collect();
    let base = registry::unit(columns[0]);
    let fit = if request.is_zoomed { Fit::Values } else { Fit::Log };
    let panel = Panel {
        heading: String::new(),
        x: Axis {
            title: "share of operations that were as fast or faster".into(),
            ..Axis::of_names(columns.iter().map(|column| share(column)), false)
        },
        y: Axis::of_values("latency", base, request.unit, &values, fit),
        series,
        weight: 1.0,
    };
    let has_ranges =
        panel.series.iter().flat_map(|series| &series.marks).any(|mark| matches!(mark, Mark::Range { .. }));
    let caption = if has_ranges { "curve: median of runs; bars: their smallest and largest" } else { "" };
    Ok(Chart {
        title: title("latency percentiles", table, &keys),
        caption: (caption.to_owned() + about_flagged(table, &rows, request)).trim_start_matches("; ").into(),
        panels: vec![panel],
        legend,
        arrangement: Arrangement::Stacked,
        remarks,
    })
}

fn curve(
    table: &Table,
    request: &Request,
    columns: &[&str],
    rows: &[usize],
    look: usize,
    aside: f64,
    values: &mut Vec<f64>,
) -> Series {
    let counts = |row: &&usize| request.keeps_flagged || !table.rows[**row].is_doubtful;
    let mut line: Vec<Point> = Vec::new();
    let mut marks = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let x = index as f64 + aside;
        let mut figures: Vec<f64> = rows.iter().filter(counts).filter_map(|row| table.figure(column, *row)).collect();
        figures.retain(|value| *value > 0.0 || request.is_zoomed);
        figures.sort_unstable_by(f64::total_cmp);
        if let Some(median) = median::median(&figures) {
            line.push((x, median));
            if let (Some(low), Some(high)) = (figures.first(), figures.last().filter(|_| figures.len() > 1)) {
                marks.push(Mark::Range { x, low: *low, high: *high });
            }
        }
        values.extend(figures);
    }
    marks.push(Mark::Line(line));
    Series { look, marks }
}

/// How many operations were as fast as a column says.
fn share(column: &str) -> String {
    match registry::role(column).per_mille() {
        Some(1000) => "100 % (longest)".into(),
        Some(per_mille) => format!("{} %", f64::from(per_mille) / 10.0),
        None => columns::title(column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{request, table_of};

    #[test]
    fn a_curve_is_the_median_of_runs_with_their_range() {
        let lines = [
            "a,tcp_ping,1,total,10,40",
            "a,tcp_ping,2,total,20,90",
            "a,tcp_ping,3,total,30,",
            "b,tcp_ping,1,total,5,0",
        ];
        let table = table_of(&request(|_| ()), "label,test,run,span,p50_us,p99_us", &lines);
        let chart = chart(&table, &request(|_| ())).unwrap();
        let panel = &chart.panels[0];
        assert_eq!(panel.x.ticks.iter().map(|tick| tick.text.as_str()).collect::<Vec<_>>(), ["50 %", "99 %"]);
        assert!(panel.y.scale.is_log);
        let Some(Mark::Line(line)) = panel.series[0].marks.last() else { panic!("{panel:?}") };
        assert_eq!(line.iter().map(|point| point.1).collect::<Vec<_>>(), [20.0, 65.0]);
        assert_eq!(panel.series[0].marks[0], Mark::Range { x: -0.025, low: 10.0, high: 30.0 });
        let Some(Mark::Line(line)) = panel.series[1].marks.last() else { panic!("{panel:?}") };
        assert_eq!(line.len(), 1, "zero has no place on a logarithmic axis");
    }
}
