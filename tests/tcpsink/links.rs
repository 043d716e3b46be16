//! Across a network that shapes and drops.

use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER, RECEIVER_V6};

use super::{mbit_per_s, tcpsink};

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
    let mut intervals = ended.some("tcp_recv", "interval");
    intervals.retain(|line| line.number("seconds") > 0.5);
    assert!(intervals.len() >= 2, "{ended:?}");
    for line in intervals {
        assert!(mbit_per_s(&line) <= 9.8, "{line:?}");
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
fn a_signal_before_it_is_connected_ends_it_at_once() {
    let Some(bed) = Bed::new() else { return };
    bed.lose(100);
    for verb in ["send", "ping"] {
        let client = bed.at_sender(&tcpsink()).start(&[verb, RECEIVER, "--connect-timeout", "30s"]);
        std::thread::sleep(Duration::from_millis(300));
        client.signal(Signal::SIGINT);
        let ended = client.end().killed_by(Signal::SIGINT);
        assert!(ended.took < Duration::from_secs(5) && ended.stderr.is_empty(), "{verb}: {ended:?}");
    }
}

#[test]
fn link_local_addresses_work_at_both_ends() {
    let Some(bed) = Bed::new() else { return };
    bed.add_link_local();
    let sink = bed.at_router(&tcpsink()).start(&["listen", "--bind", "fe80::1%port1"]);
    sink.port();
    let sender = bed.at_sender(&tcpsink());
    for args in [&["send", "fe80::1%eth0"][..], &["recv", "[fe80::1%eth0]:5201", "--bind", "fe80::2%eth0"]] {
        let ended = sender.run(&[args, &["--bytes", "100K", "--streams", "2"]].concat()).success();
        assert_eq!(ended.total("tcp_recv").count("bytes"), 102_400);
    }
}

#[test]
fn what_an_address_lacks_is_said() {
    let Some(bed) = Bed::new() else { return };
    let sender = bed.at_sender(&tcpsink());
    let end = |args: &[&str], status, words: &[&str]| sender.run(args).failure(status, words);
    let _ = end(&["send", "fe80::1"], 2, &["fe80::1", "as in fe80::1%eth0"]);
    let _ = end(&["send", "fe80::1%eth7"], 1, &["no link 'eth7'"]);
    let _ = end(&["send", "fe80::1%eth0", "--bind", "fe80::2"], 2, &["--bind", "as in fe80::2%eth0"]);
    let _ = end(&["listen", "--bind", "fe80::2%eth7"], 2, &["--bind", "no link 'eth7'"]);
    let _ = end(&["send", RECEIVER, "--bind", "fd00:1::2"], 1, &["--bind fd00:1::2", RECEIVER, "IPv4 only"]);
    let _ = end(&["send", RECEIVER_V6, "--bind", "10.0.1.2"], 1, &["--bind 10.0.1.2", RECEIVER_V6, "IPv6 only"]);
    let _ = end(&["send", RECEIVER, "-6"], 1, &["IPv4 only", "-6"]);
}

#[test]
fn a_signal_ends_the_lookup_of_a_name_at_once() {
    let Some(bed) = Bed::new() else { return };
    let (asking, _server) = bed.at_sender_without_names(&tcpsink());
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
