//! What a stranger can make a sink do, and what not.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::{Running, eventually};

use super::raw::{Raw, question, stream};
use super::{connect, plain_client, sink, tcpsink};

const SECRET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

pub fn send(port: &str, args: &[&str]) -> testkit::Ended {
    tcpsink().run(&[&["send", "127.0.0.1", "--port", port, "--bytes", "100K"], args].concat())
}

/// The most memory that a process has had, kilobytes.
pub fn most_memory(sink: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", sink.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn whatever_makes_the_sink_send_needs_the_secret() {
    let (_sink, port) = sink(&["--secret-file", SECRET]);
    for verb in ["ping", "recv", "both"] {
        let args = [verb, "127.0.0.1", "--port", &port, "--time", "200ms"];
        let _ = tcpsink().run(&args).failure(1, &["--secret-file"]);
        let _ = tcpsink().run(&[&args[..], &["--secret-file", SECRET]].concat()).success();
    }
    let _ = send(&port, &[]).success();
    // Before that it says less than it hears.
    let question = question(&[("kind", "ping"), ("request", "1"), ("response", "4194304")]);
    let mut stranger = Raw::says(&port, &question);
    let challenge = stranger.line();
    assert!(challenge.starts_with("tcpsink/1 challenge") && challenge.len() <= question.len(), "{challenge}");
}

#[test]
fn a_proof_is_good_for_what_was_asked_and_for_nothing_else() {
    let (_sink, port) = sink(&["--secret-file", SECRET]);
    // A man in the middle asks for more than the client did.
    let middle = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let middle_port = middle.local_addr().unwrap().port().to_string();
    let args = ["recv", "127.0.0.1", "--port", &middle_port, "--bytes", "1K", "--secret-file", SECRET];
    let client = tcpsink().start(&args);
    let mut of_client = Raw(std::io::BufReader::new(middle.accept().unwrap().0));
    let question = of_client.line();
    assert!(question.contains(" bytes=1024"), "{question}");
    let mut to_sink = Raw::says(&port, &question.replace(" bytes=1024", " bytes=1025"));
    of_client.0.get_mut().write_all(to_sink.line().as_bytes()).unwrap();
    let proof = of_client.line();
    to_sink.0.get_mut().write_all(proof.as_bytes()).unwrap();
    assert!(to_sink.line().contains("does not know the secret"));
    drop((client, of_client));
}

#[test]
fn who_shows_no_proof_takes_no_place() {
    let (sink, port) = sink(&["--secret-file", SECRET, "--require-secret", "--max-clients", "2"]);
    let mut strangers: Vec<_> = (0..20).map(|_| Raw::asks(&port, &[])).collect();
    assert!(strangers.iter_mut().all(|stranger| stranger.line().starts_with("tcpsink/1 challenge")));
    let _ = send(&port, &["--secret-file", SECRET]).success();
    // And learns nothing of the limits either.
    let mut nosy = Raw::asks(&port, &[("streams", "257")]);
    assert!(nosy.line().contains("streams"), "what cannot be is no secret");
    for stranger in &mut strangers {
        stranger.0.get_mut().write_all(b"tcpsink/1 proof mac=00ff\n").unwrap();
        assert!(stranger.line().contains("does not know the secret"));
    }
    let notices = sink.stderr();
    assert!(notices.lines().count() < 5, "{notices}");
    sink.signal(Signal::SIGTERM);
    let ended = sink.end().success();
    assert!(ended.stderr.contains("refused 20 requests without the secret"), "{}", ended.stderr);
}

#[test]
fn who_asks_and_does_not_begin_gives_way() {
    let (_sink, port) = sink(&["--max-clients", "2"]);
    let mut idle = [Raw::asks(&port, &[]), Raw::asks(&port, &[("kind", "connect"), ("time", "60000000us")])];
    for one in &mut idle {
        one.token();
    }
    std::thread::sleep(Duration::from_millis(1200));
    for _ in 0..2 {
        let began = Instant::now();
        let _ = send(&port, &["--streams", "2"]).success();
        assert!(began.elapsed() < Duration::from_secs(5));
    }
    assert!(idle[0].line().contains("did not begin"));
}

#[test]
fn only_who_is_admitted_and_begins_counts() {
    let scan = |port: &str| {
        drop(connect(port));
        drop(Raw::asks(port, &[]));
        let _ = connect(port).write_all(b"tcpsink/1 nonsense\n");
        std::thread::sleep(Duration::from_millis(500));
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let input = directory.path().join("input");
    std::fs::write(&input, b"what was meant").unwrap();
    for args in [
        &["--output", file.to_str().unwrap()][..],
        &["--once", "--secret-file", SECRET, "--require-secret"],
        &["--once"],
    ] {
        let (sink, port) = sink(args);
        scan(&port);
        assert!(!file.exists(), "{args:?}");
        let args = ["--input", input.to_str().unwrap(), "--secret-file", SECRET];
        let sent = tcpsink().run(&[&["send", "127.0.0.1", "--port", &port], &args[..]].concat()).success();
        assert_eq!(sent.total("tcp_recv").count("bytes"), 14);
        let ended = sink.end().success();
        assert_eq!(ended.records().len(), 1, "{ended:?}");
        if file.exists() {
            assert_eq!(std::fs::read(&file).unwrap(), b"what was meant");
            std::fs::remove_file(&file).unwrap();
        }
    }
}

#[test]
fn memory_is_bounded_whatever_is_asked_for() {
    let (sink, port) = sink(&[]);
    // 256 streams of 1 GiB messages each way.
    let large = [("kind", "ping"), ("request", "1"), ("response", "1073741824"), ("streams", "8")];
    let mut ping = Raw::asks(&port, &large);
    let token = ping.token();
    let streams: Vec<_> = (0..8).map(|index| stream(&port, &token, "echo", index)).collect();
    for mut stream in &streams {
        stream.write_all(b"xxxx").unwrap();
    }
    for (message, word) in [("1073741824", "--max-memory"), ("1073741825", "message")] {
        let mut copy = Raw::asks(&port, &[("copy", "1"), ("message", message), ("streams", "2")]);
        let answer = copy.line();
        assert!(answer.starts_with("tcpsink/1 refused") && answer.contains(word), "{answer}");
    }
    // What is left of 256 MiB is for all: two have half of it each, and a third one waits.
    let half = [("copy", "1"), ("message", "123000000"), ("queue", "1")];
    let mut two = [Raw::asks(&port, &half), Raw::asks(&port, &half)];
    for one in &mut two {
        drop(one.token());
    }
    assert!(Raw::asks(&port, &half).line().starts_with("tcpsink/1 busy"));
    drop(two);
    std::thread::sleep(Duration::from_millis(300));
    let _ = Raw::asks(&port, &half).token();
    assert!(most_memory(&sink) < 50_000, "{} kB", most_memory(&sink));
    let _ = send(&port, &["--copy"]).success();
}

#[test]
fn limits_hold_for_every_kind() {
    let kinds: [&[(&str, &str)]; 4] = [
        &[("kind", "connect"), ("time", "1000000000000us")],
        &[("kind", "ping"), ("request", "1"), ("response", "64000000")],
        &[("kind", "recv"), ("bytes", "1000000000")],
        &[("kind", "send")],
    ];
    for kind in kinds {
        let way = match kind[0].1 {
            "ping" => Some("echo"),
            "recv" => Some("down"),
            "send" => Some("up"),
            _ => None,
        };
        for limit in [["--idle-timeout", "1s"], ["--max-time", "1s"]] {
            if (kind[0].1, limit[0]) == ("connect", "--max-time") {
                // So long is refused at once.
                continue;
            }
            let (_sink, port) = sink(&[&limit[..], &["--max-clients", "1"]].concat());
            let mut control = Raw::asks(&port, kind);
            let token = control.token();
            let stream = way.map(|way| stream(&port, &token, way, 0));
            if let Some(mut stream) = stream.as_ref() {
                // One request or more, and no answer is ever read.
                stream.write_all(b"xxxx").unwrap();
            }
            let began = Instant::now();
            eventually("a free place", Duration::from_secs(8), || plain_client(&port, b"now").starts_with("schema,"));
            assert!(began.elapsed() > Duration::from_millis(500), "{kind:?} {limit:?}: it was served for a while");
        }
    }
}

#[test]
fn a_connect_test_lives_by_its_connections() {
    let (_sink, port) = sink(&["--idle-timeout", "1s", "--max-time", "3s", "--max-clients", "1"]);
    let _ = tcpsink().run(&["connect", "127.0.0.1", "--port", &port, "--time", "2s"]).success();
    let mut control = Raw::asks(&port, &[("kind", "connect"), ("time", "2000000us")]);
    let token = control.token();
    let began = Instant::now();
    let mut answered = Vec::new();
    while began.elapsed() < Duration::from_secs(7) {
        let mut knock = connect(&port);
        writeln!(knock, "tcpsink/1 knock token={token}").unwrap();
        let mut answer = [0];
        if knock.read_exact(&mut answer).is_ok() && answer == *b"!" {
            answered.push(began.elapsed());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let last = answered.last().unwrap();
    assert!((2..6).contains(&last.as_secs()), "longer than idle, and not for ever: {last:?}");
}

#[test]
fn a_slow_client_holds_nobody_up() {
    let (sink, port) = sink(&["--idle-timeout", "3s"]);
    // It asks for many lines and reads none.
    let mut control =
        Raw::asks(&port, &[("streams", "8"), ("per_stream", "1"), ("interval", "8000us"), ("label", &"x".repeat(900))]);
    let token = control.token();
    let mut streams: Vec<_> = (0..8).map(|index| stream(&port, &token, "up", index)).collect();
    let began = Instant::now();
    let mut longest = Duration::ZERO;
    let mut seen = 0;
    let mut seen_at = Instant::now();
    while began.elapsed() < Duration::from_secs(6) {
        for stream in &mut streams {
            stream.write_all(b"x").unwrap();
        }
        let lines = sink.stdout().len();
        if lines > seen {
            (seen, seen_at) = (lines, Instant::now());
        }
        longest = longest.max(seen_at.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(seen > 6_000_000, "more than its client's socket takes: {seen} bytes");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    assert!(most_memory(&sink) < 50_000, "{} kB", most_memory(&sink));
    drop(streams);
    eventually("its end", Duration::from_secs(10), || sink.stdout().contains(",total,"));
}
