//! The columns of every tool, defined once: writers take their structs from here, readers and `--columns` the tables.

mod cell;
pub mod direction;
pub mod diskread;
pub mod facts;
pub mod ifstat;
pub mod line;
pub mod nfscopy;
pub mod runstat;
pub mod tcpsink;
pub mod udpblast;

pub use cell::{Cell, Decimal, Fixed};

/// One column as `--columns` prints it.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Column {
    /// The name in the header.
    pub name: &'static str,
    /// `integer`, `decimal`, `text` or `time`.
    pub kind: &'static str,
    /// Base unit; empty for text and plain counts.
    pub unit: &'static str,
    /// What the column says, and where it comes from.
    pub meaning: &'static str,
}

/// A set of columns.
#[derive(Debug)]
pub struct Schema {
    /// Tool and number of the set, as in the first column: `tcpsink/1`.
    pub tag: &'static str,
    /// What the lines begin with: the shared columns, or those of facts.
    pub shared: &'static [Column],
    /// The columns after those.
    pub own: &'static [Column],
}

/// The schemas of all tools, for readers.
pub const ALL: &[&Schema] = &[
    &tcpsink::SCHEMA,
    &udpblast::SCHEMA,
    &diskread::SCHEMA,
    &diskread::FACTS,
    &nfscopy::SCHEMA,
    &nfscopy::FACTS,
    &ifstat::SCHEMA,
    &ifstat::FACTS,
    &ifstat::DIFFERENCES,
    &ifstat::STATS,
    &runstat::SCHEMA,
    &runstat::BOTTLENECK,
];

impl Schema {
    /// A tool's measurements: the shared columns, then its own.
    pub const fn of_lines(tag: &'static str, own: &'static [Column]) -> Self {
        Self { tag, shared: line::Line::COLUMNS, own }
    }

    /// A tool's facts.
    pub const fn of_facts(tag: &'static str) -> Self {
        Self { tag, shared: facts::Fact::COLUMNS, own: &[] }
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
}

/// The tool and the number in the first column of a line: `tcpsink/1`; `None` for anything else.
pub fn tag_parts(cell: &[u8]) -> Option<(&str, &str)> {
    let (tool, number) = std::str::from_utf8(cell).ok()?.split_once('/')?;
    let is_tool = tool.starts_with(|first: char| first.is_ascii_lowercase())
        && tool.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_number = (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_tool && is_number).then_some((tool, number))
}

/// Defines a struct of cells and the table of its columns in one place, so that they cannot drift apart.
/// (A function cannot add fields to a struct.)
macro_rules! columns {
    ($(#[$doc:meta])* pub struct $name:ident { $($field:ident: $type:ty, $unit:literal, $meaning:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, serde::Serialize)]
        #[allow(clippy::doc_markdown, reason = "the text is a table's cell first")]
        pub struct $name { $(#[doc = $meaning] pub $field: $type,)* }

        impl $name {
            /// The columns of this struct, in order.
            pub const COLUMNS: &'static [crate::schema::Column] = &[$(crate::schema::Column {
                name: stringify!($field),
                kind: <$type as crate::schema::Cell>::KIND,
                unit: $unit,
                meaning: $meaning,
            },)*];
        }
    };
}
use columns;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_has_distinct_columns_and_a_numbered_tag() {
        for schema in ALL {
            let (tool, number) = schema.tag.split_once('/').unwrap();
            assert!(!tool.is_empty() && number.parse::<u32>().unwrap() > 0);
            let names: Vec<_> = schema.columns().map(|column| column.name).collect();
            let mut distinct = names.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(names.len(), distinct.len(), "{names:?}");
            if !tool.ends_with("-facts") {
                assert_eq!(names[..17], SHARED, "the contract's first 17 columns");
            }
        }
    }

    const SHARED: [&str; 17] = [
        "schema",
        "time",
        "host",
        "label",
        "test",
        "target",
        "run",
        "span",
        "seconds",
        "bytes",
        "ops",
        "errors",
        "bytes_per_s",
        "ops_per_s",
        "cpu_pct",
        "host_cpu_pct",
        "flags",
    ];
}
