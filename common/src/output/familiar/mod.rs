//! The tables with which other programs end, filled with our figures: whoever knows the program finds what it says where
//! it says it. What is not measured stays empty.

pub mod bonnie;
pub mod tiobench;

use crate::measure::latency::Moments;
use crate::schema::Fixed;
use crate::schema::line::{Flag, Line};

use super::grid::{Column, Grid};

/// Bytes of what most of these programs call MB.
pub const MIB: f64 = 1_048_576.0;

/// What a total says, as far as other programs say it.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// The shared columns of its line.
    pub line: Line,
    /// How the bytes moved, in the word of the line.
    pub method: &'static str,
    /// Who worked at the same time.
    pub threads: u64,
    /// Bytes of each operation.
    pub block_bytes: Option<u64>,
    /// How long an operation took.
    pub latency: Option<Moments>,
}

impl Figures {
    /// Bytes per second.
    pub fn bytes_per_s(&self) -> Option<f64> {
        self.line.bytes_per_s.map(Fixed::value)
    }

    /// Operations per second.
    pub fn ops_per_s(&self) -> Option<f64> {
        self.line.ops_per_s.map(Fixed::value)
    }

    /// CPU time, 100 is one core.
    pub fn cpu_pct(&self) -> Option<f64> {
        self.line.cpu_pct.map(Fixed::value)
    }

    /// Its length in seconds.
    pub fn seconds(&self) -> Option<f64> {
        self.line.seconds.map(Fixed::value)
    }

    /// What is to be said about them. That a line of the method `cached` is cached is what was asked for.
    fn flags(&self) -> Vec<Flag> {
        let words = self.line.flags.to_string();
        let is_meant = |flag: &Flag| *flag == Flag::Cached && self.method == Flag::Cached.word();
        words.split_ascii_whitespace().filter_map(Flag::of_word).filter(|flag| !is_meant(flag)).collect()
    }
}

/// The totals of one test, in the order of their runs.
pub fn of_test<'a>(totals: &'a [Figures], test: &str) -> impl Iterator<Item = &'a Figures> {
    totals.iter().filter(move |total| total.line.test == test)
}

/// The rows of a test: one for each of its runs, or an empty one if it was not measured.
pub fn or_empty<'a>(runs: impl Iterator<Item = &'a Figures>) -> impl Iterator<Item = Option<&'a Figures>> {
    let mut runs = runs.map(Some).peekable();
    let missing = runs.peek().is_none().then_some(None);
    runs.chain(missing)
}

/// A cell, empty where there is no figure.
pub fn cell<T>(figure: Option<T>, text: impl FnOnce(T) -> String) -> String {
    figure.map(text).unwrap_or_default()
}

/// The flags of the figures in a table, each with a mark of its own, told below it.
#[derive(Debug, Default)]
pub struct Footnotes(Vec<Flag>);

impl Footnotes {
    /// What stands beside figures: `*` for the first flag that occurs, `**` for the second.
    pub fn mark(&mut self, figures: Option<&Figures>) -> String {
        let mut marks = Vec::new();
        for flag in figures.map(Figures::flags).unwrap_or_default() {
            let place = self.0.iter().position(|known| *known == flag).unwrap_or_else(|| {
                self.0.push(flag);
                self.0.len() - 1
            });
            marks.push("*".repeat(place + 1));
        }
        marks.join(" ")
    }

    /// What the marks mean, if there are any.
    pub fn told(&self) -> Option<Grid> {
        let note =
            |(place, flag): (usize, &Flag)| format!("{} {}: {}", "*".repeat(place + 1), flag.word(), flag.meaning());
        let notes: Vec<_> = self.0.iter().enumerate().map(note).collect();
        (!notes.is_empty()).then(|| sentence(notes.join(" ")))
    }
}

/// Words without a table.
pub fn sentence(words: impl Into<String>) -> Grid {
    Grid { title: words.into(), ..Grid::default() }
}

/// A table whose rows have a mark each; without any there is no column of them.
pub fn marked(title: impl Into<String>, mut columns: Vec<Column>, rows: Vec<(Vec<String>, String)>) -> Grid {
    let has_marks = rows.iter().any(|(_, mark)| !mark.is_empty());
    columns.extend(has_marks.then(|| Column::words("")));
    let row = |(mut cells, mark): (Vec<String>, String)| {
        cells.extend(has_marks.then_some(mark));
        cells
    };
    Grid { title: title.into(), columns, rows: rows.into_iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::line::Flags;

    fn flagged(flags: &[Flag]) -> Figures {
        let mut figures = Figures::default();
        for flag in flags {
            figures.line.flags.raise_if(true, *flag);
        }
        figures
    }

    #[test]
    fn every_flag_has_a_mark_and_is_told_once() {
        let mut notes = Footnotes::default();
        assert_eq!(notes.mark(Some(&flagged(&[Flag::Cached]))), "*");
        assert_eq!(notes.mark(Some(&flagged(&[Flag::Short, Flag::Cached]))), "** *");
        assert_eq!((notes.mark(Some(&flagged(&[]))), notes.mark(None)), (String::new(), String::new()));
        let told = notes.told().unwrap().title;
        assert!(told.starts_with("* cached: Bytes came from memory") && told.contains(" ** short: "), "{told}");
        assert!(Footnotes::default().told().is_none());
    }

    #[test]
    fn what_is_meant_to_be_cached_has_no_mark() {
        let figures = Figures { method: "cached", ..flagged(&[Flag::Cached]) };
        assert_eq!(Footnotes::default().mark(Some(&figures)), "");
        assert_ne!(figures.line.flags, Flags::default());
    }

    #[test]
    fn a_test_that_was_not_measured_has_an_empty_row() {
        assert_eq!(or_empty(std::iter::empty()).count(), 1);
        let figures = Figures::default();
        assert_eq!(or_empty([&figures, &figures].into_iter()).flatten().count(), 2);
    }
}
