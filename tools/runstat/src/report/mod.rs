//! The findings as tables: one for each metric, or one with a column for each value of `--pivot`.

mod keys;
mod part;
mod pivot;

use common::output::grid::{Column, Grid};

use crate::comparison::{Comparison, Summary};
use crate::figures::{Unit, percent, probability, text_in};
use crate::means::{self, GeometricMean};
use crate::plan::{Against, better_word};
use crate::record::Recorder;
use crate::statistics::Interval;
use keys::Keys;
use part::Part;

/// The columns of a table of statistics: what goes first where there is no room has the highest number.
const STATISTICS: [(&str, u8); 9] = [
    ("n", 2),
    ("median", 1),
    ("95 % interval", 3),
    ("mean", 5),
    ("sd", 6),
    ("min", 7),
    ("max", 8),
    ("cv", 4),
    ("outliers", 9),
];

/// Those of a comparison. A verdict is what it is for.
const COMPARISONS: [(&str, u8); 8] = [
    ("n", 5),
    ("baseline", 6),
    ("median", 3),
    ("ratio", 2),
    ("95 % interval", 4),
    ("of means", 8),
    ("p", 7),
    ("verdict", 1),
];

/// Makes tables of findings.
pub struct Report<'a> {
    pub recorder: Recorder<'a>,
    has_colors: bool,
}

impl<'a> Report<'a> {
    /// Of these.
    pub fn new(recorder: Recorder<'a>, has_colors: bool) -> Self {
        Self { recorder, has_colors }
    }

    /// The tables, for so many characters.
    pub fn tables(&self, width: usize) -> Vec<Grid> {
        let plan = self.recorder.plan;
        if let Some(pivot) = plan.pivot {
            return self.pivot(pivot, false).folded(width);
        }
        let mut parts = part::parts(&self.recorder);
        match &plan.against {
            Some(against) => {
                let findings = self.recorder.findings;
                parts.retain(|part| part.summaries.iter().any(|index| findings.comparison(*index).is_some()));
                // What is about several tables stands below the last of them.
                let is_last = |index: usize| parts[index + 1..].iter().all(|part| part.metric != parts[index].metric);
                let tables = parts.iter().enumerate();
                tables.map(|(index, part)| self.comparisons(part, against, is_last(index))).collect()
            }
            None => parts.iter().map(|part| self.statistics(part)).collect(),
        }
    }

    fn statistics(&self, part: &Part) -> Grid {
        let summaries: Vec<_> = part.summaries.iter().map(|index| &self.recorder.findings.summaries[*index]).collect();
        let keys = Keys::of(&self.recorder, summaries.iter().map(|summary| summary.group), None);
        let mut table = Grid { title: self.title(part, &keys), ..Grid::default() };
        table.columns = keys.columns(&self.recorder);
        let has_interval = summaries.iter().any(|summary| summary.interval.is_some());
        let has_outliers = summaries.iter().any(|summary| summary.outliers > 0);
        let has_several = summaries.iter().any(|summary| summary.n > 1);
        let is_shown = |name: &str| match name {
            "n" | "median" => true,
            "95 % interval" => has_interval,
            "outliers" => has_outliers,
            _ => has_several,
        };
        let figures: Vec<_> = STATISTICS.into_iter().filter(|(name, _)| is_shown(name)).collect();
        table.columns.extend(figures.iter().map(|(name, worth)| match *name {
            "outliers" => Column::words(name).worth(*worth),
            _ => Column::numbers(name).worth(*worth),
        }));
        for summary in summaries {
            let mut row = keys.cells(&self.recorder, summary.group);
            row.extend(figures.iter().map(|(name, _)| self.figure(summary, name, part.unit)));
            table.rows.push(row);
        }
        table
    }

    /// One run's number stands once.
    fn figure(&self, summary: &Summary, name: &str, unit: Unit) -> String {
        if summary.n == 1 && !["n", "median"].contains(&name) {
            return String::new();
        }
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

    fn comparisons(&self, part: &Part, against: &Against, is_last: bool) -> Grid {
        let findings = self.recorder.findings;
        let is_of_part = |comparison: &&Comparison| part.summaries.contains(&comparison.of);
        let rows: Vec<_> = findings.comparisons.iter().filter(is_of_part).collect();
        let groups = rows.iter().map(|comparison| findings.summaries[comparison.of].group);
        let keys = Keys::of(&self.recorder, groups, Some(against.along));
        let title = format!("{}; compared with {}", self.title(part, &keys), quoted(&against.baseline));
        let mut table = Grid { title, ..Grid::default() };
        table.columns = keys.columns(&self.recorder);
        let has_interval = |comparison: &&Comparison| {
            comparison.ratio.or(comparison.difference).is_some_and(|shift| shift.interval.is_some())
        };
        let is_shown = |name: &str| match name {
            "95 % interval" => rows.iter().any(has_interval),
            "p" => rows.iter().any(|comparison| comparison.test.is_some()),
            _ => true,
        };
        let figures: Vec<_> = COMPARISONS.into_iter().filter(|(name, _)| is_shown(name)).collect();
        table.columns.extend(figures.iter().map(|(name, worth)| match *name {
            "verdict" if self.has_colors => Column::words(name).worth(*worth).styled(style),
            "verdict" => Column::words(name).worth(*worth),
            _ => Column::numbers(name).worth(*worth),
        }));
        for comparison in rows {
            let mut row = keys.cells(&self.recorder, findings.summaries[comparison.of].group);
            row.extend(figures.iter().map(|(name, _)| self.comparison_figure(comparison, name, part.unit)));
            table.rows.push(row);
        }
        let test_column = self.recorder.plan.by_index("test");
        let has_test = |test: &str| {
            let groups = part.summaries.iter().map(|index| &findings.groups[findings.summaries[*index].group]);
            test_column.is_some_and(|column| groups.into_iter().any(|group| group.key[column] == test))
        };
        let is_here = |mean: &&GeometricMean| {
            mean.metric == part.metric && if mean.test.is_empty() { is_last } else { has_test(&mean.test) }
        };
        for mean in means::of(self.recorder.findings, self.recorder.plan).iter().filter(is_here) {
            let key = keys.places.iter().map(|&column| match column {
                column if column == against.along => mean.side.clone(),
                column if Some(column) == test_column => mean.test.clone(),
                _ => String::new(),
            });
            let mut row: Vec<String> = key.collect();
            row.extend(figures.iter().map(|(name, _)| match *name {
                "ratio" => percent(mean.ratio),
                "verdict" => format!("geomean of {}", mean.groups),
                _ => String::new(),
            }));
            table.rows.push(row);
        }
        table
    }

    fn comparison_figure(&self, comparison: &Comparison, name: &str, unit: Unit) -> String {
        let findings = self.recorder.findings;
        let here = &findings.summaries[comparison.of];
        let there = comparison.baseline.map(|baseline| &findings.summaries[baseline]);
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

    fn metric_words(&self, metric: usize, unit: Unit) -> String {
        let name = &self.recorder.plan.metrics[metric];
        if unit.name.is_empty() { name.clone() } else { format!("{name} in {}", unit.name) }
    }

    fn title(&self, part: &Part, keys: &Keys) -> String {
        let better = match better_word(&self.recorder.plan.metrics[part.metric]) {
            "" => String::new(),
            word => format!(", {word} is better"),
        };
        let mut title = self.metric_words(part.metric, part.unit) + &better;
        for (name, value) in &keys.constant {
            title.extend(["; ", name, " ", &quoted(value)]);
        }
        title
    }
}

/// Green is better and red is worse (ECMA-48, select graphic rendition).
fn style(cell: &str) -> Option<&'static str> {
    // In a pivot, the ratio stands before the word.
    match cell.rsplit(' ').next() {
        Some("better") => Some("32"),
        Some("worse") => Some("31"),
        _ => None,
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
