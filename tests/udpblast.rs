//! `udpblast` as a shell uses it. Losses are made by a router or by a receiver that is too slow, and must be found there.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::bed::{Bed, RECEIVER, RECEIVER_V6};
use testkit::hand_sender::HandSender;
use testkit::{Ended, Record, Running, Tool, contract, eventually};

fn udpblast() -> Tool {
    Tool::new(env!("CARGO_BIN_EXE_udpblast"))
}

fn listener(args: &[&str]) -> (Running, String) {
    let running = udpblast().start(&[&["listen", "--port", "0", "--bind", "127.0.0.1"], args].concat());
    let port = running.port();
    (running, port)
}

fn client(port: &str, verb: &str, args: &[&str]) -> Ended {
    udpblast().run(&[&[verb, "127.0.0.1", "--port", port], args].concat())
}

fn mbit_per_s(record: &Record) -> f64 {
    record.number("bytes_per_s") * 8.0 / 1e6
}

/// The counts that both ends must agree on.
fn counts(record: &Record) -> Vec<u64> {
    ["sent", "received", "lost", "duplicated", "reordered", "late", "network_lost", "socket_drops"]
        .map(|column| record.count(column))
        .to_vec()
}

fn both_totals(ended: &Ended) -> [Record; 2] {
    let totals = ["udp_send", "udp_recv"].map(|test| ended.total(test));
    assert_eq!(counts(&totals[0]), counts(&totals[1]), "both ends say the same");
    totals
}

fn in_namespace(namespace: &str, command: &str) {
    let words = ["netns", "exec", namespace].into_iter().chain(command.split_whitespace());
    assert!(Command::new("ip").args(words).status().unwrap().success(), "{command}");
}

/// A listener at the receiver of a network, and a client at its sender.
fn across(bed: &Bed) -> (Running, Tool) {
    let listener = bed.at_receiver(&udpblast()).start(&["listen"]);
    listener.port();
    (listener, bed.at_sender(&udpblast()))
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &udpblast(),
        "udpblast",
        &[
            (&["send", "h", "--rate", "0"], "--rate"),
            (&["send", "h", "--rate", "-1M"], "--rate"),
            (&["send", "h", "--rate", "fast"], "--rate"),
            (&["send", "h", "--size", "10"], "--size"),
            (&["send", "h", "--size", "70000"], "--size"),
            (&["send", "h", "--burst", "0"], "--burst"),
            (&["send", "h", "--bytes", "0"], "--bytes"),
            (&["send", "h", "--bytes", "1M", "--time", "1s"], "--bytes"),
            (&["send", "h", "--time", "0"], "--time"),
            (&["send", "h", "--interval", "5s", "--time", "1s"], "--interval"),
            (&["send", "h", "--fragment"], "--size"),
            (&["send", "h", "--port", "70000"], "--port"),
            (&["search", "h", "--loss", "-1"], "--loss"),
            (&["ping", "h", "--size", "1"], "--size"),
            (&["listen", "--max-rate", "0"], "--max-rate"),
            (&["send"], "HOST"),
        ],
    );
}

#[test]
fn help_and_columns_are_as_recorded() {
    for (args, snapshot) in [
        (&["--help"][..], include_str!("snapshots/udpblast-help.txt")),
        (&["listen", "--help"], include_str!("snapshots/udpblast-listen-help.txt")),
        (&["send", "--help"], include_str!("snapshots/udpblast-send-help.txt")),
        (&["recv", "--help"], include_str!("snapshots/udpblast-recv-help.txt")),
        (&["ping", "--help"], include_str!("snapshots/udpblast-ping-help.txt")),
        (&["search", "--help"], include_str!("snapshots/udpblast-search-help.txt")),
        (&["--columns"], include_str!("snapshots/udpblast-columns.csv")),
    ] {
        assert_eq!(udpblast().run(args).success().stdout, snapshot, "{args:?}; `make snapshots` records it anew");
    }
}

#[test]
fn both_ends_report_and_intervals_add_up() {
    let (listener, port) = listener(&[]);
    for verb in ["send", "recv"] {
        let args = ["--rate", "20M", "--size", "1000", "--time", "900ms", "--interval", "300ms", "--label", "a,\"b\""];
        let ended = client(&port, verb, &args).success();
        for total in both_totals(&ended) {
            let intervals = ended.select(total.text("test"), "interval");
            assert_eq!(intervals.len(), 3, "{verb}");
            assert_eq!(intervals.iter().map(|line| line.count("bytes")).sum::<u64>(), total.count("bytes"));
            assert_eq!((total.text("label"), total.text("flags"), total.count("lost")), ("a,\"b\"", "", 0));
            assert_eq!(total.count("ops"), total.count("bytes") / 1000);
            assert!((19.0..=21.0).contains(&mbit_per_s(&total)), "{total:?}");
        }
    }
    assert_eq!(listener.wait_for_records(8).len(), 8, "the listener prints its lines too");
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
fn strangers_are_ignored_and_counted() {
    let (listener, port) = listener(&[]);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.connect(format!("127.0.0.1:{port}")).unwrap();
    for datagram in [&b"hello?"[..], b"\0UB\x01garbage and more garbage", b"udpblast/1 report received=9\n", b""] {
        stranger.send(datagram).unwrap();
    }
    let sender = HandSender::agree(&port);
    sender.data(0);
    sender.raw(b"udpblast/1 start\n");
    sender.raw(&[0xff; 500]);
    let mut foreign = vec![0, b'U', b'B', 1];
    foreign.extend([9; 30]);
    sender.raw(&foreign);
    stranger.send(b"udpblast/1 end sent=5\n").unwrap();
    sender.data(1);
    sender.end(2);
    sender.bye();
    let record = listener.wait_for_records(1).remove(0);
    assert_eq!(counts(&record)[..3], [2, 2, 0]);
    assert_eq!(record.count("strangers"), 3, "what is neither data nor a word");
    assert_eq!(
        client(&port, "send", &["--bytes", "10K", "--size", "1000"]).success().total("udp_recv").count("lost"),
        0
    );
}

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
fn a_receiver_without_room_is_not_the_network() {
    let (listener, port) = listener(&[]);
    let args = ["--rate", "2G", "--size", "1448", "--time", "500ms", "--buffer", "8K"];
    for offload in [&["--no-offload"][..], &[]] {
        let ended = client(&port, "send", &[&args, offload].concat());
        assert!(ended.stderr.contains("net.core.rmem_max") || ended.total("udp_recv").count("lost") == 0, "{ended:?}");
        let [_, received] = both_totals(&ended.success());
        assert_eq!(received.count("network_lost"), 0, "{received:?}");
        assert_eq!(received.count("socket_drops"), received.count("lost"));
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
fn rates_and_bursts_are_kept() {
    let (_listener, port) = listener(&[]);
    let args = ["--rate", "10M", "--burst", "10", "--size", "1250", "--time", "3s", "--interval", "1s"];
    let ended = client(&port, "send", &args).success();
    for line in ended.select("udp_send", "interval") {
        assert!((9.8..=10.2).contains(&mbit_per_s(&line)), "{line:?}");
    }
    let slow = client(&port, "send", &["--rate", "7776", "--size", "972", "--time", "5s"]).success();
    let [sent, received] = both_totals(&slow);
    assert_eq!((sent.count("sent"), received.count("received")), (5, 5));
    assert!(sent.number("cpu_pct") < 1.0, "{sent:?}");
    let [sent, _] = both_totals(&client(&port, "send", &["--bytes", "5M", "--rate", "1G", "--size", "1448"]).success());
    assert_eq!(sent.count("sent"), (5_u64 << 20).div_ceil(1448));
    assert!((0.03..0.2).contains(&sent.number("seconds")), "{sent:?}");
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
    assert_eq!(ended.failure(1, &[RECEIVER, "nobody listens"]).stdout, "");
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
    assert!(ended.select("udp_send", "total").len() >= 4, "each trial a line");
}

#[test]
fn a_listener_in_public_has_limits() {
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().join("secret");
    std::fs::write(&secret, "s3cret").unwrap();
    let secret = secret.to_str().unwrap();
    let (_listener, port) = listener(&["--max-rate", "50M", "--max-time", "2s", "--secret-file", secret]);
    let quick = ["--time", "200ms"];
    let _ = client(&port, "send", &[&["--rate", "60M"][..], &quick].concat()).failure(1, &["--max-rate"]);
    let _ = client(&port, "send", &[&["--rate", "max"][..], &quick].concat()).failure(1, &["--max-rate"]);
    let _ = client(&port, "send", &["--time", "3s"]).failure(1, &["--max-time"]);
    let _ = client(&port, "send", &quick).success();
    let _ = client(&port, "recv", &quick).failure(1, &["--secret-file"]);
    let _ = client(&port, "recv", &[&["--secret-file", secret][..], &quick].concat()).success();
    let (_listener, port) = self::listener(&["--allow", "192.0.2.0/24"]);
    let _ = client(&port, "send", &["--connect-timeout", "500ms"]).failure(1, &["no answer"]);
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
fn one_listener_per_port() {
    let (_listener, port) = listener(&[]);
    let _ = udpblast().run(&["listen", "--port", &port, "--bind", "127.0.0.1"]).failure(1, &[&port, "in use"]);
}
