//! Several sockets at a time, and the way they go.

use std::process::Command;

use testkit::bed::{Bed, RECEIVER};

use super::{across, both_totals, client, in_namespace, listener};

#[test]
fn streams_share_the_rate_and_add_up() {
    let (listener, port) = listener(&[]);
    for verb in ["send", "recv"] {
        let args = [
            "--streams",
            "3",
            "--per-stream",
            "--rate",
            "10M",
            "--size",
            "1000",
            "--time",
            "600ms",
            "--interval",
            "200ms",
        ];
        let ended = client(&port, verb, &args).success();
        let totals = both_totals(&ended);
        for (total, stream) in totals.iter().zip(["udp_send_stream", "udp_recv_stream"]) {
            assert_eq!((total.text("streams"), total.text("stream")), ("3", ""));
            let streams = ended.some(stream, "total");
            let numbers: Vec<_> = streams.iter().map(|line| line.text("stream").to_owned()).collect();
            assert_eq!(numbers, ["0", "1", "2"], "{ended:?}");
            for column in ["bytes", "ops", "sent", "received", "lost", "network_lost", "socket_drops"] {
                let sum: u64 = streams.iter().map(|line| line.count(column)).sum();
                assert_eq!(sum, total.count(column), "{column}: {ended:?}");
            }
            assert_eq!(ended.some(stream, "interval").len(), 9, "{ended:?}");
        }
        let bytes = totals[0].number("bytes");
        assert!((0.3e6..=0.8e6).contains(&bytes), "a rate for all together, on a busy machine less: {totals:?}");
        assert_eq!(totals[1].count("lost"), 0, "{totals:?}");
    }
    let [sent, _] =
        both_totals(&client(&port, "send", &["--streams", "64", "--bytes", "1M", "--size", "1000"]).success());
    assert_eq!(sent.count("sent"), (1_u64 << 20).div_ceil(1000), "the amount is of all together, too");
    let _ = client(&port, "send", &["--streams", "9", "--rate", "8"]).failure(2, &["--rate", "--streams"]);
    let _ = client(&port, "send", &["--streams", "0"]).failure(2, &["--streams"]);
    drop(listener);
}

#[test]
fn half_lost_streams_still_begin() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    bed.lose(50);
    let args = ["--rate", "2M", "--size", "500", "--time", "1s", "--connect-timeout", "20s", "--idle-timeout", "15s"];
    for verb in ["send", "recv"] {
        let ended = sender.run(&[&[verb, RECEIVER, "--streams", "4"][..], &args].concat()).success();
        assert!((40.0..=60.0).contains(&both_totals(&ended)[1].number("lost_pct")), "{ended:?}");
    }
}

#[test]
fn the_way_is_the_one_asked_for() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    in_namespace(&bed.sender(), "ip addr add 10.0.1.3/24 dev eth0");
    for command in [
        "nft add table inet seen",
        "nft add chain inet seen both { type filter hook forward priority 0 ; }",
        "nft add rule inet seen both ip saddr 10.0.1.3 ip dscp ef udp length 1008 counter",
        "nft add rule inet seen both ip daddr 10.0.1.3 ip dscp ef udp length 1008 counter",
    ] {
        in_namespace(&bed.router(), command);
    }
    let way = ["--bind", "10.0.1.3", "--interface", "eth0", "--cpu", "0", "--dscp", "ef", "--size", "1000"];
    for verb in ["send", "recv"] {
        let args = [&[verb, RECEIVER, "--bytes", "50K", "--no-offload"], &way[..]].concat();
        let [sent, received] = both_totals(&sender.run(&args).success());
        assert_eq!((sent.count("sent"), received.count("lost")), (52, 0));
    }
    let rules = Command::new("ip").args(["netns", "exec", &bed.router(), "nft", "list", "ruleset"]).output().unwrap();
    let rules = String::from_utf8(rules.stdout).unwrap();
    assert_eq!(rules.matches("counter packets 52 ").count(), 2, "both ends mark what they send: {rules}");
    let wrong = ["send", RECEIVER, "--interface", "eth9", "--connect-timeout", "1s"];
    let _ = sender.run(&wrong).failure(1, &["--interface eth9"]);
    let wrong = ["send", RECEIVER, "--bind", "192.0.2.1", "--connect-timeout", "1s"];
    let _ = sender.run(&wrong).failure(1, &["--bind 192.0.2.1"]);
}
