//! What a tool has measured, to stdout: lines for pipes and files, a table for people, JSON for programs, and a quiet end
//! when nobody reads.

pub mod facts;
pub mod familiar;
pub mod grid;
mod json;
mod lines;
mod screen;
mod stdout;
mod table;

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use serde::Serialize;

use crate::cli::Usage;
use crate::console::Console;
use crate::schema::Schema;
use crate::stop::Stop;
use crate::{sys, text};

use grid::Grid;
use lines::LinesOut;
use screen::Screen;
use table::{Look, Table};

pub(crate) use stdout::{FAREWELL, PIECE};
pub use stdout::{Stdout, is_unread};

/// `--format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table on a terminal, CSV elsewhere.
    #[default]
    Auto,
    /// A line of CSV a measurement, all columns (RFC 4180).
    Csv,
    /// Aligned columns for people, the most telling ones.
    Table,
    /// An object of JSON a line; what is unknown is left out.
    Json,
}

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is dumb.
    #[default]
    Auto,
    /// Also in a pipe.
    Always,
    /// Not at all.
    Never,
}

impl Color {
    /// Whether text on this file has colours (`NO_COLOR`: no-color.org).
    pub fn is_on(self, file: &impl IsTerminal) -> bool {
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        match self {
            Self::Auto => file.is_terminal() && !is_plain,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

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

/// How lines appear.
#[derive(Debug, Clone, Default)]
pub struct Appearance {
    /// What they are.
    pub format: Format,
    /// When a header stands before them, if they are CSV.
    pub header: Header,
    /// Columns that a table shall have beside its own; `all` for blocks.
    pub show: Vec<String>,
    /// Whether a table has colours.
    pub color: Color,
    /// Whether the newest intervals are drawn in place.
    pub is_top: bool,
    /// Whether a table tells targets: there are several, such as the clients of a listener.
    pub has_targets: bool,
}

/// The word in `--show` for everything.
const ALL: &str = "all";

impl Appearance {
    /// What they are on this stdout.
    fn format_on(&self, stdout: &File) -> Format {
        match self.format {
            Format::Auto if stdout.is_terminal() => Format::Table,
            Format::Auto => Format::Csv,
            format => format,
        }
    }

    /// How a table looks; refuses columns that the lines do not have.
    fn look(&self, schema: &Schema, stdout: &File) -> Result<Look, Usage> {
        if matches!(self.format, Format::Csv | Format::Json) && !self.show.is_empty() {
            return Err(Usage("--show is about tables: lines and objects have all columns (--format table)".into()));
        }
        if self.is_top && (self.format_on(stdout) != Format::Table || !stdout.is_terminal()) {
            return Err(Usage("--top draws a table on a terminal, and stdout has none of it".into()));
        }
        let is_known = |name: &&String| *name == ALL || schema.columns().any(|column| column.name == **name);
        if let Some(unknown) = self.show.iter().find(|name| !is_known(name)) {
            return Err(Usage(format!("--show {unknown}: there is no such column; --columns lists them all")));
        }
        let is_block = self.show.iter().any(|name| name == ALL);
        if self.is_top && is_block {
            return Err(Usage("--top has a row for each interface: --show all makes blocks".into()));
        }
        let target = self.has_targets.then(|| "target".to_owned());
        let also = self.show.iter().cloned().chain(target).collect();
        Ok(Look { has_color: self.color.is_on(stdout), also, is_block, is_top: self.is_top })
    }
}

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
    out: Out,
    stop: Stop,
    console: Arc<Console>,
    has_lost: AtomicBool,
}

#[derive(Debug)]
enum Out {
    Lines(Mutex<LinesOut>),
    Objects { out: Mutex<Stdout>, schema: &'static Schema },
    Rows(Screen),
}

impl RecordWriter {
    /// Looks at stdout once; nothing is written before the first line is.
    pub fn to_stdout(
        schema: &'static Schema,
        appearance: &Appearance,
        stop: Stop,
        console: Arc<Console>,
    ) -> anyhow::Result<Self> {
        refuse_closed()?;
        let stdout = Stdout::open(stop.clone(), Arc::clone(&console))?;
        let look = appearance.look(schema, stdout.file())?;
        let format = appearance.format_on(stdout.file());
        let out = match format {
            Format::Json => Out::Objects { out: Mutex::new(stdout), schema },
            Format::Table => Out::Rows(Screen::new(stdout, Table::new(schema, look))?),
            Format::Auto | Format::Csv => Out::Lines(Mutex::new(LinesOut::new(stdout, schema, appearance.header))),
        };
        Ok(Self { out, stop, console, has_lost: AtomicBool::new(false) })
    }

    /// Writes one record (structs in a tuple: shared columns, own columns).
    pub fn write(&self, record: &impl Serialize) -> anyhow::Result<()> {
        self.write_line(&line_of(record)?)
    }

    /// Writes one finished line of CSV, LF included, as it is to appear. When nobody reads any more, sets the stop and says
    /// nothing.
    pub fn write_line(&self, line: &str) -> anyhow::Result<()> {
        let written = match &self.out {
            Out::Lines(out) => out.lock().unwrap_or_else(PoisonError::into_inner).write(line, &self.console),
            Out::Objects { out, schema } => {
                let object = json::object(schema, &cells_of(line)?)? + "\n";
                out.lock().unwrap_or_else(PoisonError::into_inner).write_all(object.as_bytes())
            }
            Out::Rows(screen) => screen.show(cells_of(line)?),
        };
        self.checked(written)
    }

    /// Ends a table with another one, which sums up what its rows said. Where stdout carries lines, people find it on stderr.
    pub fn close_with(&self, grid: Grid) -> anyhow::Result<()> {
        match &self.out {
            Out::Rows(screen) => self.checked(screen.close_with(grid)),
            Out::Lines(_) | Out::Objects { .. } => {
                self.console.summary_table(grid);
                Ok(())
            }
        }
    }

    /// Whether a signal came while stdout's reader took nothing, so that lines were lost. That was said.
    pub fn has_lost(&self) -> bool {
        self.has_lost.load(Ordering::Relaxed)
    }

    /// When nobody reads any more, sets the stop and says nothing; when a signal ends the wait for a reader, says so once.
    fn checked(&self, written: io::Result<()>) -> anyhow::Result<()> {
        match written {
            Err(error) if is_unread(&error) => {
                if !self.has_lost.swap(true, Ordering::Relaxed) {
                    self.console.error(&format!("cannot write to stdout: {error}"));
                }
                Ok(())
            }
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

/// The same of one who says again what others wrote: harmful characters in it are replaced, so that it is one line.
pub fn tamed_line_of(record: &impl Serialize) -> anyhow::Result<String> {
    let line = line_of(record)?;
    Ok(text::tamed(line.strip_suffix('\n').unwrap_or(&line)) + "\n")
}

/// The cells of such a line.
pub fn cells_of(line: &str) -> anyhow::Result<csv::StringRecord> {
    let mut cells = csv::StringRecord::new();
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).buffer_capacity(line.len().max(1)).from_reader(line.as_bytes());
    reader.read_record(&mut cells).context("cannot read our own line")?;
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awkward_text_is_quoted() {
        let line = line_of(&("a,b", "say \"x\"", "two\nlines", "köln")).unwrap();
        assert_eq!(line, "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",köln\n");
        assert_eq!(
            cells_of(&line).unwrap(),
            csv::StringRecord::from(["a,b", "say \"x\"", "two\nlines", "köln"].as_slice())
        );
        let line = tamed_line_of(&("a,b", "\u{1b}[2J", "two\nlines\r", 5)).unwrap();
        assert_eq!(line, "\"a,b\",?[2J,\"two?lines?\",5\n");
    }
}
