//! A finished line of the other end: it crosses the wire as named cells, so that ends with different sets of columns
//! understand each other, and is checked and written anew here, so that nothing of it reaches stdout as it came.
//!
//! ```text
//! schema=tcpsink/2 time=2026-11-30T12:00:00.000Z host=nas label=hub%20one test=tcp_recv span=total bytes=1000 ...
//! ```
//!
//! Values are escaped as in [`wire`]; empty cells are left out; the order means nothing.

use anyhow::{Context, bail};
use csv::StringRecord;

use crate::cli::MAX_LABEL;
use crate::net::wire;
use crate::output;
use crate::schema::line::Flag;
use crate::schema::{Column, Schema, tag_parts};

/// Longest line on the wire, bytes: the longest label, thrice when escaped, and the rest.
pub const MAX_WIRE: usize = 8192;

/// Most cells of a line on the wire, known or not.
const MAX_CELLS: usize = 256;

/// Longest line that is written, bytes: what a pipe takes in one piece (`PIPE_BUF`, pipe(7)).
const MAX_LINE: usize = 4096;

/// Longest text of a cell but the label, bytes: a host's name is no longer.
const MAX_TEXT: usize = 255;

/// What every line says.
const NEEDED: [&str; 4] = ["schema", "time", "test", "span"];

/// A line of CSV of `schema`, LF included, as it crosses the wire: without LF, and in no need of further escaping behind
/// other words of [`wire`].
pub fn to_wire(schema: &Schema, csv_line: &str) -> anyhow::Result<String> {
    let cells = output::cells_of(csv_line)?;
    if cells.len() != schema.columns().count() {
        bail!("a line of {} does not have its columns", schema.tag);
    }
    let named = schema.columns().zip(&cells).filter(|(_, cell)| !cell.is_empty());
    let named: Vec<_> = named.map(|(column, cell)| format!("{}={}", column.name, wire::encoded(cell))).collect();
    Ok(named.join(" "))
}

/// A line of the other end, in the columns of this one.
#[derive(Debug, Clone)]
pub struct PeerLine {
    schema: &'static Schema,
    cells: StringRecord,
}

impl PeerLine {
    /// Takes a line as it crossed the wire. Columns that are unknown here are left out, those that are unknown there are
    /// empty; the schema is the own one.
    ///
    /// An error names the column whose cell is nonsense, or says what the line lacks. Harmful characters are replaced.
    pub fn read(schema: &'static Schema, wire_text: &str) -> anyhow::Result<Self> {
        if wire_text.len() > MAX_WIRE || wire_text.split(' ').count() > MAX_CELLS {
            bail!("a line of the other end is too long");
        }
        let mut cells = vec![String::new(); schema.columns().count()];
        for part in wire_text.split(' ') {
            let Some((name, value)) = part.split_once('=').filter(|(name, _)| is_word(name)) else {
                bail!("a line of the other end is not understood: it is no list of name=value");
            };
            let Some((place, column)) = schema.columns().enumerate().find(|(_, column)| column.name == name) else {
                continue;
            };
            let cell = wire::decoded(value).and_then(|value| checked(schema, column, &value));
            let cell = cell.with_context(|| format!("a line of the other end makes no sense: its {name}"))?;
            if !std::mem::replace(&mut cells[place], cell).is_empty() {
                bail!("a line of the other end makes no sense: it has two of {name}");
            }
        }
        let line = Self { schema, cells: StringRecord::from(cells) };
        if let Some(lacking) = NEEDED.into_iter().find(|name| line.cell(name).is_empty()) {
            bail!("a line of the other end is incomplete: it has no {lacking}");
        }
        if line.text()?.len() > MAX_LINE {
            bail!("a line of the other end is too long");
        }
        Ok(line)
    }

    /// The line as CSV, LF included: one line with all columns of the schema, whatever came.
    pub fn text(&self) -> anyhow::Result<String> {
        output::line_of(&self.cells.iter().collect::<Vec<_>>())
    }

    /// Adds a warning.
    pub fn raise(&mut self, flag: Flag) {
        let place = self.place("flags");
        let cells = self.cells.iter().enumerate().map(|(index, cell)| match cell {
            _ if index != place => cell.to_owned(),
            "" => flag.word().to_owned(),
            _ => format!("{cell} {}", flag.word()),
        });
        self.cells = cells.collect();
    }

    /// Whether it has the flag.
    pub fn has(&self, flag: Flag) -> bool {
        self.cell("flags").split(' ').any(|word| word == flag.word())
    }

    /// Whether it is a total.
    pub fn is_total(&self) -> bool {
        self.cell("span") == "total"
    }

    /// What the column `name` says; empty where it says nothing, or is none of the schema's.
    pub fn cell(&self, name: &str) -> &str {
        self.cells.get(self.place(name)).unwrap_or_default()
    }

    /// A cell as a number.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.cell(column).parse().ok()
    }

    fn place(&self, name: &str) -> usize {
        self.schema.columns().position(|column| column.name == name).unwrap_or(usize::MAX)
    }
}

/// A cell as it is written here, if it is what its column holds.
fn checked(schema: &Schema, column: &Column, value: &str) -> Option<String> {
    let cell = match (column.name, column.kind) {
        ("schema", _) => {
            let (tool, _) = tag_parts(value.as_bytes())?;
            (tool == schema.tool()).then(|| schema.tag.to_owned())
        }
        ("span", _) => ["interval", "total"].contains(&value).then(|| value.to_owned()),
        ("test", _) => is_word(value).then(|| value.to_owned()),
        ("flags", _) => value.split(' ').all(is_word).then(|| value.to_owned()),
        (_, "time") => {
            let time = humantime::parse_rfc3339(value).ok()?;
            Some(humantime::format_rfc3339_millis(time).to_string())
        }
        (_, "integer") => is_number(value, 0).then(|| value.parse::<u64>().ok()).flatten().map(|it| it.to_string()),
        (_, "decimal") => is_number(value.strip_prefix('-').unwrap_or(value), 12).then(|| value.to_owned()),
        ("label", _) => Some(value.to_owned()).filter(|label| label.len() <= MAX_LABEL),
        _ => Some(value.to_owned()).filter(|text| text.len() <= MAX_TEXT),
    };
    cell.filter(|cell| !cell.is_empty())
}

/// The names of columns, tests and flags.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Digits, and at most so many after a point.
fn is_number(text: &str, decimals: usize) -> bool {
    let (whole, part) = text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let are_digits =
        |digits: &str, most| (1..=most).contains(&digits.len()) && digits.bytes().all(|d| d.is_ascii_digit());
    are_digits(whole, 20) && part.is_none_or(|part| are_digits(part, decimals))
}

#[cfg(test)]
mod tests;
