//! How the figures appear: what stdout is, and who hears the rest.

use std::io::IsTerminal;

use common::cli::{OutputArgs, Session};
use common::output::grid::{self, Grid};
use common::output::{self, Color, Header};
use common::schema::Schema;

use crate::args::{Format, ShowArgs};

impl ShowArgs {
    /// `--format`, or what suits stdout.
    pub fn format(&self) -> Format {
        self.format.unwrap_or_else(|| if std::io::stdout().is_terminal() { Format::Table } else { Format::Csv })
    }

    /// Takes over signals, stdout and stderr; tables have no header of lines.
    pub fn open(&self, schema: &'static Schema, is_lines: bool) -> anyhow::Result<Session> {
        let header = if is_lines { self.header } else { Header::Never };
        // What is a table already is written as it is.
        let format = output::Format::Csv;
        let own = OutputArgs {
            label: None,
            format,
            show: Vec::new(),
            color: Color::Never,
            header,
            quiet: self.quiet,
            summary: false,
        };
        own.open("runstat", schema)
    }
}

/// A table as stdout is to have it.
pub fn text(table: &Grid, format: Format) -> String {
    if format == Format::Markdown { table.markdown() } else { table.text(room(format)) }
}

/// How wide it may be there: a report breaks no lines.
pub fn room(format: Format) -> usize {
    if format == Format::Markdown { usize::MAX } else { grid::room(std::io::stdout()) }
}

/// A sentence as stdout is to have it.
pub fn sentence(words: &str, format: Format) -> String {
    grid::wrapped(words, room(format))
}
