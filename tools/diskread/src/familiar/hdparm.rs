//! The two sentences of `hdparm -tT`.

use common::output::familiar::{Figures, Footnotes, MIB, cell, marked, of_test, or_empty};
use common::output::grid::{Column, Grid};

/// What stands before the figures of a test.
const ROWS: [(&str, &str); 2] =
    [("hdparm_cached", " Timing cached reads:"), ("hdparm_buffered", " Timing buffered disk reads:")];

/// A sentence for each run, under the name of the target.
pub fn tables(target: &str, totals: &[Figures]) -> Vec<Grid> {
    let mut notes = Footnotes::default();
    let columns =
        vec![Column::words(""), Column::numbers("").worth(3), Column::numbers("").worth(2), Column::numbers("")];
    let rows = ROWS.iter().flat_map(|(test, timing)| or_empty(of_test(totals, test)).map(move |run| (*timing, run)));
    let rows = rows.map(|(timing, run)| (row(timing, run), notes.mark(run))).collect();
    let table = marked(format!("{target}:"), columns, rows);
    [table].into_iter().chain(notes.told()).collect()
}

fn row(timing: &str, run: Option<&Figures>) -> Vec<String> {
    // Its MB are MiB.
    let amount = cell(run.and_then(|run| run.line.bytes), |bytes| format!("{:.0} MB in", bytes as f64 / MIB));
    let seconds = cell(run.and_then(Figures::seconds), |seconds| format!("{seconds:.2} seconds ="));
    let rate = cell(run.and_then(Figures::bytes_per_s), |rate| format!("{:.2} MB/sec", rate / MIB));
    vec![timing.to_owned(), amount, seconds, rate]
}

#[cfg(test)]
mod tests {
    use common::schema::line::Flag;

    use super::super::tests::{flagged, text, total};
    use super::*;

    #[test]
    fn a_line_is_as_hdparm_writes_it() {
        let cached = Figures { method: "cached", ..total("hdparm_cached", 21_344 << 20, 10_672, 1.998) };
        let cached = flagged(cached, Flag::Cached);
        let buffered = total("hdparm_buffered", 424 << 20, 212, 3.01);
        assert_eq!(
            text(tables("/dev/sda", &[cached.clone(), buffered]), 80),
            "/dev/sda:\n \
             Timing cached reads:         21344 MB in  2.00 seconds =  10682.68 MB/sec\n \
             Timing buffered disk reads:    424 MB in  3.01 seconds =    140.86 MB/sec\n"
        );
        assert!(text(tables("/dev/sda", &[cached]), 80).ends_with("MB/sec\n Timing buffered disk reads:\n"));
    }

    #[test]
    fn it_fits_and_keeps_the_rates() {
        let totals =
            [total("hdparm_cached", 21_344 << 20, 10_672, 1.998), total("hdparm_buffered", 424 << 20, 212, 3.01)];
        for width in [40, 60, 80, 120] {
            let text = text(tables("/dev/sda", &totals), width);
            assert!(text.lines().all(|line| line.len() <= width), "{width}: {text}");
            assert!(text.contains("10682.68 MB/sec") && text.contains("140.86 MB/sec"), "{width}: {text}");
        }
    }

    #[test]
    fn a_doubtful_run_has_a_footnote() {
        let doubtful = flagged(total("hdparm_buffered", 1 << 20, 1, 0.1), Flag::Cached);
        let text = text(tables("/dev/sda", &[doubtful]), 80);
        assert!(text.contains("10.00 MB/sec  *\n* cached: "), "{text}");
    }
}
