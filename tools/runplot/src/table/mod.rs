//! What is kept of the lines: for each its series, its time and the numbers that a chart may need, column by column.

mod figures;

use std::collections::HashMap;

use common::lines::{ColumnIndex, Condition, Filter, Line, Wanted};
use common::schema::line;

use crate::columns;
use crate::plan::Request;
use figures::Figures;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Index of its key in [`Table::keys`].
    pub key: usize,
    /// When its span began, seconds since 1970.
    pub time: Option<f64>,
    /// How long it was.
    pub seconds: f64,
    pub run: u64,
    pub is_interval: bool,
    pub is_doubtful: bool,
}

/// All lines.
#[derive(Debug)]
pub struct Table {
    /// The names of what a key consists of.
    pub dimensions: Vec<String>,
    /// The values of the dimensions, for each combination that there is.
    pub keys: Vec<Vec<String>>,
    pub rows: Vec<Row>,
    known: HashMap<Vec<u8>, usize>,
    figures: Figures,
    columns: LineColumns,
    filter: Filter,
    takes_streams: bool,
    /// Columns of `--by` and `--x` that no line has had so far, each with its option.
    missing: Vec<(ColumnIndex, String)>,
    /// Lines of measurements, taken or not.
    pub seen: u64,
}

#[derive(Debug)]
struct LineColumns {
    time: ColumnIndex,
    seconds: ColumnIndex,
    span: ColumnIndex,
    run: ColumnIndex,
    flags: ColumnIndex,
    stream: ColumnIndex,
    method: ColumnIndex,
    dimensions: Vec<ColumnIndex>,
}

impl Table {
    /// An empty one, and the columns that it wants.
    pub fn new(request: &Request, conditions: &[Condition]) -> (Self, Wanted) {
        let mut wanted = Wanted::default();
        let mut dimensions: Vec<String> = request.by.clone();
        if dimensions.is_empty() {
            dimensions = columns::dimensions().into_iter().map(String::from).collect();
        }
        // Rows of --kind runs, or panels, may be asked for by a column that is no dimension yet.
        for name in request.x.iter().map(String::as_str).chain(["test"]) {
            if !dimensions.iter().any(|dimension| dimension == name) && !matches!(name, "time" | "elapsed") {
                dimensions.push(name.into());
            }
        }
        let mut names = columns::looked_for();
        names.extend(request.y.iter().chain(&request.x).map(String::as_str));
        names.sort_unstable();
        names.dedup();
        let figures = Figures::new(&names, &mut wanted);
        let line_columns = LineColumns {
            time: wanted.column("time"),
            seconds: wanted.column("seconds"),
            span: wanted.column("span"),
            run: wanted.column("run"),
            flags: wanted.column("flags"),
            stream: wanted.column("stream"),
            method: wanted.column("method"),
            dimensions: dimensions.iter().map(|name| wanted.column(name)).collect(),
        };
        let takes_streams = request
            .by
            .iter()
            .map(String::as_str)
            .chain(conditions.iter().map(Condition::column))
            .any(|name| name == "stream");
        let along = request.x.iter().filter(|name| !matches!(name.as_str(), "time" | "elapsed"));
        let asked_for = along.map(|name| (name, "--x")).chain(request.by.iter().map(|name| (name, "--by")));
        let missing = asked_for.map(|(name, option)| (wanted.column(name), format!("{name} ({option})"))).collect();
        let filter = Filter::new(conditions, &mut wanted);
        let table = Self {
            dimensions,
            keys: Vec::new(),
            rows: Vec::new(),
            known: HashMap::new(),
            figures,
            columns: line_columns,
            filter,
            takes_streams,
            missing,
            seen: 0,
        };
        (table, wanted)
    }

    /// Takes a line, unless a condition keeps it out. Facts have no span, and are no measurements.
    pub fn take(&mut self, line: &Line<'_>) {
        if !line.has(self.columns.span) {
            return;
        }
        self.seen += 1;
        // The line of all streams has their sum.
        let is_part = !self.takes_streams && !line.cell(self.columns.stream).is_empty();
        if is_part || !self.filter.takes(line) {
            return;
        }
        self.missing.retain(|(column, _)| !line.has(*column));
        let row = Row {
            key: self.key_of(line),
            time: line.time(self.columns.time),
            seconds: line.figure(self.columns.seconds).unwrap_or_default().max(0.0),
            run: line.text(self.columns.run).parse().unwrap_or_default(),
            is_interval: line.cell(self.columns.span) == b"interval",
            is_doubtful: line::is_doubtful(&line.text(self.columns.flags), &line.text(self.columns.method)),
        };
        self.figures.take(line, self.rows.len());
        self.rows.push(row);
    }

    fn key_of(&mut self, line: &Line<'_>) -> usize {
        let mut joined = Vec::with_capacity(128);
        for column in &self.columns.dimensions {
            joined.extend_from_slice(line.cell(*column));
            joined.push(0);
        }
        if let Some(key) = self.known.get(&joined) {
            return *key;
        }
        self.keys.push(self.columns.dimensions.iter().map(|column| line.text(*column).into_owned()).collect());
        self.known.insert(joined, self.keys.len() - 1);
        self.keys.len() - 1
    }

    /// The number of `column` in row `index`, if there is one.
    pub fn figure(&self, column: &str, index: usize) -> Option<f64> {
        self.figures.column(column).get(index).copied().filter(|value| !value.is_nan())
    }

    /// Whether any row has a number there for which `holds`.
    pub fn any(&self, column: &str, holds: impl Fn(usize, f64) -> bool) -> bool {
        let mut values = self.figures.column(column).iter().enumerate();
        values.any(|(index, value)| !value.is_nan() && holds(index, *value))
    }

    /// A column that the command line names and no line has, with its option: a slip of the pen must not look like a chart.
    pub fn missing_column(&self) -> Option<&str> {
        self.missing.first().map(|(_, column)| column.as_str())
    }

    /// The value of `dimension` in a key.
    pub fn value(&self, key: usize, dimension: &str) -> &str {
        let index = self.dimensions.iter().position(|name| name == dimension);
        index.map_or("", |index| self.keys[key][index].as_str())
    }

    /// The latest end of a span.
    pub fn end(&self) -> Option<f64> {
        self.rows.iter().filter_map(|row| Some(row.time? + row.seconds)).max_by(f64::total_cmp)
    }

    /// Forgets what ended before.
    pub fn forget_before(&mut self, time: f64) {
        let stays: Vec<bool> =
            self.rows.iter().map(|row| row.time.is_none_or(|begin| begin + row.seconds >= time)).collect();
        if stays.iter().all(|stays| *stays) {
            return;
        }
        self.figures.retain(&stays);
        let mut stays = stays.iter();
        self.rows.retain(|_| stays.next().copied().unwrap_or(true));
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use common::lines::Lines;

    /// A request for what `change` says, the rest as nobody asks.
    pub fn request(change: impl FnOnce(&mut Request)) -> Request {
        let mut request = Request {
            kind: None,
            x: None,
            y: Vec::new(),
            by: Vec::new(),
            keeps_flagged: false,
            title: None,
            unit: None,
            is_log: false,
            is_zoomed: false,
        };
        change(&mut request);
        request
    }

    /// The table of lines that have the columns of `header` after the schema.
    pub fn table_of(request: &Request, header: &str, lines: &[&str]) -> Table {
        let text = format!("schema,{header}\nprobe/1,{}\n", lines.join("\nprobe/1,"));
        let (mut table, wanted) = Table::new(request, &[]);
        let mut lines = Lines::new(text.as_bytes(), wanted);
        while let Some(line) = lines.next_line().unwrap() {
            table.take(&line);
        }
        assert_eq!(lines.skipped().count(), 0);
        table
    }

    #[test]
    fn a_row_has_what_its_line_had() {
        let request = request(|_| ());
        let header = "time,label,test,run,span,seconds,bytes_per_s,flags";
        let table = table_of(
            &request,
            header,
            &[
                "2026-11-30T12:00:00.000Z,a,tcp_recv,1,interval,1.0,,",
                "2026-11-30T12:00:01.000Z,a,tcp_recv,1,total,nan,5.5,partial unsettled",
                "2026-11-30T12:00:01.000Z,b,tcp_recv,2,total,2,inf,unsettled",
            ],
        );
        assert_eq!(table.rows.iter().map(|row| row.key).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(table.value(1, "label"), "b");
        assert_eq!((table.figure("bytes_per_s", 0), table.figure("bytes_per_s", 1)), (None, Some(5.5)));
        assert_eq!(table.figure("bytes_per_s", 2), None);
        assert!(table.rows[0].is_interval && !table.rows[1].is_interval);
        assert!(table.rows[1].is_doubtful && !table.rows[2].is_doubtful);
        assert!(table.rows[1].seconds.abs() < f64::EPSILON);
    }

    #[test]
    fn what_ended_before_the_window_is_forgotten_with_its_numbers() {
        let request = request(|_| ());
        let lines = [
            "2026-11-30T12:00:00Z,a,t,1,interval,1,1",
            "2026-11-30T12:00:01Z,a,t,1,interval,1,",
            "2026-11-30T12:00:02Z,a,t,1,interval,1,3",
        ];
        let mut table = table_of(&request, "time,label,test,run,span,seconds,bytes_per_s", &lines);
        let end = table.end().unwrap();
        table.forget_before(end - 1.5);
        assert_eq!(table.rows.len(), 2);
        assert_eq!((table.figure("bytes_per_s", 0), table.figure("bytes_per_s", 1)), (None, Some(3.0)));
    }
}
