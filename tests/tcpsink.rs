//! `tcpsink` as a shell uses it. Nothing here asserts a speed; shaped links have limits, not speeds.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER, RECEIVER_V6};
use testkit::{Record, Running, Tool, contract, eventually, has_program, is_root, records};

#[path = "tcpsink/files.rs"]
mod files;
#[path = "tcpsink/public.rs"]
mod public;
#[path = "tcpsink/verbs.rs"]
mod verbs;

fn tcpsink() -> Tool {
    Tool::new(env!("CARGO_BIN_EXE_tcpsink"))
}

/// A sink on a free port of loopback.
fn sink(args: &[&str]) -> (Running, String) {
    let running = tcpsink().start(&[&["listen", "--port", "0", "--bind", "127.0.0.1"], args].concat());
    let port = running.port();
    (running, port)
}

fn connect(port: &str) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Sends `payload` as a client that knows nothing of tcpsink would, and returns what it read back.
fn plain_client(port: &str, payload: &[u8]) -> String {
    let mut stream = connect(port);
    stream.write_all(payload).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn sum(records: &[Record]) -> u64 {
    records.iter().map(|record| record.count("bytes")).sum()
}

fn mbit_per_s(record: &Record) -> f64 {
    record.number("bytes_per_s") * 8.0 / 1e6
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &tcpsink(),
        "tcpsink",
        &[
            (&["send", "h", "--time", "0"], "--time"),
            (&["send", "h", "--time", "-1s"], "--time"),
            (&["send", "h", "--time", "99999999999999999999s"], "--time"),
            (&["send", "h", "--bytes", "99999999999999999999"], "--bytes"),
            (&["send", "h", "--bytes", "-1"], "--bytes"),
            (&["send", "h", "--bytes", "0"], "--bytes"),
            (&["send", "h", "--bytes", "1M", "--time", "1s"], "--bytes"),
            (&["send", "h", "--port", "70000"], "--port"),
            (&["send", "h", "--port", "0"], "--port"),
            (&["listen", "--port", "-1"], "--port"),
            (&["send", "h", "--interval", "5s", "--time", "1s"], "--interval"),
            (&["send", "h", "--interval", "0"], "--interval"),
            (&["send", "h", "--runs", "0"], "--runs"),
            (&["send", "h", "--runs", "2..3"], "--within"),
            (&["send", "h", "--within", "5"], "--within"),
            (&["listen", "--max-clients", "0"], "--max-clients"),
            (&["listen", "--bind", "nowhere"], "--bind"),
            (&["send", "h", "--label", &"x".repeat(2000)], "--label"),
            (&["send", "h", "--mss", "1"], "--mss"),
            (&["send", "h", "--dscp", "64"], "--dscp"),
            (&["send", "h", "--streams", "0"], "--streams"),
            (&["send", "h", "--rate", "0"], "--rate"),
            (&["send", "h", "--cpu", "x"], "--cpu"),
            (&["send", "h", "--input", "-", "--time", "1s"], "--input"),
            (&["send", "h", "-4", "-6"], "--ipv4"),
            (&["ping", "h", "--request", "0"], "--request"),
            (&["listen", "--allow", "nowhere"], "--allow"),
            (&["listen", "--force"], "--output"),
            (&["listen", "--require-secret"], "--secret-file"),
            (&["send"], "HOST"),
            (&["dance"], "dance"),
        ],
    );
}

#[test]
fn help_and_header_are_as_recorded() {
    for (args, snapshot) in [
        (&["--help"][..], include_str!("snapshots/tcpsink-help.txt")),
        (&["listen", "--help"], include_str!("snapshots/tcpsink-listen-help.txt")),
        (&["send", "--help"], include_str!("snapshots/tcpsink-send-help.txt")),
        (&["recv", "--help"], include_str!("snapshots/tcpsink-recv-help.txt")),
        (&["both", "--help"], include_str!("snapshots/tcpsink-both-help.txt")),
        (&["ping", "--help"], include_str!("snapshots/tcpsink-ping-help.txt")),
        (&["connect", "--help"], include_str!("snapshots/tcpsink-connect-help.txt")),
        (&["--columns"], include_str!("snapshots/tcpsink-columns.csv")),
    ] {
        assert_eq!(tcpsink().run(args).success().stdout, snapshot, "{args:?}; `make snapshots` records it anew");
    }
}

#[test]
fn dd_and_nc_read_what_the_receiver_measured() {
    if !has_program("nc", "netcat-openbsd") {
        return;
    }
    let (sink, port) = sink(&[]);
    let script = format!("dd if=/dev/zero bs=1M count=200 status=none | nc -N 127.0.0.1 {port}");
    let answer = Command::new("sh").args(["-c", &script]).output().unwrap().stdout;
    let answer = String::from_utf8(answer).unwrap();
    let line = records(&answer).remove(0);
    assert_eq!(line.count("bytes"), 209_715_200);
    assert_eq!(line.text("test"), "tcp_recv");
    assert_eq!(line.text("method"), "discard");
    assert_eq!(line.text("flags"), "");
    assert_eq!(line.text("target"), "127.0.0.1");
    sink.wait_for_records(1);
    assert_eq!(sink.stdout(), answer, "the sink prints the same header and line");
}

#[test]
fn every_plain_client_gets_its_line() {
    let (sink, port) = sink(&["--label", "tiny"]);
    for payload in [&b""[..], b"x", b"tcpsink", b"GET / HTTP/1.1\r\n\r\n"] {
        let answer = records(&plain_client(&port, payload));
        assert_eq!(answer.len(), 1);
        assert_eq!(answer[0].count("bytes"), payload.len() as u64);
        assert_eq!(answer[0].text("bytes_per_s"), "", "no rate over no time");
        assert_eq!(answer[0].text("seconds"), "0.000000");
        assert_eq!((answer[0].text("label"), answer[0].text("flags")), ("tiny", ""));
    }
    sink.wait_for_records(4);
}

#[test]
fn the_time_ends_with_the_last_byte_not_with_the_connection() {
    let (_sink, port) = sink(&[]);
    let mut stream = connect(&port);
    stream.write_all(&[1; 20]).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    stream.write_all(&[2; 17]).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let line = records(&answer).remove(0);
    assert_eq!(line.count("bytes"), 37);
    assert!((0.04..0.9).contains(&line.number("seconds")), "{line:?}");
}

#[test]
fn a_client_that_waits_is_dropped_while_others_are_served() {
    let (sink, port) = sink(&["--idle-timeout", "1s"]);
    let mut waiting = connect(&port);
    waiting.write_all(&[0; 37]).unwrap();
    let mut silent = connect(&port);
    assert_eq!(records(&plain_client(&port, &[0; 1000]))[0].count("bytes"), 1000);
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).unwrap();
    let line = records(&answer).remove(0);
    assert_eq!(line.count("bytes"), 37);
    assert!(line.has_flag("partial"));
    let mut answer = String::new();
    silent.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("tcpsink/1 refused") && answer.contains("idle-timeout"), "{answer}");
    assert_eq!(sink.wait_for_records(2).len(), 2, "a silent client measured nothing");
}

#[test]
fn both_ends_report_and_intervals_add_up() {
    let (sink, port) = sink(&[]);
    let ended = tcpsink()
        .run(&["send", "127.0.0.1", "--port", &port, "--time", "3s", "--interval", "1s", "--label", "a,\"b\"\nc ü"])
        .success();
    assert_eq!(ended.stderr, "", "nothing to say off a terminal");
    for test in ["tcp_send", "tcp_recv"] {
        let (intervals, total) = (ended.select(test, "interval"), ended.total(test));
        assert_eq!(intervals.len(), 3, "{test}");
        assert_eq!(sum(&intervals), total.count("bytes"));
        assert_eq!(total.text("label"), "a,\"b\"\nc ü");
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
            assert!(total.number("seconds") < 0.5, "not rounded up to a second: {total:?}");
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
fn serves_many_at_once_on_both_families() {
    let sink = tcpsink().start(&["listen", "--port", "0"]);
    let port = sink.port();
    let clients: Vec<_> = (0..6)
        .map(|index| {
            let host = if index % 2 == 0 { "127.0.0.1" } else { "::1" };
            tcpsink().start(&["send", host, "--port", &port, "--bytes", "3M", "--label", &format!("c{index}")])
        })
        .collect();
    for (index, client) in clients.into_iter().enumerate() {
        let ended = client.end().success();
        let line = ended.total("tcp_recv");
        assert_eq!(line.count("bytes"), 3 << 20);
        assert_eq!(line.text("label"), format!("c{index}"));
        assert_eq!(line.text("target"), if index % 2 == 0 { "127.0.0.1" } else { "::1" });
    }
    sink.wait_for_records(6);
    sink.signal(Signal::SIGTERM);
    assert_eq!(sink.end().success().records().len(), 6, "a stopped listener has done its work");
}

#[test]
fn silent_connections_keep_nobody_out_and_one_too_many_is_told() {
    let (sink, port) = sink(&["--max-clients", "2"]);
    let silent: Vec<_> = (0..200).map(|_| connect(&port)).collect();
    let ended = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "1M"]).success();
    assert_eq!(ended.total("tcp_recv").count("bytes"), 1 << 20);
    let mut busy: Vec<_> = (0..2).map(|_| connect(&port)).collect();
    for (index, stream) in busy.iter_mut().enumerate() {
        stream.write_all(b"x").unwrap();
        // The sink has to see the one before the other.
        std::thread::sleep(Duration::from_millis(100 * (1 + index as u64)));
    }
    let answer = plain_client(&port, b"me too");
    assert!(answer.starts_with("tcpsink/1 refused") && answer.contains("--max-clients"), "{answer}");
    let refused = tcpsink().run(&["send", "127.0.0.1", "--port", &port]);
    assert_eq!(refused.failure(1, &["127.0.0.1", "--max-clients"]).stdout, "");
    drop((silent, busy));
    sink.wait_for_records(3);
    eventually("a free place", Duration::from_secs(5), || plain_client(&port, b"now").starts_with("schema,"));
}

#[test]
fn a_client_killed_leaves_a_partial_line_and_a_free_sink() {
    let (sink, port) = sink(&[]);
    let client = tcpsink().start(&["send", "127.0.0.1", "--port", &port, "--time", "30s", "--interval", "100ms"]);
    client.wait_for_records(4);
    client.signal(Signal::SIGKILL);
    drop(client.end());
    eventually("the partial line", Duration::from_secs(5), || {
        sink.records().iter().any(|line| line.text("span") == "total" && line.has_flag("partial"))
    });
    assert_eq!(records(&plain_client(&port, b"next"))[0].count("bytes"), 4);
}

#[test]
fn a_client_stopped_is_dropped_in_time() {
    let (sink, port) = sink(&["--idle-timeout", "1s"]);
    let client = tcpsink().start(&["send", "127.0.0.1", "--port", &port, "--time", "30s", "--interval", "100ms"]);
    client.wait_for_records(4);
    client.signal(Signal::SIGSTOP);
    eventually("the partial line", Duration::from_secs(5), || {
        sink.records().iter().any(|line| line.text("span") == "total" && line.has_flag("partial"))
    });
    assert_eq!(records(&plain_client(&port, b"next"))[0].count("bytes"), 4);
    client.signal(Signal::SIGCONT);
    let ended = client.end().failure(1, &["idle-timeout"]);
    assert!(ended.total("tcp_send").has_flag("partial"));
}

#[test]
fn an_unreachable_or_strange_peer_is_one_line_in_seconds() {
    let send = |port: &str, args: &[&str]| {
        let args = [&["send", "127.0.0.1", "--port", port, "--connect-timeout", "1s"], args].concat();
        let ended = tcpsink().run(&args);
        assert!(ended.took < Duration::from_secs(5), "{ended:?}");
        ended
    };
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port().to_string();
    drop(closed);
    assert_eq!(send(&port, &[]).failure(1, &["127.0.0.1", &port, "refused"]).stdout, "");

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    assert_eq!(send(&port, &[]).failure(1, &["does not answer", "--connect-timeout"]).stdout, "");

    let web = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = web.local_addr().unwrap().port().to_string();
    std::thread::spawn(move || {
        for stream in web.incoming() {
            stream.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n").unwrap();
        }
    });
    assert_eq!(send(&port, &[]).failure(1, &["HTTP/1.1 400 Bad Request"]).stdout, "");

    let ended = tcpsink().run(&["send", "no-such-host.invalid", "--connect-timeout", "3s"]);
    assert!(ended.took < Duration::from_secs(6));
    assert_eq!(ended.failure(1, &["no-such-host.invalid", "resolve"]).stdout, "");
}

#[test]
fn an_unroutable_host_is_given_up() {
    let Some(bed) = Bed::new() else { return };
    let sender = bed.at_sender(&tcpsink());
    // The router drops it without a word.
    bed.lose(100);
    let ended = sender.run(&["send", RECEIVER, "--connect-timeout", "1s"]);
    assert!(ended.took < Duration::from_secs(4), "{ended:?}");
    assert_eq!(ended.failure(1, &[RECEIVER, "--connect-timeout"]).stdout, "");
}

#[test]
fn a_sink_that_stops_ends_the_client_by_its_deadline() {
    let (sink, port) = sink(&[]);
    let args = ["--time", "2s", "--interval", "100ms", "--idle-timeout", "1s"];
    let client = tcpsink().start(&[&["send", "127.0.0.1", "--port", &port], &args[..]].concat());
    client.wait_for_records(4);
    sink.signal(Signal::SIGSTOP);
    let ended = client.end();
    assert!(ended.took < Duration::from_secs(6), "{ended:?}");
    let ended = ended.failure(1, &["idle-timeout"]);
    assert!(ended.total("tcp_send").has_flag("partial"));
    sink.signal(Signal::SIGCONT);
}

#[test]
fn a_shaped_link_is_measured_at_the_receiver() {
    let Some(bed) = Bed::new() else { return };
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    let sender = bed.at_sender(&tcpsink());

    bed.shape("rate 10mbit burst 5000 latency 400ms");
    let ended = sender.run(&["send", RECEIVER, "--time", "3s", "--interval", "1s"]).success();
    let (sent, received) = (ended.total("tcp_send"), ended.total("tcp_recv"));
    assert!(mbit_per_s(&received) <= 9.6, "{received:?}");
    assert!(mbit_per_s(&received) >= 8.0, "{received:?}");
    assert_eq!(sent.count("bytes"), received.count("bytes"));
    assert!(received.number("seconds") > sent.number("seconds") + 0.1, "the queue drains after the sender's end");
    // In a shorter one, the bytes that came with its first call weigh too much.
    for line in ended.select("tcp_recv", "interval").iter().filter(|line| line.number("seconds") > 0.5) {
        assert!(mbit_per_s(line) <= 9.8, "{line:?}");
    }

    // 24 bytes a frame for preamble, checksum and gap: as on a 100BASE-TX wire.
    bed.shape("rate 100mbit burst 20000 latency 50ms overhead 24");
    let ended = sender.run(&["send", RECEIVER_V6, "--time", "3s"]).success();
    assert!((88.0..=95.0).contains(&mbit_per_s(&ended.total("tcp_recv"))), "{:?}", ended.total("tcp_recv"));
    let ended = sender.run(&["send", RECEIVER, "--time", "3s"]).success();
    assert!((90.0..=95.0).contains(&mbit_per_s(&ended.total("tcp_recv"))), "{:?}", ended.total("tcp_recv"));
}

#[test]
fn when_everything_is_dropped_both_ends_end() {
    let Some(bed) = Bed::new() else { return };
    bed.shape("rate 50mbit burst 20000 latency 50ms");
    let sink = bed.at_receiver(&tcpsink()).start(&["listen", "--once"]);
    sink.port();
    let client = bed.at_sender(&tcpsink()).start(&["send", RECEIVER, "--time", "3s", "--idle-timeout", "2s"]);
    std::thread::sleep(Duration::from_secs(1));
    bed.lose(100);
    let ended = client.end();
    assert!(ended.took < Duration::from_secs(8), "{ended:?}");
    let ended = ended.failure(1, &[RECEIVER, "idle-timeout"]);
    assert!(ended.total("tcp_send").has_flag("partial"));
    let ended = sink.end();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let line = ended.total("tcp_recv");
    assert!(line.has_flag("partial"));
    assert!(line.number("seconds") < 2.0, "only while bytes moved: {line:?}");
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let (_sink, port) = sink(&[]);
    let send = format!("{} send 127.0.0.1 --port {port}", tcpsink().path());
    for (args, limit) in [("--time 20s --interval 100ms", 2), ("--time 20s", 5)] {
        let began = Instant::now();
        // The second prints nothing for 20 s: the end of its reader is noticed all the same.
        let reader = if args.contains("interval") { "head -1" } else { "sleep 1" };
        let script = format!("set -o pipefail; {send} {args} | {reader}");
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert!(began.elapsed() < Duration::from_secs(limit), "{args}");
    }
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
    // One line in ten may meet a busy machine.
    delays.sort();
    assert!(delays[delays.len() * 9 / 10 - 1] < Duration::from_millis(50), "{delays:?}");
}

#[test]
fn a_signal_closes_the_open_span_first() {
    let (_sink, port) = sink(&[]);
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let client = tcpsink().start(&["send", "127.0.0.1", "--port", &port, "--time", "30s", "--interval", "200ms"]);
        client.wait_for_records(2);
        client.signal(signal);
        let ended = client.end().killed_by(signal);
        assert!(ended.took < Duration::from_secs(5));
        for test in ["tcp_send", "tcp_recv"] {
            let total = ended.total(test);
            assert_eq!(sum(&ended.select(test, "interval")), total.count("bytes"));
            assert!(total.has_flag("partial") && total.number("seconds") < 5.0, "{total:?}");
        }
    }
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
fn needs_no_writable_file_system() {
    if !is_root() {
        return;
    }
    let (_sink, port) = sink(&[]);
    let script = format!(
        "mount --bind / / && mount -o remount,ro,bind / && cd / && unset TMPDIR && ! touch /tmp/linebench-probe 2>/dev/null \
         && {} send 127.0.0.1 --port {port} --bytes 1M",
        tcpsink().path()
    );
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(records(&String::from_utf8(output.stdout).unwrap()).len(), 2);
}

#[test]
fn a_full_disk_fails_both_ends() {
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (_sink, port) = sink(&[]);
    let output =
        tcpsink().command(&["send", "127.0.0.1", "--port", &port, "--bytes", "1K"]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout"), "{output:?}");

    let mut sink = tcpsink().command(&["listen", "--port", "0"]).stdout(full()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notices = BufReader::new(sink.stderr.take().unwrap());
    let mut notice = String::new();
    notices.read_line(&mut notice).unwrap();
    plain_client(notice.trim().rsplit(':').next().unwrap(), b"x");
    assert_eq!(sink.wait().unwrap().code(), Some(1));
}

#[test]
fn once_is_one_client() {
    let (sink, port) = sink(&["--once"]);
    plain_client(&port, b"only");
    let ended = sink.end().success();
    assert_eq!(ended.records().len(), 1);
}

#[test]
fn a_port_in_use_is_named() {
    let (_sink, port) = sink(&[]);
    let ended = tcpsink().run(&["listen", "--bind", "127.0.0.1", "--port", &port]);
    assert_eq!(ended.failure(1, &["127.0.0.1", &port, "in use"]).stdout, "");
}

#[test]
fn quiet_and_summary_are_heeded() {
    let (_sink, port) = sink(&[]);
    let send =
        |word: &str| tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "10M", word]).success().stderr;
    assert_eq!(send("--quiet"), "");
    let summary = send("--summary");
    assert!(summary.contains("MB/s") && summary.contains("Mbit/s") && summary.lines().count() == 1, "{summary}");
}
