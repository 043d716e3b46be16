//! What may stand in a log, and what becomes of it.

use std::fmt::Write as _;
use std::io::Write;
use std::process::Stdio;

use common::schema::{ALL, diskread, ifstat, nfscopy, tcpsink, udpblast};
use nix::sys::signal::Signal;

use super::log::Log;
use super::runstat;

#[test]
fn nothing_to_calculate_with_is_a_failure_that_says_so() {
    let _ = Log::new().run(&[]).failure(1, &["log.csv", "no lines of measurements"]);
    let mut log = Log::new();
    let _ = log.header(&tcpsink::SCHEMA).run(&[]).failure(1, &["no lines of measurements"]);
    let mut log = Log::new();
    log.rates("a", &["1"]);
    let _ = log.run(&["--metric", "rtt_us"]).failure(1, &["no line has a number in rtt_us"]);
    for args in [["--metric", "lost_pct"], ["--by", "lost_pct"], ["--max", "lost_pct>1"], ["--where", "lost_pct=1"]] {
        let _ = log.run(&args).failure(1, &["no line has a column lost_pct"]);
    }
    let _ = log.run(&["--metric", "label"]).failure(1, &["label"]);
    let _ = log.run(&["--where", "test=none"]).failure(1, &["--where"]);
    let _ = runstat().run(&["/nonexistent"]).failure(1, &["cannot open /nonexistent", "No such file"]);
    let _ = runstat().run(&["/"]).failure(1, &["cannot read /", "directory"]);
}

#[test]
fn garbage_is_counted_and_named_and_the_rest_calculated() {
    let mut log = Log::new();
    log.text("notes of mine\n").rates("a", &["1", "2"]);
    log.text("\u{0}\u{1}\u{2}\n").text(&("tcpsink/1,".to_owned() + &"x".repeat(10_000_000) + "\n"));
    log.rates("a", &["3"]).text("tcpsink/1,2026-01-01T00:00:00.000Z,here,a,tcp_r");
    let ended = log.run(&[]).success();
    assert_eq!((ended.records()[0].count("n"), ended.records()[0].number("mean")), (3, 2.0));
    for words in ["not a line of these tools: 1, 4", "longer than 64 KiB: 5", "cut short: fewer cells than columns: 7"]
    {
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    let ended = log.run(&["--quiet"]).success();
    assert_eq!(ended.stderr, "");
}

#[test]
fn tools_may_share_a_log_with_and_without_headers() {
    let mut log = Log::new();
    log.header(&tcpsink::SCHEMA).rates("a", &["1"]).udp("5", "1").header(&diskread::SCHEMA).disk("7");
    log.header(&tcpsink::SCHEMA).rates("a", &["3"]).header(&udpblast::SCHEMA).udp("6", "0").disk("9");
    let ended = log.run(&[]).success();
    let found: Vec<_> = ended.records().iter().map(|row| (row.text("of").to_owned(), row.number("mean"))).collect();
    let of = |schema: &common::schema::Schema, mean| (schema.tag.to_owned(), mean);
    assert_eq!(found, [of(&tcpsink::SCHEMA, 2.0), of(&udpblast::SCHEMA, 5.5), of(&diskread::SCHEMA, 8.0)]);
}

#[test]
fn facts_and_lines_of_its_own_are_no_runs() {
    let mut log = Log::new();
    log.rates("a", &["1", "2"]);
    log.text("ifstat-facts/1,2026-01-01T00:00:00.000Z,here,a,eth0,mtu,1500,B\n");
    let statistics = log.run(&["--header", "never"]).success().stdout;
    log.text(&statistics);
    let ended = log.run(&[]).success();
    assert_eq!((ended.records().len(), ended.records()[0].count("n"), ended.stderr.as_str()), (1, 2, ""));
}

#[test]
fn every_line_of_a_measurement_is_understood_without_a_header() {
    for schema in ALL.iter().filter(|schema| schema.shared.len() == 17 && !schema.tag.starts_with("runstat")) {
        let mut log = Log::new();
        log.line(schema, &[("test", "x"), ("bytes_per_s", "5")]);
        let rows = log.run(&[]).success().records();
        assert_eq!((rows[0].text("of"), rows[0].number("median")), (schema.tag, 5.0));
    }
}

#[test]
fn objects_are_read_as_the_lines_that_they_were() {
    let mut log = Log::new();
    let schema = ALL[0];
    let mut objects = String::new();
    for rate in ["117000000.1", "90000000.5", "1.0"] {
        let cells = [("test", "tcp_send"), ("span", "total"), ("label", "a,b"), ("bytes_per_s", rate)];
        log.line(schema, &cells);
        let cells = format!(r#""test":"tcp_send","span":"total","label":"a,b","bytes_per_s":{rate}"#);
        writeln!(objects, r#"{{"schema":"{}",{cells}}}"#, schema.tag).unwrap();
    }
    let mut as_objects = Log::new();
    as_objects.text(&objects);
    let [lines, objects] =
        [&log, &as_objects].map(|log| log.run(&["--by", "test,label", "--format", "json"]).success().stdout);
    let figures = |text: &str| text.split_once("\"row\":").unwrap().1.to_owned();
    assert_eq!(figures(&lines), figures(&objects));
    let [lines, objects] = [log, as_objects].map(|log| log.run(&["--by", "test,label"]).success().records());
    let figures = |rows: &[testkit::Record]| {
        ["n", "median", "mean", "min", "max"].map(|name| rows[0].text(name).to_owned()).join(" ")
    };
    assert_eq!(figures(&lines), figures(&objects));
    assert!(figures(&lines).starts_with("3 "), "{lines:?}");
}

#[test]
fn a_column_may_be_in_the_second_file_alone() {
    let (mut tcp, mut udp) = (Log::new(), Log::new());
    let tcp = tcp.rates("a", &["1"]).save("tcp.csv");
    let udp = udp.udp("1", "7").save("udp.csv");
    let rows = runstat().run(&[&tcp, &udp, "--metric", "lost"]).success().records();
    assert_eq!((rows.len(), rows[0].number("median")), (1, 7.0));
}

#[test]
fn doubtful_runs_are_left_out_unless_doubt_is_wanted() {
    let mut log = Log::new();
    log.disk("1");
    for (flags, method) in
        [("cached", "buffered"), ("short cached", "buffered"), ("unsettled", "buffered"), ("cached", "cached")]
    {
        let cells =
            [("test", "seq_read"), ("target", "/dev/sda"), ("bytes_per_s", "1"), ("host", "nas"), ("pattern", "seq")];
        log.line(&diskread::SCHEMA, &[&cells[..], &[("flags", flags), ("method", method)]].concat());
    }
    let ended = log.run(&[]).success();
    assert_eq!((ended.records()[0].count("n"), ended.records()[0].count("left_out")), (3, 2), "{ended:?}");
    assert!(ended.stderr.contains("2 runs of 1 groups are left out for their flags"), "{}", ended.stderr);
    assert_eq!(log.run(&["--keep-flagged"]).success().records()[0].count("n"), 5);
    let mut doubtful = Log::new();
    doubtful.line(&tcpsink::SCHEMA, &[("flags", "partial"), ("bytes_per_s", "1")]);
    let _ = doubtful.run(&[]).failure(1, &["all 1 runs", "--keep-flagged"]);
}

#[test]
fn settings_that_differ_inside_a_group_are_named_once() {
    let mut log = Log::new();
    for streams in ["1", "2", "4"] {
        log.line(
            &tcpsink::SCHEMA,
            &[("test", "tcp_recv"), ("streams", streams), ("bytes_per_s", "1"), ("host", streams)],
        );
    }
    let ended = log.run(&[]).success();
    assert_eq!(ended.stderr.matches("vary inside a group").count(), 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("host and streams vary")
            && ended.stderr.contains("--by schema,test,target,label,host,streams"),
        "{}",
        ended.stderr
    );
    let apart = log.run(&["--by", "schema,test,target,label,host,streams"]).success();
    assert_eq!((apart.records().len(), apart.stderr.as_str()), (3, ""));
    assert_eq!(apart.records()[1].text("by"), "streams=2");
}

#[test]
fn every_setting_of_every_tool_is_watched() {
    for (schema, setting, values) in [
        (&diskread::SCHEMA, "scheduler", ["none", "mq-deadline"]),
        (&diskread::SCHEMA, "read_ahead_kb", ["128", "4096"]),
        (&nfscopy::SCHEMA, "mount_mode", ["hard", "soft"]),
        (&nfscopy::SCHEMA, "fs_type", ["nfs", "nfs4"]),
        (&udpblast::SCHEMA, "mtu_bytes", ["1500", "9000"]),
        (&tcpsink::SCHEMA, "mss_bytes", ["1448", "8948"]),
        (&tcpsink::SCHEMA, "pacing", ["", "sender"]),
    ] {
        for span in ["total", "interval"] {
            let mut log = Log::new();
            for value in values {
                log.line(schema, &[("test", "x"), ("span", span), ("bytes_per_s", "1"), (setting, value)]);
            }
            let ended = log.run(&[]).success();
            let words = format!("{setting} varies inside a group, so that its runs are not of one thing: --by ");
            assert!(ended.stderr.contains(&words), "{span}: {}", ended.stderr);
            let apart = log.run(&["--by", &format!("schema,test,{setting}")]).success();
            assert_eq!((apart.records().len(), apart.stderr.as_str()), (2, ""), "{setting}");
        }
    }
}

#[test]
fn what_only_numbers_the_times_of_measuring_is_no_setting() {
    let mut log = Log::new();
    for number in ["3", "7"] {
        log.line(&ifstat::SCHEMA, &[("test", "rx"), ("run", number), ("ifindex", number), ("bytes_per_s", "1")]);
    }
    assert_eq!(log.run(&[]).success().stderr, "");
}

#[test]
fn stdin_is_read_when_no_file_is_named() {
    let mut log = Log::new();
    let file = log.rates("a", &["100", "101", "102"]).save("log.csv");
    for args in ["", "-"] {
        let script = format!("{} {args} <{file} | head -n 1 | cut -d , -f 1", runstat().path());
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!((output.stdout, output.stderr), (b"schema\n".to_vec(), Vec::new()), "{args}");
    }
}

#[test]
fn a_signal_ends_the_reading_and_not_the_figures() {
    let mut child =
        runstat().command(&[]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = Log::new();
    let text = std::fs::read(log.rates("a", &vec!["1"; 3000]).save("log.csv")).unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: when all of it is written, the tool is reading.
    assert!(text.len() > 300_000);
    stdin.write_all(&text).unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(15));
    let rows = testkit::records(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(rows[0].count("n"), 3000);
}
