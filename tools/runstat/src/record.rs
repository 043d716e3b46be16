//! From findings to lines: pure arithmetic.

use common::output;
use common::schema::runstat::{Group as Own, SCHEMA};
use common::schema::{Decimal, Fixed, registry};
use serde::Serialize;

use crate::comparison::{Comparison, Findings, Summary};
use crate::group::Group;
use crate::means::{self, GeometricMean};
use crate::plan::{Plan, better_word};
use crate::sample::Spot;
use crate::statistics::rank::Method;

/// The shared columns; unlike a tool that measures, this one says again what others wrote.
#[derive(Debug, Default, Serialize)]
pub struct Shared {
    pub schema: &'static str,
    pub time: String,
    pub host: String,
    pub label: String,
    pub test: String,
    pub target: String,
    pub run: Option<u64>,
    pub span: &'static str,
    pub seconds: Option<Fixed<6>>,
    pub bytes: Option<Decimal>,
    pub ops: Option<Decimal>,
    pub errors: Option<Decimal>,
    pub bytes_per_s: Option<Fixed<1>>,
    pub ops_per_s: Option<Fixed<3>>,
    pub cpu_pct: Option<Fixed<2>>,
    pub host_cpu_pct: Option<Fixed<2>>,
    pub flags: String,
}

impl Shared {
    /// The shared columns of a group.
    pub fn of(group: &Group, plan_by: &[String], n: u64) -> Self {
        let cell = |name: &str| {
            let index = plan_by.iter().position(|column| column == name);
            index.map(|index| group.key[index].clone()).unwrap_or_default()
        };
        let [seconds, bytes, ops, errors] = group.sums.values();
        let rate = |amount: Option<f64>| Some((amount?, seconds?));
        Self {
            schema: SCHEMA.tag,
            time: group.began.0.clone(),
            host: group.host.clone().unwrap_or_default(),
            label: cell("label"),
            test: cell("test"),
            target: cell("target"),
            run: Some(n),
            span: "total",
            seconds: seconds.and_then(Fixed::new),
            bytes: bytes.and_then(Decimal::new),
            ops: ops.and_then(Decimal::new),
            errors: errors.and_then(Decimal::new),
            bytes_per_s: rate(bytes).and_then(|(bytes, seconds)| Fixed::ratio(bytes, seconds)),
            ops_per_s: rate(ops).and_then(|(ops, seconds)| Fixed::ratio(ops, seconds)),
            flags: group.flags.iter().cloned().collect::<Vec<_>>().join(" "),
            ..Self::default()
        }
    }
}

/// Writes findings as lines.
#[derive(Debug, Clone, Copy)]
pub struct Recorder<'a> {
    pub plan: &'a Plan,
    pub files: &'a [String],
    pub findings: &'a Findings,
}

impl Recorder<'_> {
    /// All lines: groups, then geometric means.
    pub fn lines(&self) -> anyhow::Result<Vec<String>> {
        let groups = (0..self.findings.summaries.len()).map(|index| self.group_line(index));
        groups.chain(means::of(self.findings, self.plan).iter().map(|mean| self.mean_line(mean))).collect()
    }

    fn group_line(&self, index: usize) -> anyhow::Result<String> {
        let summary = &self.findings.summaries[index];
        let group = &self.findings.groups[summary.group];
        let mut own = Own {
            row: "group",
            of: group.tag.clone(),
            by: self.other_columns(group),
            unit: registry::unit(&self.plan.metrics[summary.metric]).to_owned(),
            left_out: group.left_out,
            ..self.figures(summary)
        };
        if let Some(comparison) = self.findings.comparison(index) {
            self.add_comparison(&mut own, comparison);
        }
        output::tamed_line_of(&(Shared::of(group, &self.plan.by, summary.n), own))
    }

    fn figures(&self, summary: &Summary) -> Own {
        let metric = &self.plan.metrics[summary.metric];
        let (interval, extremes) = (summary.interval, summary.extremes);
        let outliers = summary.first_outliers.iter().map(|(value, spot)| format!("{value}@{}", self.place(*spot)));
        Own {
            metric: metric.clone(),
            better: better_word(metric),
            n: summary.n,
            min: extremes.and_then(|(min, _)| Decimal::new(min)),
            median: summary.median.and_then(Decimal::new),
            median_low: interval.and_then(|interval| Decimal::new(interval.low)),
            median_high: interval.and_then(|interval| Decimal::new(interval.high)),
            confidence_pct: interval.and_then(|interval| Decimal::new(100.0 * interval.confidence)),
            mean: summary.mean.and_then(Decimal::new),
            stddev: summary.stddev.and_then(Decimal::new),
            max: extremes.and_then(|(_, max)| Decimal::new(max)),
            cv_pct: summary.variation_pct().and_then(Decimal::new),
            outliers: summary.outliers,
            outlier_runs: outliers.collect::<Vec<_>>().join(" "),
            ..Own::default()
        }
    }

    fn add_comparison(&self, own: &mut Own, comparison: &Comparison) {
        own.verdict = Some(comparison.verdict.word());
        own.threshold_pct = Decimal::new(100.0 * self.plan.threshold);
        own.baseline = self.plan.against.as_ref().map(|against| against.baseline.clone());
        if let Some(there) = comparison.baseline.map(|baseline| &self.findings.summaries[baseline]) {
            own.baseline_n = Some(there.n);
            own.baseline_median = there.median.and_then(Decimal::new);
        }
        if let Some(ratio) = comparison.ratio {
            own.ratio = Decimal::new(ratio.estimate);
            own.ratio_low = ratio.interval.and_then(|interval| Decimal::new(interval.low));
            own.ratio_high = ratio.interval.and_then(|interval| Decimal::new(interval.high));
        }
        own.mean_ratio = comparison.mean_ratio.and_then(Decimal::new);
        if let Some(difference) = comparison.difference {
            own.difference = Decimal::new(difference.estimate);
            own.difference_low = difference.interval.and_then(|interval| Decimal::new(interval.low));
            own.difference_high = difference.interval.and_then(|interval| Decimal::new(interval.high));
        }
        if let Some((test, adjusted)) = comparison.test {
            own.p = Decimal::new(test.p);
            own.p_holm = Decimal::new(adjusted);
            own.p_method = Some(match test.method {
                Method::Exact => "exact",
                Method::Normal => "normal",
            });
        }
    }

    fn mean_line(&self, mean: &GeometricMean) -> anyhow::Result<String> {
        let along = self.plan.against.as_ref().map(|against| (self.plan.by[against.along].as_str(), against));
        let mut shared = Shared { schema: SCHEMA.tag, test: mean.test.clone(), span: "total", ..Shared::default() };
        let mut own = Own {
            row: "geomean",
            metric: self.plan.metrics[mean.metric].clone(),
            better: better_word(&self.plan.metrics[mean.metric]),
            n: mean.groups,
            ratio: Decimal::new(mean.ratio),
            ..Own::default()
        };
        if let Some((column, against)) = along {
            own.baseline = Some(against.baseline.clone());
            if column == "label" {
                shared.label.clone_from(&mean.side);
            } else {
                own.by = format!("{column}={}", mean.side);
            }
        }
        output::tamed_line_of(&(shared, own))
    }

    /// `file:line`, or the line alone of stdin.
    pub fn place(&self, spot: Spot) -> String {
        let file = self.files.get(spot.file as usize).map_or("", String::as_str);
        format!("{file}:{}", spot.line)
    }

    fn other_columns(&self, group: &Group) -> String {
        let shared = ["schema", "label", "test", "target", "host"];
        let pairs = self.plan.by.iter().zip(&group.key).filter(|(name, _)| !shared.contains(&name.as_str()));
        pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::schema::line::Line;

    #[test]
    fn the_shared_columns_are_those_of_all_tools() {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(Shared::default()).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let names: Vec<_> = Line::COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(text.lines().next().unwrap(), names.join(","));
    }
}
