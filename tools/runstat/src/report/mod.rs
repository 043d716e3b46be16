//! The findings as tables: one for each metric, or one with a column for each value of `--pivot`.

mod keys;
mod pivot;

use common::output::grid::{Column, Grid};
use common::schema::registry;

use crate::comparison::{Comparison, Summary};
use crate::distinct::distinct;
use crate::figures::{Unit, percent, probability, suiting, text_in};
use crate::means;
use crate::plan::{Against, better_word};
use crate::record::Recorder;
use crate::statistics::Interval;
use keys::Keys;

/// Makes tables of findings.
pub struct Report<'a> {
    recorder: Recorder<'a>,
    units: Vec<Unit>,
}

impl<'a> Report<'a> {
    /// Chooses a unit for each metric.
    pub fn new(recorder: Recorder<'a>) -> Self {
        let findings = recorder.findings;
        let units = (0..recorder.plan.metrics.len()).map(|metric| {
            let of_metric = || findings.summaries.iter().filter(move |summary| summary.metric == metric);
            suiting(
                registry::unit(&recorder.plan.metrics[metric]),
                recorder.plan.unit,
                of_metric().filter_map(|summary| summary.median),
            )
        });
        Self { units: units.collect(), recorder }
    }

    /// The tables.
    pub fn tables(&self) -> Vec<Grid> {
        let plan = self.recorder.plan;
        if let Some(pivot) = plan.pivot {
            return vec![self.pivot(pivot, false)];
        }
        let metrics = distinct(self.recorder.findings.summaries.iter().map(|summary| summary.metric));
        match &plan.against {
            Some(against) => metrics.into_iter().map(|metric| self.comparisons(metric, against)).collect(),
            None => metrics.into_iter().map(|metric| self.statistics(metric)).collect(),
        }
    }

    fn statistics(&self, metric: usize) -> Grid {
        let findings = self.recorder.findings;
        let of_metric: Vec<_> = findings.summaries.iter().filter(|summary| summary.metric == metric).collect();
        let keys = Keys::of(&self.recorder, of_metric.iter().map(|summary| summary.group), None);
        let mut table = Grid { title: self.title(metric, &keys), ..Grid::default() };
        table.columns = keys.columns(&self.recorder);
        let has_interval = of_metric.iter().any(|summary| summary.interval.is_some());
        let has_outliers = of_metric.iter().any(|summary| summary.outliers > 0);
        let figures = ["n", "median", "95 % interval", "mean", "sd", "min", "max", "cv", "outliers"];
        let is_shown = |name: &&str| match *name {
            "95 % interval" => has_interval,
            "outliers" => has_outliers,
            _ => true,
        };
        table.columns.extend(figures.iter().filter(|name| is_shown(name)).map(|name| match *name {
            "outliers" => Column::words(name),
            _ => Column::numbers(name),
        }));
        for summary in of_metric {
            let mut row = keys.cells(&self.recorder, summary.group);
            row.extend(figures.iter().filter(|name| is_shown(name)).map(|&name| self.figure(summary, name)));
            table.rows.push(row);
        }
        table
    }

    fn figure(&self, summary: &Summary, name: &str) -> String {
        let unit = self.units[summary.metric];
        let text = |value: Option<f64>| value.map(|value| text_in(unit, value)).unwrap_or_default();
        match name {
            "n" => summary.n.to_string(),
            "median" => text(summary.median),
            "95 % interval" => {
                summary.interval.map(|interval| range(interval, |value| text_in(unit, value))).unwrap_or_default()
            }
            "mean" => text(summary.mean),
            "sd" => text(summary.stddev),
            "min" => text(summary.extremes.map(|(min, _)| min)),
            "max" => text(summary.extremes.map(|(_, max)| max)),
            "cv" => summary.variation_pct().map(|pct| format!("{pct:.1} %")).unwrap_or_default(),
            _ => match summary.first_outliers.first() {
                Some((value, spot)) => {
                    let more = if summary.outliers > 1 {
                        format!(" and {} more", summary.outliers - 1)
                    } else {
                        String::new()
                    };
                    format!("{} ({}){more}", text_in(unit, *value), self.recorder.place(*spot))
                }
                None if summary.outliers > 0 => summary.outliers.to_string(),
                None => String::new(),
            },
        }
    }

    fn comparisons(&self, metric: usize, against: &Against) -> Grid {
        let findings = self.recorder.findings;
        let of_metric = |comparison: &&Comparison| findings.summaries[comparison.of].metric == metric;
        let rows: Vec<_> = findings.comparisons.iter().filter(of_metric).collect();
        let groups = rows.iter().map(|comparison| findings.summaries[comparison.of].group);
        let keys = Keys::of(&self.recorder, groups, Some(against.along));
        let title = format!("{}; compared with {}", self.title(metric, &keys), quoted(&against.baseline));
        let mut table = Grid { title, ..Grid::default() };
        table.columns = keys.columns(&self.recorder);
        let figures = ["n", "baseline", "median", "ratio", "95 % interval", "of means", "p", "verdict"];
        table.columns.extend(figures.iter().map(|name| match *name {
            "verdict" => Column::words(name),
            _ => Column::numbers(name),
        }));
        for comparison in rows {
            let mut row = keys.cells(&self.recorder, findings.summaries[comparison.of].group);
            row.extend(figures.map(|name| self.comparison_figure(comparison, name)));
            table.rows.push(row);
        }
        for mean in means::of(self.recorder.findings, self.recorder.plan).iter().filter(|mean| mean.metric == metric) {
            let test_column = self.recorder.plan.by_index("test");
            let key = keys.places.iter().map(|&column| match column {
                column if column == against.along => mean.side.clone(),
                column if Some(column) == test_column => mean.test.clone(),
                _ => String::new(),
            });
            let mut row: Vec<String> = key.collect();
            let text = format!("geometric mean of {}", mean.groups);
            row.extend(["", "", "", &percent(mean.ratio), "", "", "", &text].map(String::from));
            table.rows.push(row);
        }
        table
    }

    fn comparison_figure(&self, comparison: &Comparison, name: &str) -> String {
        let findings = self.recorder.findings;
        let here = &findings.summaries[comparison.of];
        let there = comparison.baseline.map(|baseline| &findings.summaries[baseline]);
        let unit = self.units[here.metric];
        let is_alone = comparison.verdict == crate::verdict::Verdict::OnlyBaseline;
        let text = |value: Option<f64>| value.map(|value| text_in(unit, value)).unwrap_or_default();
        match name {
            "n" if is_alone => format!("{} / 0", here.n),
            "n" => format!("{} / {}", there.map_or(0, |there| there.n), here.n),
            "baseline" => text(if is_alone { here.median } else { there.and_then(|there| there.median) }),
            "median" => {
                if is_alone {
                    String::new()
                } else {
                    text(here.median)
                }
            }
            "ratio" => match (comparison.ratio, comparison.difference) {
                (Some(ratio), _) => percent(ratio.estimate),
                (None, Some(difference)) => signed(difference.estimate, unit),
                _ => String::new(),
            },
            "95 % interval" => {
                let ratio = comparison
                    .ratio
                    .map(|ratio| ratio.interval.map(|interval| range(interval, |r| format!("{:.1}", 100.0 * r))));
                let difference =
                    || comparison.difference?.interval.map(|interval| range(interval, |d| signed(d, unit)));
                ratio.unwrap_or_else(difference).unwrap_or_default()
            }
            "of means" => comparison.mean_ratio.map(percent).unwrap_or_default(),
            "p" => comparison.test.map(|(_, adjusted)| probability(adjusted)).unwrap_or_default(),
            _ => comparison.verdict.words(self.recorder.plan.threshold),
        }
    }

    fn metric_words(&self, metric: usize) -> String {
        let (name, unit) = (&self.recorder.plan.metrics[metric], self.units[metric].name);
        if unit.is_empty() { name.clone() } else { format!("{name} in {unit}") }
    }

    fn title(&self, metric: usize, keys: &Keys) -> String {
        let better = match better_word(&self.recorder.plan.metrics[metric]) {
            "" => String::new(),
            word => format!(", {word} is better"),
        };
        let mut title = self.metric_words(metric) + &better;
        for (name, value) in &keys.constant {
            title.extend(["; ", name, " ", &quoted(value)]);
        }
        title
    }
}

fn range(interval: Interval, text: impl Fn(f64) -> String) -> String {
    format!("{}..{}", text(interval.low), text(interval.high))
}

fn signed(value: f64, unit: Unit) -> String {
    if value > 0.0 { format!("+{}", text_in(unit, value)) } else { text_in(unit, value) }
}

fn quoted(value: &str) -> String {
    if value.is_empty() || value.contains(' ') { format!("'{value}'") } else { value.to_owned() }
}
