//! The lines: of both ends, as they end, in a log, and in words.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use testkit::records;
use testkit::screen::Terminal;

use super::{sink, sum, tcpsink};

#[test]
fn both_ends_report_and_intervals_add_up() {
    let (sink, port) = sink(&[]);
    let ended = tcpsink()
        .run(&["send", "127.0.0.1", "--port", &port, "--time", "3s", "--interval", "1s", "--label", "a,\"b\" c ü"])
        .success();
    assert_eq!(ended.stderr, "", "nothing to say off a terminal");
    for test in ["tcp_send", "tcp_recv"] {
        let (intervals, total) = (ended.some(test, "interval"), ended.total(test));
        assert_eq!(intervals.len(), 3, "{test}");
        assert_eq!(sum(&intervals), total.count("bytes"));
        assert_eq!(total.text("label"), "a,\"b\" c ü");
        assert_eq!(total.text("flags"), "");
        for interval in &intervals {
            assert!((0.8..1.5).contains(&interval.number("seconds")), "{interval:?}");
        }
        for column in ["rtt_us", "rtt_var_us", "cwnd_bytes", "mss_bytes", "send_buffer_bytes", "recv_buffer_bytes"] {
            assert!(total.number(column) > 0.0, "{column}");
        }
        for record in ended.records() {
            let cores = 100.0 * std::thread::available_parallelism().unwrap().get() as f64;
            assert!((0.0..=cores + 5.0).contains(&record.number("cpu_pct")), "{record:?}");
            assert!((0.0..=100.0).contains(&record.number("host_cpu_pct")), "{record:?}");
        }
    }
    let [sent, received] = ["tcp_send", "tcp_recv"].map(|test| ended.total(test).count("bytes"));
    assert_eq!(sent, received);
    let of_sink = sink.wait_for_records(4);
    let from_sink: Vec<_> = ended.records().into_iter().filter(|line| line.text("test") == "tcp_recv").collect();
    assert_eq!(of_sink, from_sink, "the sink prints the lines that the client shows");
}

#[test]
fn an_amount_is_exact_and_its_time_is_its_own() {
    let (_sink, port) = sink(&[]);
    for (args, method) in [(&[][..], "discard"), (&["--copy"], "copy")] {
        let args = [&["send", "127.0.0.1", "--port", &port, "--bytes", "1000000"], args].concat();
        let ended = tcpsink().run(&args).success();
        for test in ["tcp_send", "tcp_recv"] {
            let total = ended.total(test);
            assert_eq!(total.count("bytes"), 1_000_000);
            assert!(total.number("seconds") < 1.0, "not rounded up to a second: {total:?}");
        }
        assert_eq!(ended.total("tcp_recv").text("method"), method);
    }
}

#[test]
fn a_warm_up_is_not_counted() {
    let (_sink, port) = sink(&[]);
    let args = ["send", "127.0.0.1", "--port", &port, "--time", "500ms", "--warmup", "500ms"];
    let ended = tcpsink().run(&args).success();
    assert!(ended.took >= Duration::from_secs(1));
    for test in ["tcp_send", "tcp_recv"] {
        assert!((0.4..0.9).contains(&ended.total(test).number("seconds")), "{ended:?}");
        assert_eq!(ended.total(test).text("flags"), "", "the sink counts the bytes of the warm-up as arrived");
    }
}

#[test]
fn runs_are_numbered_and_unsettled_ones_flagged() {
    let (_sink, port) = sink(&[]);
    let run = |runs: &str, within: &[&str]| {
        let args = ["send", "127.0.0.1", "--port", &port, "--time", "100ms", "--runs", runs];
        tcpsink().run(&[&args, within].concat()).success().records()
    };
    let lines = run("3", &[]);
    let numbers: Vec<_> = lines.iter().map(|line| line.count("run")).collect();
    assert_eq!(numbers, [1, 1, 2, 2, 3, 3]);
    let lines = run("2..3", &["--within", "0.000001"]);
    let flags: Vec<_> = lines.iter().map(|line| line.has_flag("unsettled")).collect();
    assert_eq!(flags, [false, false, false, false, true, true]);
    // Whatever three rates are, their interval is narrower than ±430 %; that of two may be ±1270 %.
    let lines = run("3..4", &["--within", "1000"]);
    assert!(lines.len() == 6 && lines.iter().all(|line| line.text("flags").is_empty()), "settled after three");
}

#[test]
fn interval_lines_arrive_as_they_end() {
    let (_sink, port) = sink(&[]);
    let args = ["send", "127.0.0.1", "--port", &port, "--time", "2s", "--interval", "200ms"];
    let mut child = tcpsink().command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut header = String::new();
    let mut delays = Vec::new();
    for line in lines {
        let (line, arrived) = (line.unwrap(), SystemTime::now());
        if line.starts_with("schema,") {
            header = line;
            continue;
        }
        let record = records(&format!("{header}\n{line}\n")).remove(0);
        if record.text("span") == "interval" {
            let began = humantime::parse_rfc3339(record.text("time")).unwrap();
            let ended = began + Duration::from_secs_f64(record.number("seconds"));
            delays.push(arrived.duration_since(ended).unwrap_or_default());
        }
    }
    assert!(child.wait().unwrap().success());
    assert!(delays.len() >= 18, "{delays:?}");
    // Before the next one has ended, and not all together at the end. One line in ten may meet a busy machine.
    delays.sort();
    assert!(delays[delays.len() * 9 / 10 - 1] < Duration::from_millis(200), "{delays:?}");
}

#[test]
fn a_log_has_one_header_per_schema() {
    let (_sink, port) = sink(&[]);
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log.csv");
    let send = |header: &str| {
        let args = ["send", "127.0.0.1", "--port", &port, "--bytes", "1000", "--header", header];
        let append = OpenOptions::new().append(true).create(true).open(&log).unwrap();
        let output = tcpsink().command(&args).env("LC_ALL", "de_DE.UTF-8").stdout(append).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let headers = || {
        let text = std::fs::read_to_string(&log).unwrap();
        text.lines().filter(|line| line.starts_with("schema,")).count()
    };
    for _ in 0..2 {
        assert_eq!(send("auto"), "");
    }
    assert_eq!(headers(), 1);
    send("always");
    assert_eq!(headers(), 2);
    send("never");
    assert_eq!(headers(), 2);
    let mut file = OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(b"schema,time,other\nother/1,2026-01-01T00:00:00.000Z,x").unwrap();
    assert!(send("auto").contains("runstat"), "a mixed file is worth a word");
    assert_eq!(headers(), 4, "the other tool's header, and ours again");
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("other/1,2026-01-01T00:00:00.000Z,x\nschema,"), "a cut line is ended first");
    assert_eq!(records(&text[text.rfind("schema,").unwrap()..]).len(), 2);
}

#[test]
fn quiet_and_summary_are_heeded() {
    let (_sink, port) = sink(&[]);
    let send =
        |word: &str| tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "10M", word]).success().stderr;
    assert_eq!(send("--quiet"), "");
    let summary = send("--summary");
    let both = ["both", "127.0.0.1", "--port", &port, "--time", "300ms", "--probe", "--summary"];
    let both = tcpsink().run(&both).success().stderr;
    for word in [" to 127.0.0.1", " from 127.0.0.1", "round trip idle ", ", loaded ", "(99 %: "] {
        assert!(both.contains(word), "{word}: {both}");
    }
    assert!(summary.contains("B/s (") && summary.contains("bit/s)") && summary.lines().count() == 1, "{summary}");
}

#[test]
fn a_slow_terminal_does_not_slow_the_measurement() {
    let (_sink, port) = sink(&[]);
    let slow = Terminal { width: 80, bytes_per_s: Some(1000) };
    let args = ["send", "127.0.0.1", "--port", &port, "--time", "2s", "--interval", "10ms"];
    let shown = slow.run(&tcpsink(), &args);
    let text = shown.rows.join("\n");
    assert!(shown.status.success(), "{text}");
    assert_eq!(text.matches("slower than the intervals").count(), 1, "{text}");
    let (_, totals) = text.split_once("----").unwrap();
    let [sent, received] = ["tcp_send", "tcp_recv"].map(|test| totals.lines().find(|row| row.contains(test)).unwrap());
    for total in [sent, received] {
        let (_, end) = total.split_whitespace().next().unwrap().split_once('-').unwrap();
        assert!(end.parse::<f64>().unwrap() < 3.0, "two seconds were asked for: {total}");
    }
    let moved = |total: &str| total.split_whitespace().nth(2).unwrap().to_owned();
    assert_eq!(moved(sent), moved(received), "{text}");
}
