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
    // What still lay in the queue when the time was over is not of that time.
    assert!(sent.count("bytes") > received.count("bytes") + 100_000, "{ended:?}");
    assert!((2.9..3.2).contains(&received.number("seconds")), "{received:?}");
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
fn a_slow_link_ends_with_its_time() {
    let Some(bed) = Bed::new() else { return };
    bed.shape("rate 300kbit burst 3000 limit 30000");
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    for (verb, streams) in [("send", "1"), ("send", "5"), ("recv", "1"), ("both", "1")] {
        let ended = bed.at_sender(&tcpsink()).run(&[verb, RECEIVER, "--time", "2s", "--streams", streams]).success();
        assert!(ended.took < Duration::from_secs(9), "{verb} {streams}: {ended:?}");
        if verb == "send" {
            let received = ended.total("tcp_recv");
            assert!((1.0..2.6).contains(&received.number("seconds")), "{ended:?}");
            assert!((0.08..=0.31).contains(&mbit_per_s(&received)), "{ended:?}");
            assert!(received.text("flags").is_empty(), "{ended:?}");
        }
    }
}

#[test]
fn streams_that_wait_for_their_turn_do_not_make_the_last_interval_longer() {
    let Some(bed) = Bed::new() else { return };
    bed.shape("rate 100kbit burst 10000 latency 100ms");
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    // At the end of the time some of them have got nothing for long, and get nothing soon.
    let args = ["send", RECEIVER, "--time", "2s", "--interval", "500ms", "--streams", "3"];
    let ended = bed.at_sender(&tcpsink()).run(&args).success();
    let total = ended.total("tcp_recv");
    assert!((2.0..2.2).contains(&total.number("seconds")), "{total:?}");
    let intervals = ended.some("tcp_recv", "interval");
    assert_eq!(intervals.len(), 4, "{ended:?}");
    let length: f64 = intervals.iter().map(|line| line.number("seconds")).sum();
    assert!((length - total.number("seconds")).abs() < 1e-5, "{ended:?}");
}

#[test]
fn a_small_amount_takes_the_time_of_all_of_it() {
    let Some(bed) = Bed::new() else { return };
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    let sender = bed.at_sender(&tcpsink());
    for amount in ["2896", "14480", "128K"] {
        let ended = sender.run(&["send", RECEIVER, "--bytes", amount, "--runs", "5"]).success();
        for (sent, received) in ended.some("tcp_send", "total").iter().zip(ended.some("tcp_recv", "total")) {
            let [sent, received] = [sent, &received].map(|line| line.number("bytes_per_s"));
            assert!(received <= sent * 1.0001, "{amount}: {received} of {sent}");
        }
    }
    // A bucket of one frame: nothing passes at once.
    bed.shape("rate 1mbit burst 1600 latency 400ms");
    let ended = sender.run(&["send", RECEIVER, "--bytes", "14480"]).success();
    let rate = ended.total("tcp_recv").number("bytes_per_s");
    // Whoever reads wakes late on a busy machine, and sees the first of ten segments late; without its time they were twice as fast.
    assert!(rate <= 143_000.0, "1 Mbit/s carries 119 500 B/s of payload: {rate}");
}

#[test]
fn what_is_sent_again_counts_to_the_last_byte() {
    let Some(bed) = Bed::new() else { return };
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    let sender = bed.at_sender(&tcpsink());
    bed.lose(10);
    let retransmitted = || {
        let text = std::process::Command::new("ip")
            .args(["netns", "exec", &bed.sender(), "cat", "/proc/net/snmp"])
            .output()
            .unwrap();
        let text = String::from_utf8(text.stdout).unwrap();
        let rows: Vec<Vec<_>> =
            text.lines().filter(|row| row.starts_with("Tcp:")).map(|row| row.split(' ').collect()).collect();
        let place = rows[0].iter().position(|name| *name == "RetransSegs").unwrap();
        rows[1][place].parse::<u64>().unwrap()
    };
    let (mut counted, before) = (0, retransmitted());
    for _ in 0..6 {
        let args = ["send", RECEIVER, "--bytes", "300K", "--connect-timeout", "15s"];
        counted += sender.run(&args).success().total("tcp_send").count("errors");
    }
    let all = retransmitted() - before;
    // The rest are of the control connections.
    assert!(counted > 0 && counted <= all && all <= counted + 12, "{counted} of {all}");
}

#[test]
fn attempts_to_connect_that_fail_are_counted() {
    let Some(bed) = Bed::new() else { return };
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    let connect = bed.at_sender(&tcpsink()).start(&["connect", RECEIVER, "--time", "2s"]);
    std::thread::sleep(Duration::from_millis(500));
    for rule in [
        "nft add table inet fence",
        "nft add chain inet fence gate { type filter hook forward priority 0 ; }",
        "nft add rule inet fence gate tcp flags == syn numgen inc mod 3 == 0 reject with tcp reset",
    ] {
        let router = bed.router();
        let words = ["netns", "exec", &router].into_iter().chain(rule.split(' '));
        assert!(std::process::Command::new("ip").args(words).status().unwrap().success());
    }
    let ended = connect.end().success();
    let total = ended.total("tcp_connect");
    let (done, failed) = (total.count("ops"), total.count("errors"));
    assert!(failed > 5 && done > failed, "a third of those that came after: {total:?}");
    assert!((1.9..2.3).contains(&total.number("seconds")), "{total:?}");
}

#[test]
fn a_message_that_takes_its_time_is_no_silence() {
    let Some(bed) = Bed::new() else { return };
    bed.shape("rate 10mbit burst 20000 latency 50ms");
    let sink = bed.at_receiver(&tcpsink()).start(&["listen", "--idle-timeout", "2s"]);
    sink.port();
    let sender = bed.at_sender(&tcpsink());
    for (large, small) in [("--request", "--response"), ("--response", "--request")] {
        let args = ["ping", RECEIVER, large, "5M", small, "1", "--time", "6s", "--idle-timeout", "2s"];
        assert!(sender.run(&args).success().total("tcp_ping").count("ops") >= 1);
    }
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
