//! A set of columns, and what its lines are.

use super::column::Column;
use super::facts::Fact;
use super::line::Line;

/// A set of columns.
#[derive(Debug)]
pub struct Schema {
    /// Tool and number of the set, as in the first column: `tcpsink/1`.
    pub tag: &'static str,
    /// What its lines are.
    pub holds: Holds,
    /// What the lines begin with: the shared columns, or those of facts.
    pub shared: &'static [Column],
    /// The columns after those.
    pub own: &'static [Column],
    /// What a person's table has to know of the tests.
    pub tests: Tests,
}

/// What a person's table has to know of a tool's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tests {
    /// What `ops` are: reads, packets, calls.
    pub ops: &'static str,
    /// What `errors` are: retransmits, losses, failures.
    pub errors: &'static str,
    /// Rates are in bits, too: it is about a network.
    pub in_bits: bool,
    /// One run may be about several targets.
    pub has_targets: bool,
    /// Tests that move bytes, and of which operations say nothing.
    pub transfers: &'static [&'static str],
    /// Tests of operations, of which bytes say nothing.
    pub transactions: &'static [&'static str],
    /// Tests whose lines stand side by side in one row.
    pub pairs: &'static [Pair],
}

/// Two tests that are the two directions of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// What was received.
    pub rx: &'static str,
    /// What was sent; its line follows.
    pub tx: &'static str,
    /// What a row is called, if there is anything to say.
    pub word: &'static str,
}

impl Tests {
    /// Tests of which bytes and operations both tell something.
    pub const BOTH: Self = Self {
        ops: "ops",
        errors: "errors",
        in_bits: false,
        has_targets: false,
        transfers: &[],
        transactions: &[],
        pairs: &[],
    };
}

/// What lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// What a tool measured.
    Measurements,
    /// What a tool found.
    Facts,
    /// What a reader made of measurements.
    Findings,
}

impl Schema {
    /// A tool's measurements: the shared columns, then its own.
    pub const fn of_lines(tag: &'static str, own: &'static [Column]) -> Self {
        Self { tag, holds: Holds::Measurements, shared: Line::COLUMNS, own, tests: Tests::BOTH }
    }

    /// What a reader found: lines that begin as measurements do.
    pub const fn of_findings(tag: &'static str, own: &'static [Column]) -> Self {
        Self { holds: Holds::Findings, ..Self::of_lines(tag, own) }
    }

    /// A tool's facts.
    pub const fn of_facts(tag: &'static str) -> Self {
        Self::of_facts_in(tag, Fact::COLUMNS)
    }

    /// Facts in columns of their own.
    pub const fn of_facts_in(tag: &'static str, columns: &'static [Column]) -> Self {
        Self { tag, holds: Holds::Facts, shared: columns, own: &[], tests: Tests::BOTH }
    }

    /// The same with what a person's table has to know of the tests.
    #[must_use]
    pub const fn of_tests(self, tests: Tests) -> Self {
        Self { tests, ..self }
    }

    /// All columns in their order in a line.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> {
        self.shared.iter().chain(self.own)
    }

    /// The header line, ending in LF.
    pub fn header(&self) -> String {
        let names: Vec<_> = self.columns().map(|column| column.name).collect();
        names.join(",") + "\n"
    }

    /// The tool, without the number of the set.
    pub fn tool(&self) -> &'static str {
        tag_parts(self.tag.as_bytes()).map_or("", |(tool, _)| tool)
    }
}

/// The tool and the number in the first column of a line: `tcpsink/1`; `None` for anything else.
pub fn tag_parts(cell: &[u8]) -> Option<(&str, &str)> {
    let (tool, number) = std::str::from_utf8(cell).ok()?.split_once('/')?;
    let is_tool = tool.starts_with(|first: char| first.is_ascii_lowercase())
        && tool.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_number = (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_tool && is_number).then_some((tool, number))
}
