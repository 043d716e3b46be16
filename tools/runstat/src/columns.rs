//! Where the columns stand that make runs and groups of lines, and what they say.

use std::borrow::Cow;

use common::lines::{ColumnIndex, Line, Wanted};
use common::schema::line::{self, Span};

use crate::group::SumColumns;
use crate::open_run::RunName;
use crate::plan::FILE;

/// Columns that lines are read by.
#[derive(Debug)]
pub struct LineColumns {
    /// What makes a group.
    pub by: Vec<By>,
    pub time: ColumnIndex,
    pub host: ColumnIndex,
    run: ColumnIndex,
    span: ColumnIndex,
    pub seconds: ColumnIndex,
    flags: ColumnIndex,
    stream: ColumnIndex,
    method: ColumnIndex,
    pub sums: SumColumns,
}

/// A part of a group's name.
#[derive(Debug, Clone, Copy)]
pub enum By {
    /// The tool: its columns mean the same in every version.
    Tool,
    File,
    Column(ColumnIndex),
}

impl LineColumns {
    /// Wants the columns.
    pub fn new(by: &[String], wanted: &mut Wanted) -> Self {
        let by = by.iter().map(|name| match name.as_str() {
            "schema" => By::Tool,
            FILE => By::File,
            name => By::Column(wanted.column(name)),
        });
        Self {
            by: by.collect(),
            time: wanted.column("time"),
            host: wanted.column("host"),
            run: wanted.column("run"),
            span: wanted.column("span"),
            seconds: wanted.column("seconds"),
            flags: wanted.column("flags"),
            stream: wanted.column("stream"),
            method: wanted.column("method"),
            sums: SumColumns::new(wanted),
        }
    }

    /// Which part of a run a line covers; a total, too, if another program cut the column off.
    pub fn span(&self, line: &Line<'_>) -> Option<Span> {
        match line.cell(self.span) {
            b"total" => Some(Span::Total),
            b"interval" => Some(Span::Interval),
            _ if !line.has(self.span) => Some(Span::Total),
            _ => None,
        }
    }

    /// What tells the run of a line from others of its group.
    pub fn run_name<'l>(&self, line: &Line<'l>) -> RunName<'l> {
        RunName { host: line.cell(self.host), number: line.cell(self.run), stream: line.cell(self.stream) }
    }

    /// The flags of a line, with spaces between them.
    pub fn flags<'l>(&self, line: &Line<'l>) -> Cow<'l, str> {
        line.text(self.flags)
    }

    /// Whether one of its flags makes a line doubtful.
    pub fn is_doubtful(&self, line: &Line<'_>) -> bool {
        !line.cell(self.flags).is_empty() && line::is_doubtful(&self.flags(line), &line.text(self.method))
    }
}
