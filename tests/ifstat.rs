//! `ifstat` as a shell uses it. Nothing here asserts a speed.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "ifstat/changes.rs"]
mod changes;
#[path = "ifstat/command.rs"]
mod command;
#[path = "ifstat/counts.rs"]
mod counts;
#[path = "ifstat/facts.rs"]
mod facts;
#[path = "ifstat/interfaces.rs"]
mod interfaces;
#[path = "ifstat/screen.rs"]
mod screen;
#[path = "ifstat/space.rs"]
mod space;
#[path = "ifstat/stack.rs"]
mod stack;
#[path = "ifstat/time.rs"]
mod time;

use testkit::contract::{self, Way};
use testkit::{Record, Tool};

fn ifstat() -> Tool {
    Tool::built(env!("CARGO_BIN_EXE_ifstat"))
}

/// The lines of one interface and test; there are some.
fn some<'a>(records: &'a [Record], target: &str, test: &str, span: &str) -> Vec<&'a Record> {
    let is_it =
        |record: &&Record| (record.text("target"), record.text("test"), record.text("span")) == (target, test, span);
    let some: Vec<_> = records.iter().filter(is_it).collect();
    assert!(!some.is_empty(), "no {span} of {target} {test} in {records:?}");
    some
}

fn sum(records: &[&Record], column: &str) -> u64 {
    records.iter().map(|record| record.count(column)).sum()
}

fn total<'a>(records: &'a [Record], target: &str, test: &str) -> &'a Record {
    let totals = some(records, target, test, "total");
    assert_eq!(totals.len(), 1, "totals of {target} {test}: {records:?}");
    totals[0]
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &ifstat(),
        "ifstat",
        &[
            (&["--interval", "0"], "--interval"),
            (&["--interval", "9ms"], "--interval"),
            (&["--interval", "-1s"], "--interval"),
            (&["--interval", "99999999999999999999s"], "--interval"),
            (&["--interval", "5s", "--time", "1s"], "--interval"),
            (&["--time", "0"], "--time"),
            (&["--count", "0"], "--count"),
            (&["--count", "-1"], "--count"),
            (&["--count", "99999999999999999999"], "--count"),
            (&["--count", "3", "--time", "3s"], "--count"),
            (&["--count", "3", "--", "true"], "--count"),
            (&["--stdout", "file"], "COMMAND"),
            (&["--wait"], "IFACE"),
            (&["sixteen-bytes-xx"], "15 bytes"),
            (&[""], "IFACE"),
            (&["--label", &"x".repeat(2000)], "--label"),
            (&["stats"], "IFACE"),
            (&["facts", "--dance"], "--dance"),
        ],
    );
}

#[test]
fn habits_of_other_programs_are_answered() {
    contract::answers(
        &ifstat(),
        &[
            ("-i eth0 -n", "ifstat: -n is the other ifstat's; here: ifstat eth0 (there is one header)"),
            ("-a", "ifstat: -a is the other ifstat's; here: ifstat (all interfaces, unless some are named)"),
            ("-t", "ifstat: -t is the other ifstat's; here: ifstat (every line has its time)"),
            ("-n DEV", "ifstat: -n is sar's; here: ifstat"),
            ("-S eth0", "ifstat: -S is ethtool's; here: ifstat stats eth0"),
            ("-n -- sleep 1", "ifstat: -n is the other ifstat's; here: ifstat -- sleep 1 (there is one header)"),
        ],
    );
}

#[test]
fn help_and_columns_are_as_recorded() {
    contract::is_as_recorded(&ifstat(), "ifstat");
}

#[test]
fn measures_as_every_tool_does() {
    let way = Way { warms_up: false, repeats: false, ..Way::timed(&["lo"]) };
    contract::measures(&ifstat(), &way);
}
