//! Across a network that shapes, drops and narrows.

use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER, RECEIVER_V6};

use super::{across, both_totals, in_namespace, mbit_per_s, udpblast};

#[test]
fn a_lossy_network_is_measured_and_survived() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    bed.lose(30);
    let ended = sender.run(&["send", RECEIVER, "--rate", "5M", "--size", "500", "--time", "3s", "--interval", "1s"]);
    let [sent, received] = both_totals(&ended.success());
    assert!((27.0..=33.0).contains(&received.number("lost_pct")), "{received:?}");
    assert_eq!(received.count("network_lost"), received.count("lost"));
    assert_eq!(sent.count("ops"), sent.count("sent"));
}

#[test]
fn half_lost_still_starts_and_still_reports() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    bed.lose(50);
    for verb in ["send", "recv"] {
        let ended = sender.run(&[
            verb,
            RECEIVER,
            "--rate",
            "2M",
            "--size",
            "500",
            "--time",
            "1s",
            "--idle-timeout",
            "15s",
            "--connect-timeout",
            "15s",
        ]);
        let [_, received] = both_totals(&ended.success());
        assert!((40.0..=60.0).contains(&received.number("lost_pct")), "{received:?}");
    }
}

#[test]
fn a_router_that_is_too_slow_is_the_network() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    bed.shape("rate 10mbit burst 20000 latency 20ms");
    for host in [RECEIVER, RECEIVER_V6] {
        let ended = sender.run(&["send", host, "--rate", "20M", "--time", "2s"]).success();
        let [_, received] = both_totals(&ended);
        assert!((42.0..=58.0).contains(&received.number("lost_pct")), "{received:?}");
        assert_eq!((received.count("network_lost"), received.count("socket_drops")), (received.count("lost"), 0));
    }
    // Report A: 55.78 Mbit/s sent, 20.17 received.
    bed.shape("rate 21mbit burst 20000 latency 20ms");
    let ended = sender.run(&["send", RECEIVER, "--rate", "55M", "--size", "1024", "--time", "2s"]).success();
    let [sent, received] = both_totals(&ended);
    assert!((54.0..=56.0).contains(&mbit_per_s(&sent)), "{sent:?}");
    assert!((18.0..=21.0).contains(&mbit_per_s(&received)), "{received:?}");
}

#[test]
fn a_queue_of_the_senders_own_is_named() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    in_namespace(&bed.sender(), "tc qdisc replace dev eth0 root tbf rate 10mbit burst 5000 limit 20000");
    let ended = sender.run(&["send", RECEIVER, "--rate", "20M", "--time", "1s", "--no-offload"]).success();
    let [sent, received] = both_totals(&ended);
    assert!(sent.count("sender_drops") > 100, "{sent:?}");
    assert!(received.number("lost_pct") < 1.0, "not called a loss of the network: {received:?}");
}

#[test]
fn a_datagram_fits_the_route_or_is_flagged() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    let ended = sender.run(&["send", RECEIVER, "--time", "200ms"]).success();
    assert_eq!(ended.total("udp_send").count("datagram_bytes"), 1472);
    let ended = sender.run(&["send", RECEIVER_V6, "--time", "200ms"]).success();
    assert_eq!(ended.total("udp_send").count("datagram_bytes"), 1452);
    let _ = sender.run(&["send", RECEIVER, "--size", "20000"]).failure(1, &["--size 20000", "1500", "--fragment"]);
    let ended = sender.run(&["send", RECEIVER, "--size", "20000", "--fragment", "--time", "500ms"]).success();
    let [sent, received] = both_totals(&ended);
    assert!(sent.has_flag("fragmented") && received.count("lost") == 0, "{sent:?}");

    // The path narrows while datagrams are on it.
    let running = sender.start(&["send", RECEIVER, "--rate", "5M", "--time", "5s"]);
    std::thread::sleep(Duration::from_millis(700));
    in_namespace(&bed.router(), "ip link set port2 mtu 1000");
    let ended = running.end().failure(1, &["1000", "--fragment"]);
    assert!(ended.total("udp_send").has_flag("partial"));
}

#[test]
fn nothing_is_sent_to_who_has_not_agreed() {
    let Some(bed) = Bed::new() else { return };
    let sender = bed.at_sender(&udpblast());
    let ended = sender.run(&["send", RECEIVER, "--rate", "100M"]);
    assert!(ended.took < Duration::from_secs(2), "{ended:?}");
    assert_eq!(ended.failure(1, &[RECEIVER, "nobody listens there: start udpblast listen"]).stdout, "");
    // One that drops everything: a few small questions, and no more.
    bed.lose(100);
    let ended = sender.run(&["send", RECEIVER, "--rate", "100M", "--connect-timeout", "1s"]);
    assert!(ended.took < Duration::from_secs(4), "{ended:?}");
    let _ = ended.failure(1, &["--connect-timeout"]);
    let counters = ["netns", "exec", &bed.router(), "nft", "list", "table", "inet", "loss"];
    let counters = String::from_utf8(Command::new("ip").args(counters).output().unwrap().stdout).unwrap();
    let words: Vec<_> = counters.split_whitespace().collect();
    let place = words.iter().position(|word| *word == "packets").unwrap();
    let packets: u64 = words[place + 1].parse().unwrap();
    assert!((1..40).contains(&packets), "{counters}");
}

#[test]
fn search_finds_the_rate_of_the_path() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    bed.shape("rate 20mbit burst 10000 latency 20ms");
    let ended = sender
        .run(&[
            "search",
            RECEIVER,
            "--rate",
            "64M",
            "--time",
            "1s",
            "--settle",
            "200ms",
            "--resolution",
            "10%",
            "--loss",
            "1%",
        ])
        .success();
    let answer = ended.records().pop().unwrap();
    assert_eq!(answer.text("test"), "udp_search");
    // 20 Mbit/s of frames are 19.4 of payload; a trial of a second gets the queue's length on top.
    let found = answer.number("rate_bits_per_s") / 1e6;
    assert!((16.0..=21.0).contains(&found), "{found}");
    assert!(ended.some("udp_send", "total").len() >= 4, "each trial a line");
}

#[test]
fn a_signal_before_it_begins_ends_it_at_once() {
    let Some(bed) = Bed::new() else { return };
    bed.lose(100);
    for verb in ["send", "search"] {
        let client = bed.at_sender(&udpblast()).start(&[verb, RECEIVER, "--connect-timeout", "30s"]);
        std::thread::sleep(Duration::from_millis(300));
        client.signal(Signal::SIGINT);
        let ended = client.end().killed_by(Signal::SIGINT);
        assert!(ended.took < Duration::from_secs(5) && ended.stderr.is_empty(), "{verb}: {ended:?}");
    }
}
