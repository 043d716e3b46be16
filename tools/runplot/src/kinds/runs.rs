//! Runs as dots in a row for each label, with the median and its 95 % confidence interval: what `runstat` says, to look at.

use common::figures::median;

use super::rows::{by_test, keys_of, metric, totals};
use super::words::{about_flagged, title, values_axis};
use crate::chart::{Arrangement, Axis, Chart, Dot, Mark, Panel, Remark, Series};
use crate::columns;
use crate::names;
use crate::plan::Request;
use crate::table::Table;

/// Most rows of a chart.
const MOST_ROWS: usize = 40;

/// The confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// How far the dots of a row spread, of the distance between rows.
const SPREAD: f64 = 0.5;

/// The chart of total lines, a panel for each test.
pub fn chart(table: &Table, request: &Request) -> anyhow::Result<Chart> {
    let rows = totals(table)?;
    let keys = keys_of(table, &rows);
    let mut labels: Vec<&str> = Vec::new();
    for label in keys.iter().map(|key| table.value(*key, "label")) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let tests = by_test(table, &rows);
    let mut drawn = 0;
    let (mut panels, mut remarks, mut first_metric) = (Vec::new(), Vec::new(), None);
    for (test, rows) in &tests {
        let metric = match metric(table, request, rows) {
            Ok(metric) => metric,
            // A test without any rate beside others that have one.
            Err(error) if tests.len() == 1 || !request.y.is_empty() => return Err(error),
            Err(_) => continue,
        };
        first_metric = first_metric.or(Some(metric));
        let groups = group(table, request, rows, metric);
        let room = MOST_ROWS.saturating_sub(drawn);
        if groups.len() > room {
            remarks.push(Remark::Rows { test: (*test).into(), drawn: room, of: groups.len() });
        }
        let groups: Vec<_> = groups.into_iter().take(room).collect();
        drawn += groups.len();
        if !groups.is_empty() {
            panels.push(panel(table, request, test, metric, &groups, &labels, tests.len() > 1));
        }
    }
    let Some(first_metric) = first_metric.filter(|_| !panels.is_empty()) else {
        anyhow::bail!("no total line has a number to draw (--y)");
    };
    let caption = "bar: median; box: its 95 % confidence interval, from 6 runs on; dots: runs".to_owned();
    Ok(Chart {
        title: title(&(columns::title(first_metric) + " of runs"), table, &keys),
        caption: caption + about_flagged(table, &rows, request),
        panels,
        legend: Vec::new(),
        arrangement: Arrangement::Stacked,
        remarks,
    })
}

/// A row of the chart.
struct Group {
    name: String,
    key: usize,
    /// Value, and whether it is flagged.
    runs: Vec<(f64, bool)>,
}

fn group(table: &Table, request: &Request, rows: &[usize], metric: &str) -> Vec<Group> {
    let keys = keys_of(table, rows);
    let names = match request.x.as_deref() {
        Some(x) => keys.iter().map(|key| table.value(*key, x).to_owned()).collect(),
        None => names::of(table, &keys, &["test"]),
    };
    let mut groups: Vec<Group> = Vec::new();
    for row in rows {
        let Some(value) = table.figure(metric, *row) else { continue };
        let key = table.rows[*row].key;
        let name = keys.iter().position(|known| *known == key).map_or("", |index| names[index].as_str());
        let run = (value, table.rows[*row].is_doubtful);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { name: name.into(), key, runs: vec![run] }),
        }
    }
    groups
}

fn panel(
    table: &Table,
    request: &Request,
    test: &str,
    metric: &str,
    groups: &[Group],
    labels: &[&str],
    has_heading: bool,
) -> Panel {
    let values: Vec<f64> = groups.iter().flat_map(|group| &group.runs).map(|(value, _)| *value).collect();
    let series = groups.iter().enumerate().map(|(row, group)| {
        let label = labels.iter().position(|label| *label == table.value(group.key, "label")).unwrap_or_default();
        let look = if labels.len() > 1 { label } else { row };
        Series { look, marks: marks(row as f64, &group.runs, request.keeps_flagged) }
    });
    Panel {
        heading: if has_heading { test.into() } else { String::new() },
        x: values_axis(metric, &values, request),
        y: Axis::of_names(groups.iter().map(|group| group.name.clone()), true),
        series: series.collect(),
        weight: groups.len() as f64 + 1.5,
    }
}

fn marks(row: f64, runs: &[(f64, bool)], keeps_flagged: bool) -> Vec<Mark> {
    let mut counted: Vec<f64> =
        runs.iter().filter(|(_, is_flagged)| keeps_flagged || !is_flagged).map(|(value, _)| *value).collect();
    counted.sort_unstable_by(f64::total_cmp);
    let dots = runs.iter().enumerate().map(|(index, (value, is_hollow))| {
        // The golden ratio spreads any number of dots evenly, and the same ones always alike.
        let offset = if runs.len() > 1 { (index as f64 * 0.618).fract() - 0.5 } else { 0.0 };
        Dot { at: (*value, row + offset * SPREAD), is_hollow: *is_hollow }
    });
    let mut marks = Vec::new();
    marks.extend(median::median(&counted).map(|value| {
        let interval = median::interval(&counted, CONFIDENCE).map(|interval| (interval.low, interval.high));
        Mark::Median { row, value, interval }
    }));
    marks.push(Mark::Dots(dots.collect()));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{request, table_of};

    #[test]
    fn a_row_has_its_runs_and_their_median() {
        let lines: Vec<String> = (1..=7).map(|run| format!("a,tcp_recv,{run},total,{run}e6,")).collect();
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.extend(["b,tcp_recv,1,total,5e6,", "b,tcp_recv,2,total,50e6,partial"]);
        let table = table_of(&request(|_| ()), "label,test,run,span,bytes_per_s,flags", &lines);
        let chart = |keeps| chart(&table, &request(|request| request.keeps_flagged = keeps)).unwrap();
        let panel = &chart(false).panels[0];
        assert_eq!(panel.y.ticks.iter().map(|tick| tick.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(
            panel.series[0].marks[0],
            Mark::Median { row: 0.0, value: 4e6, interval: Some((1e6, 7e6)) },
            "not a single pair of order statistics but the extremes covers the median of seven with 95 %"
        );
        assert_eq!(panel.series[1].marks[0], Mark::Median { row: 1.0, value: 5e6, interval: None });
        assert!(chart(false).caption.contains("not counted"));
        assert_eq!(chart(true).panels[0].series[1].marks[0], Mark::Median { row: 1.0, value: 27.5e6, interval: None });
    }

    #[test]
    fn every_test_has_its_panel_and_the_metric_that_it_has() {
        let lines = ["a,write,1,total,5e6,100", "a,create,1,total,0,700", "b,create,1,total,,800"];
        let table = table_of(&request(|_| ()), "label,test,run,span,bytes_per_s,ops_per_s", &lines);
        let chart = chart(&table, &request(|_| ())).unwrap();
        let titles: Vec<_> =
            chart.panels.iter().map(|panel| (panel.heading.as_str(), panel.x.title.as_str())).collect();
        assert_eq!(titles, [("write", "throughput, MB/s"), ("create", "operations per second, 1/s")]);
    }
}
