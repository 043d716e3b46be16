//! A person's table: one row a line, made of the cells of a line as programs get it. Pure: it is told the size of the
//! terminal and returns text.
//!
//! Which columns there are, and how they are written, stands in the schema. A column joins the table with the first row that
//! has something to say in it; what does not fit goes by its worth, and no row is longer than the terminal is wide.

mod cell;
mod pick;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::SystemTime;

use crate::schema::line::Flag;
use crate::schema::{Holds, Schema};

pub use cell::{Align, fitted, harmless};
use pick::{Known, Picked};

/// How tables look.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// Weight and colours.
    pub has_color: bool,
    /// Columns that the user wants beside those that a row shows by itself.
    pub also: Vec<String>,
    /// A block of name and value for each row instead.
    pub is_block: bool,
}

/// A table that grows row by row.
#[derive(Debug)]
pub struct Table {
    schema: &'static Schema,
    look: Look,
    /// What has had something to say.
    known: Known,
    /// The header that stands above, and how wide the terminal was.
    header: Option<(Vec<Picked>, usize)>,
    /// Rows since it was printed.
    rows: usize,
    /// When the first span of the run at hand began, by the clock of each host, and which run that is.
    origins: BTreeMap<String, SystemTime>,
    run: String,
    /// The row before was an interval.
    was_interval: bool,
    explained: BTreeSet<Flag>,
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
        Self {
            schema,
            look,
            known: if schema.holds == Holds::Facts { pick::all(schema) } else { Known::new() },
            header: None,
            rows: 0,
            origins: BTreeMap::new(),
            run: String::new(),
            was_interval: false,
            explained: BTreeSet::new(),
        }
    }

    /// What its rows are made of.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// The row of a line with these cells, and what has to stand before it; LF included.
    pub fn row(&mut self, cells: &[&str], size: Size) -> String {
        if self.look.is_block {
            return self.block(cells, size);
        }
        let cells = Cells { schema: self.schema, cells };
        let elapsed = self.elapsed(&cells);
        pick::learn(&mut self.known, &cells, &elapsed, &self.look.also);
        let mut text = String::new();
        let is_total = cells.get("span") == "total";
        let header = self.header.take().filter(|(picked, width)| {
            *width == size.width
                && pick::still_fit(picked, self.schema, &self.known, size.width)
                && picked.iter().all(|column| column.suits(&cells))
        });
        let (picked, is_due) = match header {
            Some((picked, _)) => (picked, self.rows + 3 >= size.height.max(8) && self.schema.holds != Holds::Facts),
            None => (pick::pick(&self.known, &cells, &self.look.also, size.width), true),
        };
        self.rows = if is_due { 0 } else { self.rows + 1 };
        if is_due {
            text += &self.header_text(&picked);
        }
        if is_total && self.was_interval {
            let _ = writeln!(text, "{}", "-".repeat(pick::width(&picked).min(size.width)));
        }
        self.was_interval = !is_total;
        for (index, column) in picked.iter().enumerate() {
            let mut cell = fitted(&column.text(&cells, &elapsed), column.width, column.align);
            if index + 1 == picked.len() {
                cell.truncate(cell.trim_end().len());
            }
            let style = [if is_total { "1" } else { "" }, column.style(&cells)].join(";");
            text += if index > 0 { " " } else { "" };
            text += &self.styled(&cell, style.trim_matches(';'));
        }
        text.push('\n');
        text += &self.explanations(&cells, size);
        self.header = Some((picked, size.width));
        text
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
    fn explanations(&mut self, cells: &Cells<'_>, size: Size) -> String {
        let mut text = String::new();
        for flag in cells.get("flags").split_ascii_whitespace().filter_map(Flag::of_word) {
            if self.explained.insert(flag) {
                text += &self.remark(&format!("{}: {}", flag.word(), flag.meaning()), size);
            }
        }
        text
    }

    /// From when to when a row is, in seconds since its run began.
    fn elapsed(&mut self, cells: &Cells<'_>) -> String {
        let (Ok(began), Ok(length)) =
            (humantime::parse_rfc3339(cells.get("time")), cells.get("seconds").parse::<f64>())
        else {
            return String::new();
        };
        let run = cells.get("run");
        if self.run != run {
            run.clone_into(&mut self.run);
            self.origins.clear();
        }
        let origin = self.origins.entry(cells.get("host").to_owned()).or_insert(began);
        let from = began.duration_since(*origin).unwrap_or_default().as_secs_f64();
        cell::stretch(from, from + length)
    }

    fn block(&self, cells: &[&str], size: Size) -> String {
        let mut text = String::new();
        for (column, value) in self.schema.columns().zip(cells).filter(|(_, value)| !value.is_empty()) {
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

/// The cells of a line, by name.
struct Cells<'a> {
    schema: &'static Schema,
    cells: &'a [&'a str],
}

impl Cells<'_> {
    fn get(&self, name: &str) -> &str {
        let place = self.schema.columns().position(|column| column.name == name);
        place.and_then(|place| self.cells.get(place)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
