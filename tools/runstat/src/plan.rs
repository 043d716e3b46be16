//! What to calculate, valid by construction, before any line is read.

use std::path::PathBuf;

use common::cli::Usage;
use common::lines::{Condition, file_name, or_stdin};
use common::schema::role::Better;
use common::schema::{Schema, registry};

use crate::args::{BottleneckArgs, CellKind, FailOn, Format, GroupArgs};
use crate::figures::Unit;
use crate::headline::{Headlines, schema_of};
use crate::limit::Limit;

/// What makes a group when nobody says.
const GROUP_COLUMNS: &[&str] = &["schema", "test", "target", "label"];

/// The column that every line has without having it: the file that it stands in.
pub const FILE: &str = "file";

/// The whole request.
#[derive(Debug, Clone)]
pub struct Plan {
    pub files: Vec<PathBuf>,
    /// The columns that make a group, the one compared along among them.
    pub by: Vec<String>,
    pub against: Option<Against>,
    pub metrics: Vec<String>,
    /// Which of the metrics suit a group; it has all of those that were asked for.
    pub headlines: Option<Headlines>,
    pub conditions: Vec<Condition>,
    pub limits: Vec<Limit>,
    pub keeps_flagged: bool,
    /// Changes up to this share are none.
    pub threshold: f64,
    pub fail_on: Option<FailOn>,
    pub pivot: Option<Pivot>,
    pub unit: Option<Unit>,
}

/// What is compared with what.
#[derive(Debug, Clone)]
pub struct Against {
    /// Index in [`Plan::by`] of the column that tells the sides apart.
    pub along: usize,
    /// The value of it that all others are compared with.
    pub baseline: String,
}

/// A table whose columns are values.
#[derive(Debug, Clone, Copy)]
pub struct Pivot {
    /// Index in [`Plan::by`].
    pub column: usize,
    pub cell: CellKind,
}

impl Plan {
    /// The plan of `runstat [FILE...]`.
    pub fn new(args: &GroupArgs) -> Result<Self, Usage> {
        let mut files = args.files.clone();
        let mut by: Vec<String> = args.by.clone();
        if by.is_empty() {
            let in_files = args.baseline_file.is_some();
            by = GROUP_COLUMNS
                .iter()
                .filter(|column| !in_files || **column != "label")
                .map(|&name| name.into())
                .collect();
        }
        let against = match (&args.baseline, &args.baseline_file) {
            (Some(baseline), _) => Some((args.along.as_str(), baseline.clone())),
            (None, Some(file)) => {
                if files.is_empty() {
                    files.push("-".into());
                }
                files.insert(0, file.clone());
                Some((FILE, file_name(file)))
            }
            (None, None) => None,
        };
        let against = against.map(|(along, baseline)| Against { along: place(&mut by, along), baseline });
        if against.is_none() && args.fail_on.is_some() {
            return Err(Usage("--fail-on needs --baseline or --baseline-file".into()));
        }
        let cell = args.cell.unwrap_or(if against.is_some() { CellKind::Verdict } else { CellKind::Median });
        if cell == CellKind::Verdict && args.pivot.is_some() && against.is_none() {
            return Err(Usage("--cell verdict needs --baseline or --baseline-file".into()));
        }
        if args.pivot.is_some() && args.show.format == Format::Json {
            return Err(Usage("--pivot makes a table: --format csv, not json".into()));
        }
        let pivot = args.pivot.as_ref().map(|column| Pivot { column: place(&mut by, column), cell });
        let (metrics, headlines) = if args.metric.is_empty() {
            let (metrics, headlines) = Headlines::new(against.is_none() && pivot.is_none());
            (metrics, Some(headlines))
        } else {
            (args.metric.clone(), None)
        };
        if let Some(empty) = metrics.iter().chain(&by).find(|name| name.trim().is_empty()) {
            return Err(Usage(format!("'{empty}' is no column (--metric, --by)")));
        }
        Ok(Self {
            files: or_stdin(files)?,
            by,
            against,
            metrics,
            headlines,
            conditions: args.conditions.clone(),
            limits: args.max.clone(),
            keeps_flagged: args.keep_flagged,
            threshold: args.threshold / 100.0,
            fail_on: args.fail_on,
            pivot,
            unit: args.unit,
        })
    }

    /// The plan of `runstat bottleneck`: groups by what tells layers of a path apart.
    pub fn of_path(args: &BottleneckArgs, by: &[&str], metrics: &[&str]) -> Result<Self, Usage> {
        Ok(Self {
            files: or_stdin(args.files.clone())?,
            by: by.iter().map(|&name| name.into()).collect(),
            against: None,
            metrics: metrics.iter().map(|&name| name.into()).collect(),
            headlines: None,
            conditions: Vec::new(),
            limits: Vec::new(),
            keeps_flagged: args.keep_flagged,
            threshold: 0.0,
            fail_on: None,
            pivot: None,
            unit: None,
        })
    }

    /// Columns that lines must have for the plan to make sense.
    pub fn named_columns(&self) -> impl Iterator<Item = &str> {
        let metrics: &[String] = if self.headlines.is_none() { &self.metrics } else { &[] };
        let limits = self.limits.iter().map(|limit| limit.column.as_str());
        let conditions = self.conditions.iter().map(Condition::column);
        let by = self.by.iter().map(String::as_str).filter(|column| *column != FILE);
        by.filter(|column| !GROUP_COLUMNS.contains(column))
            .chain(metrics.iter().map(String::as_str))
            .chain(limits)
            .chain(conditions)
    }

    /// Whether a group with this key is of a network's transactions, as far as the key says so: not if several tests make
    /// one group, or one comparison. (Of files, people count how many a second are created or looked up.)
    pub fn is_of_transactions(&self, key: &[String], tag: &str) -> bool {
        let Some(test) = self.by_index("test") else { return false };
        let is_compared = self.against.as_ref().is_some_and(|against| against.along == test);
        let is_one = |schema: &Schema| schema.tests.in_bits && schema.tests.transactions.contains(&key[test].as_str());
        !is_compared && schema_of(tag).is_some_and(is_one)
    }

    /// Index of the column `name` among those that make a group.
    pub fn by_index(&self, name: &str) -> Option<usize> {
        self.by.iter().position(|column| column == name)
    }
}

/// The index of `name` in `by`, where it is put if need be.
fn place(by: &mut Vec<String>, name: &str) -> usize {
    by.iter().position(|column| column == name).unwrap_or_else(|| {
        by.push(name.to_owned());
        by.len() - 1
    })
}

/// The word for the better end of a column, as lines have it.
pub fn better_word(metric: &str) -> &'static str {
    match registry::role(metric).better {
        Some(Better::Higher) => "higher",
        Some(Better::Lower) => "lower",
        None => "",
    }
}
