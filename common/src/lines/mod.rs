//! Reading lines back: of every tool, in any mix, as a log has them after a year of cron, upgrades and crashes.
//!
//! A [`Lines`] streams. It holds one record at a time and allocates nothing per line, so that a log may be larger than
//! memory. What a cell means comes from the line's own first column and the registry in [`schema`](crate::schema), or
//! from the header in force, whichever knows more (`layout.rs` has the rules). What is no line is skipped, counted and
//! remembered by its number; nothing that stands in a file is an error, only not being able to read it is.
//!
//! A [`Reading`] is the front of that for a tool: the files that it is given, what ends the reading, and what is said of
//! what was skipped. [`Filter`] is its `--where`.

mod cells;
mod condition;
mod feed;
mod files;
mod known;
mod layout;
mod objects;
mod reading;
mod skipped;
mod source;
mod time;

use std::borrow::Cow;
use std::io::{self, Read};

use cells::Cells;
use feed::{Feed, Found};
use layout::{Layouts, Meaning};

pub use condition::{Condition, Filter};
pub use feed::MAX_RECORD;
pub use files::{file_name, or_stdin};
pub use layout::Layout;
pub use reading::Reading;
pub use skipped::{Skipped, Why};
pub use source::Beside;

/// The columns that a caller will ask for, found once per kind of line instead of once per line.
#[derive(Debug, Clone, Default)]
pub struct Wanted(Vec<String>);

/// A column among the [`Wanted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnIndex(usize);

impl Wanted {
    /// Wants the column `name`; a line without it has an empty cell there.
    pub fn column(&mut self, name: &str) -> ColumnIndex {
        let known = self.0.iter().position(|wanted| wanted == name);
        ColumnIndex(known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        }))
    }

    /// The name of `column`.
    pub fn name(&self, column: ColumnIndex) -> &str {
        &self.0[column.0]
    }
}

/// The lines of one file or pipe.
#[derive(Debug)]
pub struct Lines<R> {
    feed: Feed<R>,
    cells: Cells,
    layouts: Layouts,
    skipped: Skipped,
}

impl<R: Read> Lines<R> {
    /// Reads `source`, which needs no buffer of its own.
    pub fn new(source: R, wanted: Wanted) -> Self {
        Self {
            feed: Feed::new(source),
            cells: Cells::default(),
            layouts: Layouts::new(wanted.0),
            skipped: Skipped::default(),
        }
    }

    /// The next line that is one; `None` at the end. From a pipe it returns as soon as a line is complete.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let layout = loop {
            self.feed.advance();
            match self.feed.find(&mut self.cells)? {
                Found::End => return Ok(None),
                Found::Bad(why) => self.skipped.add(self.feed.line_number(), why),
                Found::Record => match self.layouts.meaning(&self.cells.of(self.feed.record())) {
                    Meaning::Line(layout) => break layout,
                    Meaning::Header | Meaning::Blank => {}
                    Meaning::Nothing(why) => {
                        self.skipped.add(self.feed.line_number(), why);
                        // A quote that a crash left open reaches into good lines: they get their turn.
                        self.feed.give_back_all_but_one_line();
                    }
                },
            }
        };
        Ok(Some(Line {
            number: self.feed.line_number(),
            raw: self.feed.record(),
            cells: self.cells.of(self.feed.record()),
            layout: self.layouts.get(layout),
        }))
    }

    /// What was skipped so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}

/// One line of a tool, until the next is read.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    number: u64,
    raw: &'a [u8],
    cells: cells::Split<'a>,
    layout: &'a Layout,
}

impl<'a> Line<'a> {
    /// Its number in the file, from 1; of several, the first.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// As it stands in the file, without its line end.
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// What its cells mean. Lines of one kind have one layout, so that a caller may remember things by [`Layout::id`].
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The cell in `column`, quotes taken off; empty if unknown or absent.
    pub fn cell(&self, column: ColumnIndex) -> &'a [u8] {
        self.layout.places[column.0].map_or(&[], |index| self.cells.cell(index))
    }

    /// Whether lines of this kind have the column at all.
    pub fn has(&self, column: ColumnIndex) -> bool {
        self.layout.places[column.0].is_some()
    }

    /// The cell as text; what is not UTF-8 becomes U+FFFD.
    pub fn text(&self, column: ColumnIndex) -> Cow<'a, str> {
        String::from_utf8_lossy(self.cell(column))
    }

    /// The cell as a finite number; `None` if it is empty or none.
    pub fn figure(&self, column: ColumnIndex) -> Option<f64> {
        number(self.cell(column))
    }

    /// The cell as a time, in seconds since 1970; `None` if it is empty or none.
    pub fn time(&self, column: ColumnIndex) -> Option<f64> {
        time::seconds_since_1970(self.cell(column))
    }

    /// All cells with the names of their columns; cells that no header names are left out.
    pub fn named_cells(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let (cells, layout) = (self.cells, self.layout);
        layout.names().enumerate().take(cells.count()).map(move |(index, name)| (name, cells.cell(index)))
    }
}

/// A cell as a finite number.
pub fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests;
