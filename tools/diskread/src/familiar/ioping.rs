//! The closing lines of ioping, and of `ioping -R`.

use common::output::familiar::{Figures, Footnotes, cell, of_test, or_empty};
use common::output::grid::{Column, Grid};

/// The two of its runs, and how it is called for them.
const RUNS: [(&str, &str); 2] = [("ioping_read", "ioping"), ("ioping_rapid_read", "ioping -R")];

/// Its lines, for each run.
pub fn tables(target: &str, totals: &[Figures]) -> Vec<Grid> {
    let mut notes = Footnotes::default();
    let of = |(test, program)| or_empty(of_test(totals, test)).map(move |run| (program, run));
    let runs = RUNS.into_iter().flat_map(of);
    let mut tables: Vec<_> = runs.map(|(program, run)| closing(target, program, run, &notes.mark(run))).collect();
    tables.extend(notes.told());
    tables
}

fn closing(target: &str, program: &str, run: Option<&Figures>, mark: &str) -> Grid {
    let rows = [(requests(run), mark), (generated(run), ""), (times(run), "")];
    let line = |(words, mark): ([String; 5], &str)| {
        let words: Vec<_> = words.iter().map(String::as_str).chain([mark]).filter(|word| !word.is_empty()).collect();
        vec![words.join(" ")]
    };
    Grid {
        title: format!("--- {target} {program} statistics ---"),
        columns: vec![Column::words("")],
        rows: rows.into_iter().map(line).collect(),
    }
}

/// What the requests took, without the pauses between.
fn requests(run: Option<&Figures>) -> [String; 5] {
    let count = run.and_then(|run| run.line.ops);
    let bytes = run.and_then(|run| run.line.bytes);
    let busy_s =
        run.and_then(|run| run.latency).zip(count).map(|(latency, count)| latency.mean_us * count as f64 / 1e6);
    let busy_s = busy_s.filter(|seconds| *seconds > 0.0);
    let per_s = |amount: Option<u64>| amount.zip(busy_s).map(|(amount, seconds)| amount as f64 / seconds);
    [
        format!("{}requests completed in", cell(count, |count| counted(count as f64) + " ")),
        cell(busy_s, |seconds| time(seconds * 1e6) + ","),
        cell(bytes, |bytes| size(bytes as f64) + " read,"),
        cell(per_s(count), |rate| counted(rate) + " iops,"),
        cell(per_s(bytes), |rate| size(rate) + "/s"),
    ]
}

/// The same with the pauses.
fn generated(run: Option<&Figures>) -> [String; 5] {
    [
        format!("generated {}requests in", cell(run.and_then(|run| run.line.ops), |count| counted(count as f64) + " ")),
        cell(run.and_then(Figures::seconds), |seconds| time(seconds * 1e6) + ","),
        cell(run.and_then(|run| run.line.bytes), |bytes| size(bytes as f64) + ","),
        cell(run.and_then(Figures::ops_per_s), |rate| counted(rate) + " iops,"),
        cell(run.and_then(Figures::bytes_per_s), |rate| size(rate) + "/s"),
    ]
}

fn times(run: Option<&Figures>) -> [String; 5] {
    let latency = run.and_then(|run| run.latency);
    let [min, avg, max] = [
        latency.map(|latency| latency.min_us),
        latency.map(|latency| latency.mean_us),
        latency.map(|latency| latency.max_us),
    ]
    .map(|us| cell(us, |us| time(us) + " /"));
    let mdev = cell(latency, |latency| time(latency.deviation_us));
    ["min/avg/max/mdev =".to_owned(), min, avg, max, mdev]
}

/// Three digits at least.
fn digits(value: f64) -> String {
    match value {
        ..9.995 => format!("{value:.2}"),
        ..999.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// With the largest of these units that leaves something before the point.
fn with_unit(value: f64, units: &[(f64, &str)]) -> String {
    let (size, unit) =
        units.iter().find(|(size, _)| value >= *size).copied().unwrap_or((1.0, units[units.len() - 1].1));
    format!("{} {unit}", digits(value / size)).trim_end().to_owned()
}

/// `5.79 k`.
fn counted(value: f64) -> String {
    if value < 1e3 { format!("{value:.0}") } else { with_unit(value, &[(1e6, "M"), (1e3, "k")]) }
}

/// `22.6 MiB`.
fn size(bytes: f64) -> String {
    let unit = |power: i32| 1024_f64.powi(power);
    let text = with_unit(bytes, &[(unit(4), "TiB"), (unit(3), "GiB"), (unit(2), "MiB"), (unit(1), "KiB"), (1.0, "B")]);
    // Whole blocks are whole.
    text.replacen(".00 ", " ", 1).replacen(".0 ", " ", 1)
}

/// `142.1 us`.
fn time(us: f64) -> String {
    with_unit(us, &[(6e7, "min"), (1e6, "s"), (1e3, "ms"), (1.0, "us")])
}

#[cfg(test)]
mod tests {
    use common::schema::line::Flag;

    use super::super::tests::{flagged, text, total};
    use super::*;

    fn paced() -> Figures {
        let mut paced = total("ioping_read", 40_960, 10, 0.001_727);
        // The pauses are in the length, not in the latency.
        let whole = total("ioping_read", 40_960, 10, 9.001);
        paced.line = whole.line;
        paced
    }

    #[test]
    fn the_lines_are_as_ioping_writes_them() {
        assert_eq!(
            text(tables("/dev/sda", &[paced()]), 80),
            "--- /dev/sda ioping statistics ---\n\
             10 requests completed in 1.73 ms, 40 KiB read, 5.79 k iops, 22.6 MiB/s\n\
             generated 10 requests in 9.00 s, 40 KiB, 1 iops, 4.44 KiB/s\n\
             min/avg/max/mdev = 86.3 us / 172.7 us / 345.4 us / 43.2 us\n\
             --- /dev/sda ioping -R statistics ---\n\
             requests completed in\n\
             generated requests in\n\
             min/avg/max/mdev =\n"
        );
    }

    #[test]
    fn figures_are_in_its_units() {
        assert_eq!(
            [142.1, 8.26, 1554.0, 9.0e6, 1.2e8].map(time),
            ["142.1 us", "8.26 us", "1.55 ms", "9.00 s", "2.00 min"]
        );
        assert_eq!([6.4, 999.0, 4970.0, 2.5e6].map(counted), ["6", "999", "4.97 k", "2.50 M"]);
        assert_eq!([12_288.0, 27_238.0, 72_771_174.4].map(size), ["12 KiB", "26.6 KiB", "69.4 MiB"]);
    }

    #[test]
    fn it_fits_and_loses_nothing() {
        let rapid = flagged(total("ioping_rapid_read", 4096 * 123_456, 123_456, 3.0), Flag::Cached);
        for width in [40, 60, 80, 120] {
            let text = text(tables("/dev/sda", &[paced(), rapid.clone()]), width);
            assert!(text.lines().all(|line| line.len() <= width), "{width}: {text}");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for figure in ["5.79 k iops", "41.2 k iops", "345.4 us", "43.2 us", "* cached"] {
                assert!(text.contains(figure), "{width}: {figure} in {text}");
            }
        }
    }
}
