//! Several clients of one sink: one visit, one place, at the same time, one after the other.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::raw::Raw;
use super::{plain_client, sink, tcpsink};

#[test]
fn once_is_one_clients_visit() {
    for (args, lines) in [
        (&["--time", "300ms"][..], 1),
        (&["--time", "300ms", "--runs", "2"], 2),
        (&["--time", "300ms", "--probe"], 3),
        (&["--time", "300ms", "--probe", "--runs", "2"], 6),
    ] {
        let (sink, port) = sink(&["--once"]);
        let args = [&["send", "127.0.0.1", "--port", &port], args].concat();
        let client = tcpsink().start(&args);
        client.wait_for_records(1);
        // Somebody else is none of it.
        let _ = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "1K"]);
        let _ = client.end().success();
        let ended = sink.end().success();
        assert_eq!(ended.records().len(), lines, "{args:?}: {ended:?}");
        assert!(ended.took < Duration::from_secs(9), "{args:?}: {ended:?}");
    }
}

#[test]
fn during_a_visit_others_are_told_that_there_is_one() {
    let (sink, port) = sink(&["--once"]);
    let client = tcpsink().start(&["send", "127.0.0.1", "--port", &port, "--time", "2s", "--interval", "100ms"]);
    client.wait_for_records(3);
    let _ = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "1K"]).failure(1, &["--once"]);
    assert!(plain_client(&port, b"x").contains("--once"));
    let _ = client.end().success();
    let _ = sink.end().success();
}

#[test]
fn who_shared_the_sink_is_told_so() {
    let (sink, port) = sink(&[]);
    let start = |verb: &str, time: &str| {
        let client = tcpsink().start(&[verb, "127.0.0.1", "--port", &port, "--interval", "100ms", "--time", time]);
        client.wait_for_records(3);
        client
    };
    let early = start("send", "2s");
    let late = start("ping", "500ms").end().success();
    let early = early.end().success();
    for line in [late.total("tcp_ping"), late.total("tcp_pong"), early.total("tcp_send"), early.total("tcp_recv")] {
        assert!(line.has_flag("shared"), "{line:?}");
    }
    let shared = sink.records().iter().filter(|line| line.has_flag("shared")).count();
    assert_eq!(shared, 2, "at the sink, too");
    // One call of a client, and those who only wait, are no company.
    let waiting = Raw::asks(&port, &[]);
    let alone = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--time", "500ms", "--probe"]).success();
    assert!(alone.records().iter().all(|line| !line.has_flag("shared")), "{alone:?}");
    drop(waiting);
}

#[test]
fn a_client_waits_for_a_free_place() {
    let (_sink, port) = sink(&["--max-clients", "1"]);
    let send = |args: &[&str]| {
        let client = tcpsink().start(&[&["send", "127.0.0.1", "--port", &port], args].concat());
        (Instant::now(), client)
    };
    let (_, first) = send(&["--time", "2s", "--interval", "100ms"]);
    first.wait_for_records(3);
    let (_, patient) = send(&["--bytes", "1M", "--queue", "20s"]);
    let (asked, hasty) = send(&["--bytes", "1M", "--queue", "500ms"]);
    let hasty = hasty.end();
    assert_eq!(hasty.status.code(), Some(1), "{hasty:?}");
    assert!(hasty.stderr.contains("no place became free in time (--queue): 1 clients"), "{hasty:?}");
    assert!((500..4000).contains(&asked.elapsed().as_millis()), "{:?}", asked.elapsed());
    let (asked, without) = send(&["--bytes", "1M"]);
    let _ = without.end().failure(1, &["--max-clients"]);
    assert!(asked.elapsed() < Duration::from_secs(4));
    let (_, leaving) = send(&["--bytes", "1M", "--queue", "1m"]);
    std::thread::sleep(Duration::from_millis(300));
    let left = Instant::now();
    leaving.signal(Signal::SIGINT);
    let _ = leaving.end().killed_by(Signal::SIGINT);
    assert!(left.elapsed() < Duration::from_secs(4));
    let _ = first.end().success();
    let ended = patient.end().success();
    assert_eq!(ended.total("tcp_recv").count("bytes"), 1 << 20);
    assert!(ended.stderr.contains("waiting for a free place (--queue)"), "{ended:?}");
}

#[test]
fn a_client_does_not_begin_before_its_time_and_a_signal_ends_that() {
    let (sink, port) = sink(&[]);
    let send =
        |splay: &str| tcpsink().start(&["send", "127.0.0.1", "--port", &port, "--bytes", "1M", "--splay", splay]);
    let waiting: Vec<_> = (0..4).map(|_| send("1h")).collect();
    let _ = send("100ms").end().success();
    std::thread::sleep(Duration::from_millis(300));
    let left = Instant::now();
    for client in waiting {
        client.signal(Signal::SIGTERM);
        let ended = client.end().killed_by(Signal::SIGTERM);
        assert!(ended.stderr.is_empty(), "{ended:?}");
    }
    assert!(left.elapsed() < Duration::from_secs(4));
    assert_eq!(sink.records().len(), 1);
}
