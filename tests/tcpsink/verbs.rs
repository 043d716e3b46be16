//! Every direction, streams, latency, and the options of a connection.

use std::io::Read;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER};
use testkit::eventually;

use super::{mbit_per_s, sink, sum, tcpsink};

fn client(port: &str, verb: &str, args: &[&str]) -> testkit::Ended {
    tcpsink().run(&[&[verb, "127.0.0.1", "--port", port], args].concat())
}

#[test]
fn the_sink_sends_too() {
    let (sink, port) = sink(&[]);
    let ended = client(&port, "recv", &["--bytes", "1M"]).success();
    for test in ["tcp_send", "tcp_recv"] {
        let total = ended.total(test);
        assert_eq!((total.count("bytes"), total.text("flags")), (1_048_576, ""));
        assert_eq!(total.text("direction"), "down");
        assert!(total.number("seconds") < 1.0, "not rounded up to a second: {total:?}");
    }
    assert_eq!(sink.wait_for_records(1)[0].text("test"), "tcp_send");

    let ended = client(&port, "recv", &["--time", "600ms", "--interval", "200ms"]).success();
    for test in ["tcp_send", "tcp_recv"] {
        assert_eq!(sum(&ended.some(test, "interval")), ended.total(test).count("bytes"));
        assert_eq!(ended.some(test, "interval").len(), 3);
    }
}

#[test]
fn both_directions_at_once_are_four_lines() {
    let (_sink, port) = sink(&[]);
    let ended = client(&port, "both", &["--time", "500ms"]).success();
    let lines: Vec<_> = ended
        .records()
        .iter()
        .map(|line| (line.text("direction").to_owned(), line.text("test").to_owned(), line.count("bytes")))
        .collect();
    let names: Vec<_> = lines.iter().map(|(direction, test, _)| (direction.as_str(), test.as_str())).collect();
    assert_eq!(names, [("up", "tcp_send"), ("up", "tcp_recv"), ("down", "tcp_send"), ("down", "tcp_recv")]);
    assert_eq!((lines[0].2, lines[2].2), (lines[1].2, lines[3].2), "what was sent arrived");
}

#[test]
fn streams_are_shown_one_by_one_and_summed() {
    let (_sink, port) = sink(&[]);
    let ended = client(&port, "send", &["--bytes", "1000003", "--streams", "4", "--per-stream"]).success();
    for test in ["tcp_send", "tcp_recv"] {
        let total = ended.total(test);
        let streams = ended.some(&format!("{test}_stream"), "total");
        assert_eq!((total.count("bytes"), total.count("streams"), total.text("stream")), (1_000_003, 4, ""));
        assert_eq!(sum(&streams), 1_000_003, "remainders are not lost");
        let numbers: Vec<_> = streams.iter().map(|line| line.count("stream")).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }
}

#[test]
fn no_option_of_a_client_is_seen_by_the_next() {
    let (_sink, port) = sink(&[]);
    let fresh = client(&port, "recv", &["--bytes", "1K"]).success().total("tcp_send");
    let odd =
        ["--bytes", "1K", "--buffer", "32K", "--congestion", "reno", "--dscp", "cs1", "--mss", "500", "--nodelay"];
    let odd = client(&port, "recv", &odd).success().total("tcp_send");
    assert_eq!((odd.text("congestion"), odd.count("mss_bytes") < 600), ("reno", true), "{odd:?}");
    let next = client(&port, "recv", &["--bytes", "1K"]).success().total("tcp_send");
    for column in ["congestion", "mss_bytes"] {
        assert_eq!(next.text(column), fresh.text(column), "{column}");
    }
    assert!(next.count("send_buffer_bytes") > odd.count("send_buffer_bytes"));
    let ended = client(&port, "recv", &["--time", "1s"]).success();
    assert_eq!(ended.total("tcp_recv").text("flags"), "");
}

#[test]
fn a_capped_buffer_goes_on_and_says_so() {
    let (_sink, port) = sink(&[]);
    let ended = client(&port, "send", &["--bytes", "1M", "--buffer", "1G"]).success();
    for (test, column) in [("tcp_send", "send_buffer_bytes"), ("tcp_recv", "recv_buffer_bytes")] {
        let total = ended.total(test);
        assert!(total.has_flag("capped") && total.count(column) < 1 << 30, "{total:?}");
    }
    let ended = client(&port, "send", &["--bytes", "1M", "--buffer", "64K"]).success();
    assert_eq!(ended.total("tcp_recv").count("recv_buffer_bytes"), 131_072);
    assert_eq!(ended.total("tcp_recv").text("flags"), "");
}

#[test]
fn ping_counts_and_orders_its_latencies() {
    let (_sink, port) = sink(&[]);
    let args = ["--time", "600ms", "--interval", "200ms", "--request", "100", "--response", "10K"];
    let ended = client(&port, "ping", &args).success();
    let total = ended.total("tcp_ping");
    assert_eq!(total.count("bytes"), total.count("ops") * (100 + 10_240));
    assert_eq!((total.count("message_bytes"), total.count("response_bytes")), (100, 10_240));
    let intervals = ended.some("tcp_ping", "interval");
    assert_eq!(intervals.iter().map(|line| line.count("ops")).sum::<u64>(), total.count("ops"));
    for line in intervals.iter().chain([&total]) {
        let points = ["p50_us", "p90_us", "p99_us", "p999_us", "max_us"].map(|column| line.number(column));
        assert!(points.is_sorted() && points[0] > 0.0, "{points:?}");
    }
    assert_eq!(ended.total("tcp_pong").count("ops"), total.count("ops"), "the sink answered as many");
    let sparse = client(&port, "ping", &["--time", "500ms", "--every", "100ms"]).success().total("tcp_ping");
    assert!((3..=6).contains(&sparse.count("ops")), "{sparse:?}");
    let two = client(&port, "ping", &["--time", "200ms", "--streams", "2"]).success();
    assert_eq!(two.total("tcp_ping").count("streams"), 2);
}

#[test]
fn connecting_never_runs_out_of_ports() {
    let Some(bed) = Bed::new() else { return };
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    let few = ["ip", "netns", "exec", &bed.sender(), "sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40019"];
    assert!(Command::new(few[0]).args(&few[1..]).status().unwrap().success());
    let ended = bed.at_sender(&tcpsink()).run(&["connect", RECEIVER, "--time", "1s", "--bind", "10.0.1.2"]).success();
    let total = ended.total("tcp_connect");
    assert!(total.count("ops") > 100, "20 ports are enough: {total:?}");
    assert!(total.number("p50_us") <= total.number("max_us"));
    sink.signal(Signal::SIGTERM);
    assert_eq!(sink.end().success().stdout, "", "no line for each connection");
}

#[test]
fn a_queue_shows_in_the_loaded_ping() {
    let Some(bed) = Bed::new() else { return };
    bed.shape("rate 20mbit burst 10000 latency 300ms");
    let sink = bed.at_receiver(&tcpsink()).start(&["listen"]);
    sink.port();
    let ended = bed.at_sender(&tcpsink()).run(&["send", RECEIVER, "--time", "4s", "--probe", "--congestion", "cubic"]);
    let ended = ended.success();
    let [idle, loaded] = ["tcp_idle_ping", "tcp_loaded_ping"].map(|test| ended.total(test).number("p50_us"));
    assert!(loaded > 5.0 * idle, "{idle} {loaded}");
    assert_eq!(ended.total("tcp_loaded_ping").text("flags"), "");
    assert_eq!(ended.records().len(), 4);
}

#[test]
fn a_rate_is_kept_in_every_second() {
    let (_sink, port) = sink(&[]);
    let ended = client(&port, "send", &["--rate", "50M", "--time", "3s", "--interval", "1s"]).success();
    for line in ended.some("tcp_recv", "interval") {
        // Never faster than asked for, but for what a stall of 100 ms at most leaves to make up.
        assert!((30.0..=55.5).contains(&mbit_per_s(&line)), "{line:?}");
    }
    assert_eq!(ended.total("tcp_send").text("pacing"), "kernel");
    let ended = client(&port, "recv", &["--rate", "20M", "--streams", "2", "--time", "2s"]).success();
    assert!((15.0..=20.2).contains(&mbit_per_s(&ended.total("tcp_recv"))), "{ended:?}");
}

#[test]
fn a_slow_rate_costs_nothing_and_a_fast_one_is_not_cut() {
    let (_sink, port) = sink(&[]);
    let slow = client(&port, "send", &["--rate", "8K", "--time", "3s"]).success().total("tcp_send");
    // A call each 20 ms at most: what it costs is the machine's affair.
    assert!(slow.count("ops") <= 152 && (2_500..=3_020).contains(&slow.count("bytes")), "{slow:?}");
    let fast = client(&port, "send", &["--rate", "40G", "--time", "300ms"]).success().total("tcp_send");
    assert_eq!(fast.count("pacing_bytes_per_s"), 5_000_000_000);
}

#[test]
fn every_way_into_the_kernel_moves_the_same() {
    let (_sink, port) = sink(&[]);
    for method in ["write", "sendfile", "zerocopy"] {
        let ended = client(&port, "send", &["--method", method, "--bytes", "30M", "--message", "100K"]).success();
        let sent = ended.total("tcp_send");
        assert_eq!((sent.text("method"), sent.count("message_bytes")), (method, 102_400));
        assert_eq!(ended.total("tcp_recv").count("bytes"), 30 << 20);
        assert_eq!(sent.has_flag("fallback"), method == "zerocopy", "on loopback the kernel copies: {sent:?}");
    }
}

#[test]
fn a_receiver_that_is_slow_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("slow");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let reader = {
        let fifo = fifo.clone();
        std::thread::spawn(move || {
            let mut file = std::fs::File::open(fifo).unwrap();
            let mut chunk = vec![0; 64 * 1024];
            // 6.4 MB/s, until the sender is done and the rest may go fast.
            let begun = Instant::now();
            while file.read(&mut chunk).unwrap() > 0 {
                if begun.elapsed() < Duration::from_secs(3) {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        })
    };
    let (_sink, port) = sink(&["--output", fifo.to_str().unwrap()]);
    let sent = client(&port, "send", &["--time", "3s"]).success().total("tcp_send");
    assert!(sent.number("rwnd_limited_pct") > 80.0, "{sent:?}");
    reader.join().unwrap();
}

#[test]
fn link_local_addresses_name_their_link() {
    let Some(bed) = Bed::new() else { return };
    let add = ["-n", &bed.router(), "addr", "add", "fe80::1/64", "dev", "port1", "nodad"];
    assert!(Command::new("ip").args(add).status().unwrap().success());
    let sink = tcpsink().within(&["ip", "netns", "exec", &bed.router()]).start(&["listen"]);
    sink.port();
    let sender = bed.at_sender(&tcpsink());
    // The sender's own link-local address may still be under duplicate address detection.
    eventually("a link-local address", Duration::from_secs(5), || {
        sender.run(&["send", "fe80::1%eth0", "--bytes", "1000"]).status.success()
    });
    let ended = sender.run(&["send", "fe80::1%eth0", "--bytes", "1000", "--interface", "eth0"]).success();
    assert_eq!(ended.total("tcp_recv").count("bytes"), 1000);
    let ended = sender.run(&["send", "10.0.1.1", "--bytes", "1000", "--interface", "lo", "--connect-timeout", "1s"]);
    assert!(!ended.status.success(), "bound to another interface: {ended:?}");
}

#[test]
fn options_that_cannot_be_are_named() {
    let (_sink, port) = sink(&[]);
    for (args, words) in [
        (&["--interface", "nosuch0"][..], ["--interface nosuch0", "No such device"]),
        (&["--congestion", "nosuch"], ["--congestion nosuch", "this kernel has"]),
        (&["--bind", "192.0.2.1"], ["--bind 192.0.2.1", "assign"]),
        (&["--cpu", "1000"], ["--cpu 1000", "Invalid argument"]),
        (&["-6"], ["127.0.0.1", "-6"]),
        (&["--secret-file", "/nosuch"], ["--secret-file", "/nosuch"]),
    ] {
        let ended = client(&port, "send", &[args, &["--bytes", "1K"]].concat());
        let _ = ended.failure(1, &words);
    }
}

#[test]
fn an_interrupted_transfer_shows_both_ends() {
    let (_sink, port) = sink(&[]);
    for verb in ["recv", "both"] {
        let client = tcpsink().start(&[verb, "127.0.0.1", "--port", &port, "--time", "30s", "--interval", "200ms"]);
        client.wait_for_records(4);
        client.signal(Signal::SIGINT);
        let ended = client.end().killed_by(Signal::SIGINT);
        assert!(ended.took < Duration::from_secs(5));
        let totals: Vec<_> = ended.records().into_iter().filter(|line| line.text("span") == "total").collect();
        assert_eq!(totals.len(), if verb == "both" { 4 } else { 2 }, "{ended:?}");
        assert!(totals.iter().all(|line| line.has_flag("partial")), "{totals:?}");
    }
}

#[test]
fn a_sink_that_waited_counts_the_cpu_of_the_test_only() {
    let (_sink, port) = sink(&[]);
    client(&port, "send", &["--bytes", "500M"]).success().total("tcp_recv");
    std::thread::sleep(Duration::from_secs(2));
    let ended = client(&port, "send", &["--rate", "1M", "--time", "1s"]).success();
    assert!(ended.total("tcp_recv").number("cpu_pct") < 20.0, "{ended:?}");
}

#[test]
fn several_requests_under_way_are_quicker_than_one_after_the_other() {
    let (_sink, port) = sink(&[]);
    let ping = |depth: &str| {
        let args = [
            "ping",
            "127.0.0.1",
            "--port",
            &port,
            "--time",
            "500ms",
            "--depth",
            depth,
            "--request",
            "200",
            "--response",
            "3000",
        ];
        tcpsink().run(&args).success()
    };
    for depth in ["1", "2", "16"] {
        let ended = ping(depth);
        let [client, answered] = ["tcp_ping", "tcp_pong"].map(|test| ended.total(test));
        assert_eq!((client.text("depth"), answered.text("depth")), (depth, depth));
        assert_eq!(client.count("ops"), answered.count("ops"), "all are answered: {ended:?}");
        assert_eq!(client.count("bytes"), client.count("ops") * 3200);
        // Little's law: so many are under way, and no more.
        let under_way = client.number("ops_per_s") * client.number("p50_us") / 1e6;
        assert!(under_way < 1.5 * depth.parse::<f64>().unwrap(), "{client:?}");
    }
    // More than any buffer takes, both ways: nobody waits for the other to read first.
    let args = [
        "ping",
        "127.0.0.1",
        "--port",
        &port,
        "--time",
        "500ms",
        "--depth",
        "32",
        "--request",
        "1M",
        "--response",
        "1M",
    ];
    let ended = tcpsink().run(&args).success();
    assert!(ended.total("tcp_ping").count("ops") > 0 && ended.took < Duration::from_secs(8), "{ended:?}");
    let _ = tcpsink().run(&["ping", "h", "--depth", "2", "--every", "1s"]).failure(2, &["--depth", "--every"]);
    let _ = tcpsink().run(&["ping", "h", "--depth", "0"]).failure(2, &["--depth"]);
}
