//! What the interval lines of a run come to, with and without its total.

use common::schema::{Schema, diskread, ifstat, nfscopy, tcpsink, udpblast};

use super::log::Log;

/// An interval line.
fn interval(log: &mut Log, run: &str, rate: &str, seconds: &str) {
    let cells = [("label", "a"), ("test", "tcp_recv"), ("run", run), ("span", "interval"), ("bytes_per_s", rate)];
    log.line(&tcpsink::SCHEMA, &[&cells[..], &[("seconds", seconds), ("errors", "2")]].concat());
}

#[test]
fn intervals_of_a_run_are_one_value() {
    let mut log = Log::new();
    for run in ["1", "2"] {
        interval(&mut log, run, "100", "10");
        interval(&mut log, run, "400", "5");
        interval(&mut log, run, "400", "5");
    }
    let rows = log.run(&["--metric", "bytes_per_s,errors"]).success().records();
    assert_eq!((rows[0].count("n"), rows[0].number("median")), (2, 250.0), "weighted by time");
    assert_eq!((rows[1].count("n"), rows[1].number("median")), (2, 6.0), "errors add up");
}

/// The value of a run of intervals.
fn value(schema: &'static Schema, metric: &str, intervals: &[&[(&str, &str)]]) -> f64 {
    let mut log = Log::new();
    for cells in intervals {
        log.line(schema, &[&[("test", "x"), ("span", "interval")], *cells].concat());
    }
    log.run(&["--metric", metric]).success().records()[0].number("median")
}

#[test]
fn a_share_of_counts_is_made_from_the_counts() {
    let lost = |sent, lost, pct| [("sent", sent), ("lost", lost), ("lost_pct", pct)];
    let found = value(&udpblast::SCHEMA, "lost_pct", &[&lost("1000", "0", "0"), &lost("10", "10", "100")]);
    assert!((found - 100.0 * 10.0 / 1010.0).abs() < 1e-6, "{found}");
    let unknown = value(&udpblast::SCHEMA, "lost_pct", &[&lost("", "", "0"), &lost("10", "10", "100")]);
    assert!((unknown - 50.0).abs() < 1e-6, "by time, where a count is not known: {unknown}");
    // What is read ahead in one interval is taken from the page cache in the next.
    let read = |bytes, device, pct| [("bytes", bytes), ("device_bytes", device), ("cached_pct", pct)];
    let found = value(&diskread::SCHEMA, "cached_pct", &[&read("100", "180", "0"), &read("100", "10", "90")]);
    assert!((found - 5.0).abs() < 1e-6, "{found}");
    let more = value(&diskread::SCHEMA, "cached_pct", &[&read("100", "180", "0"), &read("100", "40", "60")]);
    assert!(more.abs() < 1e-6, "never below nothing: {more}");
}

#[test]
fn a_mean_of_calls_is_weighted_by_the_calls() {
    let calls = |rpcs, rtt| [("rpcs", rpcs), ("rpc_rtt_us", rtt)];
    let found = value(&nfscopy::SCHEMA, "rpc_rtt_us", &[&calls("990", "100"), &calls("10", "9100"), &calls("0", "")]);
    assert!((found - 190.0).abs() < 1e-6, "{found}");
    let unknown = value(&nfscopy::SCHEMA, "rpc_rtt_us", &[&calls("", "100"), &calls("10", "9100")]);
    assert!((unknown - 4600.0).abs() < 1e-6, "{unknown}");
}

#[test]
fn amounts_of_intervals_add_up_and_settings_are_what_they_are() {
    let files = |files| [("files", files), ("threads", "4")];
    assert!((value(&nfscopy::SCHEMA, "files", &[&files("3"), &files("4")]) - 7.0).abs() < 1e-6);
    assert!((value(&nfscopy::SCHEMA, "threads", &[&files("3"), &files("4")]) - 4.0).abs() < 1e-6);
}

#[test]
fn a_setting_that_changes_in_a_run_has_no_value_there() {
    let mut log = Log::new();
    for (run, mtu) in [("1", "1500"), ("1", "9000"), ("2", "1500"), ("2", "1500")] {
        log.line(&ifstat::SCHEMA, &[("test", "rx"), ("run", run), ("span", "interval"), ("mtu", mtu)]);
    }
    let ended = log.run(&["--metric", "mtu"]).success();
    assert_eq!((ended.records()[0].count("n"), ended.records()[0].number("median")), (1, 1500.0));
    let words = "mtu changes inside 1 run, which has no value of it: ";
    assert!(ended.stderr.contains(words) && ended.stderr.contains("log.csv:2"), "{}", ended.stderr);
    let _ = log
        .run(&["--metric", "mtu", "--where", "run=1"])
        .failure(1, &["no run has one value of mtu", "log.csv:2 (--by mtu "]);
}

#[test]
fn limits_hold_for_runs_of_intervals() {
    let mut log = Log::new();
    for _ in 0..3 {
        interval(&mut log, "1", "100", "10");
    }
    let _ = log.run(&["--max", "errors>6"]).success();
    let _ = log.run(&["--max", "errors>5"]).failure(1, &["errors > 5: 6.000", "log.csv:3 (--max)"]);
}

#[test]
fn a_total_stands_for_its_intervals_and_a_killed_run_is_left_out() {
    let mut log = Log::new();
    interval(&mut log, "1", "100", "10");
    let began = ("time", "2026-01-01T00:00:00.000Z");
    log.line(&tcpsink::SCHEMA, &[began, ("label", "a"), ("test", "tcp_recv"), ("bytes_per_s", "150")]);
    interval(&mut log, "1", "7", "10");
    let ended = log.run(&[]).success();
    let row = &ended.records()[0];
    assert_eq!((row.count("n"), row.number("median"), row.count("left_out")), (1, 150.0, 1));
    assert!(ended.stderr.contains("--keep-flagged"), "{}", ended.stderr);
    assert_eq!(log.run(&["--keep-flagged"]).success().records()[0].count("n"), 2);
}

#[test]
fn a_killed_run_is_not_lost_in_the_next_total() {
    let mut log = Log::new();
    interval(&mut log, "1", "7", "10");
    for _ in 0..10 {
        log.line(&tcpsink::SCHEMA, &[("label", "a"), ("test", "tcp_recv"), ("bytes_per_s", "150"), ("bytes", "1500")]);
    }
    let row = &log.run(&[]).success().records()[0];
    assert_eq!((row.count("n"), row.count("left_out")), (10, 1));
    assert_eq!((row.text("bytes"), row.text("seconds"), row.text("flags")), ("15000", "100.000000", ""));
}

#[test]
fn a_gap_parts_two_runs_of_the_same_number() {
    let mut log = Log::new();
    interval(&mut log, "1", "100", "10");
    interval(&mut log, "1", "100", "10");
    // Ten lines of something else: a hundred seconds pass.
    for _ in 0..10 {
        log.udp("1", "0");
    }
    interval(&mut log, "1", "300", "10");
    let rows = log.run(&["--where", "test=tcp_recv"]).success().records();
    assert_eq!((rows[0].count("n"), rows[0].number("mean")), (2, 200.0));
}
