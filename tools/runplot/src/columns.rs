//! The columns that can be drawn, those of all tools, and which of them are drawn without being asked for.

use common::schema::line::Line;
use common::schema::role::{Role, RoleKind};
use common::schema::{Schema, registry};

/// What people call a series by, in this order.
pub const CALLED: [&str; 3] = ["label", "test", "target"];

/// Latencies that explain a throughput: of the transport, and of calls over it.
pub const ROUND_TRIPS: [&str; 2] = ["rtt_us", "rpc_rtt_us"];

/// What went wrong, whatever the tool counts.
pub const ERRORS: &str = "errors";

/// What `--columns` lists. `runplot` has no lines of its own: these are the names that `--x`, `--y` and `--by` understand,
/// the shared columns first, then those of every tool's measurements, each name once.
pub fn drawable() -> &'static Schema {
    let own: Vec<_> = registry::drawable_columns().skip(Line::COLUMNS.len()).copied().collect();
    // Once in the life of the process, and the schema of a tool is static.
    Box::leak(Box::new(Schema::of_lines("runplot/1", own.leak())))
}

/// What series are told apart by when nobody says, in the order in which it names them: numbers that people vary come last.
pub fn dimensions() -> Vec<&'static str> {
    let tells = |role: Role| role.tells_apart() && role.sweep_rank().is_none();
    let others = registry::drawable_columns().filter(|column| tells(column.role) && !CALLED.contains(&column.name));
    CALLED.into_iter().chain(others.map(|column| column.name)).chain(registry::sweeps()).collect()
}

/// The columns that charts look for by themselves.
pub fn looked_for() -> Vec<&'static str> {
    let named = ROUND_TRIPS.into_iter().chain([ERRORS]);
    named.chain(registry::headlines()).chain(registry::quantiles()).chain(registry::sweeps()).collect()
}

/// The headlines that are rates.
pub fn rates() -> Vec<&'static str> {
    registry::headlines().into_iter().filter(|name| registry::role(name).kind == RoleKind::Rate).collect()
}

/// The latency that is a headline: what a request is judged by.
pub fn latency() -> Option<&'static str> {
    registry::headlines().into_iter().find(|name| registry::role(name).per_mille().is_some())
}

/// The latency that one request in a hundred exceeds.
pub fn tail() -> Option<&'static str> {
    registry::quantiles().into_iter().find(|name| registry::role(name).per_mille() == Some(990))
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
        "cpu_pct" => "CPU of the measurement",
        "host_cpu_pct" => "CPU of the machine",
        _ => "",
    };
    if !known.is_empty() {
        return known.into();
    }
    match registry::role(name).per_mille() {
        Some(500) => return "median latency".into(),
        Some(1000) => return "longest latency".into(),
        Some(per_mille) => return format!("{} % latency", f64::from(per_mille) / 10.0),
        None => {}
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
    fn series_are_told_apart_by_names_and_settings_and_by_nothing_else() {
        let dimensions = dimensions();
        assert_eq!(dimensions[..5], ["label", "test", "target", "schema", "host"]);
        for name in ["direction", "method", "pacing", "scheduler", "mount_mode", "metric"] {
            assert!(dimensions.contains(&name), "{name}");
        }
        for name in ["time", "run", "span", "ifindex", "files", "flags"] {
            assert!(!dimensions.contains(&name), "{name}");
        }
        assert!(dimensions.ends_with(&registry::sweeps()), "{dimensions:?}");
    }

    #[test]
    fn what_charts_look_for_can_be_drawn() {
        let known: Vec<_> = registry::drawable_columns().map(|column| column.name).collect();
        assert!(looked_for().iter().all(|name| known.contains(name)));
        assert_eq!((rates(), latency()), (vec!["bytes_per_s", "ops_per_s"], Some("p50_us")));
        assert_eq!(tail(), Some("p99_us"));
    }

    #[test]
    fn titles_are_words() {
        assert_eq!(title("bytes_per_s"), "throughput");
        assert_eq!(title("lost_pct"), "lost");
        assert_eq!(title("wire_bytes_per_s"), "wire rate");
        assert_eq!(title("block_bytes"), "block");
        let latencies = ["median latency", "90 % latency", "99 % latency", "99.9 % latency", "longest latency"];
        assert_eq!(registry::quantiles().into_iter().map(title).collect::<Vec<_>>(), latencies);
    }
}
