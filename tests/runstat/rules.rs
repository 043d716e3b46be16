//! What a comparison says about itself, and the limits that raise an alarm.

use common::schema::tcpsink;

use super::log::Log;
use super::runstat;

#[test]
fn a_clear_comparison_leaves_room_for_one_of_few_runs() {
    let mut log = Log::new();
    for (target, label, rate, runs) in [("x", "a", "1", 9), ("x", "b", "2", 9), ("y", "a", "1", 4), ("y", "b", "2", 4)]
    {
        for _ in 0..runs {
            log.line(
                &tcpsink::SCHEMA,
                &[("label", label), ("test", "tcp_recv"), ("target", target), ("bytes_per_s", rate)],
            );
        }
    }
    let ended = log.run(&["--baseline", "a"]).success();
    let words: Vec<_> =
        ended.records().iter().map(|row| row.text("verdict").to_owned()).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, ["better", "better"], "{ended:?}");
}

#[test]
fn many_comparisons_at_once_are_adjusted() {
    let mut log = Log::new();
    for target in ["x", "y", "z"] {
        for (label, rate) in [("a", "1"), ("b", "2")] {
            for _ in 0..4 {
                let cells = [("label", label), ("test", "tcp_recv"), ("target", target), ("bytes_per_s", rate)];
                log.line(&tcpsink::SCHEMA, &cells);
            }
        }
    }
    let ended = log.run(&["--baseline", "a"]).success();
    let compared: Vec<_> = ended.records().into_iter().filter(|row| !row.text("p").is_empty()).collect();
    assert_eq!(compared.len(), 3);
    for row in &compared {
        assert!((row.number("p_holm") - 6.0 / 70.0).abs() < 1e-6, "{row:?}");
        assert_eq!(row.text("verdict"), "too few runs");
    }
    assert!(ended.stderr.contains("at least 5 a side among 3 at once"), "{}", ended.stderr);
    let mean = ended.records().into_iter().find(|row| row.text("row") == "geomean").unwrap();
    assert!((mean.number("ratio") - 2.0).abs() < 1e-6 && mean.count("n") == 3);
}

#[test]
fn runs_in_blocks_are_told_from_runs_in_turns() {
    let mut blocks = Log::new();
    blocks.rates("a", &["1"; 4]).rates("b", &["2"; 4]);
    assert!(blocks.run(&["--baseline", "a"]).success().stderr.contains("interleave"));
    let mut turns = Log::new();
    for _ in 0..4 {
        turns.rates("a", &["1"]).rates("b", &["2"]);
    }
    assert_eq!(turns.run(&["--baseline", "a"]).success().stderr, "");
}

#[test]
fn the_threshold_decides_what_counts_as_a_change() {
    let mut log = Log::new();
    log.rates("a", &["100", "100.1", "99.9", "100.2", "100"]).rates("b", &["97", "95.5", "98.2", "96.9", "96.2"]);
    let word = |threshold: &str| {
        log.run(&["--baseline", "a", "--threshold", threshold]).success().records()[1].text("verdict").to_owned()
    };
    assert_eq!(word("5%"), "same");
    assert_eq!(word("1%"), "worse");
    assert_eq!(word("3.5%"), "undecided");
    let _ = log.run(&["--baseline", "a", "--fail-on", "worse"]).success();
    let failed = log.run(&["--baseline", "a", "--threshold", "1", "--fail-on", "worse", "--quiet"]);
    let failed = failed.failure(1, &["bytes_per_s", "worse (9", "--fail-on"]);
    assert_eq!(failed.records().len(), 2, "the lines come all the same");
    let undecided = ["--baseline", "a", "--threshold", "3.5", "--quiet", "--fail-on"];
    let _ = log.run(&[&undecided[..], &["worse"]].concat()).success();
    let _ = log.run(&[&undecided[..], &["undecided"]].concat()).failure(1, &["undecided"]);
}

#[test]
fn limits_raise_an_alarm_whatever_the_flags() {
    let mut log = Log::new();
    log.metric("a", "errors", &["0", "5"]);
    log.line(&tcpsink::SCHEMA, &[("test", "tcp_recv"), ("errors", "9"), ("flags", "partial"), ("bytes_per_s", "1")]);
    let ended = log.run(&["--max", "errors>4", "--metric", "errors"]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("errors > 4: 5.000 in tcpsink tcp_recv nas a at "), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("log.csv:2 (--max)") && ended.stderr.contains("log.csv:3 (--max)"),
        "{}",
        ended.stderr
    );
    let _ = log.run(&["--max", "errors>9", "--metric", "errors"]).success();
}

#[test]
fn a_file_can_be_the_baseline_and_a_column_the_label() {
    let (mut before, mut after) = (Log::new(), Log::new());
    before.rates("old kernel", &["1", "1.1", "1.2", "1.1"]);
    after.rates("new kernel", &["2", "2.1", "2.2", "2.3"]);
    let (before, after) = (before.save("before.csv"), after.save("after.csv"));
    let rows = runstat().run(&["--baseline-file", &before, &after]).success().records();
    assert_eq!((rows.len(), rows[1].text("verdict"), rows[1].text("baseline")), (2, "better", before.as_str()));
    let mut log = Log::new();
    for (method, rate) in [("write", "1"), ("sendfile", "2")] {
        for _ in 0..4 {
            log.line(&tcpsink::SCHEMA, &[("test", "tcp_send"), ("method", method), ("bytes_per_s", rate)]);
        }
    }
    let rows = log.run(&["--along", "method", "--baseline", "write"]).success().records();
    assert_eq!((rows[1].text("by"), rows[1].text("verdict")), ("method=sendfile", "better"));
}

#[test]
fn a_baseline_that_is_not_there_is_named_with_those_that_are() {
    let mut log = Log::new();
    log.rates("a", &["1"]).rates("b", &["2"]);
    let _ = log.run(&["--baseline", "c"]).failure(1, &["'c'", "'a', 'b'"]);
    let mut alone = Log::new();
    alone.rates("a", &["1"]);
    let _ = alone.run(&["--baseline", "a"]).failure(1, &["nothing but the baseline"]);
}

#[test]
fn amounts_of_runs_that_are_not_alike_are_no_effect_by_themselves() {
    let sides = |there: [(&str, &str); 3], here: [(&str, &str); 3]| {
        let mut log = Log::new();
        for _ in 0..6 {
            for (label, cells) in [("a", there), ("b", here)] {
                log.line(&tcpsink::SCHEMA, &[&[("label", label), ("test", "tcp_recv")], &cells[..]].concat());
            }
        }
        log
    };
    let warns = |log: &Log, metric: &str| {
        log.run(&["--baseline", "a", "--metric", metric]).stderr.contains("not alike in work, as with")
    };
    let run = |seconds, bytes, errors| [("seconds", seconds), ("bytes", bytes), ("errors", errors)];
    let longer = sides(run("10", "1000", "2"), run("60", "6000", "12"));
    assert!(warns(&longer, "errors") && warns(&longer, "seconds") && !warns(&longer, "bytes_per_s"));
    let slower = sides(run("10", "1000", "2"), run("60", "1000", "12"));
    assert!(!warns(&slower, "errors") && !warns(&slower, "seconds"), "the same file");
    let faster = sides(run("10", "1000", "2"), run("10", "6000", "12"));
    assert!(!warns(&faster, "errors"), "as long");
}
