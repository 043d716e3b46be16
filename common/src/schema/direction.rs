//! Which way is better: what a reader must know of a column to call a change an improvement.

/// The better end of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The more the better: rates.
    Higher,
    /// The less the better: times, losses, costs.
    Lower,
}

/// Columns that are counted against a tool, beside those that their unit tells.
const LOSSES: &[&str] = &[
    "errors",
    "lost",
    "dropped",
    "missed",
    "duplicated",
    "reordered",
    "reorderings",
    "late",
    "collisions",
    "squeezed",
    "overlimits",
    "requeues",
    "timeouts",
    "pruned",
    "retransmitted_bytes",
    "out_of_order_packets",
    "retrans_segs",
    "rpc_retrans",
    "rpc_timeouts",
    "lost_pct",
    "cpu_pct",
    "host_cpu_pct",
    "rwnd_limited_pct",
    "sndbuf_limited_pct",
    "crc",
    "frame",
    "fifo",
    "over",
    "aborted",
    "carrier_changes",
    "carrier",
    "heartbeat",
    "window",
    "length",
];

/// Ends of names with which a column is counted against a tool.
const LOSS_ENDS: &[&str] = &["_errors", "_drops", "_lost", "_fails", "_discards", "_overflows"];

/// Rates that were asked for or granted, not measured.
const SETTINGS: &[&str] = &["pacing_bytes_per_s", "rate_bits_per_s"];

/// The better end of the column `name`, by the rules of all tools for names; `None` where there is none: settings, sizes,
/// amounts.
pub fn better(name: &str) -> Option<Better> {
    if SETTINGS.contains(&name) {
        None
    } else if name.ends_with("_per_s") {
        Some(Better::Higher)
    } else if name == "seconds"
        || name.ends_with("_us")
        || name.ends_with("_s")
        || LOSSES.contains(&name)
        || LOSS_ENDS.iter().any(|end| name.ends_with(end))
    {
        Some(Better::Lower)
    } else {
        None
    }
}

/// The unit of a column that the registry does not know, by the rules for names; empty for counts and text.
pub fn unit_of_name(name: &str) -> &'static str {
    const ENDS: &[(&str, &str)] = &[
        ("bytes_per_s", "B/s"),
        ("bits_per_s", "bit/s"),
        ("_per_s", "1/s"),
        ("_bytes", "B"),
        ("_us", "us"),
        ("_pct", "%"),
        ("_s", "s"),
        ("seconds", "s"),
        ("bytes", "B"),
    ];
    ENDS.iter().find(|(end, _)| name.ends_with(end)).map_or("", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ALL;

    #[test]
    fn throughput_up_and_latency_errors_and_costs_down_are_better() {
        for up in ["bytes_per_s", "ops_per_s", "wire_bytes_per_s", "delivery_bytes_per_s"] {
            assert_eq!(better(up), Some(Better::Higher), "{up}");
        }
        for down in [
            "seconds",
            "p99_us",
            "rtt_us",
            "errors",
            "lost_pct",
            "rpc_rtt_us",
            "socket_drops",
            "cpu_pct",
            "fsync_s",
            "carrier",
            "length",
        ] {
            assert_eq!(better(down), Some(Better::Lower), "{down}");
        }
        for neither in ["label", "bytes", "threads", "block_bytes", "rate_bits_per_s", "cached_pct", "mtu"] {
            assert_eq!(better(neither), None, "{neither}");
        }
    }

    #[test]
    fn every_loss_is_a_column_of_some_tool() {
        for loss in LOSSES.iter().chain(SETTINGS) {
            assert!(ALL.iter().any(|schema| schema.columns().any(|column| column.name == *loss)), "{loss}");
        }
    }

    #[test]
    fn names_tell_the_unit_that_the_registry_has() {
        for column in ALL.iter().flat_map(|schema| schema.columns()).filter(|column| column.kind == "decimal") {
            assert_eq!(unit_of_name(column.name), column.unit, "{}", column.name);
        }
    }
}
