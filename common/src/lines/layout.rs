//! What the cells of a line are called.
//!
//! - A line whose schema is known has the columns of the registry, whatever header stands above it: logs are mixed, and
//!   headers missing. A header that has these and more names the cells after them.
//! - A header that is no tool's own (columns were cut or moved by another program) holds for lines that have exactly as
//!   many cells.
//! - A line of another version of a known tool has the columns of its header, or else the registry's, as far as both go:
//!   columns are only ever added at the end.
//! - A line of an unknown tool has the columns of its header.

use super::cells::Split;
use super::known::Known;
use super::skipped::Why;
use crate::schema::{self, Column, Holds, Schema, registry};

/// Kinds of lines and headers that are remembered at once; more of them are garbage, and start it anew.
const REMEMBERED: usize = 256;

/// The columns of one kind of line.
#[derive(Debug)]
pub struct Layout {
    id: usize,
    tag: String,
    schema: Option<&'static Schema>,
    holds: Holds,
    names: Vec<String>,
    /// Where the wanted columns are.
    pub(super) places: Vec<Option<usize>>,
    /// The header in force, and the number of cells: with the tag, what the layout follows from.
    header: Option<usize>,
    cells: usize,
}

impl Layout {
    /// A number that no other layout of the same file has had.
    pub fn id(&self) -> usize {
        self.id
    }

    /// Tool and number, as in the first column.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The tool that wrote it, without the number: its columns mean the same in every version.
    pub fn tool(&self) -> &str {
        tool_of(&self.tag)
    }

    /// What lines of this tool are.
    pub fn holds(&self) -> Holds {
        self.holds
    }

    /// The tool's own schema; for another version of it, the one that is known; `None` for an unknown tool.
    pub fn schema(&self) -> Option<&'static Schema> {
        self.schema
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// What is known of the column `name` in lines of this kind.
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.schema?.columns().find(|column| column.name == name)
    }
}

/// What a record is.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A line with this layout.
    Line(usize),
    /// A header.
    Header,
    /// An empty line.
    Blank,
    /// None of these.
    Nothing(Why),
}

/// The layouts of a file.
#[derive(Debug)]
pub struct Layouts {
    wanted: Vec<String>,
    headers: Vec<Vec<String>>,
    header: Option<usize>,
    kinds: Vec<Layout>,
    last: usize,
    next_id: usize,
}

impl Layouts {
    pub fn new(wanted: Vec<String>) -> Self {
        Self { wanted, headers: Vec::new(), header: None, kinds: Vec::new(), last: 0, next_id: 0 }
    }

    pub fn get(&self, layout: usize) -> &Layout {
        &self.kinds[layout]
    }

    /// Says what a record is. Most are of the same kind as the one before.
    pub fn meaning(&mut self, record: &Split<'_>) -> Meaning {
        let tag = record.cell(0);
        let is_of = |layout: &Layout, header| {
            layout.tag.as_bytes() == tag && layout.cells == record.count() && layout.header == header
        };
        if self.kinds.get(self.last).is_some_and(|layout| is_of(layout, self.header)) {
            return self.line(record);
        }
        if tag == b"schema" && record.count() > 1 {
            self.take_header(record);
            return Meaning::Header;
        }
        if tag.is_empty() && record.count() == 1 {
            return Meaning::Blank;
        }
        let Some((tool, number)) = schema::tag_parts(tag) else { return Meaning::Nothing(Why::Foreign) };
        if let Some(known) = self.kinds.iter().position(|layout| is_of(layout, self.header)) {
            self.last = known;
            return self.line(record);
        }
        match self.columns(&format!("{tool}/{number}"), tool, record.count()) {
            Ok((schema, names)) => {
                self.last = self.remember(String::from_utf8_lossy(tag).into_owned(), schema, names, record.count());
                self.line(record)
            }
            Err(why) => Meaning::Nothing(why),
        }
    }

    fn line(&self, record: &Split<'_>) -> Meaning {
        let has_more = record.count() > self.kinds[self.last].names.len();
        if has_more && holds_another_line(record) {
            Meaning::Nothing(Why::RunTogether)
        } else {
            Meaning::Line(self.last)
        }
    }

    fn take_header(&mut self, record: &Split<'_>) {
        let is_same = |names: &Vec<String>| {
            names.len() == record.count() && names.iter().zip(record.iter()).all(|(name, cell)| name.as_bytes() == cell)
        };
        self.header = self.headers.iter().position(is_same).or_else(|| {
            if self.headers.len() == REMEMBERED {
                self.headers.clear();
                self.kinds.clear();
            }
            self.headers.push(record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect());
            Some(self.headers.len() - 1)
        });
    }

    fn remember(&mut self, tag: String, schema: Option<&'static Schema>, names: Vec<String>, cells: usize) -> usize {
        if self.kinds.len() == REMEMBERED {
            self.kinds.clear();
        }
        let places = self.wanted.iter().map(|wanted| names.iter().position(|name| name == wanted)).collect();
        let holds = registry::holds(tool_of(&tag));
        let id = self.next_id;
        self.next_id += 1;
        self.kinds.push(Layout { id, tag, schema, holds, names, places, header: self.header, cells });
        self.kinds.len() - 1
    }

    /// The columns of a line of `cells` cells under the header in force.
    fn columns(&self, tag: &str, tool: &str, cells: usize) -> Result<(Option<&'static Schema>, Vec<String>), Why> {
        let known = Known::of(tag, tool);
        if let Some(header) = self.header.map(|header| &self.headers[header])
            && known.follows(header, cells)
        {
            return if cells < header.len() { Err(Why::Cut) } else { Ok((known.schema, header.clone())) };
        }
        // Lines that a program with --header never adds further down follow the last header of their own version.
        let earlier = self.kinds.iter().rev().find(|layout| layout.tag == tag && layout.header.is_some());
        if let Some(earlier) = earlier.filter(|earlier| !known.is_exact && earlier.cells == cells) {
            return Ok((known.schema, earlier.names.clone()));
        }
        let schema = known.schema.ok_or(Why::UnknownSchema)?;
        let mut names: Vec<String> = known.names.iter().map(|name| (*name).to_owned()).collect();
        if known.is_older && cells >= schema.shared.len() {
            names.truncate(cells);
        }
        if cells < names.len() { Err(Why::Cut) } else { Ok((Some(schema), names)) }
    }
}

/// The tool of a tag.
fn tool_of(tag: &str) -> &str {
    tag.split_once('/').map_or("", |(tool, _)| tool)
}

/// Whether a cell ends as a line begins: `...tcpsink/1`, then a time.
fn holds_another_line(record: &Split<'_>) -> bool {
    (1..record.count()).any(|index| {
        let ends_with_tag = |schema: &&Schema| record.cell(index).ends_with(schema.tag.as_bytes());
        schema::ALL.iter().any(ends_with_tag) && is_time(record.cell(index + 1))
    })
}

/// Whether it looks like RFC 3339.
fn is_time(cell: &[u8]) -> bool {
    let is_digit = |index: usize| cell.get(index).is_some_and(u8::is_ascii_digit);
    (0..4).all(is_digit) && cell.get(4) == Some(&b'-') && cell.get(10) == Some(&b'T')
}
