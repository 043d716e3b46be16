//! `nfscopy` as a shell uses it. Nothing here asserts a speed.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "nfscopy/copies.rs"]
mod copies;
#[path = "nfscopy/failures.rs"]
mod failures;

use std::fs;

use testkit::disk::{Scratch, names};
use testkit::{Record, Tool, contract};

const MIB: u64 = 1 << 20;

/// Every phase of `nfscopy file`.
const PHASES: [&str; 8] = ["write", "rewrite", "read", "rand_read", "rand_write", "seek", "stdio_write", "stdio_read"];

fn nfscopy() -> Tool {
    Tool::new(env!("CARGO_BIN_EXE_nfscopy"))
}

/// Runs it quietly to its end; its lines.
fn lines(args: &[&str]) -> Vec<Record> {
    nfscopy().run(&[args, &["--quiet"]].concat()).success().records()
}

fn tests(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.text("test")).collect()
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &nfscopy(),
        "nfscopy",
        &[
            (&["file", "d", "--size", "0"], "--size"),
            (&["file", "d", "--size", "-1"], "--size"),
            (&["file", "d", "--size", "99999999999999999999"], "--size"),
            (&["file", "d", "--size", "3", "--threads", "4"], "--size"),
            (&["file", "d", "--block", "0"], "--block"),
            (&["file", "d", "--block", "2G"], "--block"),
            (&["file", "d", "--block", "1G", "--threads", "5"], "--threads"),
            (&["file", "d", "--threads", "0"], "--threads"),
            (&["file", "d", "--threads", "1,x"], "--threads"),
            (&["file", "d", "--phases", "write,magic"], "--phases"),
            (&["file", "d", "--direct", "--block", "1000"], "--block"),
            (&["file", "d", "--phases", "rand_read", "--block", "512"], "--block"),
            (&["file", "d", "--direct", "--size", "1000"], "--size"),
            (&["file", "d", "--direct", "--phases", "stdio_write"], "--direct"),
            (&["file", "d", "--ops", "0"], "--ops"),
            (&["file", "d", "--time", "0"], "--time"),
            (&["file", "d", "--like", "magic"], "--like"),
            (&["file", "d", "--like", "dd", "--block", "4K"], "--like"),
            (&["file", "d", "--runs", "2..3"], "--within"),
            (&["file"], "DIR"),
            (&["tree", "d", "--files", "0"], "--files"),
            (&["tree", "d", "--order", "x"], "--order"),
            (&["copy", "x"], "DST"),
            (&["copy", "/etc/passwd", "/tmp/x", "--block", "2G"], "--block"),
            (&["copy", "/etc/passwd", "/dev/null", "--verify"], "--verify"),
            (&["copy", "/etc/passwd", "/dev/null", "--label", &"x".repeat(2000)], "--label"),
            (&["facts"], "PATH"),
        ],
    );
}

#[test]
fn help_and_header_are_as_recorded() {
    for (args, snapshot) in [
        (&["--help"][..], include_str!("snapshots/nfscopy-help.txt")),
        (&["copy", "--help"], include_str!("snapshots/nfscopy-copy-help.txt")),
        (&["file", "--help"], include_str!("snapshots/nfscopy-file-help.txt")),
        (&["tree", "--help"], include_str!("snapshots/nfscopy-tree-help.txt")),
        (&["facts", "--help"], include_str!("snapshots/nfscopy-facts-help.txt")),
        (&["--columns"], include_str!("snapshots/nfscopy-columns.csv")),
    ] {
        assert_eq!(nfscopy().run(args).success().stdout, snapshot, "{args:?}; `make snapshots` records it anew");
    }
}

#[test]
fn every_phase_counts_every_byte_and_leaves_nothing() {
    let scratch = Scratch::new();
    let size = MIB + 1234;
    let args = ["file", scratch.text(), "--size", &size.to_string(), "--phases", &PHASES.join(","), "--ops", "100"];
    let records = lines(&args);
    assert_eq!(tests(&records), PHASES);
    for record in &records {
        let bytes = match record.text("test") {
            // No block comes twice, and the last one of the file may be the short one.
            "rand_read" | "rand_write" => record.count("bytes").clamp(99 * 4096, 100 * 4096),
            "seek" => record.count("bytes").clamp(99 * 8192, 100 * 8192),
            _ => size,
        };
        assert_eq!(record.count("bytes"), bytes, "{record:?}");
        assert_eq!((record.text("flags"), record.text("failure"), record.count("errors")), ("", "", 0));
        assert!(record.number("seconds") > 0.0 && record.number("bytes_per_s") > 0.0, "{record:?}");
        let is_written = !record.text("sync").is_empty();
        assert_eq!(is_written, record.text("test").contains("write") || record.text("test") == "seek");
        assert_eq!(is_written, !record.text("fsync_s").is_empty(), "{record:?}");
        let steps: f64 = ["open_s", "read_s", "write_s", "fsync_s", "close_s"]
            .iter()
            .filter_map(|step| record.text(step).parse::<f64>().ok())
            .sum();
        assert!(steps <= record.number("seconds") * record.number("threads") + 1e-5, "{record:?}");
    }
    assert!(names(scratch.path("").as_path()).is_empty());
}

#[test]
fn the_smallest_sizes_give_figures_too() {
    let scratch = Scratch::new();
    let records = lines(&["file", scratch.text(), "--size", "1", "--phases", &PHASES.join(","), "--ops", "1"]);
    for record in &records {
        assert_eq!((record.count("bytes"), record.count("ops")), (1, 1), "{record:?}");
        assert!(record.number("bytes_per_s") > 0.0 && record.number("seconds") > 0.0, "{record:?}");
    }
    let records = lines(&["tree", scratch.text(), "--files", "1", "--size", "0"]);
    assert_eq!(records.len(), 12);
    assert!(records.iter().all(|record| record.count("ops") == 1 && record.number("ops_per_s") > 0.0), "{records:?}");
}

#[test]
fn a_sweep_shares_the_size_without_a_rest() {
    let scratch = Scratch::new();
    let size = 3 * MIB + 5;
    let args = ["file", scratch.text(), "--size", &size.to_string(), "--threads", "1,3", "--block", "64K"];
    let records = lines(&[&args[..], &["--phases", "read,write"]].concat());
    let found: Vec<_> = records.iter().map(|record| (record.text("test"), record.count("threads"))).collect();
    assert_eq!(found, [("read", 1), ("write", 1), ("read", 3), ("write", 3)]);
    for record in &records {
        assert_eq!((record.count("bytes"), record.count("files")), (size, record.count("threads")), "{record:?}");
    }
}

#[test]
fn reads_come_from_the_disk_unless_the_program_to_be_like_reads_its_cache() {
    let scratch = Scratch::new();
    let records = lines(&["file", scratch.text(), "--size", "8M", "--phases", "write,read"]);
    assert!(records[1].number("cached_pct") < 1.0 && !records[1].has_flag("cached"), "{records:?}");
    let ended = nfscopy().run(&["file", scratch.text(), "--size", "8M", "--like", "dd"]).success();
    let records = ended.records();
    assert_eq!(tests(&records), ["dd_write", "dd_read"]);
    assert!(records[1].has_flag("cached") && records[1].number("cached_pct") > 99.0, "{records:?}");
    assert!(ended.stderr.contains("memory"), "{}", ended.stderr);
}

#[test]
fn is_like_bonnie_and_tiobench_in_phases_and_order() {
    let scratch = Scratch::new();
    let bonnie = lines(&["file", scratch.text(), "--size", "4M", "--like", "bonnie"]);
    assert_eq!(
        tests(&bonnie),
        [
            "bonnie_stdio_write",
            "bonnie_write",
            "bonnie_rewrite",
            "bonnie_stdio_read",
            "bonnie_read",
            "bonnie_seek",
            "bonnie_create",
            "bonnie_stat",
            "bonnie_delete",
            "bonnie_rand_create",
            "bonnie_rand_stat",
            "bonnie_rand_delete"
        ]
    );
    assert_eq!((bonnie[5].count("ops"), bonnie[5].count("threads")), (8192, 5));
    assert_eq!(bonnie[6].count("ops"), 16384);
    let tiobench = lines(&["file", scratch.text(), "--size", "4M", "--like", "tiobench", "--threads", "1,2"]);
    let once = ["tiobench_write", "tiobench_rand_write", "tiobench_read", "tiobench_rand_read"];
    assert_eq!(tests(&tiobench), [once, once].concat());
    assert!(tiobench.iter().all(|record| record.count("block_bytes") == 4096), "{tiobench:?}");
    assert_eq!(tiobench[3].count("ops"), 4000);
}

#[test]
fn a_tree_is_worked_on_in_order_and_at_random_by_threads() {
    let scratch = Scratch::new();
    let deeds = ["create", "stat", "stat_server", "read_files", "rename", "delete"];
    let at_random = deeds.map(|deed| format!("rand_{deed}"));
    for extra in [&[][..], &["--shared-dir"]] {
        let args = ["tree", scratch.text(), "--files", "101", "--size", "3000", "--threads", "3"];
        let records = lines(&[&args[..], extra].concat());
        let expected: Vec<_> = deeds.iter().copied().chain(at_random.iter().map(String::as_str)).collect();
        assert_eq!(tests(&records), expected);
        for record in &records {
            let moves = record.text("test").contains("create") || record.text("test").contains("read");
            assert_eq!(record.count("bytes"), if moves { 303_000 } else { 0 }, "{record:?}");
            assert_eq!((record.count("ops"), record.count("files"), record.count("threads")), (101, 101, 3));
            let cells = ["p50_us", "p90_us", "p99_us", "p999_us", "max_us"].map(|column| record.number(column));
            assert!(cells.is_sorted() && cells[0] > 0.0, "{record:?}");
        }
    }
    assert!(names(scratch.path("").as_path()).is_empty());
}

#[test]
fn direct_and_synchronous_writes_say_so() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "1M", "--block", "64K", "--phases", "write,read", "--ops", "5"];
    let records = lines(&[&args[..], &["--direct", "--sync"]].concat());
    assert!(records.iter().all(|record| record.text("mechanism") == "direct" && record.count("bytes") == MIB));
    assert_eq!((records[0].text("sync"), records[1].text("sync")), ("osync", ""));
}

#[test]
fn random_phases_visit_no_block_twice() {
    let scratch = Scratch::new();
    let phases = ["rand_read", "rand_write", "seek"];
    let args = ["file", scratch.text(), "--size", "512K", "--block", "4K", "--phases", &phases.join(",")];
    for (extra, flags) in [(&[][..], ""), (&["--ops", "129"], "short"), (&["--time", "1m"], "")] {
        let records = lines(&[&args[..], extra].concat());
        assert_eq!(tests(&records), phases);
        for record in &records {
            assert_eq!((record.count("ops"), record.count("bytes")), (128, 512 * 1024), "{record:?}");
            assert_eq!(record.text("flags"), flags, "{record:?}");
        }
    }
}

#[test]
fn intervals_follow_each_other_and_add_up() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "64M", "--phases", "rand_write", "--ops", "16384"];
    let ended = nfscopy().run(&[&args[..], &["--interval", "10ms", "--quiet"]].concat()).success();
    let (intervals, total) = (ended.select("rand_write", "interval"), ended.total("rand_write"));
    assert!(intervals.len() >= 3, "{ended:?}");
    let sum = |column: &str| intervals.iter().map(|record| record.count(column)).sum::<u64>();
    assert_eq!((sum("bytes"), sum("ops")), (total.count("bytes"), total.count("ops")));
    let seconds: f64 = intervals.iter().map(|record| record.number("seconds")).sum();
    assert!((seconds - total.number("seconds")).abs() < 1e-3, "{seconds} {total:?}");
}

#[test]
fn single_bytes_end_at_any_of_them() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "12M", "--threads", "4", "--phases", "stdio_write,stdio_read"];
    let records = lines(&[&args[..], &["--time", "200ms"]].concat());
    let ends_in_a_chunk = |record: &Record| !record.count("bytes").is_multiple_of(4096);
    assert!(records.iter().any(ends_in_a_chunk), "{records:?}");
}

#[test]
fn what_time_has_cut_short_is_worked_on_as_it_is() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "1T", "--phases", "write,read", "--time", "300ms"];
    let records = lines(&args);
    assert_eq!(tests(&records), ["write", "read"]);
    assert!(records[1].count("bytes") <= records[0].count("bytes"), "{records:?}");
    assert!(records[0].count("file_bytes") > records[1].count("file_bytes"), "{records:?}");
}

#[test]
fn runs_repeat_all_phases() {
    let scratch = Scratch::new();
    let records = lines(&["file", scratch.text(), "--size", "1M", "--phases", "write,read", "--runs", "2"]);
    let found: Vec<_> = records.iter().map(|record| (record.text("test"), record.count("run"))).collect();
    assert_eq!(found, [("write", 1), ("read", 1), ("write", 2), ("read", 2)]);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let scratch = Scratch::new();
    let script = format!("{} tree {} --files 3000 --quiet | head -1", nfscopy().path(), scratch.text());
    let output = std::process::Command::new("bash").args(["-o", "pipefail", "-c", &script]).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
    assert!(names(scratch.path("").as_path()).is_empty());
}

#[test]
fn facts_name_the_mount() {
    let scratch = Scratch::new();
    fs::write(scratch.path("file"), "x").unwrap();
    let file = scratch.path("file");
    let records = lines(&["facts", file.to_str().unwrap(), "/proc"]);
    let value = |target: &str, key: &str| {
        let found = |record: &&Record| record.text("target") == target && record.text("key") == key;
        records.iter().find(found).map(|record| record.text("value").to_owned())
    };
    assert_eq!(value("/proc", "mount.type").unwrap(), "proc");
    assert_eq!(value("/proc", "mount.point").unwrap(), "/proc");
    assert!(value(file.to_str().unwrap(), "mount.source").is_some(), "{records:?}");
    assert!(value(file.to_str().unwrap(), "nfs.connections").is_none(), "no server is behind it");
}
