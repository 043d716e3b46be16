//! A rate over a setting that was varied: threads, streams, depth, block size. A panel for each test, a curve for each label.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use common::figures::median;
use common::schema::registry;

use super::rows::{by_test, keys_of, metric, totals};
use super::words::{about_flagged, limit_series, title, values_axis};
use crate::chart::axis::Fit;
use crate::chart::unit::{size_text, text_of};
use crate::chart::{Arrangement, Axis, Chart, Dot, Mark, Panel, Remark, Series};
use crate::columns;
use crate::names;
use crate::plan::Request;
use crate::table::Table;

/// More values than that are no setting but a measurement, and no curve but a cloud.
const MOST_STEPS: usize = 40;

/// The setting that varies in every test while all else stays the same, if there is one.
pub fn setting(table: &Table) -> Option<&'static str> {
    let rows = totals(table).ok()?;
    let keys = keys_of(table, &rows);
    let tests = by_test(table, &rows).len();
    let varies = |setting: &&str| {
        let mut left_out = names::following(table, &keys, &["test", setting]);
        left_out.push(setting);
        left_out.retain(|dimension| *dimension != "test");
        let groups = names::groups(table, &keys, &left_out);
        let mut seen = BTreeMap::new();
        let varied = keys.iter().zip(groups).filter(|(key, group)| {
            let value = table.value(**key, setting);
            value.parse::<f64>().is_ok() && *seen.entry(*group).or_insert(value) != value
        });
        varied.map(|(key, _)| table.value(*key, "test")).collect::<BTreeSet<_>>().len() == tests
    };
    registry::sweeps().into_iter().find(|setting| varies(setting))
}

/// The chart of total lines over a setting.
pub fn chart(table: &Table, request: &Request) -> anyhow::Result<Chart> {
    let Some(x) = request.x.as_deref().or_else(|| setting(table)) else {
        bail!("no setting varies while all else stays the same (--x names a column)");
    };
    // Each interval has its own round-trip time; what was set holds for the run.
    let intervals: Vec<usize> = (0..table.rows.len()).filter(|row| table.rows[*row].is_interval).collect();
    let lines = if registry::role(x).is_measured() && !intervals.is_empty() { intervals } else { totals(table)? };
    let rows: Vec<usize> = lines.iter().copied().filter(|row| table.figure(x, *row).is_some()).collect();
    if rows.is_empty() {
        bail!("no line has a number in {x} (--x)");
    }
    let keys = keys_of(table, &rows);
    // One series is the same in all panels, and has one name and look.
    let mut left_out = names::following(table, &keys, &["test", x]);
    left_out.extend([x, "test"]);
    let groups = names::groups(table, &keys, &left_out);
    let firsts: Vec<usize> = (0..).map_while(|group| groups.iter().position(|other| *other == group)).collect();
    let mut remarks = Vec::new();
    if rows.len() < lines.len() {
        remarks.push(Remark::Lines { x: x.into(), count: lines.len() - rows.len(), of: lines.len() });
    }
    let mut legend = names::of(table, &firsts.iter().map(|index| keys[*index]).collect::<Vec<_>>(), &left_out);
    limit_series(&mut legend, &mut remarks);

    let tests = by_test(table, &rows);
    let (mut panels, mut first_metric) = (Vec::new(), None);
    for (test, rows) in &tests {
        let metric = match metric(table, request, rows) {
            Ok(metric) => metric,
            Err(error) if tests.len() == 1 || !request.y.is_empty() => return Err(error),
            Err(_) => continue,
        };
        first_metric = first_metric.or(Some(metric));
        let look = |row: usize| groups[keys.iter().position(|key| *key == table.rows[row].key).unwrap_or_default()];
        let of_look =
            (0..legend.len()).map(|group| (group, rows.iter().copied().filter(|row| look(*row) == group).collect()));
        let mut panel = panel(table, request, (x, metric), &of_look.collect::<Vec<(usize, Vec<usize>)>>());
        panel.heading = if tests.len() > 1 { (*test).into() } else { String::new() };
        panels.push(panel);
    }
    let Some(first_metric) = first_metric else { bail!("no total line has a number to draw (--y)") };
    let marks = || panels.iter().flat_map(|panel: &Panel| &panel.series).flat_map(|series| &series.marks);
    let has_ranges = marks().any(|mark| matches!(mark, Mark::Range { .. }));
    let caption = if has_ranges { "curve: median of runs; bars: their smallest and largest" } else { "" };
    Ok(Chart {
        title: title(&format!("{} by {}", columns::title(first_metric), columns::title(x)), table, &keys),
        caption: (caption.to_owned() + about_flagged(table, &rows, request)).trim_start_matches("; ").into(),
        panels,
        legend,
        arrangement: Arrangement::Grid,
        remarks,
    })
}

fn panel(table: &Table, request: &Request, (x, metric): (&str, &str), series: &[(usize, Vec<usize>)]) -> Panel {
    let mut values = Vec::new();
    let mut steps = Vec::new();
    let mut drawn = Vec::new();
    for (look, rows) in series {
        let points: Vec<(f64, f64, bool)> = rows
            .iter()
            .filter_map(|row| Some((table.figure(x, *row)?, table.figure(metric, *row)?, table.rows[*row].is_doubtful)))
            .collect();
        values.extend(points.iter().map(|point| point.1));
        steps.extend(points.iter().map(|point| point.0));
        if !points.is_empty() {
            drawn.push(Series {
                look: *look,
                marks: marks(&points, registry::role(x).is_measured(), request.keeps_flagged),
            });
        }
    }
    let base = registry::unit(x);
    let text = |value| if base == "B" { size_text(value) } else { text_of(base, None, value) };
    Panel {
        heading: String::new(),
        x: if registry::role(x).is_measured() {
            Axis::of_values(&columns::title(x), base, None, &steps, Fit::Values)
        } else {
            Axis::of_settings(&columns::title(x), base, &steps, text)
        },
        y: values_axis(metric, &values, request),
        series: drawn,
        weight: 1.0,
    }
}

fn marks(points: &[(f64, f64, bool)], is_cloud: bool, keeps_flagged: bool) -> Vec<Mark> {
    let is_counted = |point: &&(f64, f64, bool)| keeps_flagged || !point.2;
    let dot = |point: &(f64, f64, bool)| Dot { at: (point.0, point.1), is_hollow: point.2 };
    let steps: BTreeSet<u64> = points.iter().map(|point| point.0.to_bits()).collect();
    if is_cloud || steps.len() > MOST_STEPS {
        return vec![Mark::Dots(points.iter().map(dot).collect())];
    }
    let mut steps: Vec<f64> = steps.into_iter().map(f64::from_bits).collect();
    steps.sort_unstable_by(f64::total_cmp);
    let (mut line, mut marks) = (Vec::new(), Vec::new());
    for step in steps {
        let mut runs: Vec<f64> = points
            .iter()
            .filter(is_counted)
            .filter(|point| point.0.total_cmp(&step).is_eq())
            .map(|point| point.1)
            .collect();
        runs.sort_unstable_by(f64::total_cmp);
        if let Some(median) = median::median(&runs) {
            line.push((step, median));
        }
        if let [low, .., high] = runs.as_slice() {
            marks.push(Mark::Range { x: step, low: *low, high: *high });
        }
    }
    let hollow: Vec<Dot> = points.iter().filter(|point| point.2).map(dot).collect();
    marks.extend((!hollow.is_empty()).then_some(Mark::Dots(hollow)));
    marks.extend((!line.is_empty()).then_some(Mark::Line(line)));
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{request, table_of};

    #[test]
    fn curves_are_labels_and_panels_are_tests() {
        let mut lines = Vec::new();
        for (label, factor) in [("bonded", 1.0), ("dedicated", 2.0)] {
            for test in ["seq_read", "rand_read"] {
                for threads in [4, 1, 2] {
                    for run in [1, 2] {
                        lines.push(format!(
                            "{label},{test},{run},total,{threads},{}",
                            factor * f64::from(threads * run)
                        ));
                    }
                }
            }
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let table = table_of(&request(|_| ()), "label,test,run,span,threads,bytes_per_s", &lines);
        assert_eq!(setting(&table), Some("threads"));
        let chart = chart(&table, &request(|_| ())).unwrap();
        assert_eq!(chart.legend, ["bonded", "dedicated"]);
        assert_eq!(
            chart.panels.iter().map(|panel| panel.heading.as_str()).collect::<Vec<_>>(),
            ["seq_read", "rand_read"]
        );
        let dedicated = &chart.panels[1].series[1];
        assert_eq!(dedicated.look, 1);
        assert_eq!(dedicated.marks[0], Mark::Range { x: 1.0, low: 2.0, high: 4.0 });
        assert_eq!(dedicated.marks.last(), Some(&Mark::Line(vec![(1.0, 3.0), (2.0, 6.0), (4.0, 12.0)])));
    }

    #[test]
    fn what_follows_from_the_setting_does_not_hide_it() {
        let lines = ["a,write,1,total,1,8388608,5", "a,write,1,total,4,2097152,9"];
        let table = table_of(&request(|_| ()), "label,test,run,span,threads,file_bytes,bytes_per_s", &lines);
        assert_eq!(setting(&table), Some("threads"));
        let chart = chart(&table, &request(|_| ())).unwrap();
        assert_eq!(chart.panels[0].series.len(), 1);
        let mixed = [lines[0], lines[1], "a,tcp_recv,1,total,,,7"];
        let table = table_of(&request(|_| ()), "label,test,run,span,threads,file_bytes,bytes_per_s", &mixed);
        assert_eq!(setting(&table), None, "a test without the setting would not be drawn");
    }

    #[test]
    fn a_measured_column_makes_a_cloud_of_intervals() {
        let lines = ["a,tcp_send,1,interval,400,5", "a,tcp_send,1,interval,500,4", "a,tcp_send,1,total,450,4.5"];
        let request = request(|request| request.x = Some("rtt_us".into()));
        let table = table_of(&request, "label,test,run,span,rtt_us,bytes_per_s", &lines);
        let chart = chart(&table, &request).unwrap();
        let dots = [(400.0, 5.0), (500.0, 4.0)].map(|at| Dot { at, is_hollow: false });
        assert_eq!(chart.panels[0].series[0].marks, [Mark::Dots(dots.into())]);
    }

    #[test]
    fn a_label_for_each_setting_is_no_sweep() {
        let lines = ["t1,seq_read,1,total,1,5", "t2,seq_read,1,total,2,6"];
        let table = table_of(&request(|_| ()), "label,test,run,span,threads,bytes_per_s", &lines);
        assert_eq!(setting(&table), None);
        assert!(chart(&table, &request(|_| ())).is_err());
    }
}
