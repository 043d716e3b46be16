//! The report of tiobench.pl: a table of four kinds, a row for each number of threads.

use super::{Figures, Footnotes, MIB, cell, marked, of_test, or_empty, sentence};
use crate::output::grid::{Column, Grid};

/// What tiobench calls its tables, in its order.
const TITLES: [&str; 4] = ["Sequential Reads", "Random Reads", "Sequential Writes", "Random Writes"];

/// Its words for its columns, and ours for the units.
const UNITS: [[&str; 2]; 7] = [
    ["File Size", "= MiB"],
    ["Blk Size", "= bytes"],
    ["Rate", "= MiB per second"],
    ["(CPU%)", "= CPU time, 100% is a core"],
    ["Latency", "= milliseconds"],
    ["Lat%", "= percent that took longer"],
    ["CPU Eff", "= Rate by a core of CPU time"],
];

/// The columns in two lines, and in which order they go where there is no room.
const COLUMNS: [([&str; 2], u8); 10] = [
    (["File", "Size"], 5),
    (["Blk", "Size"], 6),
    (["Num", "Thr"], 1),
    (["", "Rate"], 1),
    (["", "(CPU%)"], 4),
    (["Avg", "Latency"], 2),
    (["Maximum", "Latency"], 3),
    (["Lat%", ">2s"], 8),
    (["Lat%", ">10s"], 9),
    (["CPU", "Eff"], 7),
];

/// What was measured, and on what.
#[derive(Debug)]
pub struct Tiobench<'a> {
    /// Where.
    pub target: &'a str,
    /// Bytes of all files together.
    pub size: Option<u64>,
    /// The numbers of threads.
    pub threads: &'a [u64],
    /// The word in the test column for each of the tables; `None` for what is not done.
    pub tests: [Option<&'static str>; 4],
}

impl Tiobench<'_> {
    /// All of it, with what is to be said of the figures at the end.
    pub fn tables(&self, totals: &[Figures]) -> Vec<Grid> {
        let mut notes = Footnotes::default();
        let units = Grid {
            title: format!("tiobench: {}. Unit information", self.target),
            columns: vec![Column::words(""), Column::words("")],
            rows: UNITS.iter().map(|row| row.map(str::to_owned).into()).collect(),
        };
        let mut tables = vec![units];
        let mut missing = Vec::new();
        for (title, test) in TITLES.into_iter().zip(self.tests) {
            match test {
                Some(test) => tables.push(self.table(title, test, totals, &mut notes)),
                None => missing.push(title),
            }
        }
        if !missing.is_empty() {
            tables.push(sentence(format!("{}: not measured", missing.join(", "))));
        }
        tables.extend(notes.told());
        tables
    }

    fn table(&self, title: &str, test: &str, totals: &[Figures], notes: &mut Footnotes) -> Grid {
        let columns = COLUMNS.iter().map(|([above, _], worth)| Column::numbers(above).worth(*worth)).collect();
        let below = COLUMNS.iter().map(|([_, below], _)| (*below).to_owned()).collect();
        let mut rows = vec![(below, String::new())];
        for threads in self.threads {
            let runs = of_test(totals, test).filter(|total| total.threads == *threads);
            rows.extend(or_empty(runs).map(|run| (self.row(*threads, run), notes.mark(run))));
        }
        marked(title, columns, rows)
    }

    fn row(&self, threads: u64, run: Option<&Figures>) -> Vec<String> {
        let rate = run.and_then(Figures::bytes_per_s).map(|rate| rate / MIB);
        let cpu = run.and_then(Figures::cpu_pct);
        let latency = run.and_then(|run| run.latency);
        // Where the longest took less, none took more.
        let none_beyond =
            |limit_us: f64| cell(latency.filter(|latency| latency.max_us < limit_us), |_| "0.00000".to_owned());
        vec![
            cell(self.size, |bytes| format!("{:.0}", bytes as f64 / MIB)),
            cell(run.and_then(|run| run.block_bytes), |bytes| bytes.to_string()),
            threads.to_string(),
            cell(rate, |rate| format!("{rate:.2}")),
            cell(cpu, |pct| format!("{pct:.2}%")),
            cell(latency, |latency| format!("{:.3}", latency.mean_us / 1e3)),
            cell(latency, |latency| format!("{:.2}", latency.max_us / 1e3)),
            none_beyond(2e6),
            none_beyond(10e6),
            cell(rate.zip(cpu).filter(|(_, cpu)| *cpu > 0.0), |(rate, cpu)| format!("{:.0}", rate / (cpu / 100.0))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::latency::Moments;
    use crate::schema::Fixed;
    use crate::schema::line::Flag;

    const OF: Tiobench<'_> = Tiobench {
        target: "/mnt/x",
        size: Some(252 << 20),
        threads: &[1, 2],
        tests: [Some("seq"), Some("rand"), None, None],
    };

    fn total(test: &'static str, threads: u64, max_us: f64) -> Figures {
        let mut figures = Figures { threads, block_bytes: Some(4096), ..Figures::default() };
        figures.line.test = test;
        figures.line.bytes_per_s = Fixed::new(8.65 * MIB);
        figures.line.cpu_pct = Fixed::new(5.57);
        figures.latency = Some(Moments { mean_us: 12_661.0, max_us, ..Moments::default() });
        figures
    }

    fn shown(totals: &[Figures], width: usize) -> Vec<String> {
        OF.tables(totals).into_iter().map(|grid| grid.closing(width)).collect()
    }

    #[test]
    fn a_row_is_as_tiobench_writes_it() {
        let all = shown(&[total("seq", 1, 1_436_100.0), total("seq", 2, 3e6)], 120);
        assert_eq!(
            all[1],
            "Sequential Reads\n\
             File   Blk  Num                    Avg  Maximum     Lat%     Lat%  CPU\n\
             Size  Size  Thr  Rate  (CPU%)  Latency  Latency      >2s     >10s  Eff\n \
             252  4096    1  8.65   5.57%   12.661  1436.10  0.00000  0.00000  155\n \
             252  4096    2  8.65   5.57%   12.661  3000.00           0.00000  155\n"
        );
        assert_eq!(all.last().unwrap(), "Sequential Writes, Random Writes: not measured\n");
    }

    #[test]
    fn what_is_missing_is_empty_and_what_is_doubtful_told() {
        let mut cached = total("rand", 2, 1.0);
        cached.line.flags.raise_if(true, Flag::Cached);
        let all = shown(&[cached], 120);
        let rows: Vec<_> = all[1].lines().skip(3).collect();
        assert_eq!(rows, [" 252          1", " 252          2"]);
        assert!(all[2].lines().last().unwrap().ends_with("155  *"), "{}", all[2]);
        assert!(all.last().unwrap().starts_with("* cached: "), "{all:?}");
    }

    #[test]
    fn it_fits_and_keeps_threads_and_rate() {
        let totals = [total("seq", 1, 1.0), total("rand", 1, 1.0)];
        for width in [40, 60, 80, 120] {
            for grid in shown(&totals, width) {
                assert!(grid.lines().all(|line| line.len() <= width && !line.contains('~')), "{width}: {grid}");
            }
            assert!(shown(&totals, width)[1].contains("8.65"));
        }
    }
}
