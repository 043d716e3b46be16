//! What there is to say about the findings.

use common::schema::registry;
use common::schema::role::RoleKind;

use super::Advice;
use crate::comparison::{Comparison, Summary};
use crate::group::Group;
use crate::record::Recorder;
use crate::remarks::Remarks;
use crate::statistics::rank::smallest_p;
use crate::verdict::{SIGNIFICANCE, Verdict};

/// Coefficient of variation from which runs are called widely spread, in percent.
const LARGE_SPREAD_PCT: f64 = 10.0;

/// All of it, in the order in which it matters; `mixed` are the columns that differ inside groups.
pub fn find(recorder: &Recorder<'_>, remarks: &Remarks, mixed: Vec<&'static str>) -> Vec<Advice> {
    let finder = Finder { recorder };
    let groups = (!mixed.is_empty()).then(|| Advice::Mixed { columns: mixed, by: recorder.plan.by.join(",") });
    let cells = finder.on_cells(remarks).into_iter().chain(finder.on_torn(remarks)).chain(groups);
    let runs = [finder.on_flags(), finder.on_missing(), finder.on_choice(), finder.on_spread()];
    let comparisons = [finder.on_order(), finder.on_work(), finder.on_numbers()];
    cells.chain(runs.into_iter().chain(comparisons).flatten()).collect()
}

struct Finder<'a> {
    recorder: &'a Recorder<'a>,
}

impl Finder<'_> {
    fn group(&self, summary: &Summary) -> &Group {
        &self.recorder.findings.groups[summary.group]
    }

    fn metric(&self, summary: &Summary) -> &str {
        &self.recorder.plan.metrics[summary.metric]
    }

    fn summaries(&self) -> &[Summary] {
        &self.recorder.findings.summaries
    }

    /// The two sides of a comparison, if there are two: here and the baseline.
    fn sides(&self, comparison: &Comparison) -> Option<[&Summary; 2]> {
        Some([comparison.of, comparison.baseline?].map(|index| &self.summaries()[index]))
    }

    fn on_cells(&self, remarks: &Remarks) -> Option<Advice> {
        let (column, spot) = remarks.first_odd_cell.clone()?;
        Some(Advice::OddCells { count: remarks.odd_cells, column, place: self.recorder.place(spot) })
    }

    fn on_torn(&self, remarks: &Remarks) -> impl Iterator<Item = Advice> {
        remarks.torn.iter().map(|torn| Advice::Torn {
            column: torn.column.clone(),
            runs: torn.runs,
            place: self.recorder.place(torn.first),
        })
    }

    fn on_flags(&self) -> Option<Advice> {
        let groups: Vec<_> = self.recorder.findings.groups.iter().filter(|group| group.left_out > 0).collect();
        let mut flags: Vec<&str> = groups.iter().flat_map(|group| &group.left_out_flags).map(String::as_str).collect();
        flags.sort_unstable();
        flags.dedup();
        let runs = groups.iter().map(|group| group.left_out).sum();
        (runs > 0).then(|| Advice::LeftOut { runs, groups: groups.len(), flags: flags.join(" ") })
    }

    fn on_missing(&self) -> Option<Advice> {
        let missing = |summary: &Summary| self.group(summary).runs.saturating_sub(summary.n);
        let lacking: Vec<_> = self.summaries().iter().filter(|summary| missing(summary) > 0).collect();
        let first = lacking.first()?;
        Some(Advice::Lacking {
            groups: lacking.len(),
            of: self.summaries().len(),
            missing: missing(first),
            runs: self.group(first).runs,
            group: self.group(first).name(),
            metric: self.metric(first).to_owned(),
        })
    }

    fn on_choice(&self) -> Option<Advice> {
        let summary = self.summaries().iter().find(|summary| summary.is_choice)?;
        Some(Advice::Choice { group: self.group(summary).name() })
    }

    fn on_spread(&self) -> Option<Advice> {
        let spread = |summary: &Summary| summary.variation_pct().unwrap_or_default();
        let is_wide = |summary: &&Summary| summary.n >= 3 && spread(summary) > LARGE_SPREAD_PCT;
        let wide: Vec<_> = self.summaries().iter().filter(is_wide).collect();
        let widest = wide.iter().copied().max_by(|a, b| spread(a).total_cmp(&spread(b)))?;
        Some(Advice::Spread {
            groups: wide.len(),
            of: self.summaries().len(),
            widest: self.group(widest).name(),
            pct: spread(widest),
        })
    }

    fn on_order(&self) -> Option<Advice> {
        let findings = self.recorder.findings;
        let in_blocks = |comparison: &&Comparison| {
            let Some(sides) = self.sides(comparison) else { return false };
            let [here, there] = sides.map(|summary| &self.group(summary).began);
            let has_times = !here.0.is_empty() && !there.0.is_empty();
            let is_apart = here.0 > there.1 || there.0 > here.1;
            sides.iter().all(|side| side.n > 1) && has_times && is_apart
        };
        let blocks: Vec<_> = findings.comparisons.iter().filter(in_blocks).collect();
        let (first, against) = (blocks.first()?, self.recorder.plan.against.as_ref()?);
        Some(Advice::Blocks {
            comparisons: blocks.len(),
            of: findings.comparisons.len(),
            baseline: against.baseline.clone(),
            side: self.group(&self.summaries()[first.of]).key[against.along].clone(),
        })
    }

    fn on_work(&self) -> Option<Advice> {
        let findings = self.recorder.findings;
        let threshold = self.recorder.plan.threshold;
        let of_unlike_work = |comparison: &&Comparison| {
            let Some(sides) = self.sides(comparison) else { return false };
            let role = registry::role(self.metric(sides[0]));
            let [here, there] = sides.map(|summary| self.group(summary).work());
            let differ = |of: usize| match (here[of], there[of]) {
                (Some(here), Some(there)) => (here - there).abs() > threshold * there.abs(),
                _ => false,
            };
            // Of runs as long or as large as the others, amounts can be compared; times only of those as large.
            role.adds_up() && differ(1) && (role.kind == RoleKind::Spent || differ(0))
        };
        let unlike: Vec<_> = findings.comparisons.iter().filter(of_unlike_work).collect();
        let summary = &self.summaries()[unlike.first()?.of];
        Some(Advice::UnlikeWork {
            comparisons: unlike.len(),
            of: findings.comparisons.len(),
            metric: self.metric(summary).to_owned(),
            group: self.group(summary).name(),
        })
    }

    fn on_numbers(&self) -> Option<Advice> {
        let comparisons = &self.recorder.findings.comparisons;
        let scarce = comparisons.iter().filter(|comparison| comparison.verdict == Verdict::TooFewRuns).count();
        if scarce == 0 {
            return None;
        }
        // One that is not tested yet will be, with more runs.
        let at_once = comparisons.iter().filter(|comparison| comparison.baseline.is_some()).count();
        let enough = (4..1000).find(|n| smallest_p(*n, *n) * (at_once as f64) < SIGNIFICANCE).unwrap_or(1000);
        let among = (enough > 4).then_some(at_once);
        Some(Advice::TooFewRuns { comparisons: scarce, of: comparisons.len(), enough, among })
    }
}
