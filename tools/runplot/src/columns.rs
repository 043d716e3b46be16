//! The columns that can be drawn: those of all tools.

use common::schema::line::Line;
use common::schema::{Schema, registry};

/// What `--columns` lists. `runplot` has no lines of its own: these are the names that `--x`, `--y` and `--by` understand,
/// the shared columns first, then those of every tool's measurements, each name once.
pub fn drawable() -> &'static Schema {
    let own: Vec<_> = registry::drawable_columns().skip(Line::COLUMNS.len()).copied().collect();
    // Once in the life of the process, and the schema of a tool is static.
    Box::leak(Box::new(Schema::of_lines("runplot/1", own.leak())))
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
    }
}
