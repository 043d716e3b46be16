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
        match self.format {
            Format::Auto if std::io::stdout().is_terminal() => Format::Table,
            Format::Auto => Format::Csv,
            format => format,
        }
    }

    /// Whether what stdout is has colours.
    pub fn has_colors(&self) -> bool {
        self.format() == Format::Table && self.color.is_on(&std::io::stdout())
    }

    /// Takes over signals, stdout and stderr; tables have no header of lines.
    pub fn open(&self, schema: &'static Schema, is_lines: bool) -> anyhow::Result<Session> {
        let header = if is_lines { self.header } else { Header::Never };
        // What is a table already is written as it is.
        let format = if self.format == Format::Json { output::Format::Json } else { output::Format::Csv };
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

impl Format {
    /// Whether it is for programs.
    pub fn is_lines(self) -> bool {
        matches!(self, Self::Csv | Self::Json)
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
