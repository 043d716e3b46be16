//! Ends that nobody planned: of the other end, of a reader, by a signal.

use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::bed::Bed;
use testkit::{eventually, full_pipe};

use super::{client, listener, udpblast};

#[test]
fn a_listener_that_goes_away_ends_the_blast() {
    let (listener, port) = listener(&[]);
    let sender = udpblast().start(&[
        "send",
        "127.0.0.1",
        "--port",
        &port,
        "--rate",
        "10M",
        "--time",
        "30s",
        "--interval",
        "200ms",
    ]);
    sender.wait_for_records(3);
    listener.signal(Signal::SIGKILL);
    drop(listener.end());
    let ended = sender.end();
    assert!(ended.took < Duration::from_secs(8), "{ended:?}");
    let ended = ended.failure(1, &["127.0.0.1"]);
    assert!(ended.total("udp_send").has_flag("partial"));
}

#[test]
fn a_client_that_goes_away_leaves_a_partial_line() {
    let (listener, port) = listener(&["--idle-timeout", "1s"]);
    let sender = udpblast().start(&[
        "send",
        "127.0.0.1",
        "--port",
        &port,
        "--rate",
        "10M",
        "--time",
        "30s",
        "--interval",
        "200ms",
    ]);
    sender.wait_for_records(3);
    sender.signal(Signal::SIGKILL);
    drop(sender.end());
    eventually("the partial line", Duration::from_secs(5), || {
        listener.records().iter().any(|line| line.text("span") == "total" && line.has_flag("partial"))
    });
    let ended = client(&port, "send", &["--bytes", "10K", "--size", "1000"]).success();
    assert_eq!(ended.total("udp_recv").count("lost"), 0, "the next one is served");
}

#[test]
fn signals_and_readers_end_it_as_they_should() {
    let (listener, port) = listener(&[]);
    let sender = udpblast().start(&["send", "127.0.0.1", "--port", &port, "--time", "30s", "--interval", "200ms"]);
    sender.wait_for_records(3);
    sender.signal(Signal::SIGINT);
    let ended = sender.end().killed_by(Signal::SIGINT);
    assert!(ended.total("udp_send").has_flag("partial"));
    let script = format!(
        "set -o pipefail; {} send 127.0.0.1 --port {port} --time 20s --interval 100ms | head -1",
        udpblast().path()
    );
    let begun = std::time::Instant::now();
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert!(output.status.success() && begun.elapsed() < Duration::from_secs(4), "{output:?}");
    listener.signal(Signal::SIGTERM);
    let _ = listener.end().success();
}

#[test]
fn what_is_sent_after_the_receiver_left_is_no_loss() {
    let (_listener, port) = listener(&[]);
    let receiver = udpblast().start(&[
        "recv",
        "127.0.0.1",
        "--port",
        &port,
        "--rate",
        "40M",
        "--size",
        "500",
        "--no-offload",
        "--time",
        "30s",
        "--interval",
        "100ms",
    ]);
    receiver.wait_for_records(3);
    // While it stands still, much is sent that it has not read when it is told to stop.
    receiver.signal(Signal::SIGSTOP);
    receiver.signal(Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(150));
    receiver.signal(Signal::SIGCONT);
    let ended = receiver.end().killed_by(Signal::SIGINT);
    for test in ["udp_recv", "udp_send"] {
        let total = ended.total(test);
        assert!(total.has_flag("partial") && total.count("received") > 1000, "{total:?}");
        assert_eq!(total.count("network_lost"), 0, "{total:?}");
    }
}

#[test]
fn a_signal_ends_the_lookup_of_a_name_at_once() {
    let Some(bed) = Bed::new() else { return };
    let (asking, _server) = bed.at_sender_without_names(&udpblast());
    for verb in ["send", "ping"] {
        let client = asking.start(&[verb, "nas.example", "--connect-timeout", "30s"]);
        std::thread::sleep(Duration::from_millis(300));
        client.signal(Signal::SIGINT);
        let ended = client.end().killed_by(Signal::SIGINT);
        assert!(ended.took < Duration::from_secs(5) && ended.stderr.is_empty(), "{verb}: {ended:?}");
    }
    let ended = asking.run(&["send", "nas.example", "--connect-timeout", "500ms"]);
    assert!(ended.took < Duration::from_secs(4), "{ended:?}");
    let _ = ended.failure(1, &["nas.example", "--connect-timeout"]);
}

#[test]
fn a_listener_whose_reader_stopped_ends_by_a_signal() {
    let (_reader, writer) = full_pipe();
    let listener = udpblast().start_into(&["listen", "--port", "0", "--bind", "127.0.0.1"], writer);
    let port = listener.port();
    // Whether it hears of the end of its measurement is the listener's affair.
    drop(client(&port, "send", &["--time", "200ms", "--connect-timeout", "2s", "--idle-timeout", "1s"]));
    let signalled = Instant::now();
    listener.signal(Signal::SIGTERM);
    let ended = listener.end();
    assert!(signalled.elapsed() < Duration::from_secs(10), "{ended:?}");
    assert_eq!(ended.status.code(), Some(1), "its line is lost: {ended:?}");
    let said = ended.stderr.lines().filter(|line| line.contains("cannot write to stdout"));
    assert_eq!(said.count(), 1, "{ended:?}");
}
