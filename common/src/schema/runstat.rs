//! The columns of `runstat`. A line is about a group of runs: `time` is when the first of them began, `run` how many there
//! are, `seconds`, `bytes`, `ops` and `errors` are their sums, rates those of the sums, `flags` all that any of them has.

use super::{Decimal, Schema, columns};

/// What `runstat` prints.
pub const SCHEMA: Schema = Schema::of_lines("runstat/1", Group::COLUMNS);

/// What `runstat bottleneck` prints.
pub const BOTTLENECK: Schema = Schema::of_lines("runstat-bottleneck/1", Layer::COLUMNS);

columns! {
    /// The columns of `runstat` after the shared ones.
    pub struct Group {
        row: &'static str, "", "group (one value per run), or geomean (the geometric mean of the ratios of all groups that have one)";
        of: String, "", "schema of the lines in the group";
        by: String, "", "columns of --by that are no shared columns, as in threads=4 method=direct";
        metric: String, "", "the column that the figures are of";
        unit: String, "", "its unit";
        better: &'static str, "", "which way is better: higher, lower, or empty where neither is";
        n: u64, "", "runs";
        left_out: u64, "", "runs that are not among them, because their flags make them doubtful (--keep-flagged)";
        min: Option<Decimal>, "", "smallest value, in the metric's unit as all figures";
        median: Option<Decimal>, "", "half of the values are at or below";
        median_low: Option<Decimal>, "", "the median's exact confidence interval from here ...";
        median_high: Option<Decimal>, "", "... to here; empty below six runs";
        confidence_pct: Option<Decimal>, "%", "how sure that interval is, at least 95";
        mean: Option<Decimal>, "", "arithmetic mean";
        stddev: Option<Decimal>, "", "standard deviation of the runs; empty below two";
        max: Option<Decimal>, "", "largest value";
        cv_pct: Option<Decimal>, "%", "coefficient of variation: stddev / mean";
        outliers: u64, "", "runs far from all others; they are counted in all figures";
        outlier_runs: String, "", "the first of them: value@file:line";
        baseline: Option<String>, "", "what the group is compared with; empty without --baseline";
        baseline_n: Option<u64>, "", "its runs";
        baseline_median: Option<Decimal>, "", "its median";
        ratio: Option<Decimal>, "", "how many times the baseline: median of all ratios between a run here and one there (Hodges-Lehmann); row geomean: geometric mean; empty where values are not above zero";
        ratio_low: Option<Decimal>, "", "its confidence interval from here ...";
        ratio_high: Option<Decimal>, "", "... to here; empty where runs are too few for 95 %";
        mean_ratio: Option<Decimal>, "", "mean / mean of the baseline";
        difference: Option<Decimal>, "", "median of all differences, here - there";
        difference_low: Option<Decimal>, "", "its confidence interval from here ...";
        difference_high: Option<Decimal>, "", "... to here";
        p: Option<Decimal>, "", "chance of such a difference, or a larger one, between equal sides (Mann-Whitney, two-sided, ties counted)";
        p_holm: Option<Decimal>, "", "the same for all comparisons of this output together (Holm)";
        p_method: Option<&'static str>, "", "exact, or normal: an approximation for large groups";
        threshold_pct: Option<Decimal>, "%", "changes up to here count as the same (--threshold)";
        verdict: Option<&'static str>, "", "better, worse (higher, lower where neither end is better), same, undecided, too few runs, no baseline, or only in baseline";
    }
}

columns! {
    /// The columns of `runstat bottleneck` after the shared ones.
    pub struct Layer {
        layer: String, "", "end to end, disk, network (TCP), network (UDP), or round trips, and where";
        path: String, "", "the end-to-end test that the verdict is about: test and target";
        n: u64, "", "runs";
        rate_bytes_per_s: Option<Decimal>, "B/s", "median of what the layer carried by itself; end to end: of all of them together";
        low_bytes_per_s: Option<Decimal>, "B/s", "interval of the median from here (below six runs: the smallest) ...";
        high_bytes_per_s: Option<Decimal>, "B/s", "... to here";
        used_pct: Option<Decimal>, "%", "share of the layer's rate that got through end to end; round trips: share of the time that they take";
        verdict: String, "", "end to end: the layer that limits it, or undecided; layers: bottleneck, has room, has little room, may be it, slower than end to end, not driven to its limit, or not on the path";
        lines: String, "", "the lines that were used: file:line";
    }
}
