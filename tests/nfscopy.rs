//! `nfscopy` as a shell uses it. Nothing here asserts a speed.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "nfscopy/copies.rs"]
mod copies;
#[path = "nfscopy/failures.rs"]
mod failures;
#[path = "nfscopy/file.rs"]
mod file;
#[path = "nfscopy/targets.rs"]
mod targets;

use std::fs;
use std::path::Path;

use testkit::contract::{self, Way};
use testkit::disk::{Scratch, names};
use testkit::{Record, Tool};

const MIB: u64 = 1 << 20;

/// Every phase of `nfscopy file`.
const PHASES: [&str; 8] = ["write", "rewrite", "read", "rand_read", "rand_write", "seek", "stdio_write", "stdio_read"];

fn nfscopy() -> Tool {
    Tool::built(env!("CARGO_BIN_EXE_nfscopy"))
}

/// Runs it quietly to its end; its lines.
fn lines(args: &[&str]) -> Vec<Record> {
    nfscopy().run(&[args, &["--quiet"]].concat()).success().records()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
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
fn habits_of_other_programs_are_answered() {
    contract::answers(
        &nfscopy(),
        &[
            (
                "file /mnt/nas -b 1M -p read -s 4G",
                "nfscopy: -b is udpblast's; here: nfscopy file /mnt/nas --block 1M --phases read --size 4G",
            ),
            (
                "tree /mnt/nas -n 100 -s 4K",
                "nfscopy: -n is bonnie++'s; here: nfscopy tree /mnt/nas --files 100 --size 4K",
            ),
            (
                "-d /mnt/nas -s 16G -u root",
                "nfscopy: -d is bonnie++'s; here: nfscopy file /mnt/nas --like bonnie --size 16G",
            ),
            (
                "if=/dev/zero of=/mnt/nas/x bs=1M count=100 conv=fsync",
                "nfscopy: if= is dd's; here: nfscopy file /mnt/nas --phases write --block 1M --size 100M",
            ),
            ("if=a of=/mnt/nas/x bs=64k", "nfscopy: if= is dd's; here: nfscopy copy a /mnt/nas/x --block 64k"),
            ("-a photos /mnt/nas", "nfscopy: -a is cp's; here: nfscopy copy photos /mnt/nas"),
            ("photos /mnt/nas", "nfscopy: photos is no verb; here: nfscopy copy photos /mnt/nas"),
            ("/mnt/nas", "nfscopy: /mnt/nas is no verb; here: nfscopy file /mnt/nas"),
            (
                "file /mnt/nas --rw=write --bs=1M",
                "nfscopy: --rw is fio's; here: nfscopy file /mnt/nas --phases write --block 1M",
            ),
            ("file /mnt/nas --method direct", "nfscopy: --method is diskread's; here: nfscopy file /mnt/nas --direct"),
            ("file /mnt/nas --bytes 4G", "nfscopy: --bytes is diskread's; here: nfscopy file /mnt/nas --size 4G"),
        ],
    );
}

#[test]
fn help_and_columns_are_as_recorded() {
    contract::is_as_recorded(&nfscopy(), "nfscopy");
}

#[test]
fn measures_as_every_tool_does() {
    let scratch = Scratch::new();
    let whole = Way { interval: "10ms", warms_up: false, ..Way::timed(&[]) };
    let file = ["file", scratch.text(), "--phases", "write", "--size", "1T", "--block", "4K", "--sync"];
    contract::measures(&nfscopy(), &Way { args: &file, ..whole });

    let tree = ["tree", scratch.text(), "--order", "seq"];
    let (brief, long) = (["--files", "300"], ["--files", "900000000"]);
    let except = ["summary", "mean"].map(|check| (check, "each phase is a measurement, and has a sentence"));
    contract::measures(&nfscopy(), &Way { args: &tree, brief: &brief, long: &long, except: &except, ..whole });

    let (source, huge) = (scratch.file("source", 64 * MIB), scratch.path("huge"));
    fs::File::create(&huge).unwrap().set_len(1 << 42).unwrap();
    let (brief, long) = ([source.as_str(), "/dev/null"], [huge.to_str().unwrap(), "/dev/null"]);
    contract::measures(&nfscopy(), &Way { args: &["copy"], brief: &brief, long: &long, alone: true, ..whole });
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
