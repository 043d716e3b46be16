//! Waits that end: by their deadlines, and at once by a signal.

use std::io::Write;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER};
use testkit::{Running, eventually};

use super::raw::{Raw, stream};
use super::{sink, tcpsink};

fn client(port: &str, args: &[&str]) -> Running {
    tcpsink().start(&[args, &["--port", port]].concat())
}

#[test]
fn a_sink_that_stops_in_a_ping_ends_it_by_its_deadline() {
    for args in [
        &["ping", "127.0.0.1", "--time", "2s", "--interval", "100ms"][..],
        &["send", "127.0.0.1", "--time", "2s", "--interval", "100ms", "--probe"],
    ] {
        let (sink, port) = sink(&[]);
        let client = client(&port, &[args, &["--idle-timeout", "2s"]].concat());
        client.wait_for_records(if args[0] == "send" { 20 } else { 5 });
        let stopped = Instant::now();
        sink.signal(Signal::SIGSTOP);
        let ended = client.end();
        sink.signal(Signal::SIGCONT);
        assert!(stopped.elapsed() < Duration::from_secs(8), "{ended:?}");
        let ended = ended.failure(1, &["--idle-timeout"]);
        assert!(ended.total(if args[0] == "send" { "tcp_send" } else { "tcp_ping" }).has_flag("partial"));
    }
}

#[test]
fn a_signal_ends_every_state_at_once() {
    for (args, lines) in [
        // Stopped while the client measures, and after its own part is over.
        (&["ping", "127.0.0.1", "--time", "1m", "--interval", "100ms"][..], 3),
        (&["send", "127.0.0.1", "--time", "1m", "--interval", "100ms", "--probe"], 20),
        (&["send", "127.0.0.1", "--time", "1500ms", "--interval", "100ms", "--probe"], 20),
        (&["connect", "127.0.0.1", "--time", "1m", "--interval", "100ms"], 3),
        // And before it has agreed to anything.
        (&["send", "127.0.0.1", "--time", "1m", "--connect-timeout", "30s"], 0),
    ] {
        let (sink, port) = sink(&[]);
        if lines == 0 {
            sink.signal(Signal::SIGSTOP);
        }
        let client = client(&port, &[args, &["--idle-timeout", "30s"]].concat());
        client.wait_for_records(lines);
        sink.signal(Signal::SIGSTOP);
        std::thread::sleep(Duration::from_secs(2));
        let leaves = Instant::now();
        client.signal(Signal::SIGINT);
        let ended = client.end();
        sink.signal(Signal::SIGCONT);
        assert!(leaves.elapsed() < Duration::from_secs(5), "{args:?}: {:?}, {ended:?}", leaves.elapsed());
        let _ = ended.killed_by(Signal::SIGINT);
    }
}

#[test]
fn a_client_that_stops_reading_does_not_keep_the_sink() {
    let (sink, port) = sink(&[]);
    let mut control = Raw::asks(&port, &[("kind", "ping"), ("request", "1"), ("response", "64000000")]);
    let token = control.token();
    let mut stream = stream(&port, &token, "echo", 0);
    stream.write_all(b"xxxx").unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let told = Instant::now();
    sink.signal(Signal::SIGTERM);
    let _ = sink.end();
    assert!(told.elapsed() < Duration::from_secs(5), "{:?}", told.elapsed());
}

#[test]
fn a_firewall_that_forgets_idle_connections_costs_nothing() {
    let Some(bed) = Bed::new() else { return };
    bed.forget_idle(3);
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    let sender = bed.at_sender(&tcpsink());
    for args in [
        // The control connection is silent, and with a second ping after five seconds the streams are too.
        &["send", RECEIVER, "--time", "6s", "--rate", "1M"][..],
        &["recv", RECEIVER, "--time", "6s", "--rate", "1M"],
        &["ping", RECEIVER, "--time", "6s", "--every", "5s"],
        &["connect", RECEIVER, "--time", "6s"],
    ] {
        let ended = sender.run(args);
        assert!(ended.took < Duration::from_secs(12), "{ended:?}");
        let ended = ended.success();
        if args[0] != "connect" {
            assert_eq!(ended.records().iter().filter(|line| line.text("span") == "total").count(), 2, "{ended:?}");
        }
    }
}

#[test]
fn a_link_that_goes_down_for_good_ends_a_test_by_its_timeout() {
    for (verb, more) in [
        ("send", &[][..]),
        ("send", &["--probe"]),
        ("recv", &[]),
        ("both", &[]),
        ("ping", &[]),
        ("ping", &["--depth", "8", "--response", "100K"]),
        ("connect", &[]),
    ] {
        let Some(bed) = Bed::new() else { return };
        bed.shape("rate 50mbit burst 20000 latency 50ms");
        let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
        sink.port();
        let args = [verb, RECEIVER, "--time", "20s", "--interval", "200ms", "--idle-timeout", "3s"];
        let client = bed.at_sender(&tcpsink()).start(&[&args, more].concat());
        client.wait_for_records(if more == ["--probe"] { 9 } else { 3 });
        let down = Instant::now();
        bed.lose(100);
        let ended = client.end();
        assert!(down.elapsed() < Duration::from_secs(6), "{verb} {more:?}: {:?}", down.elapsed());
        let _ = ended.failure(1, &[RECEIVER, "--idle-timeout"]);
    }
}

#[test]
fn the_sinks_place_is_free_after_a_link_went_down() {
    let Some(bed) = Bed::new() else { return };
    let sink = bed.at_receiver(&tcpsink()).start(&["listen", "--max-clients", "1", "--idle-timeout", "2s"]);
    sink.port();
    let client = bed.at_sender(&tcpsink()).start(&["recv", RECEIVER, "--time", "20s", "--interval", "200ms"]);
    client.wait_for_records(3);
    bed.lose(100);
    eventually("the partial line", Duration::from_secs(8), || {
        sink.records().iter().any(|line| line.text("span") == "total" && line.has_flag("partial"))
    });
    drop(client);
}
