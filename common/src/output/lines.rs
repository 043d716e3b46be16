//! Lines of CSV to stdout: when a header is due, and one `write` a line.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::Header;
use super::stdout::Stdout;
use crate::console::Console;
use crate::schema::{self, Schema};

/// Longest end of a file that is searched for its last line.
const TAIL: u64 = 64 * 1024;

/// stdout, where lines go.
#[derive(Debug)]
pub struct LinesOut {
    out: Stdout,
    /// What must stand before the next line: a header, or the end of a line that somebody left unfinished.
    due: String,
    is_mixed: bool,
}

impl LinesOut {
    /// Looks at the file once; nothing is written before the first line is.
    pub fn new(out: Stdout, schema: &Schema, header: Header) -> Self {
        let before = match header {
            Header::Never => Before::default(),
            _ => Before::of(out.file(), schema),
        };
        let mut due = String::new();
        if before.is_cut {
            due.push('\n');
        }
        if header == Header::Always || (header == Header::Auto && before.last != Last::Same) {
            due += &schema.header();
        }
        let is_mixed = header == Header::Auto && before.last == Last::Other;
        Self { out, due, is_mixed }
    }

    /// Writes one finished line, LF included.
    pub fn write(&mut self, line: &str, console: &Console) -> io::Result<()> {
        if self.is_mixed {
            self.is_mixed = false;
            console.notice(
                "stdout is a file with lines of another schema: a new header goes before ours; only runstat reads \
                 mixed files rightly, other readers of CSV misread them silently (better: one file a tool)",
            );
        }
        let due = std::mem::take(&mut self.due);
        self.out.write_all(due.as_bytes())?;
        self.out.write_all(line.as_bytes())
    }
}

/// What the file on stdout holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Before {
    last: Last,
    /// The last line has no end: a writer died.
    is_cut: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Last {
    /// Nothing, or nothing readable.
    #[default]
    None,
    /// A line or header of the same schema.
    Same,
    /// Anything else.
    Other,
}

impl Before {
    fn of(stdout: &File, schema: &Schema) -> Self {
        Self::read(stdout, schema).unwrap_or_default()
    }

    fn read(stdout: &File, schema: &Schema) -> io::Result<Self> {
        let metadata = stdout.metadata()?;
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(Self::default());
        }
        // `>>` opens for writing only; procfs opens the same file for reading.
        let mut file = File::open("/proc/self/fd/1")?;
        file.seek(SeekFrom::Start(metadata.len().saturating_sub(TAIL)))?;
        let mut tail = Vec::new();
        file.take(TAIL).read_to_end(&mut tail)?;
        Ok(Self { last: last_line(&tail, schema), is_cut: tail.last() != Some(&b'\n') })
    }
}

/// Whose the last line is. Every line says so in its first column, and a tool's writer has put a header before its
/// first line, so that this tells the header in force. Lines inside a quoted field begin with neither word.
fn last_line(tail: &[u8], schema: &Schema) -> Last {
    let own_line = format!("{},", schema.tag);
    let header = schema.header();
    let starts_record = |line: &&[u8]| {
        line.starts_with(b"schema,")
            || line.split(|byte| *byte == b',').next().is_some_and(|tag| schema::tag_parts(tag).is_some())
    };
    match tail.split(|byte| *byte == b'\n').rev().find(starts_record) {
        Some(line) if line.starts_with(own_line.as_bytes()) || line == header.trim_end().as_bytes() => Last::Same,
        _ => Last::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tcpsink::SCHEMA;

    #[test]
    fn the_last_line_tells_the_header_in_force() {
        let own = |lines: &str| last_line(lines.replace("OWN", SCHEMA.tag).as_bytes(), &SCHEMA);
        assert_eq!(own("x\nOWN,2026,h\n"), Last::Same);
        assert_eq!(last_line(SCHEMA.header().as_bytes(), &SCHEMA), Last::Same);
        assert_eq!(own("OWN,2026,h,\"two\nlines\",x\n"), Last::Same);
        assert_eq!(own("OWN,2026,h\nifstat/1,2026,h\n"), Last::Other);
        assert_eq!(last_line(b"schema,time,older\n", &SCHEMA), Last::Other);
        assert_eq!(own("OWN2,2026\n"), Last::Other);
        assert_eq!(last_line(b"some notes\n", &SCHEMA), Last::Other);
    }
}
