//! Runs as dots in a row for each label, with the median and its 95 % confidence interval: what `runstat` says, to look at.

use common::figures::median;

use super::rows::{by_test, is_request, keys_of, metric, totals};
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
    let bundles = bundles(table, request, by_test(table, &rows))?;
    let mut drawn = 0;
    let (mut panels, mut remarks) = (Vec::new(), Vec::new());
    for bundle in &bundles {
        let groups = group(table, request, bundle);
        let room = MOST_ROWS.saturating_sub(drawn);
        if groups.len() > room {
            remarks.push(Remark::Rows { test: bundle.tests.join(", "), drawn: room, of: groups.len() });
        }
        let groups: Vec<_> = groups.into_iter().take(room).collect();
        drawn += groups.len();
        if !groups.is_empty() {
            panels.push(panel(table, request, bundle, &groups, &labels, bundles.len() > 1));
        }
    }
    let Some(first_metric) = bundles.first().map(|bundle| bundle.metric).filter(|_| !panels.is_empty()) else {
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

/// What stands in one panel.
struct Bundle<'a> {
    tests: Vec<&'a str>,
    metric: &'a str,
    rows: Vec<usize>,
    /// A row is a test.
    is_of_phases: bool,
}

/// A bundle for each test; of tests that were measured in one way each, as the phases of one tree of files, one for each
/// metric: they are compared with each other.
fn bundles<'a>(
    table: &'a Table,
    request: &'a Request,
    tests: Vec<(&'a str, Vec<usize>)>,
) -> anyhow::Result<Vec<Bundle<'a>>> {
    let is_alone = |(_, rows): &(&str, Vec<usize>)| keys_of(table, rows).len() == 1;
    let is_of_phases = request.x.is_none() && tests.len() > 1 && tests.iter().all(is_alone);
    let all = if is_of_phases { metric_of_all(table, request, &tests) } else { None };
    let is_only = tests.len() == 1;
    let mut bundles: Vec<Bundle<'a>> = Vec::new();
    for (test, rows) in tests {
        let metric = match all.map_or_else(|| metric(table, request, &rows), Ok) {
            Ok(metric) => metric,
            // A test without any rate beside others that have one.
            Err(error) if is_only || !request.y.is_empty() => return Err(error),
            Err(_) => continue,
        };
        match bundles.iter_mut().find(|bundle| is_of_phases && bundle.metric == metric) {
            Some(bundle) => {
                bundle.tests.push(test);
                bundle.rows.extend(rows);
            }
            None => bundles.push(Bundle { tests: vec![test], metric, rows, is_of_phases }),
        }
    }
    Ok(bundles)
}

/// The rate that all tests have, if nobody asks for one: how many files a second are created, and how many looked up.
fn metric_of_all<'a>(table: &Table, request: &Request, tests: &[(&str, Vec<usize>)]) -> Option<&'a str> {
    let has_it =
        |name: &str, rows: &[usize]| rows.iter().any(|row| table.figure(name, *row).is_some_and(|value| value > 0.0));
    let is_free = request.y.is_empty() && !tests.iter().any(|(test, _)| is_request(test));
    columns::rates().into_iter().find(|name| is_free && tests.iter().all(|(_, rows)| has_it(name, rows)))
}

/// A row of the chart.
struct Group {
    name: String,
    key: usize,
    /// Value, and whether it is flagged.
    runs: Vec<(f64, bool)>,
}

fn group(table: &Table, request: &Request, Bundle { metric, rows, is_of_phases, .. }: &Bundle<'_>) -> Vec<Group> {
    let keys = keys_of(table, rows);
    let names = match request.x.as_deref() {
        Some(x) => keys.iter().map(|key| table.value(*key, x).to_owned()).collect(),
        None if *is_of_phases => keys.iter().map(|key| table.value(*key, "test").to_owned()).collect(),
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
    bundle: &Bundle<'_>,
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
        heading: if has_heading && !bundle.is_of_phases { bundle.tests.join(", ") } else { String::new() },
        x: values_axis(bundle.metric, &values, request),
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
    fn phases_of_one_run_are_rows_of_one_panel() {
        let lines = ["a,create,1,total,5e6,100", "a,stat,1,total,0,700", "a,delete,1,total,,800"];
        let table = table_of(&request(|_| ()), "label,test,run,span,bytes_per_s,ops_per_s", &lines);
        let of = |chart: &Chart| {
            let names =
                |panel: &Panel| panel.y.ticks.iter().map(|tick| tick.text.clone()).collect::<Vec<_>>().join(" ");
            chart.panels.iter().map(|panel| (panel.x.title.clone(), names(panel))).collect::<Vec<_>>()
        };
        let operations = ("operations per second, 1/s".to_owned(), "create stat delete".to_owned());
        assert_eq!(of(&chart(&table, &request(|_| ())).unwrap()), [operations], "which all of them have");
        let lines = ["a,tcp_recv,1,total,5e6,100", "a,udp_recv,1,total,6e6,", "a,tcp_ping,1,total,1e3,70"];
        let table = table_of(&request(|_| ()), "label,test,run,span,bytes_per_s,p50_us", &lines);
        let panels = of(&chart(&table, &request(|_| ())).unwrap());
        assert_eq!(
            panels.iter().map(|(_, names)| names.as_str()).collect::<Vec<_>>(),
            ["tcp_recv udp_recv", "tcp_ping"]
        );
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
