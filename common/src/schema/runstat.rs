//! The columns of `runstat`. A line is about a group of runs: `time` is when the first of them began, `run` how many there
//! are, `seconds`, `bytes`, `ops` and `errors` are their sums, rates those of the sums, `flags` all that any of them has.

use super::cell::Decimal;
use super::column::columns;
use super::role::{AMOUNT, GAUGE, NAME, NOTE, OF_TIME, RATE};
use super::set::Schema;

/// What `runstat` prints.
pub const SCHEMA: Schema = Schema::of_findings("runstat/1", Group::COLUMNS);

/// What `runstat bottleneck` prints.
pub const BOTTLENECK: Schema = Schema::of_findings("runstat-bottleneck/1", Layer::COLUMNS);

columns! {
    /// The columns of `runstat` after the shared ones.
    pub struct Group {
        row: &'static str, "", NOTE, "group (one value per run), or geomean (the geometric mean of the ratios of all groups that have one)";
        of: String, "", NAME, "schema of the lines in the group";
        by: String, "", NAME, "columns of --by that are no shared columns, as in threads=4 method=direct";
        metric: String, "", NAME, "the column that the figures are of";
        unit: String, "", NOTE, "its unit";
        better: &'static str, "", NOTE, "which way is better: higher, lower, or empty where neither is";
        n: u64, "", AMOUNT, "runs";
        left_out: u64, "", AMOUNT, "runs that are not among them, because their flags make them doubtful (--keep-flagged)";
        min: Option<Decimal>, "", GAUGE, "smallest value, in the metric's unit as all figures";
        median: Option<Decimal>, "", GAUGE, "half of the values are at or below";
        median_low: Option<Decimal>, "", GAUGE, "the median's exact confidence interval from here ...";
        median_high: Option<Decimal>, "", GAUGE, "... to here; empty below six runs";
        confidence_pct: Option<Decimal>, "%", OF_TIME, "how sure that interval is, at least 95";
        mean: Option<Decimal>, "", GAUGE, "arithmetic mean";
        stddev: Option<Decimal>, "", GAUGE, "standard deviation of the runs; empty below two";
        max: Option<Decimal>, "", GAUGE, "largest value";
        cv_pct: Option<Decimal>, "%", OF_TIME, "coefficient of variation: stddev / mean";
        outliers: u64, "", AMOUNT, "runs far from all others; they are counted in all figures";
        outlier_runs: String, "", NOTE, "the first of them: value@file:line";
        baseline: Option<String>, "", NOTE, "what the group is compared with; empty without --baseline";
        baseline_n: Option<u64>, "", AMOUNT, "its runs";
        baseline_median: Option<Decimal>, "", GAUGE, "its median";
        ratio: Option<Decimal>, "", GAUGE, "how many times the baseline: median of all ratios between a run here and one there (Hodges-Lehmann); row geomean: geometric mean; empty where values are not above zero";
        ratio_low: Option<Decimal>, "", GAUGE, "its confidence interval from here ...";
        ratio_high: Option<Decimal>, "", GAUGE, "... to here; empty where runs are too few for 95 %";
        mean_ratio: Option<Decimal>, "", GAUGE, "mean / mean of the baseline";
        difference: Option<Decimal>, "", GAUGE, "median of all differences, here - there";
        difference_low: Option<Decimal>, "", GAUGE, "its confidence interval from here ...";
        difference_high: Option<Decimal>, "", GAUGE, "... to here";
        p: Option<Decimal>, "", GAUGE, "chance of such a difference, or a larger one, between equal sides (Mann-Whitney, two-sided, ties counted)";
        p_holm: Option<Decimal>, "", GAUGE, "the same for all comparisons of this output together (Holm)";
        p_method: Option<&'static str>, "", NOTE, "exact, or normal: an approximation for large groups";
        threshold_pct: Option<Decimal>, "%", OF_TIME, "changes up to here count as the same (--threshold)";
        verdict: Option<&'static str>, "", NOTE, "better, worse (higher, lower where neither end is better), same, undecided, too few runs, no baseline, or only in baseline";
    }
}

columns! {
    /// The columns of `runstat bottleneck` after the shared ones.
    pub struct Layer {
        layer: String, "", NAME, "end to end, disk, network (TCP), network (UDP), or round trips, and where";
        path: String, "", NAME, "the end-to-end test that the verdict is about: test and target";
        n: u64, "", AMOUNT, "runs";
        rate_bytes_per_s: Option<Decimal>, "B/s", RATE, "median of what the layer carried by itself; end to end: of all of them together";
        low_bytes_per_s: Option<Decimal>, "B/s", RATE, "interval of the median from here (below six runs: the smallest) ...";
        high_bytes_per_s: Option<Decimal>, "B/s", RATE, "... to here";
        used_pct: Option<Decimal>, "%", OF_TIME, "share of the layer's rate that got through end to end; round trips: share of the time that they take";
        verdict: String, "", NOTE, "end to end: the layer that limits it, or undecided; layers: bottleneck, has room, has little room, may be it, slower than end to end, not driven to its limit, or not on the path";
        lines: String, "", NOTE, "the lines that were used: file:line";
    }
}
