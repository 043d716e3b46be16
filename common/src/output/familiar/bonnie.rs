//! The two tables of bonnie++: a large file, and many small ones; figures above, their longest latencies below.

use super::{Figures, Footnotes, MIB, cell, of_test};
use crate::output::grid::{Column, Grid};

/// The large file: what stands above the columns, in two lines.
const FILE: [[&str; 2]; 6] = [
    ["SeqOutput", "-Per Chr-"],
    ["SeqOutput", "--Block--"],
    ["SeqOutput", "-Rewrite-"],
    ["Seq Input", "-Per Chr-"],
    ["Seq Input", "--Block--"],
    ["-Random--", "--Seeks--"],
];

/// The small files.
const FILES: [[&str; 2]; 6] = [
    ["SeqCreate", "-Create--"],
    ["SeqCreate", "--Read---"],
    ["SeqCreate", "-Delete--"],
    ["RndCreate", "-Create--"],
    ["RndCreate", "--Read---"],
    ["RndCreate", "-Delete--"],
];

/// What was measured, and on what.
#[derive(Debug)]
pub struct Bonnie<'a> {
    /// Where.
    pub target: &'a str,
    /// Bytes of the large file.
    pub size: Option<u64>,
    /// Number of small files, if there are any.
    pub files: Option<u64>,
    /// The word in the test column for each column of the large file; `None` for what is not done.
    pub file_tests: [Option<&'static str>; 6],
    /// The same for small files.
    pub files_tests: [Option<&'static str>; 6],
}

/// What a column shows.
type Measure = fn(&Figures) -> Option<String>;

impl Bonnie<'_> {
    /// All of it, with what is to be said of the figures at the end.
    pub fn tables(&self, totals: &[Figures]) -> Vec<Grid> {
        let mut notes = Footnotes::default();
        let title = format!("bonnie++: {}; k, m, g are KiB, MiB, GiB", self.target);
        let size = cell(self.size, size_text);
        let mut measures: [Measure; 6] = [rate; 6];
        measures[5] = frequency;
        let mut tables = vec![table(title, ["Size", &size], FILE, self.file_tests, measures, totals, &mut notes)];
        if let Some(files) = self.files {
            let files = files.to_string();
            tables.push(table(
                String::from("bonnie++: files"),
                ["files", &files],
                FILES,
                self.files_tests,
                [frequency; 6],
                totals,
                &mut notes,
            ));
        }
        tables.extend(notes.told());
        tables
    }
}

fn table(
    title: String,
    [name, amount]: [&str; 2],
    heads: [[&str; 2]; 6],
    tests: [Option<&'static str>; 6],
    measures: [Measure; 6],
    totals: &[Figures],
    notes: &mut Footnotes,
) -> Grid {
    let columns = heads.iter().map(|[above, _]| Column::numbers(above));
    let row = |first: &str, cells: [String; 6]| [first.to_owned()].into_iter().chain(cells).collect::<Vec<_>>();
    let mut rows =
        vec![row("", heads.map(|[_, below]| below.to_owned())), row(name, heads.map(|_| " /sec %CP".into()))];
    let of = |test: Option<&'static str>| of_test(totals, test.unwrap_or_default()).collect::<Vec<_>>();
    let runs = tests.map(of);
    // What was repeated has a row for each time.
    for run in 0..runs.iter().map(Vec::len).max().unwrap_or_default().max(1) {
        let figures: [Option<&Figures>; 6] = std::array::from_fn(|place| runs[place].get(run).copied());
        let above = std::array::from_fn(|place| cell(figures[place], |figures| with_cpu(figures, measures[place])));
        let below = figures.map(|figures| cell(figures, longest));
        rows.extend([row(amount, above), row("Latency", below)]);
        let marks = figures.map(|figures| notes.mark(figures));
        if marks.iter().any(|mark| !mark.is_empty()) {
            rows.push(row("", marks));
        }
    }
    Grid { title, columns: [Column::words("")].into_iter().chain(columns).collect(), rows }
}

/// A figure and the share of a core that it took.
fn with_cpu(figures: &Figures, measure: Measure) -> String {
    let cpu = cell(figures.cpu_pct(), |pct| format!("{pct:.0}"));
    cell(measure(figures), |figure| format!("{figure:>5} {cpu:>3}"))
}

fn longest(figures: &Figures) -> String {
    cell(figures.latency, |latency| latency_text(latency.max_us))
}

/// Bytes per second in five places.
fn rate(figures: &Figures) -> Option<String> {
    let kib = figures.bytes_per_s()? / 1024.0;
    Some(match kib {
        ..9_999.5 => format!("{kib:.0}k"),
        ..102_400.0 => format!("{:.1}m", kib / 1024.0),
        ..10_238_976.0 => format!("{:.0}m", kib / 1024.0),
        _ => format!("{:.1}g", kib / MIB),
    })
}

/// How many a second, in five places.
fn frequency(figures: &Figures) -> Option<String> {
    let ops = figures.ops_per_s()?;
    Some(match ops {
        ..999.95 => format!("{ops:.1}"),
        ..99_999.5 => format!("{ops:.0}"),
        _ => format!("{:.0}k", ops / 1e3),
    })
}

/// A latency in seven places.
fn latency_text(us: f64) -> String {
    match us {
        ..99_999.5 => format!("{us:.0}us"),
        ..99_999_500.0 => format!("{:.0}ms", us / 1e3),
        _ => format!("{:.0}s", us / 1e6),
    }
}

/// A size as bonnie++ takes it: `64M`, `16G`.
fn size_text(bytes: u64) -> String {
    let units = [(30, "G"), (20, "M"), (10, "k")];
    let whole = units.into_iter().find(|(shift, _)| bytes >> shift > 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or_else(|| format!("{:.0}k", bytes as f64 / 1024.0), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::latency::Moments;
    use crate::schema::Fixed;
    use crate::schema::line::Flag;

    fn total(test: &'static str, bytes_per_s: f64, ops_per_s: f64, max_us: f64) -> Figures {
        let mut figures = Figures::default();
        figures.line.test = test;
        figures.line.bytes_per_s = Fixed::new(bytes_per_s);
        figures.line.ops_per_s = Fixed::new(ops_per_s);
        figures.line.cpu_pct = Fixed::new(98.7);
        figures.latency = Some(Moments { max_us, ..Moments::default() });
        figures
    }

    fn shown(totals: &[Figures], width: usize) -> Vec<String> {
        let of = Bonnie {
            target: "/mnt/x",
            size: Some(16 << 30),
            files: Some(16),
            file_tests: [Some("chr"), Some("write"), None, None, Some("read"), Some("seek")],
            files_tests: [Some("create"), None, None, None, None, None],
        };
        of.tables(totals).into_iter().map(|grid| grid.closing(width)).collect()
    }

    fn totals() -> Vec<Figures> {
        vec![
            total("chr", 1308.0 * 1024.0, 1e6, 7431.0),
            total("write", 2.5 * 1024.0 * MIB, 9e4, 71.0),
            total("read", 50.0 * MIB, 9e4, 345_000.0),
            total("seek", 50.0 * MIB, 12_345.6, 6783.0),
            total("create", 0.0, 234_567.0, 109.0),
        ]
    }

    #[test]
    fn both_tables_are_as_bonnie_writes_them() {
        let all = shown(&totals(), 80);
        assert_eq!(
            all[0],
            "bonnie++: /mnt/x; k, m, g are KiB, MiB, GiB\n         \
             SeqOutput  SeqOutput  SeqOutput  Seq Input  Seq Input  -Random--\n         \
             -Per Chr-  --Block--  -Rewrite-  -Per Chr-  --Block--  --Seeks--\n\
             Size      /sec %CP   /sec %CP   /sec %CP   /sec %CP   /sec %CP   /sec %CP\n\
             16G      1308k  99  2560m  99                        50.0m  99  12346  99\n\
             Latency     7431us       71us                            345ms     6783us\n"
        );
        assert!(all[1].contains("\n16        235k  99\nLatency      109us\n"), "{}", all[1]);
    }

    #[test]
    fn what_was_not_measured_is_empty() {
        assert!(shown(&[], 80)[0].ends_with("%CP\n16G\nLatency\n"));
        assert_eq!(shown(&[], 80).len(), 2);
    }

    #[test]
    fn every_run_has_its_rows_and_a_doubtful_one_its_mark() {
        let mut again = totals();
        again[3].line.flags.raise_if(true, Flag::Cached);
        let all = shown(&[totals(), again].concat(), 80);
        assert_eq!(all[0].matches("16G ").count(), 2);
        assert!(all[0].lines().last().unwrap().trim() == "*" && all[2].starts_with("* cached: "), "{all:?}");
    }

    #[test]
    fn it_fits_and_loses_nothing() {
        for width in [40, 60, 80, 120] {
            let all = shown(&totals(), width);
            assert!(all.iter().flat_map(|table| table.lines()).all(|line| line.len() <= width), "{width}: {all:?}");
            for figure in ["1308k  99", "2560m  99", "12346  99", "6783us"] {
                assert!(all[0].contains(figure), "{width}: {}", all[0]);
            }
        }
    }
}
