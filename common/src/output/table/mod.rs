//! A person's table: one row a line, made of the cells of a line as programs get it. Pure: it is told the size of the
//! terminal and returns text.
//!
//! Which columns there are, and how they are written, stands in the schema. A column joins the table with the first row that
//! has something to say in it; what does not fit goes by its worth, and no row is longer than the terminal is wide.

mod cell;
mod cells;
mod pick;
mod top;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::{Duration, SystemTime};

use csv::StringRecord;

use crate::schema::line::Flag;
use crate::schema::{Holds, Schema};
use crate::text::harmless;

pub use cell::{Align, fitted};
use cells::{Cells, Kind};
use pick::{Known, Picked};
use top::Top;

/// How long no row comes after the last one of a sample.
const SETTLED: Duration = Duration::from_millis(5);

/// How tables look.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// Weight and colours.
    pub has_color: bool,
    /// Columns that the user wants beside those that a row shows by itself.
    pub also: Vec<String>,
    /// A block of name and value for each row instead.
    pub is_block: bool,
    /// The newest intervals stay where they are, and are drawn anew.
    pub is_top: bool,
}

/// A table that grows row by row.
#[derive(Debug)]
pub struct Table {
    schema: &'static Schema,
    look: Look,
    /// What has had something to say, in each kind of rows.
    known: BTreeMap<Kind, Known>,
    header: Option<Header>,
    /// Rows since it was printed.
    rows: usize,
    /// When the first span of the run at hand began, by the clock of each host, and which run that is.
    origins: BTreeMap<String, SystemTime>,
    run: String,
    /// The row before was an interval.
    was_interval: bool,
    explained: BTreeSet<Flag>,
    /// A line that waits for the other one of its row.
    half: Option<Cells>,
    /// The picture of the newest intervals.
    top: Top,
}

/// The header that stands above.
#[derive(Debug)]
struct Header {
    picked: Vec<Picked>,
    /// How wide the terminal was.
    width: usize,
    /// The kind of rows beneath.
    kind: Kind,
}

/// The size of the terminal, characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Table {
    /// An empty one for lines of this schema.
    pub fn new(schema: &'static Schema, look: Look) -> Self {
        let is_complete = schema.holds == Holds::Facts;
        let known = is_complete.then(|| (Kind::Single, pick::all(schema))).into_iter().collect();
        Self {
            schema,
            look,
            known,
            header: None,
            rows: 0,
            origins: BTreeMap::new(),
            run: String::new(),
            was_interval: false,
            explained: BTreeSet::new(),
            half: None,
            top: Top::default(),
        }
    }

    /// What its rows are made of.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// What a line adds: its row, and what has to stand before it; LF included. Nothing yet, if another line belongs beside
    /// it.
    pub fn add(&mut self, line: StringRecord, size: Size) -> String {
        if self.look.is_block {
            return self.block(&line, size);
        }
        let cells = Cells::new(self.schema, line);
        let (alone, row) = match self.half.take().map(|half| half.join(cells.clone())) {
            None => (None, cells),
            Some(Ok(row)) => (None, row),
            Some(Err(half)) => (Some(half), cells),
        };
        let text = alone.map(|half| self.row(half, size)).unwrap_or_default();
        if row.is_half() {
            self.half = Some(row);
            return text;
        }
        text + &self.row(row, size)
    }

    /// What still waits, at the end.
    pub fn rest(&mut self, size: Size) -> String {
        self.half.take().map(|row| self.row(row, size)).unwrap_or_default()
    }

    /// How long after a row others of its sample may come, which belong into the same picture.
    pub fn settles_within(&self) -> Duration {
        if self.look.is_top { SETTLED } else { Duration::ZERO }
    }

    /// The picture of the newest intervals over the one before, if there is anything new in it.
    pub fn repaint(&mut self, size: Size) -> String {
        let Some(rows) = self.top.news(size) else { return String::new() };
        self.header = None;
        self.was_interval = false;
        let endless = Size { height: usize::MAX, ..size };
        let text = rows.iter().map(|row| self.text(row, endless)).collect();
        self.top.paint(text)
    }

    fn row(&mut self, cells: Cells, size: Size) -> String {
        if !self.look.is_top {
            return self.text(&cells, size);
        }
        if cells.get("span") == "interval" {
            self.top.take(cells);
            return String::new();
        }
        let erased = self.top.erase();
        if !erased.is_empty() {
            (self.header, self.was_interval) = (None, false);
        }
        erased + &self.text(&cells, size)
    }

    /// The row, and what has to stand before it.
    fn text(&mut self, cells: &Cells, size: Size) -> String {
        let elapsed = self.elapsed(cells);
        let kind = cells.kind();
        let known = self.known.entry(kind).or_default();
        pick::learn(known, cells, &elapsed, &self.look.also);
        let is_total = cells.get("span") == "total";
        let still_holds = |header: &Header| {
            header.width == size.width
                && header.kind == kind
                && pick::still_fit(&header.picked, self.schema, known, size.width)
                && header.picked.iter().all(|column| column.suits(cells))
        };
        let (picked, is_due) = match self.header.take().filter(still_holds) {
            Some(header) => {
                let is_full = self.rows.saturating_add(3) >= size.height.max(8);
                (header.picked, is_full && self.schema.holds != Holds::Facts)
            }
            None => (pick::pick(known, cells, &self.look.also, size.width), true),
        };
        self.rows = if is_due { 0 } else { self.rows + 1 };
        let mut text = String::new();
        if is_due {
            text += &self.header_text(&picked);
        }
        if is_total && self.was_interval {
            let _ = writeln!(text, "{}", "-".repeat(pick::width(&picked).min(size.width)));
        }
        self.was_interval = !is_total;
        let texts: Vec<_> = picked.iter().map(|column| column.text(cells, &elapsed)).collect();
        for texts in self.lines_of(&picked, texts) {
            let last = texts.iter().rposition(|text| !text.is_empty()).unwrap_or_default();
            for (index, (column, cell)) in picked.iter().zip(&texts).enumerate().take(last + 1) {
                let mut cell = fitted(cell, column.width, column.align);
                if index == last {
                    cell.truncate(cell.trim_end().len());
                }
                let style = [if is_total { "1" } else { "" }, column.style(cells)].join(";");
                text += if index > 0 { " " } else { "" };
                text += &self.styled(&cell, style.trim_matches(';'));
            }
            text.push('\n');
        }
        text += &self.explanations(cells, size);
        self.header = Some(Header { picked, width: size.width, kind });
        text
    }

    /// The lines of a row: a fact is told whole, on several if need be; a measurement has one.
    fn lines_of(&self, picked: &[Picked], texts: Vec<String>) -> Vec<Vec<String>> {
        if self.schema.holds != Holds::Facts {
            return vec![texts];
        }
        let folded = picked.iter().zip(&texts).map(|(column, text)| textwrap::wrap(text, column.width.max(1)));
        let folded: Vec<_> = folded.collect();
        let height = folded.iter().map(Vec::len).max().unwrap_or(1);
        let line =
            |index| folded.iter().map(|parts| parts.get(index).map(ToString::to_string).unwrap_or_default()).collect();
        (0..height).map(line).collect()
    }

    /// A remark between rows.
    pub fn remark(&self, words: &str, size: Size) -> String {
        let options = textwrap::Options::new(size.width).initial_indent("  ").subsequent_indent("    ");
        textwrap::wrap(words, options).iter().map(|line| self.styled(line, "2") + "\n").collect()
    }

    fn header_text(&self, picked: &[Picked]) -> String {
        let titles: Vec<_> = picked.iter().map(|column| fitted(&column.title(), column.width, column.align)).collect();
        self.styled(titles.join(" ").trim_end(), "1;4") + "\n"
    }

    /// The text in this style (ECMA-48, select graphic rendition).
    fn styled(&self, text: &str, style: &str) -> String {
        if self.look.has_color && !style.is_empty() && !text.is_empty() {
            format!("\x1b[{style}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// What the flags of a row mean, each once.
    fn explanations(&mut self, cells: &Cells, size: Size) -> String {
        let mut text = String::new();
        for flag in cells.flags().into_iter().filter_map(Flag::of_word) {
            if self.explained.insert(flag) {
                text += &self.remark(&format!("{}: {}", flag.word(), flag.meaning()), size);
            }
        }
        text
    }

    /// From when to when a row is, in seconds since its run began.
    fn elapsed(&mut self, cells: &Cells) -> String {
        let Some((began, length)) = cells.span() else { return String::new() };
        let run = cells.get("run");
        if self.run != run {
            run.clone_into(&mut self.run);
            self.origins.clear();
        }
        let origin = self.origins.entry(cells.get("host").to_owned()).or_insert(began);
        let from = began.duration_since(*origin).unwrap_or_default().as_secs_f64();
        cell::stretch(from, from + length)
    }

    fn block(&self, line: &StringRecord, size: Size) -> String {
        let mut text = String::new();
        for (column, value) in self.schema.columns().zip(line).filter(|(_, value)| !value.is_empty()) {
            let row = format!("{:<24} {} {}", column.name, harmless(value), column.unit);
            let options = textwrap::Options::new(size.width).subsequent_indent("    ");
            for line in textwrap::wrap(row.trim_end(), options) {
                let _ = writeln!(text, "{line}");
            }
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod screens;
#[cfg(test)]
mod tests;
