//! Every loss has one place, to the datagram: what the queues, the router and the sockets count themselves is the judge.

use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER};

use super::{across, both_totals, in_namespace};

/// A datagram of data is longer than any word of the two ends here, which are not counted.
const SIZE: &str = "1400";

/// What is in the way of a test.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "each is there or not")]
struct Obstacles {
    own_queue: bool,
    routers_queue: bool,
    routers_dice: bool,
    small_buffer: bool,
}

impl Obstacles {
    fn lay(self, bed: &Bed) {
        for (name, device) in [(bed.sender(), "eth0"), (bed.router(), "port2")] {
            // There may be none.
            let _ = Command::new("tc").args(["-n", &name, "qdisc", "del", "dev", device, "root"]).output();
        }
        let _ = Command::new("ip").args(["netns", "exec", &bed.router(), "nft", "flush", "ruleset"]).output();
        if self.own_queue {
            in_namespace(&bed.sender(), "tc qdisc add dev eth0 root tbf rate 18mbit burst 5000 limit 20000");
        }
        if self.routers_queue {
            in_namespace(&bed.router(), "tc qdisc add dev port2 root tbf rate 10mbit burst 5000 limit 20000");
        }
        if self.routers_dice {
            for command in [
                "nft add table inet loss",
                "nft add chain inet loss cut { type filter hook forward priority 0 ; }",
                "nft add rule inet loss cut udp length > 1000 numgen random mod 100 < 20 counter drop",
            ] {
                in_namespace(&bed.router(), command);
            }
        }
    }

    /// What was dropped, by the counters of the kernel: in the sender's queue, and in the network.
    fn dropped(self, bed: &Bed) -> (u64, u64) {
        let own = if self.own_queue { dropped_at(&bed.sender(), "eth0") } else { 0 };
        let routers = if self.routers_queue { dropped_at(&bed.router(), "port2") } else { 0 };
        (own, routers + if self.routers_dice { diced(&bed.router(), 1400) } else { 0 })
    }
}

fn number_after(text: &str, word: &str) -> u64 {
    let mut words = text.split(|c: char| c.is_whitespace() || c == ',' || c == '(');
    let found = words.find(|found| *found == word).and_then(|_| words.next()).and_then(|number| number.parse().ok());
    found.unwrap_or_else(|| panic!("no '{word}' in {text}"))
}

fn dropped_at(namespace: &str, device: &str) -> u64 {
    let output = Command::new("tc").args(["-n", namespace, "-s", "qdisc", "show", "dev", device]).output().unwrap();
    number_after(&String::from_utf8_lossy(&output.stdout), "dropped")
}

/// Datagrams of `size` that the dice took: a buffer of `UDP_SEGMENT` is one packet there, with the headers of one (28 bytes).
fn diced(namespace: &str, size: u64) -> u64 {
    let command = ["netns", "exec", namespace, "nft", "list", "ruleset"];
    let text = String::from_utf8(Command::new("ip").args(command).output().unwrap().stdout).unwrap();
    (number_after(&text, "bytes") - 28 * number_after(&text, "packets")) / size
}

/// What the socket of the receiver has dropped, by `/proc/net/udp` of its process while it is open.
fn drops_of_sockets(bed: &Bed) -> u64 {
    let command = ["netns", "exec", &bed.receiver(), "cat", "/proc/net/snmp"];
    let text = String::from_utf8(Command::new("ip").args(command).output().unwrap().stdout).unwrap();
    let mut rows = text.lines().filter(|line| line.starts_with("Udp:"));
    let names: Vec<_> = rows.next().unwrap().split_whitespace().collect();
    let place = names.iter().position(|name| *name == "RcvbufErrors").unwrap();
    rows.next().unwrap().split_whitespace().nth(place).unwrap().parse().unwrap()
}

#[test]
fn every_loss_has_its_place_to_the_datagram() {
    let Some(bed) = Bed::new() else { return };
    let (listener, sender) = across(&bed);
    let none = Obstacles { own_queue: false, routers_queue: false, routers_dice: false, small_buffer: false };
    let all = Obstacles { own_queue: true, routers_queue: true, routers_dice: true, small_buffer: true };
    let each = [
        Obstacles { own_queue: true, ..none },
        Obstacles { routers_queue: true, ..none },
        Obstacles { routers_dice: true, ..none },
        Obstacles { small_buffer: true, ..none },
        all,
    ];
    for obstacles in each {
        // Below and above the rate from which on several datagrams share a call.
        for (rate, offload) in [("30M", true), ("30M", false), ("400M", true), ("400M", false)] {
            obstacles.lay(&bed);
            let drops_before = drops_of_sockets(&bed);
            let mut args = vec!["send", RECEIVER, "--rate", rate, "--size", SIZE, "--time", "800ms"];
            if obstacles.small_buffer {
                args.extend(["--buffer", "16K"]);
            }
            if !offload {
                args.push("--no-offload");
            }
            let running = sender.start(&args);
            if obstacles.small_buffer {
                std::thread::sleep(Duration::from_millis(300));
                listener.signal(Signal::SIGSTOP);
                std::thread::sleep(Duration::from_millis(300));
                listener.signal(Signal::SIGCONT);
            }
            let ended = running.end().success();
            let [sent, received] = both_totals(&ended);
            let case = format!("{obstacles:?} {rate} offload {offload}: {ended:?}");
            let (own, network) = obstacles.dropped(&bed);
            assert_eq!(sent.count("sender_drops"), own, "{case}");
            for line in [&sent, &received] {
                if line.text("network_lost").is_empty() {
                    assert!(line.has_flag("unsplit") && line.text("socket_drops").is_empty(), "{case}");
                    assert!(offload && rate == "400M", "one datagram per call is known by itself: {case}");
                    continue;
                }
                assert!(!line.has_flag("unsplit"), "{case}");
                assert_eq!(line.count("network_lost"), network, "{case}");
                assert_eq!(line.count("socket_drops"), drops_of_sockets(&bed) - drops_before, "{case}");
                assert_eq!(line.count("lost"), line.count("network_lost") + line.count("socket_drops"), "{case}");
            }
        }
    }
}

#[test]
fn what_a_queue_refuses_is_counted_in_datagrams() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    in_namespace(&bed.sender(), "tc qdisc replace dev eth0 root tbf rate 10mbit burst 5000 limit 20000");
    for offload in [&["--no-offload"][..], &[]] {
        let before = dropped_at(&bed.sender(), "eth0");
        let args = [&["send", RECEIVER, "--rate", "20M", "--time", "1s"][..], offload].concat();
        let [sent, received] = both_totals(&sender.run(&args).success());
        assert_eq!(sent.count("sender_drops"), dropped_at(&bed.sender(), "eth0") - before, "{sent:?}");
        // What was due was sent or refused, once; a busy machine sends less.
        let due = sent.count("sent") + sent.count("sender_drops");
        assert!((1_000..=1_700).contains(&due), "20 Mbit/s for a second: {sent:?}");
        assert_eq!(received.count("lost"), 0, "not called a loss of the network: {received:?}");
    }
    // Its own firewall is no network, either.
    in_namespace(&bed.sender(), "tc qdisc del dev eth0 root");
    for command in [
        "nft add table inet own",
        "nft add chain inet own out { type filter hook output priority 0 ; }",
        "nft add rule inet own out udp length > 1000 numgen random mod 100 < 20 counter drop",
    ] {
        in_namespace(&bed.sender(), command);
    }
    let [sent, _] = both_totals(&sender.run(&["send", RECEIVER, "--rate", "20M", "--time", "1s"]).success());
    assert_eq!((sent.count("sender_drops"), sent.count("lost")), (diced(&bed.sender(), 1472), 0), "{sent:?}");
}
