//! The listener among strangers, and its limits.

use std::net::UdpSocket;

use std::process::Command;
use std::time::{Duration, Instant};

use testkit::hand_sender::{self, HandSender, REQUEST};
use testkit::{Tool, eventually, has_program, is_root};

use super::{client, counts, listener, udpblast};

#[test]
fn strangers_are_ignored_and_counted() {
    let (listener, port) = listener(&[]);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    stranger.connect(format!("127.0.0.1:{port}")).unwrap();
    for datagram in [&b"hello?"[..], b"\0UB\x01garbage and more garbage", b"udpblast/2 report received=9\n", b""] {
        stranger.send(datagram).unwrap();
    }
    let sender = HandSender::agree(&port);
    sender.data(0);
    sender.raw(b"udpblast/2 stop\n");
    sender.raw(&[0xff; 500]);
    let mut foreign = vec![0, b'U', b'B', 1];
    foreign.extend([9; 30]);
    sender.raw(&foreign);
    stranger.send(b"udpblast/2 end sent=5\n").unwrap();
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
fn one_listener_per_port() {
    let (_listener, port) = listener(&[]);
    let _ = udpblast().run(&["listen", "--port", &port, "--bind", "127.0.0.1"]).failure(1, &[&port, "in use"]);
}

fn secret(directory: &tempfile::TempDir) -> String {
    let path = directory.path().join("secret");
    std::fs::write(&path, "s3cret").unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn numbers_that_make_no_sense_are_refused_by_name() {
    let (_listener, port) = listener(&["--max-rate", "50M"]);
    for (from, to, word) in [
        ("size=24", "size=1", "size"),
        ("size=24", "size=70000", "size"),
        ("rate=1000000", "rate=8 interval=1us", "interval"),
        ("streams=1", "streams=65", "streams"),
        ("streams=1 per_stream=0", "streams=9 per_stream=0", "rate"),
        ("time=60000000us", "time=soon", "time"),
        ("time=60000000us", "burst=2000000 time=60000000us", "burst"),
        ("time=60000000us", "", "time"),
        ("kind=send", "kind=steal", "kind"),
        ("kind=send", "kind=recv burst=50000", "--max-rate"),
        ("rate=1000000", "rate=60000000", "--max-rate"),
        ("time=60000000us", "dscp=64 time=60000000us", "dscp"),
    ] {
        let request =
            REQUEST.replace(from, to).replace("rate=1000000", if word == "rate" { "rate=8" } else { "rate=1000000" });
        let answer = hand_sender::start(&hand_sender::socket(&port), &request);
        assert!(answer.starts_with("udpblast/2 refused ") && answer.contains(word), "{request}: {answer}");
    }
    let _ = client(&port, "send", &["--bytes", "10K", "--size", "1000"]).success();
}

#[test]
fn a_limit_holds_in_every_tenth_of_a_second() {
    let (_listener, port) = listener(&["--max-rate", "4M"]);
    let args = ["--rate", "4M", "--size", "1000", "--time", "1s", "--interval", "100ms"];
    let ended = client(&port, "recv", &args).success();
    for line in ended.some("udp_send", "interval") {
        let limit = 500_000.0 * line.number("seconds") + 1000.0;
        // A hundredth is made up for.
        assert!(line.number("bytes") <= limit * 1.01 + 1000.0, "{line:?}");
    }
}

#[test]
fn who_has_no_proof_gets_nothing_and_holds_up_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let secret = secret(&directory);
    let args = ["--once", "--require-secret", "--secret-file", &secret, "--max-clients", "1"];
    let (listener, port) = listener(&args);
    for kind in ["kind=send", "kind=recv", "kind=send", "kind=recv"] {
        let socket = hand_sender::socket(&port);
        let answer = hand_sender::start(&socket, &REQUEST.replace("kind=send", kind));
        assert!(answer.contains("refused") && answer.contains("--secret-file"), "{answer}");
    }
    // The proof is of one request, and of no other: one that was heard on the way is of no use with another rate.
    let ended = client(&port, "send", &["--bytes", "10K", "--size", "1000", "--secret-file", &secret]).success();
    assert_eq!(ended.total("udp_recv").count("lost"), 0);
    let ended = listener.end().success();
    assert_eq!(ended.records().len(), 1, "{ended:?}");
    assert!(ended.stderr.contains("refused 4 requests without the secret"), "one line for all: {ended:?}");
    assert_eq!(ended.stderr.matches("refused").count(), 1, "{ended:?}");
}

#[test]
fn no_more_bytes_are_sent_than_came_before_somebody_is_known() {
    let (_listener, port) = listener(&[]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(format!("127.0.0.1:{port}")).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let hello = |length: usize| format!("udpblast/2 hello nonce=0f pad={}\n", "x".repeat(length));
    let (mut sent, mut received) = (0, 0);
    let questions = [
        hello(256),
        hello(0),
        hello(1000),
        "udpblast/2 start nonce=0f cookie=0\n".into(),
        "udpblast/1 hello nonce=5\n".into(),
    ];
    for question in questions {
        sent += socket.send(question.as_bytes()).unwrap();
        let mut buffer = [0; 4096];
        while let Ok(length) = socket.recv(&mut buffer) {
            received += length;
        }
    }
    assert!(received > 0 && received <= sent, "{received} for {sent}");
}

#[test]
fn whoever_only_says_that_it_is_there_has_its_place_for_a_while() {
    let (listener, port) = listener(&["--max-clients", "3", "--idle-timeout", "1s"]);
    let ping = REQUEST.replace("kind=send", "kind=ping");
    let mut idlers = vec![HandSender::agree(&port), HandSender::agree_as(&port, &ping, "")];
    // One that asks and never begins.
    let socket = hand_sender::socket(&port);
    assert!(hand_sender::start(&socket, REQUEST).contains(" ok "));
    let full = client(&port, "send", &["--bytes", "10K", "--size", "1000"]).failure(1, &["--max-clients"]);
    assert!(full.took < Duration::from_secs(3), "{full:?}");
    let begun = Instant::now();
    // Those that take all of the others' words and ask for lines again and again are no better.
    eventually("a free place", Duration::from_secs(10), || {
        for idler in &idlers {
            idler.raw(idler.piece("alive taken=0").as_bytes());
            idler.raw(idler.piece("get index=0").as_bytes());
            idler.raw(idler.piece("line index=0 text=x").as_bytes());
        }
        client(&port, "send", &["--bytes", "10K", "--size", "1000"]).status.success()
    });
    assert!(begun.elapsed() < Duration::from_secs(8));
    idlers.clear();
    let _ = listener.stdout();
}

#[test]
fn a_listener_out_of_threads_refuses_and_stays() {
    if !is_root() || !has_program("setpriv", "util-linux") || !has_program("prlimit", "util-linux") {
        return;
    }
    // A user of its own, that may have so many threads: the listener's, and none for a client.
    let user = format!("{}", 60_000 + std::process::id() % 5_000);
    let directory = tempfile::tempdir().unwrap();
    let binary = directory.path().join("udpblast");
    std::fs::copy(udpblast().path(), &binary).unwrap();
    for path in [directory.path(), &binary] {
        Command::new("chmod").arg("a+rx").arg(path).status().unwrap();
    }
    let prefix = ["setpriv", "--reuid", &user, "--clear-groups", "prlimit", "--nproc=1:50"];
    let limited = Tool::new(binary).within(&prefix);
    let listener = limited.start(&["listen", "--port", "0", "--bind", "127.0.0.1"]);
    let port = listener.port();
    for _ in 0..2 {
        let _ =
            client(&port, "send", &["--bytes", "10K", "--size", "1000"]).failure(1, &["nothing is left to serve it"]);
    }
    let pid = listener.pid().to_string();
    let more = ["--reuid", &user, "--clear-groups", "prlimit", "--pid", &pid, "--nproc=50:50"];
    assert!(Command::new("setpriv").args(more).status().unwrap().success());
    let _ = client(&port, "send", &["--bytes", "10K", "--size", "1000"]).success();
}

#[test]
fn once_is_one_visit() {
    let (once, port) = listener(&["--once"]);
    let ended = client(&port, "send", &["--bytes", "10K", "--size", "1000", "--runs", "3"]).success();
    assert_eq!(ended.some("udp_recv", "total").len(), 3);
    let ended = once.end().success();
    assert!(ended.took < Duration::from_secs(20) && ended.records().len() == 3, "{ended:?}");
    // Between two runs of one visitor another one is refused.
    let (once, port) = listener(&["--once"]);
    let visitor = HandSender::agree_as(&port, &REQUEST.replace("next=0us", "next=3000000us"), "");
    visitor.data(0);
    visitor.end(1);
    visitor.bye();
    once.wait_for_records(1);
    let _ = client(&port, "send", &["--bytes", "10K", "--size", "1000"]).failure(1, &["--once"]);
    let _ = once.end().success();
}

#[test]
fn a_line_says_when_its_listener_had_other_company() {
    let (listener, port) = listener(&[]);
    let args = ["--rate", "5M", "--size", "1000", "--time", "600ms"];
    let beside = udpblast().start(&[&["recv", "127.0.0.1", "--port", &port][..], &args].concat());
    std::thread::sleep(Duration::from_millis(300));
    let shared = client(&port, "send", &args).success();
    for ended in [shared, beside.end().success()] {
        for test in ["udp_send", "udp_recv"] {
            assert!(ended.total(test).has_flag("shared"), "both ends' lines say so: {ended:?}");
        }
    }
    assert_eq!(listener.records().iter().filter(|line| line.has_flag("shared")).count(), 2);
    let alone = client(&port, "send", &[&args[..], &["--runs", "2"]].concat()).success();
    assert!(!alone.records().iter().any(|line| line.has_flag("shared")), "{alone:?}");
}

#[test]
fn a_place_is_waited_for_as_long_as_was_asked_for() {
    let (_listener, port) = listener(&["--max-clients", "1"]);
    let busy = udpblast().start(&[
        "send",
        "127.0.0.1",
        "--port",
        &port,
        "--rate",
        "1M",
        "--time",
        "2s",
        "--interval",
        "500ms",
    ]);
    busy.wait_for_records(1);
    let one = ["--bytes", "10K", "--size", "1000"];
    let refused = client(&port, "send", &one).failure(1, &["--max-clients"]);
    assert!(refused.took < Duration::from_secs(2), "{refused:?}");
    let late = client(&port, "send", &[&one[..], &["--queue", "300ms", "--quiet"]].concat()).failure(1, &["--queue"]);
    assert!(late.took < Duration::from_secs(2), "{late:?}");
    let patient = client(&port, "send", &[&one[..], &["--queue", "20s"]].concat()).success();
    assert!(!patient.total("udp_recv").has_flag("shared"), "they were one after the other: {patient:?}");
    let _ = busy.end().success();
    let began = Instant::now();
    let _ = client(&port, "send", &[&one[..], &["--splay", "500ms"]].concat()).success();
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[test]
fn unfinished_business_of_many_leaves_a_real_client_its_figures() {
    let (listener, port) = listener(&["--max-clients", "64", "--idle-timeout", "2s"]);
    let recv = REQUEST.replace("kind=send", "kind=recv");
    let ping = REQUEST.replace("kind=send", "kind=ping");
    let mut idlers = Vec::new();
    let mut sockets = Vec::new();
    for turn in 0..40 {
        match turn % 5 {
            0 => idlers.push(HandSender::agree(&port)),
            1 => idlers.push(HandSender::agree_as(&port, &ping, "")),
            2 => {
                let socket = hand_sender::socket(&port);
                hand_sender::start(&socket, &recv);
                sockets.push(socket);
            }
            3 => {
                // Streams that never come.
                let socket = hand_sender::socket(&port);
                hand_sender::start(&socket, &REQUEST.replace("streams=1", "streams=64"));
                sockets.push(socket);
            }
            _ => {
                let idler = HandSender::agree(&port);
                idler.data(5);
                idler.raw(idler.piece("end sent=10 span=0 whole=1 sure=1 words=0").as_bytes());
                idlers.push(idler);
            }
        }
    }
    let args = ["--rate", "20M", "--size", "1000", "--time", "1s"];
    let ended = client(&port, "send", &args).success();
    let received = ended.total("udp_recv");
    assert_eq!(received.count("lost"), received.count("network_lost") + received.count("socket_drops"), "{ended:?}");
    assert!(received.count("received") > 1_000, "{ended:?}");
    // Then all places are free again.
    std::thread::sleep(Duration::from_secs(6));
    let all: Vec<_> = (0..64).map(|_| HandSender::agree(&port)).collect();
    drop(all);
    let _ = listener.stderr();
}
