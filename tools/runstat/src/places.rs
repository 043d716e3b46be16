//! Where the columns stand that make runs and groups of lines, and what they say.

use std::time::{SystemTime, UNIX_EPOCH};

use common::lines::{Line, Place, Wanted};
use common::schema::{self, line::Span};

use crate::collapse::RunName;
use crate::group::{Group, SumPlaces};
use crate::plan::FILE;

/// Flags with which a run is no good measure of what it is called.
pub const DOUBTFUL: &[&str] = &["partial", "capped", "cached", "sparse", "unwritten", "fallback", "reset"];

/// Schemas whose lines are no measurements, by the end of the tool's name: facts, and what this tool prints itself.
const OTHERS: &[&str] = &["-facts", "runstat", "runstat-bottleneck"];

/// Columns that lines are read by.
#[derive(Debug)]
pub struct Places {
    /// What makes a group.
    pub by: Vec<By>,
    pub time: Place,
    pub host: Place,
    run: Place,
    span: Place,
    pub seconds: Place,
    flags: Place,
    stream: Place,
    method: Place,
    pub sums: SumPlaces,
}

/// A part of a group's name.
#[derive(Debug, Clone, Copy)]
pub enum By {
    /// The tool: its columns mean the same in every version.
    Tool,
    File,
    Column(Place),
}

impl Places {
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
            sums: SumPlaces::new(wanted),
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

    /// Remembers the flags of a line; whether one of them makes it doubtful. That a cached read is cached is no doubt.
    pub fn note_flags(&self, group: &mut Group, line: &Line<'_>) -> bool {
        let cell = line.cell(self.flags);
        if cell.is_empty() {
            return false;
        }
        let is_meant = |flag: &str| flag == "cached" && line.cell(self.method) == b"cached";
        let mut is_doubtful = false;
        for flag in String::from_utf8_lossy(cell).split_ascii_whitespace() {
            is_doubtful |= DOUBTFUL.contains(&flag) && !is_meant(flag);
            if !group.flags.contains(flag) && group.flags.len() < 64 {
                group.flags.insert(flag.to_owned());
            }
        }
        is_doubtful
    }
}

/// Whether the lines of a tool are measurements.
pub fn is_measurement(tool: &str) -> bool {
    !OTHERS.iter().any(|other| tool.ends_with(other))
}

/// The tool that wrote the line, without the number of its columns.
pub fn tool_of<'l>(line: &Line<'l>) -> &'l str {
    schema::tag_parts(line.layout().tag().as_bytes()).map_or("", |(tool, _)| tool)
}

/// A time of a line as seconds since 1970.
pub fn seconds_of(cell: &[u8]) -> Option<f64> {
    let time: SystemTime = humantime::parse_rfc3339(std::str::from_utf8(cell).ok()?).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs_f64())
}
