//! Time series: a panel for each column, all over one axis of time, so that a drop above is seen beside its cause below.

mod drawn;

use std::collections::HashSet;

use anyhow::bail;

use super::rows::keys_of;
use super::words::{about_flagged, limit_series, title, values_axis};
use crate::chart::axis::multiples;
use crate::chart::{Arrangement, Axis, Chart, Dot, Mark, Panel, Point, Remark, Series, clock};
use crate::columns;
use crate::names;
use crate::plan::Request;
use crate::table::{Row, Table};
use drawn::Drawn;

/// The panel on top is the one that people look at first.
const TOP_WEIGHT: f64 = 1.6;

/// The chart of interval lines or, where there are none, of totals.
pub fn chart(table: &Table, request: &Request) -> anyhow::Result<Chart> {
    let has_intervals = table.rows.iter().any(|row| row.is_interval);
    let is_drawn = |row: &Row| row.is_interval == has_intervals && row.time.is_some();
    let mut rows: Vec<usize> = (0..table.rows.len()).filter(|index| is_drawn(&table.rows[*index])).collect();
    rows.sort_by(|one, other| {
        table.rows[*one].time.partial_cmp(&table.rows[*other].time).unwrap_or(std::cmp::Ordering::Equal)
    });
    let drawn: Vec<Drawn<'_>> = if request.y.is_empty() {
        drawn::suiting(table, &rows)
    } else {
        request.y.iter().map(|name| Drawn::asked(name)).collect()
    };
    if rows.is_empty() || drawn.is_empty() {
        bail!("no line has a time and a rate, a latency or an error (--y)");
    }
    // What has nothing to show needs no name either.
    let is_shown = |row: &usize| drawn.iter().any(|column| column.figure(table, *row).is_some());
    let keys = keys_of(table, &rows.iter().copied().filter(is_shown).collect::<Vec<_>>());
    let mut remarks = Vec::new();
    let mut legend = names::of(table, &keys, &[]);
    limit_series(&mut legend, &mut remarks);
    remarks.extend(about_totals(table, &rows).filter(|_| has_intervals));

    let is_elapsed = request.x.as_deref() == Some("elapsed");
    let spans: Vec<Vec<Stretch>> =
        keys[..legend.len()].iter().map(|key| stretches(table, &rows, *key, is_elapsed)).collect();
    let mut panels: Vec<Panel> = drawn.iter().map(|column| panel(table, request, column, &spans)).collect();
    let ends = spans.iter().flatten().flat_map(|stretch| &stretch.rows).fold(None, |ends: Option<Point>, spot| {
        let (first, last) = ends.unwrap_or((spot.begin, spot.end));
        Some((first.min(spot.begin), last.max(spot.end)))
    });
    let (first, last) = ends.unwrap_or_default();
    let x = if is_elapsed {
        clock::elapsed(first, last, "since the beginning of the run")
    } else {
        clock::axis(first, last)
    };
    for panel in &mut panels {
        panel.x.clone_from(&x);
    }
    panels[0].weight = TOP_WEIGHT;
    let what = columns::title(drawn[0].name) + " over time";
    Ok(Chart {
        title: title(&what, table, &keys),
        caption: about_flagged(table, &rows, request).trim_start_matches("; ").trim_end_matches(", not counted").into(),
        panels,
        legend,
        arrangement: Arrangement::SharedX,
        remarks,
    })
}

/// What is said of totals without intervals: they are another chart, and must not seem to be in this one.
fn about_totals(table: &Table, rows: &[usize]) -> Option<Remark> {
    let drawn: HashSet<usize> = rows.iter().map(|row| table.rows[*row].key).collect();
    let count = table.rows.iter().filter(|row| !row.is_interval && !drawn.contains(&row.key)).count();
    (count > 0).then_some(Remark::Totals { count })
}

/// What was measured without a gap, by one run.
struct Stretch {
    rows: Vec<Spot>,
}

/// One row's place in time.
struct Spot {
    row: usize,
    begin: f64,
    end: f64,
}

/// The stretches of a series. A stall has its interval lines, too, so that a gap is another run.
fn stretches(table: &Table, rows: &[usize], key: usize, is_elapsed: bool) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let (mut last, mut origin): (Option<(Row, f64)>, f64) = (None, 0.0);
    for &index in rows.iter().filter(|row| table.rows[**row].key == key) {
        let row = table.rows[index];
        let Some(begin) = row.time else { continue };
        let goes_on = last.is_some_and(|(before, end)| {
            !row.is_interval
                || (before.run == row.run && begin - end <= 1.5 * before.seconds.max(row.seconds).max(0.01))
        });
        if !goes_on {
            origin = if is_elapsed { begin } else { 0.0 };
            stretches.push(Stretch { rows: Vec::new() });
        }
        let end = begin + row.seconds;
        last = Some((row, end));
        if let Some(stretch) = stretches.last_mut() {
            stretch.rows.push(Spot { row: index, begin: begin - origin, end: end - origin });
        }
    }
    stretches
}

fn panel(table: &Table, request: &Request, column: &Drawn<'_>, spans: &[Vec<Stretch>]) -> Panel {
    let mut values = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    for (look, stretches) in spans.iter().enumerate() {
        let mut marks = Vec::new();
        for stretch in stretches {
            let mut line: Vec<Point> = Vec::new();
            let mut hollow = Vec::new();
            for spot in &stretch.rows {
                let row = &table.rows[spot.row];
                let Some(value) = column.figure(table, spot.row) else {
                    marks.extend((!line.is_empty()).then(|| Mark::Line(std::mem::take(&mut line))));
                    continue;
                };
                let at = (f64::midpoint(spot.begin, spot.end), value);
                values.push(value);
                line.push(at);
                if row.is_doubtful {
                    hollow.push(Dot { at, is_hollow: true });
                }
            }
            marks.extend((!line.is_empty()).then_some(Mark::Line(line)));
            marks.extend((!hollow.is_empty()).then_some(Mark::Dots(hollow)));
        }
        if !marks.is_empty() {
            series.push(Series { look, marks });
        }
    }
    let mut y = values_axis(column.name, &values, request);
    thin_ticks(&mut y);
    Panel { heading: String::new(), x: y.clone(), y, series, weight: 1.0 }
}

/// Panels below each other are low: every second tick is enough.
fn thin_ticks(axis: &mut Axis) {
    /// More would stand too close.
    const MOST: usize = 7;
    if axis.ticks.len() > MOST {
        let kept = multiples(0.0, axis.ticks.len() as f64 - 1.0, 2.0);
        axis.ticks = axis
            .ticks
            .drain(..)
            .enumerate()
            .filter(|(index, _)| kept.contains(&(*index as f64)))
            .map(|(_, tick)| tick)
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{request, table_of};

    const HEADER: &str = "time,label,test,run,span,seconds,errors,bytes_per_s,rtt_us,flags";

    fn lines(panel: &Panel) -> Vec<Vec<Point>> {
        let marks = panel.series.iter().flat_map(|series| &series.marks);
        marks.filter_map(|mark| if let Mark::Line(line) = mark { Some(line.clone()) } else { None }).collect()
    }

    #[test]
    fn throughput_is_above_and_what_explains_it_below() {
        let table = table_of(
            &request(|_| ()),
            HEADER,
            &[
                "2026-11-30T12:00:00Z,a,tcp_send,1,interval,1,0,5e6,400,",
                "2026-11-30T12:00:01Z,a,tcp_send,1,interval,1,3,4e6,500,",
                "2026-11-30T12:00:00Z,a,tcp_recv,1,interval,1,,5e6,9,",
                "2026-11-30T12:00:00Z,a,tcp_send,1,total,2,3,4.5e6,450,",
            ],
        );
        let chart = chart(&table, &request(|_| ())).unwrap();
        assert_eq!(chart.legend, ["tcp_send", "tcp_recv"]);
        let titles: Vec<_> = chart.panels.iter().map(|panel| panel.y.title.as_str()).collect();
        assert_eq!(titles, ["throughput, MB/s", "round-trip time, µs", "errors"]);
        assert_eq!(chart.panels[1].series.len(), 1, "a receiver knows no round-trip time");
        assert_eq!(lines(&chart.panels[0])[0].len(), 2, "the total is no point in time");
    }

    #[test]
    fn another_run_is_another_line_and_so_is_a_hole() {
        let table = table_of(
            &request(|_| ()),
            HEADER,
            &[
                "2026-11-30T12:00:00Z,a,tcp_send,1,interval,1,0,1,,",
                "2026-11-30T12:00:01Z,a,tcp_send,1,interval,1,0,2,,",
                "2026-11-30T12:00:02Z,a,tcp_send,2,interval,1,0,3,,partial",
                "2026-11-30T12:00:09Z,a,tcp_send,2,interval,1,0,4,,",
                "2026-11-30T12:00:10Z,a,tcp_send,2,interval,1,0,,,",
                "2026-11-30T12:00:11Z,a,tcp_send,2,interval,1,0,5,,",
            ],
        );
        let chart = |x: Option<&str>| chart(&table, &request(|request| request.x = x.map(String::from))).unwrap();
        let absolute = chart(None);
        assert_eq!(lines(&absolute.panels[0]).iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1, 1]);
        assert_eq!(absolute.caption, "hollow: flagged as doubtful");
        let elapsed = chart(Some("elapsed"));
        let first: Vec<f64> = lines(&elapsed.panels[0]).iter().map(|line| line[0].0).collect();
        assert_eq!(first, [0.5, 0.5, 0.5, 2.5]);
    }
}
