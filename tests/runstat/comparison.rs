//! Two sides: the words, the figures, and what is said about both.

use common::schema::tcpsink;
use testkit::screen::Terminal;
use testkit::{Record, records};

use super::log::Log;
use super::{fixture, runstat};

/// The only comparison of a log with sides `a` and `b`.
fn compare(a: &[&str], b: &[&str]) -> Record {
    let mut log = Log::new();
    log.rates("a", a).rates("b", b);
    let ended = log.run(&["--baseline", "a"]).success();
    let mut compared: Vec<_> = ended.records().into_iter().filter(|row| !row.text("verdict").is_empty()).collect();
    assert_eq!(compared.len(), 1, "{ended:?}");
    assert!(!ended.stdout.contains("NaN") && !ended.stdout.contains("inf"), "{ended:?}");
    compared.remove(0)
}

fn verdict(a: &[&str], b: &[&str]) -> String {
    compare(a, b).text("verdict").to_owned()
}

#[test]
fn report_c_has_its_means_and_ratios_and_no_p_value() {
    let file = fixture("report-c.csv");
    let rows = runstat().run(&[&file, "--baseline", "10 Mbit/s half duplex"]).success().records();
    let mean = |test: &str, label: &str| {
        let is_it = |row: &&Record| row.text("test") == test && row.text("label") == label;
        rows.iter().find(is_it).unwrap().clone()
    };
    for (test, label, kilobytes) in [
        ("tcp_recv", "10 Mbit/s half duplex", 1098.15),
        ("tcp_recv", "100 Mbit/s full duplex", 2441.48),
        ("tcp_send", "10 Mbit/s half duplex", 1009.23),
        ("tcp_send", "100 Mbit/s full duplex", 3481.80),
    ] {
        let found = mean(test, label).number("mean") / 1000.0;
        assert!((found - kilobytes).abs() < 0.006, "{test} {label}: {found}");
    }
    for (test, percent) in [("tcp_recv", 222.3), ("tcp_send", 345.0)] {
        let row = mean(test, "100 Mbit/s full duplex");
        assert!((100.0 * row.number("mean_ratio") - percent).abs() < 0.05, "{row:?}");
        assert_eq!((row.text("verdict"), row.text("p"), row.text("ratio_low")), ("too few runs", "", ""));
    }
    let table =
        runstat().run(&[&file, "--format", "table", "--unit", "kB/s", "--baseline", "10 Mbit/s half duplex"]).success();
    assert!(table.stdout.contains("222.3 %") && table.stdout.contains("345.0 %"), "{}", table.stdout);
    assert!(table.stderr.contains("the spread is large") && table.stderr.contains("too few runs"), "{}", table.stderr);
}

#[test]
fn sides_that_do_not_touch_are_different() {
    let row = compare(&["78.8"; 5], &["115", "114", "115", "115", "115"]);
    assert_eq!((row.text("verdict"), row.text("p_method")), ("better", "exact"));
    assert!((row.number("p") - 2.0 / 252.0).abs() < 1e-6, "{row:?}");
    assert!((row.number("ratio") - 115.0 / 78.8).abs() < 1e-6, "{row:?}");
    assert!((row.number("ratio_low") - 114.0 / 78.8).abs() < 1e-6, "{row:?}");
    assert_eq!(verdict(&["115", "114", "115", "115", "115"], &["78.8"; 5]), "worse");
}

#[test]
fn awkward_sides_get_the_right_word() {
    assert_eq!(verdict(&["1"; 4], &["2"; 4]), "better");
    assert_eq!(compare(&["1"; 4], &["2"; 4]).text("ratio"), "2");
    assert_eq!(verdict(&["5", "6", "7", "8", "9"], &["5", "6", "7", "8", "9"]), "undecided");
    assert_eq!(verdict(&["5"; 5], &["5"; 5]), "same");
    assert_eq!(verdict(&["100", "101", "100", "99", "100"], &["101", "100", "100", "101", "100"]), "same");
    assert_eq!(verdict(&["1"], &["2"]), "too few runs");
    assert_eq!(verdict(&["1"; 9], &["2"]), "too few runs");
    assert_eq!(verdict(&["1"; 3], &["2"; 3]), "too few runs");
}

#[test]
fn a_baseline_of_zero_is_compared_by_difference() {
    let row = compare(&["0"; 5], &["5", "6", "5", "7", "5"]);
    assert_eq!((row.text("verdict"), row.text("ratio"), row.text("mean_ratio")), ("better", "", ""));
    assert_eq!(row.text("difference"), "5");
    assert_eq!(verdict(&["0"; 5], &["0"; 5]), "same");
}

#[test]
fn cells_that_hold_no_number_are_unknown() {
    let mut log = Log::new();
    log.rates("a", &["1", "NaN", "", "1", "inf", "1", "1"]).rates("b", &["2", "2", "2", "2", "-"]);
    let ended = log.run(&["--baseline", "a"]).success();
    let rows = ended.records();
    assert_eq!((rows[0].count("n"), rows[1].count("n"), rows[1].text("verdict")), (4, 4, "better"));
    assert!(
        ended.stderr.contains("2 of 2 groups have runs without a value, as 3 of 7 in tcpsink tcp_recv nas a"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("3 cells hold no finite number") && ended.stderr.contains("log.csv:2"), "{ended:?}");
}

#[test]
fn a_group_on_one_side_only_is_listed() {
    let mut log = Log::new();
    log.rates("a", &["1"; 4]).rates("b", &["2"; 4]);
    for (label, target) in [("a", "old"), ("b", "new")] {
        let cells = [("label", label), ("test", "tcp_recv"), ("target", target), ("bytes_per_s", "3")];
        log.line(&tcpsink::SCHEMA, &cells);
    }
    let ended = log.run(&["--baseline", "a"]).success();
    let words: Vec<_> =
        ended.records().iter().map(|row| (row.text("target").to_owned(), row.text("verdict").to_owned())).collect();
    let expected = [("nas", ""), ("nas", "better"), ("old", "only in baseline"), ("new", "no baseline")];
    assert_eq!(words, expected.map(|(target, verdict)| (target.to_owned(), verdict.to_owned())));
    let table = log.run(&["--baseline", "a", "--format", "table"]).success().stdout;
    assert!(table.contains("only in baseline") && table.contains("no baseline"), "{table}");
}

#[test]
fn two_files_with_the_same_groups_are_said_to_be_comparable() {
    let (mut old, mut new) = (Log::new(), Log::new());
    let old = old.rates("a", &["100", "101"]).save("old.csv");
    let mut other = Log::new();
    let other = other.rates("b", &["1", "2"]).save("other.csv");
    let new = new.rates("a", &["102", "103"]).save("new.csv");
    let hint = |args: &[&str]| Terminal::of_width(200).run(&runstat(), args).text().contains("--baseline-file");
    assert!(hint(&[&old, &new]));
    for args in [&[&old][..], &[&old, &other], &[&old, &new, &other]] {
        assert!(!hint(&args.iter().map(|file| file.as_str()).collect::<Vec<_>>()), "{args:?}");
    }
    assert!(!hint(&[&old, &new, "--by", "file"]) && !hint(&["--baseline-file", &old, &new]));
    assert_eq!(runstat().run(&[&old, &new]).success().stderr, "", "cron mails what is said");
}

#[test]
fn pings_are_about_their_latency_and_the_answering_end_about_how_many() {
    let mut log = Log::new();
    log.rates("a", &["5", "5"]);
    for (label, median) in [("a", "60"), ("a", "61"), ("b", "30")] {
        let rates = [("label", label), ("bytes_per_s", "38000"), ("ops_per_s", "19000")];
        log.line(&tcpsink::SCHEMA, &[&rates[..], &[("test", "tcp_pong")]].concat());
        let latency = [("test", "tcp_ping"), ("p50_us", median), ("p99_us", "90")];
        log.line(&tcpsink::SCHEMA, &[&rates[..], &latency].concat());
    }
    let about = |args: &[&str]| {
        let rows = log.run(args).success().records();
        let words = |row: &Record| format!("{} {}", row.text("test"), row.text("metric")).trim().to_owned();
        rows.iter().filter(|row| row.text("label") == "a").map(words).collect::<Vec<_>>()
    };
    let four = ["tcp_recv bytes_per_s", "tcp_pong ops_per_s", "tcp_ping p50_us", "tcp_ping p99_us"];
    assert_eq!(about(&[]), four);
    // A second test of the same runs would make a difference harder to tell from chance.
    assert_eq!(about(&["--baseline", "a"]), four[..3]);
    assert_eq!(about(&["--by", "label"]), ["bytes_per_s"], "what is mixed is compared by what all have");
    assert_eq!(about(&["--by", "label", "--where", "test=tcp_ping", "--metric", "seconds"]), ["seconds"]);
}

#[test]
fn throughput_up_and_latency_down_are_both_better() {
    let mut log = Log::new();
    for (label, rate, latency) in [("a", 100, 900), ("b", 150, 400)] {
        for index in 0..5 {
            let (rate, latency) = ((rate + index).to_string(), (latency + index).to_string());
            let cells = [("label", label), ("test", "tcp_ping"), ("bytes_per_s", &rate), ("p99_us", &latency)];
            log.line(&tcpsink::SCHEMA, &cells);
        }
    }
    let ended = log.run(&["--baseline", "a", "--metric", "bytes_per_s,p99_us"]).success();
    let words: Vec<_> =
        ended.records().iter().map(|row| (row.text("metric").to_owned(), row.text("verdict").to_owned())).collect();
    let words: Vec<_> = words.iter().filter(|(_, verdict)| !verdict.is_empty()).collect();
    assert_eq!(words.len(), 2);
    assert!(words.iter().all(|(_, verdict)| verdict == "better"), "{words:?}");
}

#[test]
fn latency_stands_in_where_nothing_has_a_rate() {
    let mut log = Log::new();
    log.metric("a", "p50_us", &["900"; 5]).metric("b", "p50_us", &["400"; 5]);
    let rows = log.run(&["--baseline", "a"]).success().records();
    assert_eq!((rows[1].text("metric"), rows[1].text("unit"), rows[1].text("verdict")), ("p50_us", "us", "better"));
}

#[test]
fn a_column_without_a_better_end_is_higher_or_lower() {
    let mut log = Log::new();
    log.metric("a", "cwnd_bytes", &["100"; 4]).metric("b", "cwnd_bytes", &["200"; 4]).metric(
        "c",
        "cwnd_bytes",
        &["50"; 4],
    );
    let rows = log.run(&["--baseline", "a", "--metric", "cwnd_bytes", "--quiet"]).success().records();
    let words: Vec<_> = rows[..3].iter().map(|row| (row.text("better"), row.text("verdict"))).collect();
    // Two comparisons of four runs a side: p is 2 x 0.029 for either, and no finding.
    assert_eq!(words, [("", ""), ("", "too few runs"), ("", "too few runs")]);
    log.metric("a", "cwnd_bytes", &["100"; 2]).metric("b", "cwnd_bytes", &["200"; 2]).metric(
        "c",
        "cwnd_bytes",
        &["50"; 2],
    );
    let rows = log.run(&["--baseline", "a", "--metric", "cwnd_bytes", "--quiet"]).success().records();
    assert_eq!((rows[1].text("verdict"), rows[2].text("verdict")), ("higher", "lower"));
}

#[test]
fn hundreds_of_runs_a_side_are_approximated() {
    let many = |from: u32| -> Vec<String> { (0..300).map(|index| (from + index * 7 % 100).to_string()).collect() };
    let (a, b) = (many(1000), many(1100));
    let mut log = Log::new();
    for (label, values) in [("a", &a), ("b", &b)] {
        log.rates(label, &values.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let rows = records(&log.run(&["--baseline", "a"]).success().stdout);
    assert_eq!((rows[1].text("p_method"), rows[1].text("verdict")), ("normal", "better"));
    assert!((rows[1].number("ratio") - 1.095).abs() < 0.005, "{rows:?}");
}

#[test]
fn numbers_near_the_largest_make_no_infinity() {
    let large = ["1e308", "1.7e308", "1.1e308", "1.2e308", "1.3e308", "1.4e308"];
    let apart = ["-1.7e308", "1.7e308", "0", "-1e308", "1e308", "3"];
    let mut log = Log::new();
    log.rates("a", &large).rates("b", &["1e-308"; 6]).rates("c", &apart);
    for args in
        [&["--baseline", "a"][..], &["--baseline", "a", "--format", "table"], &["--baseline", "c", "--format", "table"]]
    {
        let ended = log.run(args).success();
        for wrong in ["NaN", "inf"] {
            assert!(!ended.stdout.contains(wrong) && !ended.stderr.contains(wrong), "{args:?}: {ended:?}");
        }
    }
}
