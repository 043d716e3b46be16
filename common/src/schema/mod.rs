//! The columns of every tool, defined once: writers take their structs from here, readers and `--columns` the tables.

mod cell;
mod column;
pub mod diskread;
pub mod facts;
pub mod ifstat;
pub mod line;
pub mod nfscopy;
pub mod registry;
pub mod role;
pub mod runstat;
mod set;
pub mod tcpsink;
pub mod udpblast;

pub use cell::{Cell, Decimal, Fixed};
pub use column::Column;
pub use registry::ALL;
pub use set::{Holds, Pair, Schema, Tests, tag_parts};

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
