//! The schemas of all tools, and what they say of a column or a tool by its name.

use std::collections::HashSet;

use super::column::Column;
use super::role::{Role, unit_of_name};
use super::set::{Holds, Schema};
use super::{diskread, ifstat, nfscopy, runstat, tcpsink, udpblast};

/// The schemas of all tools.
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

/// The columns of all measurements, each name once: where tools share one, the first tool's.
pub fn measured_columns() -> impl Iterator<Item = &'static Column> {
    once_each(ALL.iter().copied().filter(|schema| schema.holds == Holds::Measurements))
}

/// The columns of all lines that begin as measurements do, each name once, the measurements' first.
pub fn drawable_columns() -> impl Iterator<Item = &'static Column> {
    let findings = ALL.iter().copied().filter(|schema| schema.holds == Holds::Findings);
    once_each(ALL.iter().copied().filter(|schema| schema.holds == Holds::Measurements).chain(findings))
}

fn once_each(schemas: impl Iterator<Item = &'static Schema>) -> impl Iterator<Item = &'static Column> {
    let mut seen = HashSet::new();
    schemas.flat_map(Schema::columns).filter(move |column| seen.insert(column.name))
}

/// The column `name`, as the schemas have it.
pub fn column(name: &str) -> Option<&'static Column> {
    drawable_columns().find(|column| column.name == name)
}

/// The role of the column `name`; one that no schema has is judged by its name.
pub fn role(name: &str) -> Role {
    column(name).map_or_else(|| Role::of_name(name), |column| column.role)
}

/// The base unit of the column `name`; empty for counts and text. One that no schema has tells it by its end.
pub fn unit(name: &str) -> &'static str {
    column(name).map_or_else(|| unit_of_name(name), |column| column.unit)
}

/// What a comparison or a chart is about when nobody says: the first of these that has something to show.
pub fn headlines() -> Vec<&'static str> {
    ranked(|role| role.headline)
}

/// The settings that people vary on purpose: the first of these that differs is what a sweep is over.
pub fn sweeps() -> Vec<&'static str> {
    ranked(Role::sweep_rank)
}

/// The quantiles of latencies, the least first.
pub fn quantiles() -> Vec<&'static str> {
    ranked(Role::per_mille)
}

fn ranked<R: Ord>(rank: impl Fn(Role) -> Option<R>) -> Vec<&'static str> {
    let mut ranked: Vec<_> = measured_columns().filter_map(|column| Some((rank(column.role)?, column.name))).collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// What the lines of a tool hold; those of a tool that nobody knows are measurements, unless its name says facts.
pub fn holds(tool: &str) -> Holds {
    let unknown = if tool.ends_with("-facts") { Holds::Facts } else { Holds::Measurements };
    ALL.iter().find(|schema| schema.tool() == tool).map_or(unknown, |schema| schema.holds)
}

#[cfg(test)]
mod tests {
    use super::super::role::{Better, RoleKind, Share};
    use super::*;

    #[test]
    fn throughput_up_and_latency_errors_and_costs_down_are_better() {
        for up in ["bytes_per_s", "ops_per_s", "wire_bytes_per_s", "delivery_bytes_per_s", "things_per_s"] {
            assert_eq!(role(up).better, Some(Better::Higher), "{up}");
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
            "ring_drops",
        ] {
            assert_eq!(role(down).better, Some(Better::Lower), "{down}");
        }
        for neither in ["label", "bytes", "threads", "block_bytes", "rate_bits_per_s", "cached_pct", "mtu"] {
            assert_eq!(role(neither).better, None, "{neither}");
        }
    }

    #[test]
    fn a_share_is_of_counts_that_its_schema_has() {
        let mut shares = 0;
        for schema in ALL {
            let has = |name: &str| schema.columns().any(|column| column.name == name);
            for column in schema.columns() {
                match column.role.kind {
                    RoleKind::Share(Share::Of { part, whole } | Share::Without { part, whole }) => {
                        assert!(has(part) && has(whole), "{} of {}", column.name, schema.tag);
                        shares += 1;
                    }
                    RoleKind::Latency { of: Some(of), .. } => assert!(has(of), "{} of {}", column.name, schema.tag),
                    _ => {}
                }
            }
        }
        assert!(shares > 0);
    }

    #[test]
    fn text_is_never_a_figure() {
        for column in ALL.iter().flat_map(|schema| schema.columns()).filter(|column| column.kind != "integer") {
            assert_eq!(column.kind == "decimal", column.role.is_measured(), "{}", column.name);
        }
    }

    #[test]
    fn a_name_means_one_thing_in_all_tools() {
        for schema in ALL.iter().filter(|schema| schema.holds == Holds::Measurements) {
            for own in schema.columns() {
                let first = column(own.name).unwrap();
                let alike = std::mem::discriminant(&own.role.kind) == std::mem::discriminant(&first.role.kind);
                let is_one = alike && own.role.better == first.role.better && own.unit == first.unit;
                assert!(is_one, "{} of {}", own.name, schema.tag);
            }
        }
    }

    #[test]
    fn facts_and_findings_are_no_measurements() {
        assert_eq!(holds("tcpsink"), Holds::Measurements);
        assert_eq!(holds("ifstat-stats"), Holds::Measurements);
        assert_eq!(holds("ifstat-changed-facts"), Holds::Facts);
        assert_eq!(holds("nobodys-facts"), Holds::Facts);
        assert_eq!(holds("runstat-bottleneck"), Holds::Findings);
        assert_eq!(holds("nobodys"), Holds::Measurements);
    }

    #[test]
    fn ranks_are_distinct_and_say_the_order() {
        assert_eq!(headlines(), ["bytes_per_s", "ops_per_s", "p50_us", "seconds"]);
        assert_eq!(quantiles(), ["p50_us", "p90_us", "p99_us", "p999_us", "max_us"]);
        assert_eq!(sweeps()[..4], ["threads", "streams", "depth", "block_bytes"]);
        let ranks: HashSet<_> = measured_columns().filter_map(|column| column.role.sweep_rank()).collect();
        assert_eq!(ranks.len(), sweeps().len());
    }

    #[test]
    fn a_name_that_nobody_knows_tells_what_it_can() {
        assert_eq!((role("things_pct").kind, unit("things_pct")), (RoleKind::Share(Share::OfTime), "%"));
        for (extreme, kind) in [("min_wait_us", RoleKind::Smallest), ("max_wait_us", RoleKind::Largest)] {
            assert_eq!((role(extreme).kind, role(extreme).better), (kind, Some(Better::Lower)));
        }
        assert_eq!(role("max_things_per_s").better, Some(Better::Higher));
        assert_eq!(role("queue_s").kind, RoleKind::Spent);
        assert_eq!(role("whatever").kind, RoleKind::Gauge);
    }

    #[test]
    fn names_tell_the_unit_that_the_registry_has() {
        for column in ALL.iter().flat_map(|schema| schema.columns()).filter(|column| column.kind == "decimal") {
            assert_eq!(unit_of_name(column.name), column.unit, "{}", column.name);
        }
    }
}
