//! What a row is made of: one line, or the two lines of one thing, which stand side by side.

use std::collections::BTreeSet;
use std::time::SystemTime;

use csv::StringRecord;

use crate::schema::role::RoleKind;
use crate::schema::{Column, Pair, Schema};

/// Which line of a row a column is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Both, or the only one.
    Whole,
    /// The line of what was received.
    Rx,
    /// The line of what was sent.
    Tx,
}

impl Side {
    /// What the titles of its columns begin with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Rx => "rx",
            Self::Tx => "tx",
        }
    }
}

/// What rows have a header in common: those of one line, of two, and of two with a word for what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Single,
    Paired,
    Named,
}

/// The cells of a row, by name and side.
#[derive(Debug, Clone)]
pub struct Cells {
    pub schema: &'static Schema,
    /// What the lines of the row have to do with each other, if there may be two.
    pub pair: Option<&'static Pair>,
    lines: Vec<(Side, StringRecord)>,
}

impl Cells {
    /// Those of a line.
    pub fn new(schema: &'static Schema, line: StringRecord) -> Self {
        let place = schema.columns().position(|column| column.name == "test");
        let test = place.and_then(|place| line.get(place)).unwrap_or_default();
        let pair = schema.tests.pairs.iter().find(|pair| pair.rx == test || pair.tx == test);
        let side = match pair {
            Some(pair) if pair.rx == test => Side::Rx,
            Some(_) => Side::Tx,
            None => Side::Whole,
        };
        Self { schema, pair, lines: vec![(side, line)] }
    }

    /// What it is a row of.
    pub fn kind(&self) -> Kind {
        match self.pair {
            None => Kind::Single,
            Some(pair) if pair.word.is_empty() => Kind::Paired,
            Some(_) => Kind::Named,
        }
    }

    /// Whether another line may belong beside this one.
    pub fn is_half(&self) -> bool {
        self.sides().eq([Side::Rx])
    }

    /// Puts the other line beside; stays as it is if that is not the one.
    pub fn join(mut self, other: Self) -> Result<Self, Self> {
        let same = |name| self.get(name) == other.get(name);
        let is_other = self.is_half() && other.sides().eq([Side::Tx]) && self.pair == other.pair;
        if !is_other || !["time", "target", "span", "run"].into_iter().all(same) {
            return Err(self);
        }
        self.lines.extend(other.lines);
        Ok(self)
    }

    fn sides(&self) -> impl Iterator<Item = Side> {
        self.lines.iter().map(|(side, _)| *side)
    }

    /// The side of a column in each of the lines: what they share stands once.
    pub fn sides_of(&self, column: &Column) -> Vec<Side> {
        let is_counted =
            matches!(column.role.kind, RoleKind::Amount | RoleKind::Loss | RoleKind::Rate | RoleKind::Share(_));
        if is_counted { self.sides().collect() } else { vec![Side::Whole] }
    }

    /// The cell in this place of the line on this side; of both the first that is not empty.
    pub fn at(&self, side: Side, place: usize) -> &str {
        let lines = self.lines.iter().filter(|(own, _)| side == Side::Whole || *own == side);
        lines.filter_map(|(_, line)| line.get(place)).find(|cell| !cell.is_empty()).unwrap_or_default()
    }

    /// The same as people read it: a pair has a word of its own for its test.
    pub fn said(&self, side: Side, place: usize) -> &str {
        let is_test = self.schema.columns().nth(place).is_some_and(|column| column.name == "test");
        let word = self.pair.map_or("", |pair| pair.word);
        if is_test && !word.is_empty() { word } else { self.at(side, place) }
    }

    /// The cell of this name that is not empty.
    pub fn get(&self, name: &str) -> &str {
        let place = self.schema.columns().position(|column| column.name == name);
        place.map_or("", |place| self.at(Side::Whole, place))
    }

    /// When it began, and how many seconds it was.
    pub fn span(&self) -> Option<(SystemTime, f64)> {
        let began = humantime::parse_rfc3339(self.get("time")).ok()?;
        Some((began, self.get("seconds").parse().ok()?))
    }

    /// How much goes on: bytes per second, or operations where there are no bytes.
    pub fn busyness(&self) -> f64 {
        let sum = |name: &str| {
            let place = self.schema.columns().position(|column| column.name == name);
            let cells = self.lines.iter().filter_map(|(_, line)| line.get(place?)?.parse::<f64>().ok());
            cells.fold(0.0, |sum, figure| sum + figure)
        };
        if self.get("bytes_per_s").is_empty() { sum("ops_per_s") } else { sum("bytes_per_s") }
    }

    /// The warnings of all its lines, each once.
    pub fn flags(&self) -> Vec<&str> {
        let place = self.schema.columns().position(|column| column.name == "flags");
        let cells = self.lines.iter().filter_map(|(_, line)| line.get(place?));
        let mut flags: Vec<_> = cells.flat_map(str::split_ascii_whitespace).collect();
        let mut seen = BTreeSet::new();
        flags.retain(|flag| seen.insert(*flag));
        flags
    }
}
