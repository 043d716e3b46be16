//! A sink that strangers can reach.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::{Running, eventually, records};

use super::{connect, plain_client, sink, tcpsink};

/// A sink with a secret; the second file holds another one.
fn guarded(args: &[&str]) -> (Running, String, tempfile::TempDir, [String; 2]) {
    let directory = tempfile::tempdir().unwrap();
    let files = ["right", "wrong"].map(|name| {
        let path = directory.path().join(name);
        std::fs::write(&path, format!("{name} secret\n")).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let (sink, port) = sink(&[&["--secret-file", &files[0]], args].concat());
    (sink, port, directory, files)
}

#[test]
fn only_those_who_know_the_secret_are_sent_to() {
    let (_sink, port, _directory, [right, wrong]) = guarded(&[]);
    let recv =
        |args: &[&str]| tcpsink().run(&[&["recv", "127.0.0.1", "--port", &port, "--bytes", "1K"], args].concat());
    assert_eq!(recv(&["--secret-file", &right]).success().total("tcp_recv").count("bytes"), 1024);
    assert_eq!(recv(&["--secret-file", &wrong]).failure(1, &["does not know the secret"]).stdout, "");
    assert_eq!(recv(&[]).failure(1, &["--secret-file"]).stdout, "");
    let sent = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "1K"]).success();
    assert_eq!(sent.total("tcp_recv").count("bytes"), 1024, "plain sinking stays open");
    assert_eq!(records(&plain_client(&port, b"abc"))[0].count("bytes"), 3);
}

#[test]
fn a_sink_may_want_the_secret_from_everybody() {
    let (_sink, port, _directory, [right, _]) = guarded(&["--require-secret"]);
    assert!(plain_client(&port, b"hello").contains("--require-secret"));
    let send =
        |args: &[&str]| tcpsink().run(&[&["send", "127.0.0.1", "--port", &port, "--bytes", "1K"], args].concat());
    let _ = send(&[]).failure(1, &["--secret-file"]);
    let _ = send(&["--secret-file", &right]).success();
}

/// Reads one line of the sink's.
fn line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    line
}

#[test]
fn a_handshake_cannot_be_replayed() {
    let (_sink, port, _directory, [right, _]) = guarded(&["--require-secret"]);
    // A man in the middle, who keeps what the client says.
    let middle = TcpListener::bind("127.0.0.1:0").unwrap();
    let middle_port = middle.local_addr().unwrap().port().to_string();
    let client =
        tcpsink().start(&["send", "127.0.0.1", "--port", &middle_port, "--bytes", "1K", "--secret-file", &right]);
    let mut of_client = BufReader::new(middle.accept().unwrap().0);
    let question = line(&mut of_client);
    let mut of_sink = BufReader::new(connect(&port));
    of_sink.get_mut().write_all(question.as_bytes()).unwrap();
    of_client.get_mut().write_all(line(&mut of_sink).as_bytes()).unwrap();
    let proof = line(&mut of_client);
    of_sink.get_mut().write_all(proof.as_bytes()).unwrap();
    assert!(line(&mut of_sink).starts_with("tcpsink/1 ok"), "the honest run is accepted");
    drop((client, of_client, of_sink));

    let mut again = BufReader::new(connect(&port));
    again.get_mut().write_all(question.as_bytes()).unwrap();
    assert!(line(&mut again).starts_with("tcpsink/1 challenge"));
    again.get_mut().write_all(proof.as_bytes()).unwrap();
    assert!(line(&mut again).starts_with("tcpsink/1 refused"));
}

#[test]
fn garbage_is_refused_in_bounded_time_and_memory() {
    let (sink, port, _directory, _) = guarded(&["--require-secret", "--idle-timeout", "2s"]);
    for garbage in [&b"\0\xff\xfe\x80"[..], b"tcpsink/1 \xff\xff\n", b"tcpsink/9 test\n", b"tcpsink/1 done\n"] {
        let mut stream = connect(&port);
        stream.write_all(garbage).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("tcpsink/1 refused"), "{garbage:?}: {answer}");
    }
    // A first line of 10 MB: refused long before its end. The rest may meet a closed door.
    let mut stream = connect(&port);
    let mut sent = stream.write_all(b"tcpsink/1 test ");
    for _ in 0..10 * 1024 {
        sent = sent.and_then(|()| stream.write_all(&[b'x'; 1024]));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", sink.pid())).unwrap();
    let resident = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kilobytes: u64 = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 50_000, "{resident}");

    // One byte a second.
    let mut stream = connect(&port);
    let begun = Instant::now();
    while stream.write_all(b"t").is_ok() && begun.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(300));
    }
    let mut slow = connect(&port);
    for byte in b"tcpsink/1 te" {
        if slow.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    let mut answer = String::new();
    // The refusal, or a connection that is closed already.
    let _ = slow.read_to_string(&mut answer);
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert!(answer.is_empty() || answer.contains("refused"), "{answer}");
    assert_eq!(sink.stdout(), "", "nothing of this is a measurement");
}

#[test]
fn only_the_addresses_allowed_are_served() {
    let (_sink, port) = sink(&["--allow", "192.0.2.0/24,2001:db8::/32"]);
    assert!(plain_client(&port, b"").contains("--allow"));
    let _ = tcpsink().run(&["send", "127.0.0.1", "--port", &port]).failure(1, &["--allow"]);
    let (_sink, port) = sink(&["--allow", "127.0.0.0/8"]);
    assert_eq!(records(&plain_client(&port, b"x"))[0].count("bytes"), 1);
}

#[test]
fn time_and_bytes_are_limited() {
    let (sink, port) = sink(&["--max-time", "1s", "--max-bytes", "1M"]);
    let run = |verb: &str, args: &[&str]| tcpsink().run(&[&[verb, "127.0.0.1", "--port", &port], args].concat());
    let _ = run("send", &["--time", "5s"]).failure(1, &["--max-time"]);
    let _ = run("recv", &["--bytes", "2M"]).failure(1, &["--max-bytes"]);
    let _ = run("send", &["--bytes", "1M"]).success();
    for verb in ["send", "recv"] {
        let ended = run(verb, &["--time", "900ms"]);
        let ended = ended.failure(1, &["--max-bytes"]);
        assert!(ended.total("tcp_recv").has_flag("partial"), "{ended:?}");
    }
    // A plain client that goes on for ever.
    let mut stream = connect(&port);
    let begun = Instant::now();
    while stream.write_all(b"x").is_ok() && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
    eventually("its line", Duration::from_secs(5), || sink.stderr().contains("--max-time)"));
}

#[test]
fn a_socket_may_be_passed_in() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut command = Command::new("bash");
    // systemd passes it as descriptor 3, and says to whom.
    let script =
        format!("LISTEN_PID=$$ LISTEN_FDS=1 exec {} listen --once 3<&{}", tcpsink().path(), listener.as_raw_fd());
    nix::fcntl::fcntl(&listener, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
    let mut child =
        command.args(["-c", &script]).arg0("bash").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(records(&plain_client(&port, b"activated"))[0].count("bytes"), 9);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_a_stranger_calls_itself_is_no_line_and_no_command_to_a_terminal() {
    let (sink, port) = sink(&[]);
    let label = "x\u{1b}]0;owned\u{7}\nifstat/1,2026-11-30T12:00:00.000Z,forged";
    let _ = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "1M", "--label", label]).success();
    let record = sink.wait_for_records(1).remove(0);
    assert_eq!(record.text("label"), "x?]0;owned??ifstat/1,2026-11-30T12:00:00.000Z,forged");
    let stdout = sink.stdout();
    assert!(stdout.lines().all(|line| line.starts_with("schema,") || line.starts_with("tcpsink/")), "{stdout}");
}

/// A sink that answers a client's test with this line.
fn false_sink(answer: impl Into<String>) -> String {
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    std::thread::spawn(move || {
        let (mut control, _) = listener.accept().unwrap();
        control.write_all(b"tcpsink/1 ok token=1\n").unwrap();
        let (mut payload, _) = listener.accept().unwrap();
        std::io::copy(&mut payload, &mut std::io::sink()).unwrap();
        // A client that has heard enough may be gone.
        let _ = write!(control, "tcpsink/1 {answer}\ntcpsink/1 end\n");
        // The client may leave at the first that it does not understand.
        let _ = std::io::copy(&mut control, &mut std::io::sink());
    });
    port
}

#[test]
fn what_a_sink_says_is_written_anew_or_refused() {
    let send = |port: &str| {
        let args = ["send", "127.0.0.1", "--port", port, "--bytes", "1M", "--idle-timeout", "2s"];
        tcpsink().run(&args)
    };
    let newer = "line text=schema%3Dtcpsink/99%20time%3D2026-11-30T12:00:00Z%20test%3Dtcp_recv%20span%3Dtotal%20seconds%3D1.5\
                 %20bytes%3D1048576%20host%3Dh%251B[2J%250Aifstat/1%20to_come%3D5";
    let ended = send(&false_sink(newer)).success();
    assert_eq!(ended.stdout.lines().count(), 3, "a header and two lines: {}", ended.stdout);
    let received = ended.total("tcp_recv");
    assert_eq!((received.text("host"), received.text("time")), ("h?[2J?ifstat/1", "2026-11-30T12:00:00.000Z"));
    for forged in ["line text=half", "line text=tcpsink/1,%0Aifstat/1,x%0A", "failed \x1b[2Jso%0Ait is"] {
        let ended = send(&false_sink(forged));
        assert_eq!(ended.status.code(), Some(1), "{ended:?}");
        assert!(!ended.stdout.contains("ifstat") && !ended.stderr.contains('\x1b'), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
}

/// A total that a false sink sends.
fn forged(cells: &str) -> String {
    let begin = "schema=tcpsink/2 time=2026-11-30T12:00:00Z span=total seconds=1.5";
    format!("line text={}", format!("{begin} {cells}").replace(' ', "%20").replace('=', "%3D"))
}

#[test]
fn lines_that_contradict_each_other_are_an_error() {
    let received = "test=tcp_recv direction=up bytes=1048576";
    let twice = format!("{}\ntcpsink/1 {}", forged(received), forged(received));
    for (answer, why) in [
        (forged("test=tcp_recv direction=up bytes=1048577"), "1048577 bytes were received of 1048576"),
        (forged("test=tcp_recv direction=up bytes=5"), "5 bytes were received of 1048576"),
        (forged("test=tcp_pong direction=echo bytes=1048576"), "no total of tcp_recv"),
        (twice, "two totals of tcp_recv"),
        ("end shared=0".into(), "no total of tcp_recv"),
    ] {
        let args = ["send", "127.0.0.1", "--port", &false_sink(answer), "--bytes", "1M", "--idle-timeout", "2s"];
        let ended = tcpsink().run(&args).failure(1, &["contradict", why]);
        let totals: Vec<_> = ended.records().into_iter().filter(|line| line.text("span") == "total").collect();
        assert!(totals.iter().all(|line| line.text("flags") == "partial"), "both are shown, and flagged: {ended:?}");
        assert_eq!(ended.total("tcp_send").count("bytes"), 1_048_576);
    }
    let short = forged("test=tcp_recv direction=up bytes=5 flags=short%2520partial");
    let args = ["send", "127.0.0.1", "--port", &false_sink(short), "--bytes", "1M", "--idle-timeout", "2s"];
    let _ = tcpsink().run(&args).failure(1, &["the sink did not get all of it"]);
}
