//! The table with which `--like` ends: that of the program, from the totals that were printed.

use common::output::familiar::bonnie::Bonnie;
use common::output::familiar::tiobench::Tiobench;
use common::output::familiar::{Figures, Footnotes, cell, marked, of_test, or_empty};
use common::output::grid::{Column, Grid};

use crate::args::Like;
use crate::file::plan::FilePlan;

/// bonnie++ counts small files in units of 1024.
const BONNIE_FILES: u64 = 16;

/// Its two commands.
const DD: [(&str, &str); 2] = [("dd_write", "write"), ("dd_read", "read")];

/// What the program would show of these measurements; what is not there yet is empty.
pub fn tables(program: Like, plan: &FilePlan, target: &str, totals: &[Figures]) -> Vec<Grid> {
    let size = Some(plan.size);
    match program {
        Like::Bonnie => Bonnie {
            target,
            size,
            files: Some(BONNIE_FILES),
            file_tests: [
                Some("bonnie_stdio_write"),
                Some("bonnie_write"),
                Some("bonnie_rewrite"),
                Some("bonnie_stdio_read"),
                Some("bonnie_read"),
                Some("bonnie_seek"),
            ],
            files_tests: [
                Some("bonnie_create"),
                Some("bonnie_stat"),
                Some("bonnie_delete"),
                Some("bonnie_rand_create"),
                Some("bonnie_rand_stat"),
                Some("bonnie_rand_delete"),
            ],
        }
        .tables(totals),
        Like::Tiobench => {
            let threads: Vec<u64> = plan.sweeps.iter().map(|sweep| sweep.threads.into()).collect();
            let tests = ["tiobench_read", "tiobench_rand_read", "tiobench_write", "tiobench_rand_write"].map(Some);
            Tiobench { target, size, threads: &threads, tests }.tables(totals)
        }
        Like::Dd => dd(target, totals),
    }
}

/// A sentence for each command.
fn dd(target: &str, totals: &[Figures]) -> Vec<Grid> {
    let mut notes = Footnotes::default();
    let columns = vec![
        Column::words(""),
        Column::numbers("").worth(3),
        Column::numbers(""),
        Column::words("").worth(4),
        Column::numbers("").worth(2),
        Column::numbers(""),
    ];
    let rows = DD.iter().flat_map(|(test, command)| or_empty(of_test(totals, test)).map(move |run| (*command, run)));
    let rows = rows.map(|(command, run)| (copied(command, run), notes.mark(run))).collect();
    let table = marked(format!("dd bs=1M, write with conv=fsync: {target}"), columns, rows);
    [table].into_iter().chain(notes.told()).collect()
}

fn copied(command: &str, run: Option<&Figures>) -> Vec<String> {
    let bytes = run.and_then(|run| run.line.bytes);
    let blocks = bytes.zip(run.and_then(|run| run.block_bytes));
    let both = |bytes: u64| format!("({}, {})", scaled(bytes as f64, 1000.0, "B"), scaled(bytes as f64, 1024.0, "iB"));
    vec![
        command.to_owned(),
        cell(blocks, |(bytes, block)| format!("{}+{} records", bytes / block, u64::from(!bytes.is_multiple_of(block)))),
        cell(bytes, |bytes| format!("{bytes} bytes")),
        cell(bytes, both),
        cell(run.and_then(Figures::seconds), |seconds| format!("copied, {seconds:.4} s,")),
        cell(run.and_then(Figures::bytes_per_s), |rate| scaled(rate, 1000.0, "B/s")),
    ]
}

/// Two digits at least: `67 MB`, `2.9 GB/s`.
fn scaled(amount: f64, base: f64, unit: &str) -> String {
    let kilo = if base < 1024.0 { "k" } else { "K" };
    let prefixes = [kilo, "M", "G", "T", "P"];
    let (mut scaled, mut prefix) = (amount, "");
    for next in prefixes {
        if scaled < base {
            break;
        }
        (scaled, prefix) = (scaled / base, next);
    }
    let unit = if prefix.is_empty() { unit.replace('i', "") } else { unit.to_owned() };
    let decimals = usize::from(scaled < 9.95 && !prefix.is_empty());
    format!("{scaled:.decimals$} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use common::schema::Fixed;
    use common::schema::line::Flag;

    use super::*;
    use crate::args::{Args, Verb};
    use crate::file::like;

    fn total(test: &'static str, bytes: u64, seconds: f64) -> Figures {
        let mut figures = Figures { threads: 1, block_bytes: Some(1 << 20), ..Figures::default() };
        figures.line.test = test;
        (figures.line.bytes, figures.line.seconds) = (Some(bytes), Fixed::new(seconds));
        figures.line.bytes_per_s = Fixed::ratio(bytes as f64, seconds);
        figures
    }

    fn shown(program: Like, totals: &[Figures], width: usize) -> String {
        let args = Args::parse_from(["nfscopy", "file", "/mnt/x", "--size", "64M"]);
        let Verb::File(args) = args.verb else { panic!() };
        let plan = like::plan(program, &args).unwrap();
        tables(program, &plan, "/mnt/x", totals).into_iter().map(|grid| grid.closing(width)).collect()
    }

    #[test]
    fn a_line_is_as_dd_writes_it() {
        let mut read = total("dd_read", (64 << 20) + 5, 0.0231);
        read.line.flags.raise_if(true, Flag::Cached);
        let text = shown(Like::Dd, &[total("dd_write", 64 << 20, 0.6231), read], 120);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[..3],
            [
                "dd bs=1M, write with conv=fsync: /mnt/x",
                "write  64+0 records  67108864 bytes  (67 MB, 64 MiB)  copied, 0.6231 s,  108 MB/s",
                "read   64+1 records  67108869 bytes  (67 MB, 64 MiB)  copied, 0.0231 s,  2.9 GB/s  *",
            ]
        );
        assert!(lines[3].starts_with("* cached: "), "{text}");
    }

    #[test]
    fn amounts_have_two_digits() {
        assert_eq!(scaled(999.0, 1000.0, "B"), "999 B");
        assert_eq!([scaled(1536.0, 1024.0, "iB"), scaled(12.0, 1024.0, "iB")], ["1.5 KiB", "12 B"]);
        assert_eq!(scaled(17_179_869_184.0, 1000.0, "B"), "17 GB");
    }

    #[test]
    fn every_program_has_a_table_that_fits_and_is_empty_before_anything_is_measured() {
        for program in [Like::Bonnie, Like::Tiobench, Like::Dd] {
            for width in [40, 60, 80, 120] {
                for totals in [vec![], vec![total("dd_write", 17_179_869_184, 321.5)]] {
                    let text = shown(program, &totals, width);
                    assert!(text.lines().all(|line| line.len() <= width), "{program:?} {width}: {text}");
                    assert!(text.contains("/mnt/x") && !text.contains('*'), "{text}");
                }
            }
        }
        assert!(shown(Like::Dd, &[total("dd_write", 17_179_869_184, 321.5)], 40).contains("53 MB/s"));
    }
}
