//! Summaries of groups, and of groups against the same ones of another side.

use std::collections::HashMap;

use common::schema::registry;

use crate::group::Group;
use crate::headline::Headlines;
use crate::plan::{Against, Plan};
use crate::sample::{Sample, Spot};
use crate::statistics::median;
use crate::statistics::rank::{self, Test};
use crate::statistics::shift::{self, Shift};
use crate::statistics::{CONFIDENCE, Interval, holm, outliers};
use crate::verdict::{Evidence, FEWEST_RUNS, SIGNIFICANCE, Verdict};

/// Outliers that are named.
const NAMED: usize = 5;

/// The runs of one group under one metric.
#[derive(Debug)]
pub struct Summary {
    /// Index of the group.
    pub group: usize,
    /// Index of the metric.
    pub metric: usize,
    pub n: u64,
    pub extremes: Option<(f64, f64)>,
    pub median: Option<f64>,
    pub interval: Option<Interval>,
    pub mean: Option<f64>,
    pub stddev: Option<f64>,
    pub outliers: u64,
    pub first_outliers: Vec<(f64, Spot)>,
    /// Not all values were kept.
    pub is_choice: bool,
    sorted: Vec<f64>,
}

impl Summary {
    fn of(group: usize, metric: usize, sample: Sample) -> Self {
        let placed: Vec<_> = sample.placed().collect();
        let mut summary = Self {
            group,
            metric,
            n: sample.count(),
            extremes: sample.extremes(),
            median: None,
            interval: None,
            mean: sample.mean().filter(finite),
            stddev: sample.stddev().filter(finite),
            outliers: 0,
            first_outliers: Vec::new(),
            is_choice: sample.is_choice(),
            sorted: sample.into_sorted(),
        };
        summary.median = median::median(&summary.sorted);
        summary.interval = median::interval(&summary.sorted, CONFIDENCE);
        if let Some((low, high)) = outliers::fences(&summary.sorted) {
            let is_far = |value: f64| value < low || value > high;
            summary.outliers = summary.sorted.iter().filter(|value| is_far(**value)).count() as u64;
            summary.first_outliers = placed.into_iter().filter(|(value, _)| is_far(*value)).take(NAMED).collect();
        }
        summary
    }

    /// Coefficient of variation, in percent.
    pub fn variation_pct(&self) -> Option<f64> {
        let mean = self.mean.filter(|mean| *mean != 0.0)?;
        Some(100.0 * self.stddev? / mean.abs()).filter(finite)
    }
}

/// Whether there is such a number: of the largest ones, sums and ratios are beyond all.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "as Option::filter has it")]
fn finite(value: &f64) -> bool {
    value.is_finite()
}

/// A summary beside that of the baseline.
#[derive(Debug)]
pub struct Comparison {
    /// Index of the summary.
    pub of: usize,
    /// That of the baseline, if there is one.
    pub baseline: Option<usize>,
    pub ratio: Option<Shift>,
    pub difference: Option<Shift>,
    pub mean_ratio: Option<f64>,
    /// The test and its adjusted p-value.
    pub test: Option<(Test, f64)>,
    pub verdict: Verdict,
}

/// All that there is to say.
#[derive(Debug)]
pub struct Findings {
    pub groups: Vec<Group>,
    pub summaries: Vec<Summary>,
    pub comparisons: Vec<Comparison>,
}

impl Findings {
    /// Calculates everything.
    pub fn of(mut groups: Vec<Group>, plan: &Plan) -> Self {
        let chosen = choose_metrics(&groups, plan);
        let mut summaries = Vec::new();
        for metric in 0..plan.metrics.len() {
            for (index, group) in groups.iter_mut().enumerate() {
                let sample = std::mem::take(&mut group.samples[metric]);
                let is_shown = |(headlines, chosen): (&Headlines, usize)| {
                    headlines.shows(group.is_of_transactions, chosen, metric)
                };
                if sample.count() > 0 && plan.headlines.as_ref().zip(chosen[index]).is_none_or(is_shown) {
                    summaries.push(Summary::of(index, metric, sample));
                }
            }
        }
        let comparisons = match &plan.against {
            Some(against) => compare(&groups, &summaries, against, plan),
            None => Vec::new(),
        };
        Self { groups, summaries, comparisons }
    }

    /// The comparison of a summary, if it is one side of any.
    pub fn comparison(&self, summary: usize) -> Option<&Comparison> {
        self.comparisons.iter().find(|comparison| comparison.of == summary)
    }
}

/// The metric of each group; `None` for all of them. All sides of a comparison have the same.
fn choose_metrics(groups: &[Group], plan: &Plan) -> Vec<Option<usize>> {
    let Some(headlines) = &plan.headlines else { return vec![None; groups.len()] };
    let mut of_key: HashMap<Vec<&str>, usize> = HashMap::new();
    for group in groups {
        let suiting = group.suiting_metric(headlines);
        let first = of_key.entry(other_columns(group, plan.against.as_ref())).or_insert(suiting);
        *first = headlines.earlier(group.is_of_transactions, *first, suiting);
    }
    groups.iter().map(|group| of_key.get(&other_columns(group, plan.against.as_ref())).copied()).collect()
}

/// What two groups that are compared have in common.
fn other_columns<'a>(group: &'a Group, against: Option<&Against>) -> Vec<&'a str> {
    let along = against.map(|against| against.along);
    let others = group.key.iter().enumerate().filter(|(index, _)| Some(*index) != along);
    others.map(|(_, value)| value.as_str()).collect()
}

fn compare(groups: &[Group], summaries: &[Summary], against: &Against, plan: &Plan) -> Vec<Comparison> {
    let is_baseline = |summary: &Summary| groups[summary.group].key[against.along] == against.baseline;
    let name = |summary: &Summary| (other_columns(&groups[summary.group], Some(against)), summary.metric);
    let mut baselines: HashMap<_, (usize, bool)> = HashMap::new();
    for (index, summary) in summaries.iter().enumerate().filter(|(_, summary)| is_baseline(summary)) {
        baselines.insert(name(summary), (index, false));
    }
    let mut comparisons: Vec<Comparison> = Vec::new();
    for (index, summary) in summaries.iter().enumerate().filter(|(_, summary)| !is_baseline(summary)) {
        let baseline = baselines.get_mut(&name(summary));
        let baseline = baseline.map(|(baseline, is_used)| {
            *is_used = true;
            *baseline
        });
        comparisons.push(Comparison::between(index, summary, baseline, summaries));
    }
    for (index, is_used) in baselines.into_values() {
        if !is_used {
            comparisons.push(Comparison::alone(index, None, Verdict::OnlyBaseline));
        }
    }
    comparisons.sort_by_key(|comparison| comparison.of);
    judge(&mut comparisons, summaries, plan);
    comparisons
}

impl Comparison {
    fn alone(of: usize, baseline: Option<usize>, verdict: Verdict) -> Self {
        Self { of, baseline, ratio: None, difference: None, mean_ratio: None, test: None, verdict }
    }

    /// All but the verdict, which depends on how many comparisons there are.
    fn between(of: usize, here: &Summary, baseline: Option<usize>, summaries: &[Summary]) -> Self {
        let Some(there) = baseline.map(|baseline| &summaries[baseline]) else {
            return Self::alone(of, None, Verdict::NoBaseline);
        };
        let mut comparison = Self::alone(of, baseline, Verdict::TooFewRuns);
        let has_enough = here.n.min(there.n) >= FEWEST_RUNS;
        let with_interval = |shift: Shift| Shift { interval: shift.interval.filter(|_| has_enough), ..shift };
        comparison.ratio = shift::ratio(&there.sorted, &here.sorted, CONFIDENCE).map(with_interval);
        comparison.difference = shift::difference(&there.sorted, &here.sorted, CONFIDENCE).map(with_interval);
        comparison.mean_ratio =
            there.mean.filter(|mean| *mean > 0.0).and_then(|mean| Some(here.mean? / mean)).filter(finite);
        if has_enough {
            let test = rank::mann_whitney(&there.sorted, &here.sorted);
            comparison.test = Some((test, test.p));
        }
        comparison
    }
}

fn judge(comparisons: &mut [Comparison], summaries: &[Summary], plan: &Plan) {
    let p_values: Vec<f64> = comparisons.iter().filter_map(|comparison| Some(comparison.test?.0.p)).collect();
    let mut adjusted = holm::adjust(&p_values).into_iter();
    let attainable: Vec<f64> =
        comparisons.iter().filter(|c| c.test.is_some()).map(|c| smallest_p(c, summaries)).collect();
    for comparison in comparisons {
        let (Some((_, p)), Some(difference)) = (&mut comparison.test, comparison.difference) else { continue };
        *p = adjusted.next().unwrap_or(1.0);
        let evidence = Evidence {
            ratio: comparison.ratio,
            difference,
            baseline: comparison.baseline.and_then(|baseline| summaries[baseline].median).unwrap_or_default(),
            p_adjusted: *p,
        };
        comparison.verdict =
            evidence.verdict(registry::role(&plan.metrics[summaries[comparison.of].metric]).better, plan.threshold);
        // At best, Holm takes all first that can get below it.
        let best = smallest_p(comparison, summaries);
        let others = attainable.iter().filter(|p| **p >= best).count();
        if comparison.verdict == Verdict::Undecided && best * others as f64 >= SIGNIFICANCE {
            comparison.verdict = Verdict::TooFewRuns;
        }
    }
}

/// The smallest p-value that so many runs on the two sides can give.
fn smallest_p(comparison: &Comparison, summaries: &[Summary]) -> f64 {
    let runs = |index: usize| usize::try_from(summaries[index].n).unwrap_or(usize::MAX);
    comparison.baseline.map_or(1.0, |baseline| rank::smallest_p(runs(comparison.of), runs(baseline)))
}
