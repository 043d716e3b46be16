//! Requests and responses, and in which direction they are lost.

use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER};

use super::{across, client, in_namespace, listener, udpblast};

#[test]
fn ping_counts_what_does_not_come_back() {
    let (_listener, port) = listener(&[]);
    let ended = client(&port, "ping", &["--time", "300ms"]).success();
    let total = ended.total("udp_ping");
    let points = ["p50_us", "p90_us", "p99_us", "p999_us", "max_us"].map(|column| total.number(column));
    assert!(points.is_sorted() && points[0] > 0.0, "{points:?}");
    assert_eq!((total.count("lost"), total.count("received")), (0, total.count("ops")));
    assert_eq!((total.text("network_lost"), total.text("socket_drops")), ("", ""), "nobody knows where a ping is lost");

    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    bed.lose(20);
    let ended =
        sender.run(&["ping", RECEIVER, "--time", "4s", "--connect-timeout", "15s", "--idle-timeout", "15s"]).success();
    assert!(ended.total("udp_ping").count("lost") > 0, "{ended:?}");
}

#[test]
fn paced_pings_tell_the_direction_of_a_loss() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    for command in [
        "nft add table inet loss",
        "nft add chain inet loss cut { type filter hook forward priority 0 ; }",
        "nft add rule inet loss cut ip daddr 10.0.2.2 udp length 108 numgen random mod 100 < 20 counter drop",
        "nft add rule inet loss cut ip saddr 10.0.2.2 udp length 108 numgen random mod 100 < 10 counter drop",
    ] {
        in_namespace(&bed.router(), command);
    }
    let ended = sender.run(&["ping", RECEIVER, "--time", "2s", "--every", "5ms", "--size", "100"]).success();
    let [ping, listeners] = ["udp_ping", "udp_pong"].map(|test| ended.total(test));
    let rules = Command::new("ip").args(["netns", "exec", &bed.router(), "nft", "list", "ruleset"]).output().unwrap();
    let rules = String::from_utf8(rules.stdout).unwrap();
    let dropped: Vec<u64> = rules
        .lines()
        .filter_map(|line| line.split_once("counter packets ")?.1.split(' ').next()?.parse().ok())
        .collect();
    assert_eq!([ping.count("forward_lost"), ping.count("reverse_lost")], [dropped[0], dropped[1]], "{ended:?}");
    assert_eq!(ping.count("lost"), dropped[0] + dropped[1]);
    assert_eq!(
        (listeners.count("sent"), listeners.count("lost")),
        (ping.count("sent"), dropped[0]),
        "the listener counts"
    );
    // On its own time, whatever is lost: a lost one holds nothing up.
    assert!((350..=400).contains(&ping.count("sent")), "{ping:?}");
    assert_eq!(ping.text("every_us"), "5000");
    assert!((1.9..2.3).contains(&ping.number("seconds")), "{ping:?}");
}

#[test]
fn responses_that_come_too_late_are_counted() {
    let (listener, port) = listener(&[]);
    let ping = udpblast().start(&["ping", "127.0.0.1", "--port", &port, "--every", "100ms", "--time", "3s"]);
    std::thread::sleep(Duration::from_millis(500));
    listener.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(1500));
    listener.signal(Signal::SIGCONT);
    let total = ping.end().success().total("udp_ping");
    assert!(total.count("late") > 2 && total.count("late") == total.count("lost"), "{total:?}");
    assert_eq!(total.count("forward_lost"), 0, "they arrived: {total:?}");
}
