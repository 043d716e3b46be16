//! One record taken apart (RFC 4180), without allocating: a record without quotes is only cut, one with quotes is copied
//! once, without them.

use memchr::{memchr, memchr_iter, memchr3};

/// Where the cells of the record are. Kept from one record to the next for its memory.
#[derive(Debug, Default)]
pub struct Cells {
    /// The text of the cells with one byte after each, if the record has quotes.
    unquoted: Vec<u8>,
    is_quoted: bool,
    /// Where each cell begins, and one past the byte after the last.
    bounds: Vec<usize>,
}

/// What quotes make of the bytes that begin with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// The record ends here: length without and with its line end, and how many lines it has.
    Closed {
        /// Bytes of the record.
        length: usize,
        /// Bytes to the beginning of the next one.
        whole: usize,
        /// Lines, at least one.
        lines: u64,
    },
    /// The bytes end inside of it.
    Open,
    /// No record: a quote inside a cell, or something after the closing one.
    Wrong,
}

impl Cells {
    /// Cuts a record without quotes.
    pub fn cut_plain(&mut self, record: &[u8]) {
        self.is_quoted = false;
        self.bounds.clear();
        self.bounds.push(0);
        self.bounds.extend(memchr_iter(b',', record).map(|comma| comma + 1));
        self.bounds.push(record.len() + 1);
    }

    /// Cuts the record with quotes that `bytes` begin with; `is_all` says that nothing follows them.
    pub fn cut_quoted(&mut self, bytes: &[u8], is_all: bool) -> Quoting {
        self.is_quoted = true;
        self.unquoted.clear();
        self.bounds.clear();
        self.bounds.push(0);
        let mut at = 0;
        loop {
            match self.take_cell(&bytes[at..], is_all) {
                Ok(length) => at += length,
                Err(otherwise) => return otherwise,
            }
            let line_end = match &bytes[at..] {
                [b',', ..] => {
                    self.end_cell();
                    at += 1;
                    continue;
                }
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                [] | [b'\r'] if is_all => bytes.len() - at,
                [] | [b'\r'] => return Quoting::Open,
                _ => return Quoting::Wrong,
            };
            self.end_cell();
            let lines = memchr_iter(b'\n', &bytes[..at]).count() + 1;
            return Quoting::Closed { length: at, whole: at + line_end, lines: lines as u64 };
        }
    }

    /// Copies the cell that `bytes` begin with; how long it is there.
    fn take_cell(&mut self, bytes: &[u8], is_all: bool) -> Result<usize, Quoting> {
        if bytes.first() != Some(&b'"') {
            let end = match memchr3(b',', b'\n', b'"', bytes) {
                Some(quote) if bytes[quote] == b'"' => return Err(Quoting::Wrong),
                Some(end) => end,
                None if is_all => bytes.len(),
                None => return Err(Quoting::Open),
            };
            let is_last = bytes.get(end) != Some(&b',');
            let cell = bytes[..end].strip_suffix(b"\r").filter(|_| is_last).unwrap_or(&bytes[..end]);
            self.unquoted.extend_from_slice(cell);
            return Ok(cell.len());
        }
        let mut at = 1;
        loop {
            let quote = at + memchr(b'"', &bytes[at..]).ok_or(Quoting::Open)?;
            self.unquoted.extend_from_slice(&bytes[at..quote]);
            at = quote + 1;
            match bytes.get(at) {
                Some(b'"') => {
                    self.unquoted.push(b'"');
                    at += 1;
                }
                // A second quote may follow.
                None if !is_all => return Err(Quoting::Open),
                _ => return Ok(at),
            }
        }
    }

    fn end_cell(&mut self) {
        self.unquoted.push(b',');
        self.bounds.push(self.unquoted.len());
    }

    /// The cells, of the `record` that was cut.
    pub fn of<'a>(&'a self, record: &'a [u8]) -> Split<'a> {
        Split { text: if self.is_quoted { &self.unquoted } else { record }, bounds: &self.bounds }
    }
}

/// The cells of a record.
#[derive(Debug, Clone, Copy)]
pub struct Split<'a> {
    text: &'a [u8],
    bounds: &'a [usize],
}

impl<'a> Split<'a> {
    /// How many there are, at least one.
    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The cell `index`, from 0; empty beyond the last.
    pub fn cell(&self, index: usize) -> &'a [u8] {
        match self.bounds.get(index..index + 2) {
            Some(&[begin, next]) => &self.text[begin..next - 1],
            _ => &[],
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let cells = *self;
        (0..cells.count()).map(move |index| cells.cell(index))
    }
}
