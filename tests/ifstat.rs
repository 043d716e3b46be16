//! `ifstat` as a shell uses it. Nothing here asserts a speed.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "ifstat/space.rs"]
mod space;

use std::collections::HashSet;
use std::io::Read;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use space::Space;
use testkit::{Ended, Record, Tool, contract, eventually, has_program, is_root, records};

fn ifstat() -> Tool {
    Tool::new(env!("CARGO_BIN_EXE_ifstat"))
}

/// The lines of one interface and test.
fn of<'a>(records: &'a [Record], target: &str, test: &str, span: &str) -> Vec<&'a Record> {
    let is_it =
        |record: &&Record| (record.text("target"), record.text("test"), record.text("span")) == (target, test, span);
    records.iter().filter(is_it).collect()
}

fn sum(records: &[&Record], column: &str) -> u64 {
    records.iter().map(|record| record.count(column)).sum()
}

fn total<'a>(records: &'a [Record], target: &str, test: &str) -> &'a Record {
    let totals = of(records, target, test, "total");
    assert_eq!(totals.len(), 1, "totals of {target} {test}: {records:?}");
    totals[0]
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &ifstat(),
        "ifstat",
        &[
            (&["--interval", "0"], "--interval"),
            (&["--interval", "9ms"], "--interval"),
            (&["--interval", "-1s"], "--interval"),
            (&["--interval", "99999999999999999999s"], "--interval"),
            (&["--interval", "5s", "--time", "1s"], "--interval"),
            (&["--time", "0"], "--time"),
            (&["--count", "0"], "--count"),
            (&["--count", "-1"], "--count"),
            (&["--count", "99999999999999999999"], "--count"),
            (&["--count", "3", "--time", "3s"], "--count"),
            (&["--count", "3", "--", "true"], "--count"),
            (&["--stdout", "file"], "COMMAND"),
            (&["--wait"], "IFACE"),
            (&["sixteen-bytes-xx"], "15 bytes"),
            (&[""], "IFACE"),
            (&["--label", &"x".repeat(2000)], "--label"),
            (&["stats"], "IFACE"),
            (&["facts", "--dance"], "--dance"),
        ],
    );
}

#[test]
fn help_and_header_are_as_recorded() {
    for (args, snapshot) in [
        (&["--help"][..], include_str!("snapshots/ifstat-help.txt")),
        (&["facts", "--help"], include_str!("snapshots/ifstat-facts-help.txt")),
        (&["stats", "--help"], include_str!("snapshots/ifstat-stats-help.txt")),
        (&["--columns"], include_str!("snapshots/ifstat-columns.csv")),
    ] {
        assert_eq!(ifstat().run(args).success().stdout, snapshot, "{args:?}; `make snapshots` records it anew");
    }
}

#[test]
fn a_command_lends_its_status() {
    let status = |args: &[&str]| ifstat().run(args).status.code();
    assert_eq!(status(&["lo", "--", "true"]), Some(0));
    assert_eq!(status(&["lo", "--", "false"]), Some(1));
    assert_eq!(status(&["lo", "--", "sh", "-c", "exit 77"]), Some(77));
    let _ = ifstat().run(&["lo", "--", "no-such-command"]).failure(127, &["no-such-command", "No such file"]);
    let _ = ifstat().run(&["lo", "--", "/etc/passwd"]).failure(126, &["/etc/passwd", "Permission denied"]);
    let _ = ifstat().run(&["nosuch", "--", "true"]).failure(125, &["nosuch"]);
    let _ = ifstat().run(&["lo", "--", "sh", "-c", "kill -9 $$"]).killed_by(Signal::SIGKILL);
}

#[test]
fn a_commands_time_is_measured_and_its_output_stays_out_of_the_lines() {
    let ended = ifstat().run(&["lo", "--", "sh", "-c", "echo out; echo err >&2; sleep 0.2"]).success();
    assert_eq!(ended.stderr, "out\nerr\n");
    let records = ended.records();
    assert_eq!(records.len(), 2, "totals only: {records:?}");
    for record in &records {
        assert_eq!(record.text("span"), "total");
        assert!((0.2..5.0).contains(&record.number("seconds")), "{record:?}");
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("out");
    let args =
        ["lo", "--stdout", file.to_str().unwrap(), "--interval", "50ms", "--", "sh", "-c", "echo out; sleep 0.2"];
    let ended = ifstat().run(&args).success();
    assert_eq!((ended.stderr.as_str(), std::fs::read_to_string(file).unwrap().as_str()), ("", "out\n"));
    assert!(of(&ended.records(), "lo", "rx", "interval").len() > 1, "intervals when asked for");
}

#[test]
fn signals_reach_the_command() {
    for (signal, status) in [(Signal::SIGTERM, 7), (Signal::SIGUSR1, 8), (Signal::SIGINT, 9)] {
        let script =
            "trap 'exit 7' TERM; trap 'exit 8' USR1; trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done";
        let running = ifstat().start(&["lo", "--", "sh", "-c", script]);
        eventually("the command is ready", Duration::from_secs(20), || running.stderr().contains("ready"));
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.status.code(), Some(status), "{signal}: {ended:?}");
        assert_eq!(ended.records().len(), 2, "the totals are printed all the same");
    }
}

#[test]
fn an_open_end_is_no_failure_and_a_cut_one_is_death_by_signal() {
    let running = ifstat().start(&["lo", "--interval", "50ms"]);
    running.wait_for_records(4);
    running.signal(Signal::SIGINT);
    let ended = running.end().success();
    let records = ended.records();
    let seconds = |records: &[&Record]| records.iter().map(|record| record.number("seconds")).sum::<f64>();
    let intervals = of(&records, "lo", "rx", "interval");
    let difference = seconds(&intervals) - total(&records, "lo", "rx").number("seconds");
    assert!(difference.abs() < 1e-4, "intervals add up to the total: {records:?}");
    let running = ifstat().start(&["lo", "--interval", "50ms", "--time", "50s"]);
    running.wait_for_records(2);
    running.signal(Signal::SIGTERM);
    let ended = running.end().killed_by(Signal::SIGTERM);
    total(&ended.records(), "lo", "tx");
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let script = format!("{} lo --interval 10ms | head -n 1; echo ${{PIPESTATUS[0]}}", ifstat().path());
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("schema,") && text.ends_with("\n0\n"), "{text}");
    assert!(output.stderr.is_empty());
}

#[test]
fn no_such_interface_is_a_failure_at_once() {
    for args in [&["nosuch"][..], &["lo", "nosuch"], &["facts", "nosuch"], &["stats", "nosuch"]] {
        let ended = ifstat().run(args).failure(1, &["nosuch"]);
        assert_eq!(ended.stdout, "");
    }
    if is_root() {
        let _ = ifstat().run(&["--netns", "no-such-netns"]).failure(1, &["no-such-netns", "--netns"]);
    }
}

#[test]
fn waits_for_an_interface() {
    let Some(space) = Space::new() else { return };
    let running = space.start(&["late", "--wait", "--count", "1", "--interval", "50ms"]);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(running.stdout(), "");
    space.ip("link add late type bridge");
    let ended = running.end().success();
    assert_eq!(of(&ended.records(), "late", "rx", "interval").len(), 1);
    assert_eq!(total(&ended.records(), "late", "rx").text("flags"), "", "it was there from the beginning");
}

#[test]
fn datagrams_over_a_veth_are_counted_with_their_headers() {
    const DATAGRAMS: usize = 1000;
    const PAYLOAD: usize = 1000;
    const HEADERS: usize = 14 + 20 + 8;
    let Some((here, there)) = Space::pair() else { return };
    let watching = [here.watch(&["va"]), there.watch(&["vb"])];
    let taker = there.enter(|| UdpSocket::bind("10.7.0.2:9").unwrap());
    here.enter(|| {
        let socket = UdpSocket::bind("10.7.0.1:0").unwrap();
        for _ in 0..DATAGRAMS {
            socket.send_to(&[7; PAYLOAD], "10.7.0.2:9").unwrap();
        }
    });
    drop(taker);
    let [sent, received] = watching.map(|running| space::stop(running).records());
    for record in [total(&sent, "va", "tx"), total(&received, "vb", "rx")] {
        let (bytes, packets) = (record.count("bytes"), record.count("ops"));
        let exact = (DATAGRAMS * (PAYLOAD + HEADERS)) as u64;
        assert!((exact..=exact + exact / 100).contains(&bytes), "{bytes} for {exact}");
        assert!((1000..=1010).contains(&packets), "{packets}");
        assert_eq!(record.count("errors"), 0);
    }
}

#[test]
fn a_tcp_stream_over_a_veth_is_counted_with_its_headers() {
    const PAYLOAD: u64 = 100_000_000;
    /// Ethernet, IPv4, TCP with time stamps; one set for each packet as the driver sees it (GSO: up to 64 KiB).
    const HEADERS: u64 = 14 + 20 + 32;
    let Some((here, there)) = Space::pair() else { return };
    let watching = here.watch(&["va"]);
    let listener = there.enter(|| TcpListener::bind("10.7.0.2:0").unwrap());
    let address = listener.local_addr().unwrap();
    let reader =
        std::thread::spawn(move || std::io::copy(&mut listener.accept().unwrap().0, &mut std::io::sink()).unwrap());
    here.enter(|| {
        std::io::copy(&mut std::io::repeat(0).take(PAYLOAD), &mut TcpStream::connect(address).unwrap()).unwrap()
    });
    assert_eq!(reader.join().unwrap(), PAYLOAD);
    let records = space::stop(watching).records();
    let record = total(&records, "va", "tx");
    let payload = record.count("bytes") - record.count("ops") * HEADERS;
    assert!(payload.abs_diff(PAYLOAD) < PAYLOAD / 100, "{payload}");
}

#[test]
fn more_than_four_gib_in_one_interval_are_exact() {
    const PAYLOAD: u64 = (4 << 30) + (100 << 20);
    let Some(space) = Space::new() else { return };
    let running = space.watch(&["lo"]);
    space.enter(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sender = space.spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            space::send_bytes(&mut stream, PAYLOAD);
        });
        assert_eq!(space::discard(&mut listener.accept().unwrap().0), PAYLOAD);
        sender.join().unwrap();
    });
    // The last acknowledgements come after the last byte.
    eventually("silence", Duration::from_secs(20), || {
        let earlier = space.counters("lo");
        std::thread::sleep(Duration::from_millis(300));
        space.counters("lo") == earlier
    });
    let records = space::stop(running).records();
    let kernel = space.counters("lo");
    for test in ["rx", "tx"] {
        let record = total(&records, "lo", test);
        assert_eq!(record.count("bytes"), kernel[test].0);
        assert_eq!(record.count("ops"), kernel[test].1);
        assert!(record.count("bytes") > PAYLOAD);
        let longest = of(&records, "lo", test, "interval").into_iter().map(|record| record.count("bytes")).max();
        assert!(longest > Some(u64::from(u32::MAX)), "one interval has it: {longest:?}");
        assert_eq!((record.text("speed_mbit"), record.text("util_pct"), record.text("flags")), ("", "", ""));
    }
}

#[test]
fn interfaces_that_come_and_go_disturb_no_other() {
    const DATAGRAMS: usize = 200;
    let Some((here, there)) = Space::pair() else { return };
    let running = here.start(&["--interval", "100ms"]);
    running.wait_for_records(4);
    for round in 0..DATAGRAMS {
        here.enter(|| {
            let socket = UdpSocket::bind("10.7.0.1:0").unwrap();
            socket.send_to(&[7; 1000], "10.7.0.2:9").unwrap();
        });
        here.ip(&format!("link add br{round} type bridge"));
        here.ip(&format!("link del br{round}"));
    }
    let ended = space::stop(running);
    let records = ended.records();
    assert_eq!(ended.stderr, "");
    let record = total(&records, "va", "tx");
    assert!((200..=220).contains(&record.count("ops")), "{record:?}");
    assert_eq!(sum(&of(&records, "va", "tx", "interval"), "bytes"), record.count("bytes"));
    assert_eq!(record.text("flags"), "nominal");
    for round in 0..DATAGRAMS {
        let record = total(&records, &format!("br{round}"), "rx");
        assert!(record.has_flag("new") && record.has_flag("gone"), "{record:?}");
        assert_eq!(record.text("bytes"), "0");
    }
    let kernel = here.counters("va");
    assert!(record.count("bytes") <= kernel["tx"].0 && record.count("bytes") + 1000 > kernel["tx"].0);
    drop(there);
}

#[test]
fn the_same_name_and_number_again_is_another_interface() {
    let Some((here, _there)) = Space::pair() else { return };
    here.ip("link add name x index 77 type veth peer name y");
    here.ip("addr add 10.8.0.1/24 dev x");
    here.ip("link set x up");
    here.ip("link set y up");
    here.ip("neigh add 10.8.0.2 lladdr 02:00:00:00:00:02 dev x");
    let send = |count: usize| {
        here.enter(|| {
            let socket = UdpSocket::bind("10.8.0.1:0").unwrap();
            for _ in 0..count {
                socket.send_to(&[7; 1000], "10.8.0.2:9").unwrap();
            }
        });
    };
    send(100);
    let running = here.start(&["x", "--interval", "100ms"]);
    running.wait_for_records(2);
    send(10);
    here.ip("link del x");
    here.ip("link add name x index 77 type veth peer name y");
    here.ip("addr add 10.8.0.1/24 dev x");
    here.ip("link set x up");
    here.ip("link set y up");
    here.ip("neigh add 10.8.0.2 lladdr 02:00:00:00:00:02 dev x");
    send(20);
    let records = space::stop(running).records();
    let totals = of(&records, "x", "tx", "total");
    assert_eq!(totals.len(), 2, "{totals:?}");
    assert!(totals[0].has_flag("gone") && !totals[0].has_flag("new"), "{totals:?}");
    assert!(totals[1].has_flag("new") && !totals[1].has_flag("gone"), "{totals:?}");
    assert!((10..=20).contains(&totals[0].count("ops")), "ten datagrams, perhaps IPv6 noise: {totals:?}");
    assert!((20..=40).contains(&totals[1].count("ops")), "{totals:?}");
    assert!(totals.iter().all(|record| record.count("ifindex") == 77));
    assert_eq!(sum(&of(&records, "x", "tx", "interval"), "ops"), sum(&totals, "ops"), "no spike");
}

#[test]
fn a_rename_while_up_and_a_move_to_another_namespace_are_flagged() {
    let Some((here, there)) = Space::pair() else { return };
    here.ip("link add name mover type veth peer name left");
    let running = here.start(&["va", "mover", "--interval", "100ms"]);
    running.wait_for_records(4);
    here.ip("link set va name wan");
    eventually("the new name", Duration::from_secs(20), || !of(&running.records(), "wan", "rx", "interval").is_empty());
    here.ip(&format!("link set dev mover netns {}", there.name));
    eventually("its end", Duration::from_secs(20), || {
        of(&running.records(), "mover", "rx", "interval").iter().any(|record| record.has_flag("gone"))
    });
    let records = space::stop(running).records();
    let renamed = of(&records, "wan", "tx", "interval");
    assert!(renamed[0].has_flag("renamed") && !renamed[0].has_flag("new"), "{renamed:?}");
    assert!(renamed[1..].iter().all(|record| !record.has_flag("renamed")));
    assert!(total(&records, "wan", "tx").has_flag("renamed"));
    assert!(total(&records, "mover", "tx").has_flag("gone"));
}

#[test]
fn any_name_comes_back() {
    let Some(space) = Space::new() else { return };
    let names = ["a,b", "say\"x\"", "#c", "=1+1", "köln", "fifteen-bytes-x", "-dash", "semi;colon", "'quote'"];
    for name in names {
        space::command("ip", &["-n", &space.name, "link", "add", "name", name, "type", "bridge"]);
    }
    let records = space.run(&["--count", "1", "--interval", "50ms"]).records();
    for name in names {
        assert_eq!(of(&records, name, "rx", "interval").len(), 1, "{name}");
    }
    let ended = space.run(&["facts", "a,b", "#c"]).success();
    let targets: Vec<_> = ended.records().iter().map(|record| record.text("target").to_owned()).collect();
    assert!(targets.contains(&"a,b".to_owned()) && targets.contains(&"#c".to_owned()));
}

#[test]
fn none_of_a_thousand_interfaces_is_missing() {
    let Some(space) = Space::new() else { return };
    let names = space.many(1000);
    let ended = space.run(&["--count", "1", "--interval", "100ms"]).success();
    let records = ended.records();
    for (test, span) in [("rx", "interval"), ("tx", "interval"), ("rx", "total"), ("tx", "total")] {
        let is_one = |record: &&Record| (record.text("test"), record.text("span")) == (test, span);
        let told: HashSet<_> = records.iter().filter(is_one).map(|record| record.text("target")).collect();
        assert_eq!(names.iter().filter(|name| !told.contains(name.as_str())).count(), 0, "{test} {span}");
        assert_eq!(told.len(), names.len() + 1, "and lo");
    }
    let quiet = space.run(&["--count", "1", "--interval", "50ms", "--changed"]).success();
    assert_eq!(quiet.records().len(), 0, "{:?}", quiet.stdout);
}

#[test]
fn an_unknown_speed_is_empty_and_a_claimed_one_is_flagged() {
    let Some((space, _other)) = Space::pair() else { return };
    space.ip("link add name br type bridge");
    let records = space.run(&["--count", "1", "--interval", "50ms", "--total"]).success().records();
    for name in ["lo", "br"] {
        let record = total(&records, name, "rx");
        assert_eq!((record.text("speed_mbit"), record.text("util_pct"), record.text("duplex")), ("", "", ""), "{name}");
        assert_eq!(record.text("flags"), "");
    }
    let record = total(&records, "va", "tx");
    assert_eq!((record.text("speed_mbit"), record.text("duplex"), record.text("flags")), ("10000", "full", "nominal"));
    assert_eq!(record.text("driver"), "veth");
    assert_eq!((record.text("carrier_up"), record.text("mtu")), ("1", "1500"));
    let all = total(&records, "all", "rx_all");
    assert_eq!(all.text("left_out"), "lo:loopback");
    assert_eq!(all.count("summed"), 2);
}

#[test]
fn the_sum_counts_no_packet_twice() {
    let Some((here, _there)) = Space::pair() else { return };
    here.ip("link add name br type bridge");
    here.ip("link add p type veth peer name q");
    here.ip("link set p master br");
    let records = here.run(&["--count", "1", "--interval", "50ms", "--total"]).success().records();
    let all = total(&records, "all", "tx_all");
    let mut left_out: Vec<_> = all.text("left_out").split(' ').collect();
    left_out.sort_unstable();
    assert_eq!(left_out, ["lo:loopback", "p:port-of-br"], "q counts in place of p");
    let members = ["va", "br", "q"];
    assert_eq!(all.count("summed"), 3);
    assert_eq!(all.count("bytes"), members.iter().map(|name| total(&records, name, "tx").count("bytes")).sum::<u64>());
}

#[test]
fn frames_that_nobody_wants_are_dropped_but_not_lost() {
    const FRAMES: u64 = 500;
    let Some((here, there)) = Space::pair() else { return };
    let running = there.start(&["vb", "--stack", "--interval", "30s"]);
    std::thread::sleep(Duration::from_millis(300));
    here.enter(|| space::send_frames("va", 0x88b5, FRAMES));
    let records = space::stop(running).records();
    let card = total(&records, "vb", "rx");
    assert!(card.count("dropped") >= FRAMES, "{card:?}");
    assert_eq!(card.count("lost"), 0);
    let verdict = of(&records, &there.name, "stack", "total");
    assert_eq!(verdict[0].text("lost_at"), "none", "{records:?}");
}

#[test]
fn a_full_socket_buffer_is_not_the_cards_fault() {
    let Some(space) = Space::new() else { return };
    let running = space.start(&["lo", "--stack", "--interval", "30s"]);
    std::thread::sleep(Duration::from_millis(300));
    space.enter(|| {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket2::SockRef::from(&receiver).set_recv_buffer_size(1).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..1000 {
            sender.send_to(&[7; 100], receiver.local_addr().unwrap()).unwrap();
        }
    });
    let ended = space::stop(running);
    let records = ended.records();
    for test in ["rx", "tx"] {
        let card = total(&records, "lo", test);
        assert_eq!((card.count("ops"), card.count("dropped"), card.count("lost")), (1000, 0, 0));
    }
    let udp = total(&records, "ipv4", "udp");
    assert!(udp.count("rcvbuf_errors") > 900, "{udp:?}");
    assert_eq!(udp.count("ops"), 0, "nobody read");
    assert_eq!(udp.count("lost"), udp.count("rcvbuf_errors"));
    assert_eq!(of(&records, &space.name, "stack", "total")[0].text("lost_at"), "socket");
    assert!(ended.stderr.contains("at the socket") && ended.stderr.contains("rmem_max"), "{}", ended.stderr);
}

#[test]
fn a_queue_that_drops_is_named() {
    let Some((here, _there)) = Space::pair() else { return };
    space::command(
        "tc",
        &[
            "-n", &here.name, "qdisc", "add", "dev", "va", "root", "tbf", "rate", "8kbit", "burst", "2000", "limit",
            "3000",
        ],
    );
    let running = here.start(&["va", "--stack", "--interval", "30s"]);
    std::thread::sleep(Duration::from_millis(300));
    here.enter(|| {
        let socket = UdpSocket::bind("10.7.0.1:0").unwrap();
        // The queue pushes back into the socket, which may say so.
        (0..50).for_each(|_| drop(socket.send_to(&[7; 1000], "10.7.0.2:9")));
    });
    let records = space::stop(running).records();
    let queue = total(&records, "va", "qdisc");
    assert!(queue.count("dropped") > 10, "{queue:?}");
    assert_eq!(queue.text("driver"), "tbf");
    assert!(of(&records, &here.name, "stack", "total")[0].text("lost_at").split(' ').any(|place| place == "queue"));
}

#[test]
fn short_intervals_are_each_measured() {
    let ended = ifstat().run(&["lo", "--interval", "10ms", "--count", "100"]).success();
    let records = ended.records();
    for test in ["rx", "tx"] {
        let intervals = of(&records, "lo", test, "interval");
        assert_eq!(intervals.len(), 100);
        let seconds: f64 = intervals.iter().map(|record| record.number("seconds")).sum();
        assert!((seconds - total(&records, "lo", test).number("seconds")).abs() < 1e-3);
        assert!(seconds > 0.99, "a hundred deadlines are a second: {seconds}");
        assert!(intervals.iter().all(|record| record.number("seconds") > 0.0));
    }
}

#[test]
fn a_pause_is_one_long_line_and_no_burst() {
    let running = ifstat().start(&["lo", "--interval", "100ms"]);
    running.wait_for_records(4);
    running.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(1));
    running.signal(Signal::SIGCONT);
    let before = running.records().len();
    running.wait_for_records(before + 8);
    let records = space::stop(running).records();
    let intervals = of(&records, "lo", "rx", "interval");
    assert!(intervals.iter().any(|record| record.number("seconds") > 0.8), "one long line: {intervals:?}");
    // Each line but the last has at least one deadline of its own behind it.
    let deadlines = total(&records, "lo", "rx").number("seconds") / 0.1;
    assert!(intervals.len() as f64 <= deadlines - 8.0 + 2.0, "{} lines, {deadlines} deadlines", intervals.len());
}

#[test]
fn since_boot_has_to_be_asked_for() {
    let Some(space) = Space::new() else { return };
    space.enter(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..10 {
            socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        }
    });
    let args = ["lo", "--count", "1", "--interval", "50ms"];
    let plain = space.run(&args).success().records();
    assert!(plain.iter().all(|record| record.count("bytes") == 0), "{plain:?}");
    let asked = space.run(&[&args[..], &["--since-boot"]].concat()).success().records();
    let boot = total(&asked, "lo", "rx_boot");
    assert_eq!((boot.count("bytes"), boot.count("ops")), (1280, 10));
    assert_eq!((boot.text("seconds"), boot.text("bytes_per_s")), ("", ""));
    assert_eq!(total(&asked, "lo", "rx").count("bytes"), 0);
}

#[test]
fn an_ordinary_user_measures_too() {
    if !is_root() || !has_program("setpriv", "util-linux") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = scratch.path().join("ifstat");
    std::fs::copy(env!("CARGO_BIN_EXE_ifstat"), &copy).unwrap();
    let tool = Tool::new(copy).within(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    let records = tool.run(&["--count", "1", "--interval", "50ms", "--stack", "--total"]).success().records();
    assert!(!total(&records, "lo", "rx").text("bytes").is_empty());
    assert!(!of(&records, "ipv4", "udp", "total").is_empty());
    let facts = tool.run(&["facts", "lo"]).success().records();
    assert!(facts.iter().any(|fact| fact.text("key") == "mtu"));
}

/// The value of a fact.
fn fact(ended: &Ended, target: &str, key: &str) -> Option<String> {
    let records = ended.records();
    let found = records.iter().find(|record| record.text("target") == target && record.text("key") == key);
    found.map(|record| record.text("value").to_owned())
}

#[test]
fn facts_are_what_ethtool_says() {
    if !has_program("ethtool", "ethtool") {
        return;
    }
    let Some((space, _other)) = Space::pair() else { return };
    let said = |args: &[&str]| {
        let output = Command::new("ip").args(["netns", "exec", &space.name, "ethtool"]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let ended = space.run(&["facts", "va"]).success();
    let driver = said(&["-i", "va"]);
    let field = |name: &str| driver.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!(fact(&ended, "va", "driver"), Some(field("driver:")));
    assert_eq!(fact(&ended, "va", "driver.version"), Some(field("version:")));
    assert_eq!(fact(&ended, "va", "speed.nominal").as_deref(), Some("yes"));
    assert!(ended.records().iter().all(|record| !["", "N/A", "n/a", "-1"].contains(&record.text("value"))));
    for (option, prefix) in [("-g", "rings"), ("-c", "coalesce"), ("-l", "channels")] {
        let Ok(json) = serde_json::from_str::<serde_json::Value>(&said(&["--json", option, "va"])) else { continue };
        for (name, value) in json[0].as_object().unwrap().iter().filter(|(_, value)| value.is_u64()) {
            let key = format!("{prefix}.{}", name.replace('-', "_").replace("frames", "max_frames"));
            assert_eq!(fact(&ended, "va", &key), Some(value.to_string()), "{option} {name}");
        }
    }
    let features: serde_json::Value = serde_json::from_str(&said(&["--json", "-k", "va"])).unwrap();
    let features = features[0].as_object().unwrap();
    let mut compared = 0;
    for (name, feature) in features.iter().filter(|(_, feature)| feature.is_object()) {
        if let Some(value) = fact(&ended, "va", &format!("offload.{name}")) {
            assert_eq!(value == "on", feature["active"].as_bool().unwrap(), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} features compared");
}

#[test]
fn facts_of_real_cards_are_what_ethtool_says() {
    if !has_program("ethtool", "ethtool") {
        return;
    }
    let ended = ifstat().run(&["facts"]).success();
    let mut targets: Vec<_> = ended.records().iter().map(|record| record.text("target").to_owned()).collect();
    targets.dedup();
    for target in targets {
        for (option, prefix, names) in [
            ("-g", "rings", &[("rx", "rx"), ("tx", "tx"), ("rx-max", "rx_max"), ("tx-max", "tx_max")][..]),
            ("-c", "coalesce", &[("rx-usecs", "rx_usecs"), ("tx-usecs", "tx_usecs"), ("rx-frames", "rx_max_frames")]),
        ] {
            let output = Command::new("ethtool").args(["--json", option, &target]).output().unwrap();
            let Ok(json) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else { continue };
            for (name, key) in names {
                let value = json[0].get(name).filter(|value| value.is_u64()).map(ToString::to_string);
                assert_eq!(fact(&ended, &target, &format!("{prefix}.{key}")), value, "{target} {name}");
            }
        }
    }
}

#[test]
fn what_was_tuned_is_told() {
    let Some((space, _other)) = Space::pair() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("before.csv");
    std::fs::write(&file, space.run(&["facts", "va"]).success().stdout).unwrap();
    let compare = ["facts", "va", "--compare", file.to_str().unwrap()];
    assert_eq!(space.run(&compare).success().stdout, "", "nothing differs");
    space.ip("link set va mtu 1400 txqueuelen 77");
    let differences = space.run(&compare).success().records();
    let told: Vec<_> =
        differences.iter().map(|line| ["key", "before", "after", "unit"].map(|column| line.text(column))).collect();
    assert_eq!(told, [["mtu", "1500", "1400", "B"], ["queue_length", "1000", "77", ""]]);
    std::fs::write(&file, "a,b\n").unwrap();
    let _ = space.run(&compare).failure(1, &["--compare", "no facts"]);
    let _ = space.run(&["facts", "--compare", "/nonexistent/file"]).failure(1, &["/nonexistent/file", "--compare"]);
}

#[test]
fn a_drivers_own_counters_have_deltas() {
    let Some((here, _there)) = Space::pair() else { return };
    let ended = here.run(&["stats", "va", "--count", "2", "--interval", "50ms"]).success();
    let records = ended.records();
    let of_peer: Vec<_> = records.iter().filter(|record| record.text("counter") == "peer_ifindex").collect();
    assert_eq!(of_peer.len(), 3, "two intervals and a total: {records:?}");
    for record in of_peer {
        assert_eq!(
            (record.text("schema"), record.text("test"), record.text("target")),
            ("ifstat-stats/1", "driver", "va")
        );
        assert_eq!(record.count("delta"), 0);
        assert!(record.count("value") > 0);
    }
    let _ = here.run(&["stats", "lo"]).failure(1, &["lo", "no counters"]);
}

#[test]
fn a_changed_setting_is_flagged() {
    let Some((here, _there)) = Space::pair() else { return };
    let running = here.start(&["va", "--interval", "100ms"]);
    running.wait_for_records(2);
    here.ip("link set va mtu 1400");
    eventually("the new MTU", Duration::from_secs(20), || {
        running.records().iter().any(|record| record.text("mtu") == "1400")
    });
    let records = records(&space::stop(running).stdout);
    let intervals = of(&records, "va", "rx", "interval");
    let first = intervals.iter().find(|record| record.text("mtu") == "1400").unwrap();
    assert!(first.has_flag("changed"), "{first:?}");
    assert!(!intervals[0].has_flag("changed"));
}
