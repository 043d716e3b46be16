//! Which layer limits a path.

use std::fs;

use common::schema::tcpsink;
use testkit::{Ended, Record, records};

use super::log::Log;
use super::{fixture, runstat};

/// The word on the only path.
fn verdict(ended: &Ended) -> String {
    let ends: Vec<Record> = ended.records().into_iter().filter(|row| row.text("layer") == "end to end").collect();
    assert_eq!(ends.len(), 1, "{ended:?}");
    ends[0].text("verdict").to_owned()
}

/// The role of a layer whose name begins so.
fn role(ended: &Ended, layer: &str) -> String {
    let rows = ended.records();
    rows.iter().find(|row| row.text("layer").starts_with(layer)).unwrap().text("verdict").to_owned()
}

fn bottleneck(log: &Log) -> Ended {
    log.run(&["bottleneck"]).success()
}

#[test]
fn report_a_is_the_disk() {
    let ended = runstat().run(&["bottleneck", &fixture("report-a.csv")]).success();
    let ends: Vec<Record> = ended.records().into_iter().filter(|row| row.text("layer") == "end to end").collect();
    assert_eq!(ends.len(), 2, "written and read");
    assert!(ends.iter().all(|row| row.text("verdict") == "disk /dev/hda on powermac"), "{ends:?}");
    assert_eq!(role(&ended, "disk /dev/hda on imac"), "has room");
    assert_eq!(role(&ended, "network (UDP) up"), "has little room");
    assert_eq!(role(&ended, "network (TCP) up"), "not on the path", "the mount uses UDP");
    let first = ended.stderr.lines().next().unwrap();
    assert!(
        first.contains("The bottleneck of write /mnt/powermac") && first.contains("77 % of the 2.457 MB/s"),
        "{first}"
    );
    assert!(ended.stderr.contains("single runs"), "{}", ended.stderr);
    assert!(ended.records().iter().all(|row| row.text("lines").contains("report-a.csv:")), "the lines it used");
    let table = runstat().run(&["bottleneck", &fixture("report-a.csv"), "--format", "table"]).success();
    assert!(table.stdout.contains("The bottleneck of") && table.stderr.is_empty(), "{table:?}");
}

#[test]
fn report_a_with_a_fast_disk_is_the_datagrams() {
    let text = fs::read_to_string(fixture("report-a.csv")).unwrap();
    let fast = text.replace("2456813.8", "50000000.0");
    assert_ne!(text, fast);
    let mut log = Log::new();
    log.text(&fast);
    let ended = log.run(&["bottleneck"]).success();
    let write = &records(&ended.stdout)[0];
    assert_eq!(write.text("verdict"), "network (UDP) up to powermac");
    assert_eq!(role(&ended, "disk /dev/hda on powermac"), "has room");
}

/// A path whose layers were measured several times.
fn path(disk: &[&str], udp: &[&str], end_to_end: &[&str]) -> Log {
    let mut log = Log::new();
    for rate in disk {
        log.disk(rate);
    }
    for rate in udp {
        log.udp(rate, "9");
    }
    for rate in end_to_end {
        log.nfs("write", &[("bytes_per_s", rate)]);
    }
    log
}

#[test]
fn layers_that_cannot_be_told_apart_leave_it_undecided() {
    let ended = bottleneck(&path(&["2400000", "2600000"], &["2450000", "2550000"], &["1900000", "1950000"]));
    assert_eq!(verdict(&ended), "undecided");
    assert_eq!((role(&ended, "disk"), role(&ended, "network")), ("may be it".into(), "may be it".into()));
    assert!(ended.stderr.contains("cannot be told from"), "{}", ended.stderr);
    let apart = bottleneck(&path(&["2400000", "2440000"], &["2450000", "2550000"], &["1900000", "1950000"]));
    assert_eq!(verdict(&apart), "disk /dev/sda on nas");
}

#[test]
fn what_the_lines_do_not_show_is_not_claimed() {
    let faster = bottleneck(&path(&["2000000"], &["9000000"], &["5000000"]));
    assert_eq!(verdict(&faster), "undecided");
    assert!(faster.stderr.contains("a cache helped"), "{}", faster.stderr);
    let spread = ["700000", "1400000", "1700000"];
    let wide = bottleneck(&path(&["470000", "890000", "1900000"], &["9000000"], &spread));
    assert_eq!(verdict(&wide), "undecided", "157 % of what a layer carries, though the intervals touch");
    assert_eq!(role(&wide, "disk"), "slower than end to end");
    let slow = bottleneck(&path(&["50000000"], &["90000000"], &["1000000"]));
    assert_eq!(verdict(&slow), "undecided");
    assert!(slow.stderr.contains("far less than the slowest layer"), "{}", slow.stderr);
    let alone = bottleneck(&path(&["2500000"], &[], &["1900000"]));
    assert_eq!(verdict(&alone), "undecided");
    assert!(
        alone.stderr.contains("The network (tcpsink or udpblast, to the server) was not measured"),
        "{}",
        alone.stderr
    );
    assert_eq!(verdict(&bottleneck(&path(&["2000000"], &[], &["1900000"]))), "disk /dev/sda on nas", "it gets it all");
    let nothing = bottleneck(&path(&[], &[], &["1900000"]));
    assert_eq!(verdict(&nothing), "undecided");
    assert!(nothing.stderr.contains("no layer was measured"), "{}", nothing.stderr);
    let _ = path(&["1"], &["1"], &[]).run(&["bottleneck"]).failure(1, &["no end-to-end lines", "nfscopy"]);
}

#[test]
fn datagrams_that_all_arrived_are_no_limit() {
    let mut log = path(&["9000000"], &[], &["8000000"]);
    log.udp("7000000", "0");
    let ended = bottleneck(&log);
    assert_eq!((verdict(&ended), role(&ended, "network")), ("undecided".into(), "not driven to its limit".into()));
    let mut log = path(&["9000000"], &[], &["8000000"]);
    log.udp("70000000", "0");
    assert_eq!(verdict(&bottleneck(&log)), "disk /dev/sda on nas", "it carried far more");
}

#[test]
fn the_mounts_protocol_says_which_network_counts() {
    let mut log = path(&["9000000"], &["2000000"], &[]);
    let cells = [("test", "tcp_recv"), ("target", "nas"), ("direction", "up"), ("bytes_per_s", "5000000")];
    log.line(&tcpsink::SCHEMA, &cells).nfs("write", &[("bytes_per_s", "4500000"), ("proto", "tcp")]);
    let ended = bottleneck(&log);
    assert_eq!(verdict(&ended), "network (TCP) up to nas");
    assert_eq!(role(&ended, "network (UDP)"), "not on the path");
}

/// Report B's small files: so many calls, each so long, over so many threads.
fn small_files(rpcs: &str, rtt: &str, threads: &str) -> Log {
    let mut log = path(&["100000000"], &["110000000"], &[]);
    for _ in 0..6 {
        let cells = [("ops", "3000"), ("ops_per_s", "300"), ("rpcs", rpcs), ("rpc_rtt_us", rtt), ("threads", threads)];
        log.nfs("create", &cells);
    }
    log.line(&tcpsink::SCHEMA, &[("test", "tcp_ping"), ("target", "nas"), ("p50_us", "200")]);
    log
}

#[test]
fn round_trips_that_explain_the_time_are_latency() {
    let ended = bottleneck(&small_files("9000", "1000", "1"));
    assert_eq!(verdict(&ended), "round trips");
    assert!(ended.stderr.contains("is bound by latency: 9000 calls of 1000 us each take 90 %"), "{}", ended.stderr);
    assert!(ended.stderr.contains("the network alone answers in 200.00 us, 20 % of a round trip"), "{}", ended.stderr);
    assert_eq!(verdict(&bottleneck(&small_files("36000", "1000", "4"))), "round trips", "over four threads");
    assert_eq!(verdict(&bottleneck(&small_files("9000", "100", "1"))), "undecided", "nine percent");
    assert_eq!(verdict(&bottleneck(&small_files("5000", "1000", "1"))), "undecided", "half");
    assert_eq!(verdict(&bottleneck(&small_files("90000", "1000", "1"))), "undecided", "they overlap");
}

#[test]
fn layers_are_called_by_their_labels_too() {
    let mut log = path(&["9000000"], &[], &["4500000"]);
    for (label, rate) in [("streams=1", "20000000"), ("streams=4", "50000000")] {
        let cells = [("test", "tcp_recv"), ("target", "nas"), ("direction", "up"), ("label", label)];
        log.line(&tcpsink::SCHEMA, &[&cells[..], &[("bytes_per_s", rate)]].concat());
    }
    let ended = bottleneck(&log);
    for label in ["streams=1", "streams=4"] {
        assert_eq!(role(&ended, &format!("network (TCP) up to nas ({label})")), "has room");
    }
}
