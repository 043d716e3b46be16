//! The columns that can be drawn: those of all tools.

use common::schema::direction::unit_of_name;
use common::schema::{ALL, Column, Schema, line};

/// What `--columns` lists. `runplot` has no lines of its own: these are the names that `--x`, `--y` and `--by` understand,
/// the shared columns first, then those of every tool's measurements, each name once.
pub fn drawable() -> &'static Schema {
    let mut own: Vec<Column> = Vec::new();
    let measurements = ALL.iter().filter(|schema| schema.shared.iter().any(|column| column.name == "span"));
    for column in measurements.flat_map(|schema| schema.own) {
        if own.iter().all(|known| known.name != column.name) {
            own.push(*column);
        }
    }
    // Once in the life of the process, and the schema of a tool is static.
    Box::leak(Box::new(Schema { tag: "runplot/1", shared: line::Line::COLUMNS, own: own.leak() }))
}

/// The base unit of the column `name`.
pub fn unit(name: &str) -> &'static str {
    let known = ALL.iter().flat_map(|schema| schema.columns()).find(|column| column.name == name);
    known.map_or_else(|| unit_of_name(name), |column| column.unit)
}

/// Whether the column is a result, and no setting that somebody chose.
pub fn is_measured(name: &str) -> bool {
    let known = ALL.iter().flat_map(|schema| schema.columns()).find(|column| column.name == name);
    known.is_some_and(|column| column.kind == "decimal")
}

/// What a column is called on an axis, without its unit.
pub fn title(name: &str) -> String {
    let known = match name {
        "bytes_per_s" => "throughput",
        "ops_per_s" => "operations per second",
        "seconds" => "duration",
        "rtt_us" => "round-trip time",
        "min_rtt_us" => "smallest round-trip time",
        "rpc_rtt_us" => "round-trip time of calls",
        "p50_us" => "median latency",
        "p90_us" => "90 % latency",
        "p99_us" => "99 % latency",
        "p999_us" => "99.9 % latency",
        "max_us" => "longest latency",
        "cpu_pct" => "CPU of the measurement",
        "host_cpu_pct" => "CPU of the machine",
        "errors" => "errors",
        _ => "",
    };
    if !known.is_empty() {
        return known.into();
    }
    let ends = ["_bytes_per_s", "_bits_per_s", "_per_s", "_bytes", "_us", "_pct", "_s"];
    let bare = ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let ending = if name.ends_with("_per_s") { " rate" } else { "" };
    bare.replace('_', " ") + ending
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_measurements_is_listed_once() {
        let names: Vec<_> = drawable().columns().map(|column| column.name).collect();
        for name in ["bytes_per_s", "rtt_us", "lost_pct", "depth", "rpc_rtt_us", "collisions", "median"] {
            assert_eq!(names.iter().filter(|listed| **listed == name).count(), 1, "{name}");
        }
        assert!(!names.contains(&"key"), "a column of facts");
    }

    #[test]
    fn titles_are_words() {
        assert_eq!(title("bytes_per_s"), "throughput");
        assert_eq!(title("lost_pct"), "lost");
        assert_eq!(title("wire_bytes_per_s"), "wire rate");
        assert_eq!(title("block_bytes"), "block");
        assert_eq!(unit("wire_bytes_per_s"), "B/s");
        assert_eq!(unit("things_pct"), "%");
    }
}
