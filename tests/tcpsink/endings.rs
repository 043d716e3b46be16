//! Ends that nobody planned: of a client, a sink, a reader, a disk.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::{eventually, full_pipe, records};

use super::{plain_client, sink, sum, tcpsink};

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
    let remedy = "nobody listens there: start tcpsink listen on 127.0.0.1, or name another --port";
    assert_eq!(send(&port, &[]).failure(1, &["127.0.0.1", &port, "refused", remedy]).stdout, "");
    let named =
        tcpsink().run(&["send", &format!("127.0.0.1:{port}")]).failure(1, &[&format!("127.0.0.1 port {port}"), remedy]);
    assert_eq!(named.stdout, "");

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
fn who_leaves_does_not_wait_for_a_sink_that_stopped() {
    for verb in ["ping", "send", "recv"] {
        let (sink, port) = sink(&[]);
        let client = tcpsink().start(&[verb, "127.0.0.1", "--port", &port, "--time", "1m", "--interval", "100ms"]);
        client.wait_for_records(3);
        sink.signal(Signal::SIGSTOP);
        let leaves = Instant::now();
        client.signal(Signal::SIGINT);
        let ended = client.end();
        sink.signal(Signal::SIGCONT);
        assert!(leaves.elapsed() < Duration::from_secs(6), "{verb}: {:?}, {ended:?}", leaves.elapsed());
        assert!(!ended.stderr.contains("idle-timeout"), "{verb}: {ended:?}");
        assert!(ended.total(&format!("tcp_{verb}")).has_flag("partial"), "{verb}: {ended:?}");
    }
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
            assert_eq!(sum(&ended.some(test, "interval")), total.count("bytes"));
            assert!(total.has_flag("partial") && total.number("seconds") < 5.0, "{total:?}");
        }
    }
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
fn a_listener_whose_reader_stopped_ends_by_a_signal() {
    let (_reader, writer) = full_pipe();
    let listener = tcpsink().start_into(&["listen", "--port", "0", "--bind", "127.0.0.1"], writer);
    let port = listener.port();
    // Whether it hears of the end of its measurement is the listener's affair.
    drop(tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "1M"]));
    let signalled = Instant::now();
    listener.signal(Signal::SIGTERM);
    let ended = listener.end();
    assert!(signalled.elapsed() < Duration::from_secs(10), "{ended:?}");
    assert_eq!(ended.status.code(), Some(1), "its line is lost: {ended:?}");
    let said = ended.stderr.lines().filter(|line| line.contains("cannot write to stdout"));
    assert_eq!(said.count(), 1, "{ended:?}");
}
