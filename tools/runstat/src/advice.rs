//! What a reader of the figures should know, on stderr: once each, with what to do about it.

use common::cli::Session;

use crate::collapse::Rule;
use crate::comparison::{Comparison, Summary};
use crate::group::Group;
use crate::record::Recorder;
use crate::remarks::Remarks;
use crate::statistics::rank::smallest_p;
use crate::verdict::{SIGNIFICANCE, Verdict};

/// Coefficient of variation from which runs are called widely spread, in percent.
const LARGE_SPREAD_PCT: f64 = 10.0;

/// Says all of it.
pub fn give(recorder: &Recorder<'_>, remarks: &Remarks, varied: &[&str], session: &Session) {
    let adviser = Adviser { recorder, session };
    adviser.on_cells(remarks);
    adviser.on_groups(varied);
    adviser.on_flags();
    adviser.on_spread();
    adviser.on_order();
    adviser.on_work();
    adviser.on_numbers();
}

/// `--max`: says which runs are beyond a limit; whether there are any.
pub fn alarm(remarks: &Remarks, recorder: &Recorder<'_>, session: &Session) -> bool {
    for alarm in &remarks.first_alarms {
        let place = recorder.place(alarm.spot);
        let digits = crate::figures::digits(alarm.value);
        session.console.error(&format!("{}: {digits} in {} at {place} (--max)", alarm.limit, alarm.group));
    }
    let more = remarks.alarms - remarks.first_alarms.len() as u64;
    if more > 0 {
        session.console.error(&format!("and {more} more runs beyond a limit (--max)"));
    }
    remarks.alarms > 0
}

/// A group in a sentence.
pub fn group_name(group: &Group) -> String {
    let parts: Vec<_> = group.key.iter().filter(|part| !part.is_empty()).cloned().collect();
    if parts.is_empty() { "all lines".into() } else { parts.join(" ") }
}

struct Adviser<'a> {
    recorder: &'a Recorder<'a>,
    session: &'a Session,
}

impl Adviser<'_> {
    fn say(&self, text: &str) {
        self.session.console.notice(text);
    }

    fn group(&self, summary: &Summary) -> &Group {
        &self.recorder.findings.groups[summary.group]
    }

    fn on_cells(&self, remarks: &Remarks) {
        if let Some((column, spot)) = &remarks.first_odd_cell {
            self.say(&format!(
                "{} cells hold no finite number, and count as unknown: first {column} at {}",
                remarks.odd_cells,
                self.recorder.place(*spot)
            ));
        }
    }

    /// Figures of different things under one heading.
    fn on_groups(&self, varied: &[&str]) {
        if !varied.is_empty() {
            let by = self.recorder.plan.by.join(",");
            self.say(&format!(
                "{} {} inside a group, so that its runs are not of one thing: --by {by},{} keeps them apart",
                listed(varied),
                if varied.len() > 1 { "vary" } else { "varies" },
                varied.join(",")
            ));
        }
    }

    fn on_flags(&self) {
        let findings = self.recorder.findings;
        let left_out: u64 = findings.groups.iter().map(|group| group.left_out).sum();
        if left_out > 0 {
            let groups: Vec<_> = findings.groups.iter().filter(|group| group.left_out > 0).collect();
            let mut flags: Vec<&str> =
                groups.iter().flat_map(|group| &group.left_out_flags).map(String::as_str).collect();
            flags.sort_unstable();
            flags.dedup();
            self.say(&format!(
                "{left_out} runs of {} groups are left out for their flags ({}): --keep-flagged counts them",
                groups.len(),
                flags.join(" ")
            ));
        }
        let missing = |summary: &Summary| self.group(summary).runs.saturating_sub(summary.n);
        let lacking: Vec<_> = findings.summaries.iter().filter(|summary| missing(summary) > 0).collect();
        if let Some(first) = lacking.first() {
            self.say(&format!(
                "{} of {} groups have runs without a value, as {} of {} in {} without {}: they are not counted",
                lacking.len(),
                findings.summaries.len(),
                missing(first),
                self.group(first).runs,
                group_name(self.group(first)),
                self.recorder.plan.metrics[first.metric]
            ));
        }
        if let Some(summary) = findings.summaries.iter().find(|summary| summary.is_choice) {
            self.say(&format!(
                "{} has more runs than fit into memory: medians and tests are of a random choice of them",
                group_name(self.group(summary))
            ));
        }
    }

    fn on_spread(&self) {
        let spread = |summary: &&Summary| summary.variation_pct().unwrap_or_default();
        let wide: Vec<_> = self
            .recorder
            .findings
            .summaries
            .iter()
            .filter(|summary| summary.n >= 3 && spread(summary) > LARGE_SPREAD_PCT)
            .collect();
        if let Some(widest) = wide.iter().copied().max_by(|a, b| spread(a).total_cmp(&spread(b))) {
            self.say(&format!(
                "the spread is large in {} of {} groups, most in {}: standard deviation {:.0} % of the mean (longer runs, \
                 more of them, or a quieter machine)",
                wide.len(),
                self.recorder.findings.summaries.len(),
                group_name(self.group(widest)),
                spread(&widest)
            ));
        }
    }

    /// Errors of ten seconds beside those of sixty, or the time for one file beside that for ten.
    fn on_work(&self) {
        let findings = self.recorder.findings;
        let threshold = self.recorder.plan.threshold;
        let of_unlike_work = |comparison: &&Comparison| {
            let Some(baseline) = comparison.baseline else { return false };
            let sides = [comparison.of, baseline].map(|index| &findings.summaries[index]);
            let metric = &self.recorder.plan.metrics[sides[0].metric];
            let is_time = metric == "seconds" || metric.ends_with("_s") && !metric.ends_with("_per_s");
            let [here, there] = sides.map(|summary| self.group(summary).work());
            let differ = |of: usize| match (here[of], there[of]) {
                (Some(here), Some(there)) => (here - there).abs() > threshold * there.abs(),
                _ => false,
            };
            // Of runs as long or as large as the others, amounts can be compared; times only of those as large.
            Rule::of(metric) == Rule::Sum && differ(1) && (is_time || differ(0))
        };
        let unlike: Vec<_> = findings.comparisons.iter().filter(of_unlike_work).collect();
        if let Some(first) = unlike.first() {
            let summary = &findings.summaries[first.of];
            self.say(&format!(
                "in {} of {} comparisons the sides' runs are not alike in work, as with {} of {}: more work takes and loses \
                 more (compare a rate or share, or make the runs alike)",
                unlike.len(),
                findings.comparisons.len(),
                self.recorder.plan.metrics[summary.metric],
                group_name(self.group(summary))
            ));
        }
    }

    /// Whatever else changed between two blocks of runs looks like an effect of the label.
    fn on_order(&self) {
        let findings = self.recorder.findings;
        let in_blocks = |comparison: &&Comparison| {
            let Some(baseline) = comparison.baseline else { return false };
            let (here, there) = (&findings.summaries[comparison.of], &findings.summaries[baseline]);
            let [here_began, there_began] = [here, there].map(|summary| &self.group(summary).began);
            let has_times = !here_began.0.is_empty() && !there_began.0.is_empty();
            let is_apart = here_began.0 > there_began.1 || there_began.0 > here_began.1;
            here.n.min(there.n) > 1 && has_times && is_apart
        };
        let blocks: Vec<_> = findings.comparisons.iter().filter(in_blocks).collect();
        if let (Some(first), Some(against)) = (blocks.first(), &self.recorder.plan.against) {
            let group = self.group(&findings.summaries[first.of]);
            self.say(&format!(
                "in {} of {} comparisons all runs of one side came before all of the other, as with '{}' and '{}': what else \
                 changed meanwhile looks the same (interleave them)",
                blocks.len(),
                findings.comparisons.len(),
                against.baseline,
                group.key[against.along]
            ));
        }
    }

    fn on_numbers(&self) {
        let comparisons = &self.recorder.findings.comparisons;
        let scarce = comparisons.iter().filter(|comparison| comparison.verdict == Verdict::TooFewRuns).count();
        if scarce == 0 {
            return;
        }
        // One that is not tested yet will be, with more runs.
        let at_once = comparisons.iter().filter(|comparison| comparison.baseline.is_some()).count();
        let enough = (4..1000).find(|n| smallest_p(*n, *n) * (at_once as f64) < SIGNIFICANCE).unwrap_or(1000);
        let among = if enough > 4 { format!(" among {at_once} at once") } else { String::new() };
        self.say(&format!(
            "{scarce} of {} comparisons have too few runs for a verdict: it takes at least {enough} a side{among} (--runs)",
            comparisons.len()
        ));
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}
