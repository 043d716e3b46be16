//! What was sent, what arrived, and at which rate.

use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER};
use testkit::disk::Scratch;
use testkit::hand_sender::HandSender;
use testkit::shim::Shim;

use super::{across, both_totals, client, counts, listener, mbit_per_s, udpblast};

#[test]
fn both_ends_report_and_intervals_add_up() {
    let (listener, port) = listener(&[]);
    for verb in ["send", "recv"] {
        let args = ["--rate", "20M", "--size", "1000", "--time", "900ms", "--interval", "300ms", "--label", "a,\"b\""];
        let ended = client(&port, verb, &args).success();
        for total in both_totals(&ended) {
            let intervals = ended.some(total.text("test"), "interval");
            assert_eq!(intervals.len(), 3, "{verb}");
            assert_eq!(intervals.iter().map(|line| line.count("bytes")).sum::<u64>(), total.count("bytes"));
            assert_eq!((total.text("label"), total.text("flags"), total.count("lost")), ("a,\"b\"", "", 0));
            assert_eq!(total.count("ops"), total.count("bytes") / 1000);
            assert!((15.0..=20.2).contains(&mbit_per_s(&total)), "{total:?}");
        }
    }
    assert_eq!(listener.wait_for_records(8).len(), 8, "the listener prints its lines too");
}

#[test]
fn a_receiver_that_named_no_size_learns_it() {
    let (_listener, port) = listener(&[]);
    let ended = client(&port, "recv", &["--rate", "20M", "--time", "200ms"]).success();
    let [sent, received] = both_totals(&ended).map(|total| total.count("datagram_bytes"));
    assert!(sent > 24 && sent == received, "{ended:?}");
}

#[test]
fn a_search_may_ask_for_no_loss_at_all() {
    let (_listener, port) = listener(&[]);
    let brief = ["--loss", "0", "--rate", "1M", "--time", "100ms", "--settle", "0"];
    let ended = client(&port, "search", &brief).success();
    assert_eq!(ended.total("udp_search").count("lost"), 0, "{ended:?}");
}

#[test]
fn a_stall_is_made_up_for_only_in_part() {
    let (_listener, port) = listener(&[]);
    let args = ["send", "127.0.0.1", "--port", &port, "--rate", "10M", "--size", "1250", "--time", "3s"];
    let sender = udpblast().start(&[&args[..], &["--interval", "250ms"]].concat());
    sender.wait_for_records(2);
    sender.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(1));
    sender.signal(Signal::SIGCONT);
    let ended = sender.end().success();
    for interval in ended.some("udp_send", "interval") {
        // What is due in 250 ms, 100 ms of what was not sent before, and what a late line lets in.
        assert!(interval.number("bytes") < 1_250_000.0 * 0.6, "{interval:?}: {ended:?}");
    }
    let total = ended.total("udp_send").number("bytes");
    assert!((2.0e6..3.0e6).contains(&total), "two seconds of three, and 100 ms: {ended:?}");
}

#[test]
fn losses_duplicates_and_reordering_are_told_apart() {
    let (listener, port) = listener(&[]);
    let mut line = 0;
    let mut run = |numbers: Vec<u64>, sent: u64| {
        let sender = HandSender::agree(&port);
        for (index, number) in numbers.iter().enumerate() {
            sender.data(*number);
            if index % 100 == 99 {
                // The receiver's buffer is not what this is about.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        sender.end(sent);
        sender.bye();
        line += 1;
        listener.wait_for_records(line).pop().unwrap()
    };
    let gaps = (0..1000).filter(|number| number % 5 != 4);
    let repeated = (0..1000).filter(|number| number % 5 == 0);
    let record = run(gaps.chain(repeated).collect(), 1000);
    assert_eq!(counts(&record)[..5], [1000, 800, 200, 200, 0]);
    assert_eq!(record.count("bytes"), 800 * 24, "without the duplicates");
    let record = run((0..1000).map(|number| number ^ 1).collect(), 1000);
    assert_eq!(counts(&record)[..5], [1000, 1000, 0, 0, 500]);
    let record = run((0..500).collect(), 1000);
    assert_eq!(counts(&record)[..5], [1000, 500, 500, 0, 0]);
    for around in [1_u64 << 31, 1 << 32] {
        let record = run((around - 100..around + 100).collect(), around + 100);
        assert_eq!((record.count("received"), record.count("sent")), (200, around + 100));
        assert_eq!((record.count("late"), record.count("duplicated")), (0, 0));
    }
}

#[test]
fn a_receiver_without_room_is_not_the_network() {
    let (listener, port) = listener(&[]);
    let args = ["--rate", "2G", "--size", "1448", "--time", "500ms", "--buffer", "8K"];
    let ended = client(&port, "send", &[&args, &["--no-offload"][..]].concat());
    assert!(ended.stderr.contains("net.core.rmem_max") || ended.total("udp_recv").count("lost") == 0, "{ended:?}");
    let [_, received] = both_totals(&ended.success());
    assert_eq!(received.count("network_lost"), 0, "{received:?}");
    assert_eq!(received.count("socket_drops"), received.count("lost"));
    // In joined buffers a drop is one datagram or many: known to the datagram, or not at all.
    let ended = client(&port, "send", &args).success();
    for total in ["udp_send", "udp_recv"].map(|test| ended.total(test)) {
        let is_split = total.text("socket_drops") == total.text("lost") && total.count("network_lost") == 0;
        let is_empty = total.text("socket_drops").is_empty() && total.text("network_lost").is_empty();
        assert!(is_split || is_empty && total.has_flag("unsplit"), "{total:?}");
    }
    // One that is stopped for a while.
    let sender = udpblast().start(&[
        "send",
        "127.0.0.1",
        "--port",
        &port,
        "--rate",
        "200M",
        "--size",
        "1448",
        "--time",
        "2s",
        "--buffer",
        "64K",
    ]);
    std::thread::sleep(Duration::from_millis(500));
    listener.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(1));
    listener.signal(Signal::SIGCONT);
    let [_, received] = both_totals(&sender.end().success());
    assert!(received.count("lost") > 1000 && received.count("network_lost") == 0, "{received:?}");
}

#[test]
fn rates_and_bursts_are_kept() {
    let (_listener, port) = listener(&[]);
    let args = ["--rate", "10M", "--burst", "10", "--size", "1250", "--time", "3s", "--interval", "1s"];
    let ended = client(&port, "send", &args).success();
    for line in ended.some("udp_send", "interval") {
        // Never faster than asked for, but for what a stall of 100 ms at most leaves to make up.
        assert!((6.0..=11.1).contains(&mbit_per_s(&line)), "{line:?}");
    }
    let slow = client(&port, "send", &["--rate", "7776", "--size", "972", "--time", "5s"]).success();
    let [sent, received] = both_totals(&slow);
    assert_eq!((sent.count("sent"), received.count("received")), (5, 5));
    assert_eq!(sent.count("ops"), 5, "a call each: what it costs is the machine's affair: {sent:?}");
    let [sent, _] = both_totals(&client(&port, "send", &["--bytes", "5M", "--rate", "1G", "--size", "1448"]).success());
    assert_eq!(sent.count("sent"), (5_u64 << 20).div_ceil(1448));
    assert!(sent.number("seconds") > 0.03, "not faster than asked for: {sent:?}");
}

#[test]
fn what_arrives_has_the_time_in_which_it_was_sent() {
    let (_listener, port) = listener(&[]);
    for args in [
        &["send", "--rate", "7776", "--size", "972", "--time", "3s"][..],
        &["send", "--rate", "20M", "--burst", "400", "--time", "1s"],
        &["send", "--rate", "max", "--bytes", "20K"],
        &["recv", "--rate", "max", "--bytes", "5M"],
        &["recv", "--rate", "1M", "--bytes", "2K", "--size", "1000"],
    ] {
        let [sent, received] = both_totals(&client(&port, args[0], &args[1..]).success());
        let [sent, received] = [sent, received].map(|line| line.number("bytes_per_s"));
        assert!(received <= sent, "{args:?}: {received} of {sent}");
    }
    // N datagrams take the time of N: half a second for a second of ten.
    let [sent, _] =
        both_totals(&client(&port, "send", &["--rate", "80K", "--bytes", "5000", "--size", "1000"]).success());
    assert!((0.49..0.6).contains(&sent.number("seconds")), "{sent:?}");
}

#[test]
fn intervals_cover_the_total_and_no_more() {
    let (_listener, port) = listener(&[]);
    let ended = client(&port, "send", &["--time", "1s", "--rate", "20M", "--interval", "10ms"]).success();
    for test in ["udp_send", "udp_recv"] {
        let (intervals, total) = (ended.some(test, "interval"), ended.total(test));
        let sum = |column| intervals.iter().map(|line| line.number(column)).sum::<f64>();
        assert!((sum("seconds") - total.number("seconds")).abs() < 1e-6, "{ended:?}");
        assert!((sum("bytes") - total.number("bytes")).abs() < 0.5, "{ended:?}");
        assert_ne!(intervals.last().unwrap().text("bytes"), "0", "the wait for stragglers is no interval: {ended:?}");
    }
}

#[test]
fn a_clock_that_is_set_is_no_jitter() {
    let scratch = Scratch::new();
    let Some(shim) = Shim::build_clock(&scratch) else { return };
    let (_listener, port) = listener(&[]);
    for step in ["3600", "1", "-3600"] {
        let receiver = udpblast().within(&shim.clock_prefix("0.6", step));
        let args = ["recv", "127.0.0.1", "--port", &port, "--rate", "80k", "--size", "200", "--time", "1s"];
        let ended = receiver.run(&args).success();
        for total in both_totals(&ended) {
            assert!(total.has_flag("stepped") && total.number("jitter_us") < 500_000.0, "{step}: {total:?}");
        }
    }
    let steady = client(&port, "recv", &["--rate", "80k", "--size", "200", "--time", "500ms"]).success();
    assert!(!steady.total("udp_recv").has_flag("stepped"), "{steady:?}");
}

#[test]
fn a_short_queue_on_the_way_loses_no_single_datagrams() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    // Two of them lie in it at a time.
    bed.shape("rate 40mbit burst 3200 limit 8000");
    let args = ["send", RECEIVER, "--rate", "20M", "--burst", "1", "--time", "1s"];
    let [_, received] = both_totals(&sender.run(&args).success());
    assert!(received.number("lost_pct") < 0.5, "{received:?}");
}

#[test]
fn twenty_clients_at_once_keep_their_counts() {
    let (_listener, port) = listener(&[]);
    let clients: Vec<_> = (0..20_u64)
        .map(|index| {
            let bytes = (100_000 + 10_000 * index).to_string();
            let verb = if index % 2 == 0 { "send" } else { "recv" };
            let args = [verb, "127.0.0.1", "--port", &port, "--bytes", &bytes, "--size", "1000", "--rate", "2M"];
            (index, udpblast().start(&args))
        })
        .collect();
    for (index, client) in clients {
        let [sent, received] = both_totals(&client.end().success());
        assert_eq!((sent.count("sent"), received.count("lost")), (100 + 10 * index, 0));
    }
}
