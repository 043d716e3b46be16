//! Intervals, pauses, and ends.

use std::io::Read;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::Signal;
use testkit::{Record, records};

use super::{ifstat, some, space, total};

#[test]
fn an_open_end_is_no_failure_and_a_cut_one_is_death_by_signal() {
    let running = ifstat().start(&["lo", "--interval", "50ms"]);
    running.wait_for_records(4);
    running.signal(Signal::SIGINT);
    let ended = running.end().success();
    let records = ended.records();
    let seconds = |records: &[&Record]| records.iter().map(|record| record.number("seconds")).sum::<f64>();
    let intervals = some(&records, "lo", "rx", "interval");
    let difference = seconds(&intervals) - total(&records, "lo", "rx").number("seconds");
    assert!(difference.abs() < 1e-4, "intervals add up to the total: {records:?}");
    let running = ifstat().start(&["lo", "--interval", "50ms", "--time", "50s"]);
    running.wait_for_records(2);
    running.signal(Signal::SIGTERM);
    let ended = running.end().killed_by(Signal::SIGTERM);
    total(&ended.records(), "lo", "tx");
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let script = format!("{} lo --interval 10ms | head -n 1; echo ${{PIPESTATUS[0]}}", ifstat().path());
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("schema,") && text.ends_with("\n0\n"), "{text}");
    assert!(output.stderr.is_empty());
}

#[test]
fn short_intervals_are_each_measured() {
    let ended = ifstat().run(&["lo", "--interval", "10ms", "--count", "100"]).success();
    let records = ended.records();
    for test in ["rx", "tx"] {
        let intervals = some(&records, "lo", test, "interval");
        assert_eq!(intervals.len(), 100);
        let seconds: f64 = intervals.iter().map(|record| record.number("seconds")).sum();
        assert!((seconds - total(&records, "lo", test).number("seconds")).abs() < 1e-3);
        assert!(seconds > 0.99, "a hundred deadlines are a second: {seconds}");
        assert!(intervals.iter().all(|record| record.number("seconds") > 0.0));
    }
}

#[test]
fn a_pause_is_one_long_line_and_no_burst() {
    let running = ifstat().start(&["lo", "--interval", "100ms"]);
    running.wait_for_records(4);
    running.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(1));
    running.signal(Signal::SIGCONT);
    let before = running.records().len();
    running.wait_for_records(before + 8);
    let records = space::stop(running).records();
    let intervals = some(&records, "lo", "rx", "interval");
    assert!(intervals.iter().any(|record| record.number("seconds") > 0.8), "one long line: {intervals:?}");
    // Each line but the last has at least one deadline of its own behind it.
    let deadlines = total(&records, "lo", "rx").number("seconds") / 0.1;
    assert!(intervals.len() as f64 <= deadlines - 8.0 + 2.0, "{} lines, {deadlines} deadlines", intervals.len());
}

#[test]
fn a_reader_that_stops_holds_nothing_up_and_gets_whole_lines() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    fcntl(&writer, FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
    let running = ifstat().start_into(&["lo", "--interval", "10ms"], writer);
    // It is full after a dozen lines.
    std::thread::sleep(Duration::from_millis(1500));
    let signalled = Instant::now();
    running.signal(Signal::SIGINT);
    let ended = running.end();
    assert!(signalled.elapsed() < Duration::from_secs(10), "{ended:?}");
    assert!(ended.status.code() == Some(1) && ended.stderr.lines().count() == 1, "{ended:?}");
    assert!(ended.stderr.contains("cannot write to stdout"), "{ended:?}");
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(text.ends_with('\n') && records(&text).len() > 2, "{text}");
}
