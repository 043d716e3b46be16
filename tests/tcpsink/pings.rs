//! Requests and responses: many on their way at once.

use std::time::Duration;

use testkit::Record;
use testkit::bed::Bed;

use super::{sink, tcpsink};

fn ping(port: &str, args: &[&str]) -> testkit::Ended {
    tcpsink().run(&[&["ping", "127.0.0.1", "--port", port], args].concat()).success()
}

/// So many requests on their way at any time, and not more: what they waited for, all together, is the time of all places.
fn keeps_its_depth(total: &Record, depth: f64) {
    let (ops, seconds) = (total.number("ops"), total.number("seconds"));
    let places_us = depth * seconds * 1e6;
    assert!(total.number("max_us") >= 0.5 * places_us / ops, "the longest is not below the mean: {total:?}");
    assert!(total.number("p50_us") * ops / 2.0 <= 1.1 * places_us, "half of them are not below the median: {total:?}");
}

#[test]
fn many_requests_are_on_their_way_at_once() {
    let (_sink, port) = sink(&[]);
    for (depth, request, response) in [(4, 1_u64, 1_u64), (16, 100, 65_536), (64, 1 << 20, 1 << 20)] {
        let [text, request_text, response_text] = [depth, request, response].map(|number| number.to_string());
        let sizes = ["--request", &request_text, "--response", &response_text];
        let ended = ping(&port, &[&["--depth", &text, "--time", "600ms", "--interval", "200ms"], &sizes[..]].concat());
        let total = ended.total("tcp_ping");
        assert_eq!((total.count("depth"), total.text("flags")), (depth, ""), "{ended:?}");
        assert_eq!(total.count("bytes"), total.count("ops") * (request + response));
        let intervals = ended.some("tcp_ping", "interval");
        assert_eq!(intervals.iter().map(|line| line.count("ops")).sum::<u64>(), total.count("ops"));
        let pong = ended.total("tcp_pong");
        assert_eq!((pong.count("depth"), pong.count("ops")), (depth, total.count("ops")), "what was begun is finished");
        // A request that the buffers have no room for is not on its way yet.
        if request < 1 << 20 {
            keeps_its_depth(&total, depth as f64);
        }
    }
    let two = ping(&port, &["--depth", "8", "--streams", "2", "--time", "300ms"]).total("tcp_ping");
    assert_eq!((two.count("depth"), two.count("streams")), (8, 2));
    keeps_its_depth(&two, 16.0);
    assert_eq!(ping(&port, &["--time", "100ms"]).total("tcp_ping").count("depth"), 1);
}

#[test]
fn what_cannot_arrive_in_time_is_not_waited_for() {
    let Some(bed) = Bed::new() else { return };
    bed.shape("rate 20mbit burst 10000 latency 100ms");
    // The way from the sender is the slow one: for responses, the sink's.
    let sink = bed.at_sender(&tcpsink()).start(&["listen"]);
    sink.port();
    let there = "10.0.1.2";
    // 64 MB on their way are almost half a minute.
    let args = ["ping", there, "--depth", "256", "--response", "256K", "--request", "1K", "--time", "1s"];
    let ended = bed.at_receiver(&tcpsink()).run(&args).success();
    assert!(ended.took < Duration::from_secs(8), "{ended:?}");
    let total = ended.total("tcp_ping");
    assert!(total.number("seconds") < 3.0 && total.text("flags").is_empty(), "{total:?}");
    assert!(ended.total("tcp_pong").count("ops") >= total.count("ops"), "{ended:?}");
    let after = bed.at_receiver(&tcpsink()).run(&["ping", there, "--time", "300ms"]).success();
    assert!(after.total("tcp_ping").count("ops") > 0);
}
