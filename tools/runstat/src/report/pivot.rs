//! `--pivot`: a table with a column for each value of one of the groups' columns, as reports have it.

use common::output::grid::{Column, Grid};

use super::{Report, part, quoted, style};
use crate::args::CellKind;
use crate::comparison::Summary;
use crate::distinct::distinct;
use crate::figures::{Unit, percent, text_in};
use crate::plan::{Against, Pivot};
use crate::record::Recorder;

impl<'a> Report<'a> {
    /// The table; for CSV with all columns, and figures in base units.
    pub fn pivot(&self, pivot: Pivot, is_csv: bool) -> Grid {
        let Recorder { plan, findings, .. } = self.recorder;
        let values = distinct(findings.groups.iter().map(|group| group.key[pivot.column].as_str()));
        let rests = distinct(findings.summaries.iter().map(|summary| self.rest(summary.group, pivot)));
        let is_row = |rest: &&Vec<&str>| {
            let is_baseline = |against: &Against| {
                let along = against.along - usize::from(against.along > pivot.column);
                against.along != pivot.column && rest[along] == against.baseline
            };
            pivot.cell != CellKind::Verdict || !plan.against.as_ref().is_some_and(is_baseline)
        };
        let metrics = distinct(findings.summaries.iter().map(|summary| summary.metric));
        let names: Vec<_> = plan.by.iter().enumerate().filter(|(index, _)| *index != pivot.column).collect();
        let varies = |place: usize| distinct(rests.iter().map(|rest| rest[place])).len() > 1;
        let shown: Vec<usize> = (0..names.len()).filter(|place| is_csv || varies(*place)).collect();
        let mut table = Grid { title: self.pivot_title(&metrics, pivot), ..Grid::default() };
        table.columns = shown.iter().map(|place| Column::words(names[*place].1)).collect();
        for value in &values {
            if is_csv && metrics.len() > 1 {
                let titles = metrics.iter().map(|metric| format!("{value} {}", plan.metrics[*metric]));
                table.columns.extend(titles.map(|title| Column::numbers(&title)));
            } else {
                let column = Column::numbers(value);
                table.columns.push(if self.has_colors { column.styled(style) } else { column });
            }
        }
        for rest in rests.iter().filter(is_row) {
            let mut row: Vec<String> = shown.iter().map(|place| rest[*place].to_owned()).collect();
            for value in &values {
                let cells: Vec<String> =
                    metrics.iter().map(|metric| self.cell(pivot, rest, value, *metric, is_csv)).collect();
                if is_csv { row.extend(cells) } else { row.push(cells.join(" ").trim().to_owned()) }
            }
            table.rows.push(row);
        }
        table
    }

    /// The values of all columns but the pivot's.
    fn rest(&self, group: usize, pivot: Pivot) -> Vec<&'a str> {
        let findings = self.recorder.findings;
        let key = findings.groups[group].key.iter().enumerate();
        key.filter(|(index, _)| *index != pivot.column).map(|(_, value)| value.as_str()).collect()
    }

    fn cell(&self, pivot: Pivot, rest: &[&str], value: &str, metric: usize, is_csv: bool) -> String {
        let findings = self.recorder.findings;
        let is_it = |summary: &Summary| {
            summary.metric == metric
                && findings.groups[summary.group].key[pivot.column] == value
                && self.rest(summary.group, pivot) == rest
        };
        let Some(index) = findings.summaries.iter().position(is_it) else { return String::new() };
        let (summary, unit) = (&findings.summaries[index], self.unit(metric));
        let figure = match pivot.cell {
            CellKind::Median => summary.median,
            CellKind::Mean => summary.mean,
            CellKind::Min => summary.extremes.map(|(min, _)| min),
            CellKind::Max => summary.extremes.map(|(_, max)| max),
            CellKind::N => return summary.n.to_string(),
            CellKind::Verdict => {
                let Some(comparison) = findings.comparison(index) else { return String::new() };
                let ratio = comparison.ratio.map(|ratio| percent(ratio.estimate) + " ").unwrap_or_default();
                return ratio + &comparison.verdict.words(self.recorder.plan.threshold);
            }
        };
        match figure {
            Some(figure) if is_csv => figure.to_string(),
            Some(figure) if unit.name == "%" => text_in(unit, figure) + "%",
            Some(figure) => text_in(unit, figure),
            None => String::new(),
        }
    }

    /// A table has one unit for all that it says of a metric.
    fn unit(&self, metric: usize) -> Unit {
        let summaries = self.recorder.findings.summaries.iter();
        part::unit_of(&self.recorder, summaries.filter(move |summary| summary.metric == metric))
    }

    fn pivot_title(&self, metrics: &[usize], pivot: Pivot) -> String {
        let plan = self.recorder.plan;
        let what = match pivot.cell {
            CellKind::Median => "median",
            CellKind::Mean => "mean",
            CellKind::Min => "smallest",
            CellKind::Max => "largest",
            CellKind::N => "number of runs",
            CellKind::Verdict => "ratio and verdict",
        };
        let metrics: Vec<_> = metrics.iter().map(|metric| self.metric_words(*metric, self.unit(*metric))).collect();
        let mut title = format!("{what} of {}", metrics.join(", "));
        if let (CellKind::Verdict, Some(against)) = (pivot.cell, &plan.against) {
            title.extend(["; compared with ", &quoted(&against.baseline)]);
        }
        title
    }
}
