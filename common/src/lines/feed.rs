//! From bytes to records: a window over the source that never grows beyond the longest record.

use std::io::{self, Read};

use memchr::memchr;

use super::cells::{Cells, Quoting};
use super::skipped::Why;

/// Longest record, bytes. The tools write less than 4096 (`PIPE_BUF`, pipe(7)); what is longer is no line of theirs.
pub const MAX_RECORD: usize = 64 * 1024;

/// The window: room for the longest record and plenty of fresh bytes behind it.
const WINDOW: usize = 8 * MAX_RECORD;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Records of a source, one at a time.
#[derive(Debug)]
pub struct Feed<R> {
    source: R,
    window: Box<[u8]>,
    /// What is left of the window: from here ...
    begin: usize,
    /// ... to here.
    end: usize,
    has_begun: bool,
    is_over: bool,
    line: u64,
    record: Extent,
}

/// The record that was found, in bytes from the window's beginning and lines.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    length: usize,
    whole: usize,
    lines: u64,
}

/// What stands next in the source.
#[derive(Debug)]
pub enum Found {
    /// [`Feed::record`] is a record, and its cells are cut.
    Record,
    /// No record.
    Bad(Why),
    /// Nothing any more.
    End,
}

impl<R: Read> Feed<R> {
    pub fn new(source: R) -> Self {
        let window = vec![0; WINDOW].into_boxed_slice();
        Self { source, window, begin: 0, end: 0, has_begun: false, is_over: false, line: 1, record: Extent::default() }
    }

    /// Goes past what was found last.
    pub fn advance(&mut self) {
        self.begin += self.record.whole;
        self.line += self.record.lines;
        self.record = Extent::default();
    }

    /// The number of the line where the record begins.
    pub fn line_number(&self) -> u64 {
        self.line
    }

    /// The record without its line end.
    pub fn record(&self) -> &[u8] {
        &self.window[self.begin..self.begin + self.record.length]
    }

    /// Finds the next record; it counts until [`Feed::advance`].
    pub fn find(&mut self, cells: &mut Cells) -> io::Result<Found> {
        if !self.has_begun {
            self.has_begun = true;
            self.skip_byte_order_mark()?;
        }
        let Some(line) = self.find_line()? else { return Ok(Found::End) };
        self.record = line;
        if line.length > MAX_RECORD {
            self.discard_rest_of_line()?;
            return Ok(Found::Bad(Why::TooLong));
        }
        if memchr(b'"', self.record()).is_none() {
            self.trim_carriage_return();
            cells.cut_plain(self.record());
            return Ok(Found::Record);
        }
        self.close_quotes(cells)
    }

    /// Some programs put one before the first line. It may come in pieces; other beginnings do not wait for more.
    fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        while !self.is_over && self.end < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&self.window[..self.end])
        {
            self.fill()?;
        }
        if self.window[..self.end].starts_with(BYTE_ORDER_MARK) {
            self.begin = BYTE_ORDER_MARK.len();
        }
        Ok(())
    }

    /// The line that comes next, or what fits of it; `None` at the end.
    fn find_line(&mut self) -> io::Result<Option<Extent>> {
        let mut searched = 0;
        loop {
            let rest = &self.window[self.begin..self.end];
            if let Some(length) = memchr(b'\n', &rest[searched..]) {
                let length = searched + length;
                return Ok(Some(Extent { length, whole: length + 1, lines: 1 }));
            }
            searched = rest.len();
            if searched > MAX_RECORD || (self.is_over && searched > 0) {
                return Ok(Some(Extent { length: searched, whole: searched, lines: 1 }));
            }
            if self.is_over {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    fn trim_carriage_return(&mut self) {
        if self.record().ends_with(b"\r") {
            self.record.length -= 1;
        }
    }

    /// Follows the record's quotes, perhaps over several lines.
    fn close_quotes(&mut self, cells: &mut Cells) -> io::Result<Found> {
        loop {
            let length = (self.end - self.begin).min(MAX_RECORD);
            let is_all = self.is_over && self.begin + length == self.end;
            match cells.cut_quoted(&self.window[self.begin..self.begin + length], is_all) {
                Quoting::Closed { length, whole, lines } => {
                    self.record = Extent { length, whole, lines };
                    return Ok(Found::Record);
                }
                Quoting::Open if length < MAX_RECORD && !self.is_over => self.fill()?,
                Quoting::Open | Quoting::Wrong => return Ok(Found::Bad(Why::Quotes)),
            }
        }
    }

    /// Of a record of several lines, leaves all but the first to be found again.
    pub fn give_back_all_but_one_line(&mut self) {
        if self.record.lines > 1
            && let Some(length) = memchr(b'\n', self.record())
        {
            self.record = Extent { length, whole: length + 1, lines: 1 };
        }
    }

    /// Drops what the window has of a line that does not fit into it, and reads on to its end.
    fn discard_rest_of_line(&mut self) -> io::Result<()> {
        let has_end = self.record.whole > self.record.length;
        self.begin += self.record.whole;
        self.record = Extent { length: 0, whole: 0, lines: 1 };
        if has_end {
            return Ok(());
        }
        loop {
            if let Some(line_end) = memchr(b'\n', &self.window[self.begin..self.end]) {
                self.record.whole = line_end + 1;
                return Ok(());
            }
            self.begin = self.end;
            if self.is_over {
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Reads once more into the window.
    fn fill(&mut self) -> io::Result<()> {
        if self.begin > 0 && self.end + MAX_RECORD > self.window.len() {
            self.window.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        let read = loop {
            match self.source.read(&mut self.window[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += read;
        self.is_over = read == 0;
        Ok(())
    }
}
