//! The table of `CrystalDiskMark`, with the figures that its `Read` and the text of its `Copy` have; MB are 1000000 bytes.

use common::output::familiar::{Figures, Footnotes, cell, marked, of_test};
use common::output::grid::{Column, Grid};

use crate::args::Pattern;
use crate::plan::Plan;

/// A row for each test, of the best of its runs.
pub fn tables(target: &str, plans: &[Plan], totals: &[Figures]) -> Vec<Grid> {
    let mut notes = Footnotes::default();
    let columns = vec![
        Column::words(""),
        Column::numbers("Read [MB/s]"),
        Column::numbers("Read [IOPS]").worth(3),
        Column::numbers("Read [us]").worth(4),
        Column::numbers("Write [MB/s]").worth(5),
    ];
    let rows = plans.iter().map(|plan| {
        let best = best(of_test(totals, plan.test));
        (row(plan, best), notes.mark(best))
    });
    let rows = rows.collect();
    let runs = plans.first().map_or(0, |plan| of_test(totals, plan.test).count());
    let best = if runs > 1 { format!(", the best of {runs} runs") } else { String::new() };
    let table = marked(format!("CrystalDiskMark: {target}{best}"), columns, rows);
    [table].into_iter().chain(notes.told()).collect()
}

/// The fastest, as the program chooses it.
fn best<'a>(runs: impl Iterator<Item = &'a Figures>) -> Option<&'a Figures> {
    let rate = |run: &Figures| run.bytes_per_s().unwrap_or_default();
    runs.max_by(|one, other| rate(one).total_cmp(&rate(other)))
}

fn row(plan: &Plan, run: Option<&Figures>) -> Vec<String> {
    vec![
        name(plan),
        cell(run.and_then(Figures::bytes_per_s), |rate| format!("{:.3}", rate / 1e6)),
        cell(run.and_then(Figures::ops_per_s), |rate| format!("{rate:.1}")),
        cell(run.and_then(|run| run.latency), |latency| format!("{:.2}", latency.mean_us)),
        String::new(),
    ]
}

/// `SEQ1M Q8T1`.
fn name(plan: &Plan) -> String {
    let order = if plan.pattern == Pattern::Rand { "RND" } else { "SEQ" };
    let (size, unit) = if plan.block < 1 << 20 { (plan.block >> 10, "K") } else { (plan.block >> 20, "M") };
    format!("{order}{size}{unit} Q{}T{}", plan.depth, plan.threads)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use common::schema::line::Flag;

    use super::super::tests::{flagged, text, total};
    use super::*;
    use crate::args::{Args, Like};
    use crate::like;

    fn plans(program: Like) -> Vec<Plan> {
        like::plans(program, &Args::parse_from(["diskread", "/dev/sda"]).read)
    }

    #[test]
    fn the_best_run_of_each_test_is_shown() {
        let totals = [
            total("cdm_seq1m_q8t1_read", 3_000_000_000, 3000, 1.0),
            total("cdm_seq1m_q8t1_read", 3_494_325_000, 3332, 1.0),
            total("cdm_rnd4k_q1t1_read", 40_960_000, 10_000, 1.0),
        ];
        assert_eq!(
            text(tables("/dev/sda", &plans(Like::Crystaldiskmark), &totals), 80),
            "CrystalDiskMark: /dev/sda, the best of 2 runs\n             \
             Read [MB/s]  Read [IOPS]  Read [us]  Write [MB/s]\n\
             SEQ1M Q8T1      3494.325       3332.0     300.12\n\
             SEQ1M Q1T1\n\
             RND4K Q32T1\n\
             RND4K Q1T1        40.960      10000.0     100.00\n"
        );
    }

    #[test]
    fn the_profile_for_nvme_has_its_own_rows() {
        let plans = plans(Like::Nvme);
        assert_eq!(
            plans.iter().map(name).collect::<Vec<_>>(),
            ["SEQ1M Q8T1", "SEQ128K Q32T1", "RND4K Q32T16", "RND4K Q1T1"]
        );
    }

    #[test]
    fn it_fits_and_a_doubtful_run_has_a_footnote() {
        let totals = [flagged(total("cdm_seq1m_q8t1_read", 3_000_000_000, 3000, 1.0), Flag::Sparse)];
        for width in [40, 60, 80, 120] {
            let text = text(tables("/dev/sda", &plans(Like::Nvme), &totals), width);
            assert!(text.lines().all(|line| line.len() <= width), "{width}: {text}");
            assert!(
                text.contains("3000.000") && text.contains(" *\n") && text.contains("* sparse: "),
                "{width}: {text}"
            );
        }
    }
}
