//! Lines to stdout: when a header is due, one flushed `write` per line, and a quiet end when nobody reads.

pub mod facts;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use serde::Serialize;

use crate::console::Console;
use crate::schema::{self, Schema};
use crate::stop::Stop;
use crate::sys;

/// `--header`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Header {
    /// Unless stdout is a regular file whose last lines are of the same schema.
    #[default]
    Auto,
    /// Once per run of the tool.
    Always,
    /// Not at all.
    Never,
}

/// Longest end of a file that is searched for its last line.
const TAIL: u64 = 64 * 1024;

/// stdout, if it is a pipe, for [`Stop`] to watch.
pub fn stdout_pipe() -> Option<OwnedFd> {
    let stdout = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    stdout.metadata().ok()?.file_type().is_fifo().then(|| stdout.into())
}

/// Refuses a stdout that was closed when the tool began: what is written would be lost.
pub fn refuse_closed() -> anyhow::Result<()> {
    if sys::stdout::was_closed() {
        bail!("cannot write to stdout: it is closed");
    }
    Ok(())
}

/// Writes the lines of one schema to stdout, from any thread.
#[derive(Debug)]
pub struct RecordWriter {
    out: Mutex<Out>,
    stop: Stop,
    console: Arc<Console>,
}

#[derive(Debug)]
struct Out {
    file: File,
    /// What must stand before the next line: a header, or the end of a line that somebody left unfinished.
    due: String,
    is_mixed: bool,
}

impl RecordWriter {
    /// Looks at stdout once; nothing is written before the first line is.
    pub fn to_stdout(schema: &Schema, header: Header, stop: Stop, console: Arc<Console>) -> anyhow::Result<Self> {
        refuse_closed()?;
        let file = File::from(io::stdout().as_fd().try_clone_to_owned().context("cannot use stdout")?);
        let before = match header {
            Header::Never => Before::default(),
            _ => Before::of(&file, schema),
        };
        let mut due = String::new();
        if before.is_cut {
            due.push('\n');
        }
        if header == Header::Always || (header == Header::Auto && before.last != Last::Same) {
            due += &schema.header();
        }
        let is_mixed = header == Header::Auto && before.last == Last::Other;
        Ok(Self { out: Mutex::new(Out { file, due, is_mixed }), stop, console })
    }

    /// Writes one record (structs in a tuple: shared columns, own columns).
    pub fn write(&self, record: &impl Serialize) -> anyhow::Result<()> {
        self.write_line(&line_of(record)?)
    }

    /// Writes one finished line, LF included. When nobody reads any more, sets the stop and says nothing.
    pub fn write_line(&self, line: &str) -> anyhow::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if out.is_mixed {
            out.is_mixed = false;
            self.console.notice(
                "stdout is a file with lines of another schema: a new header goes before ours; only runstat reads \
                 mixed files rightly, other readers of CSV misread them silently (better: one file a tool)",
            );
        }
        let due = std::mem::take(&mut out.due);
        let written = self.console.aside(|| {
            if !due.is_empty() {
                out.file.write_all(due.as_bytes())?;
            }
            out.file.write_all(line.as_bytes())
        });
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.stop.set_reader_gone();
                Ok(())
            }
            written => written.context("cannot write to stdout"),
        }
    }
}

/// A record as one line of CSV (RFC 4180 quoting, LF).
pub fn line_of(record: &impl Serialize) -> anyhow::Result<String> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(record)?;
    Ok(String::from_utf8(writer.into_inner()?)?)
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

    #[test]
    fn awkward_text_is_quoted() {
        let line = line_of(&("a,b", "say \"x\"", "two\nlines", "köln")).unwrap();
        assert_eq!(line, "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",köln\n");
    }
}
