//! Real payload: what arrives is what was sent, or nothing is there.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testkit::{Tool, eventually, is_root, records};

use super::{plain_client, sink, tcpsink};

/// Bytes that differ from place to place.
fn payload(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let step = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 56) as u8
    };
    (0..length).map(|_| step(&mut state)).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_file_arrives_byte_for_byte_with_the_time_of_each_step() {
    let directory = tempfile::tempdir().unwrap();
    let (source, target) = (directory.path().join("source"), directory.path().join("target"));
    let bytes = payload(20_000_001);
    std::fs::write(&source, &bytes).unwrap();
    let (sink, port) = sink(&["--output", text(&target)]);
    let ended = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--input", text(&source)]).success();
    assert!(sink.end().status.success());
    assert!(std::fs::read(&target).unwrap() == bytes);
    for (test, steps) in [("tcp_send", ["read_s", "send_s"]), ("tcp_recv", ["write_s", "fsync_s"])] {
        let total = ended.total(test);
        assert_eq!((total.count("bytes"), total.text("method"), total.text("flags")), (20_000_001, "file", ""));
        let unused = if test == "tcp_send" { "write_s" } else { "read_s" };
        assert_eq!(total.text(unused), "", "a step that this end does not take has no time");
        let spent: f64 = steps.iter().map(|step| total.number(step)).sum();
        assert!(spent > 0.0 && spent <= total.number("seconds") + 0.001, "fsync is inside the time: {total:?}");
    }
    assert_eq!(names(directory.path()).len(), 2, "nothing else is left");
}

#[test]
fn pipes_work_at_both_ends() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let reader = {
        let fifo = fifo.clone();
        std::thread::spawn(move || std::fs::read(fifo).unwrap())
    };
    let (_sink, port) = sink(&["--output", text(&fifo)]);
    let bytes = payload(3_000_000);
    let mut child = tcpsink()
        .command(&["send", "127.0.0.1", "--port", &port, "--input", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(reader.join().unwrap() == bytes);
}

#[test]
fn a_plain_client_is_stored_too() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    let (sink, port) = sink(&["--output", text(&target)]);
    let bytes = payload(1_000_000);
    assert_eq!(records(&plain_client(&port, &bytes))[0].count("bytes"), 1_000_000);
    assert!(sink.end().status.success());
    assert!(std::fs::read(&target).unwrap() == bytes);
}

#[test]
fn nothing_is_overwritten_unless_forced() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    std::fs::write(&target, "old").unwrap();
    let listen = ["listen", "--port", "0", "--bind", "127.0.0.1", "--output", text(&target)];
    let _ = tcpsink().run(&listen).failure(1, &[text(&target), "--force"]);
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    let sink = tcpsink().start(&[&listen[..], &["--force"]].concat());
    plain_client(&sink.port(), b"new");
    assert!(sink.end().status.success());
    assert_eq!(std::fs::read(&target).unwrap(), b"new");
    let directory_as_file = ["listen", "--port", "0", "--output", text(directory.path())];
    let _ = tcpsink().run(&directory_as_file).failure(1, &["directory"]);
    let _ = tcpsink().run(&["listen", "--port", "0", "--output", "/nosuch/file"]).failure(1, &["/nosuch/file"]);
}

#[test]
fn a_file_that_did_not_all_arrive_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    let (sink, port) = sink(&["--output", text(&target)]);
    let client = tcpsink().start(&["send", "127.0.0.1", "--port", &port, "--rate", "80M", "--time", "30s"]);
    eventually("the first bytes", Duration::from_secs(5), || {
        std::fs::read_dir(directory.path()).unwrap().any(|entry| entry.unwrap().metadata().unwrap().len() > 0)
    });
    client.signal(Signal::SIGKILL);
    drop(client.end());
    let ended = sink.end();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.total("tcp_recv").has_flag("partial"));
    assert_eq!(names(directory.path()), [""; 0], "neither the target nor a temporary file");
}

#[test]
fn a_full_disk_is_named_at_both_ends() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    // A small file system in a mount namespace of the sink's own: it goes away with it.
    let script = format!(
        "mount -t tmpfs -o size=8m small {0} && {1} listen --port 0 --bind 127.0.0.1 --output {2}; status=$?; ls -A {0} >&2; exit $status",
        text(directory.path()),
        tcpsink().path(),
        text(&target)
    );
    let sink = Tool::new("unshare").start(&["-m", "sh", "-c", &script]);
    let port = sink.port();
    let ended = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--time", "20s", "--rate", "800M"]);
    let ended = ended.failure(1, &[text(&target), "No space left", "bytes"]);
    assert!(ended.total("tcp_recv").has_flag("partial"));
    assert!(ended.took < Duration::from_secs(10), "it does not go on for 20 s");
    let sink = sink.end();
    assert_eq!(sink.status.code(), Some(1));
    assert!(sink.stderr.contains("No space left") && sink.stderr.contains(text(&target)), "{sink:?}");
    assert!(sink.stderr.lines().all(|line| line.starts_with("tcpsink:")), "ls finds nothing: {sink:?}");
}

#[test]
fn an_input_that_cannot_be_read_is_named_before_anything_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    for path in ["/nosuch/file", text(directory.path())] {
        let _ = tcpsink().run(&["send", "127.0.0.1", "--port", "1", "--input", path]).failure(1, &["--input", path]);
    }
}

#[test]
fn an_empty_file_is_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    let (sink, port) = sink(&["--output", text(&target)]);
    let ended = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--input", "/dev/null"]).success();
    assert_eq!(ended.total("tcp_recv").text("bytes_per_s"), "");
    assert!(sink.end().status.success());
    assert_eq!(std::fs::read(&target).unwrap(), b"");
}

/// A FIFO in a directory of its own.
fn fifo() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fifo");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    (directory, path)
}

#[test]
fn a_fifo_that_nobody_reads_does_not_hold_the_sink() {
    let (_directory, fifo) = fifo();
    let listen = ["listen", "--port", "0", "--bind", "127.0.0.1", "--output", text(&fifo)];
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let sink = tcpsink().start(&listen);
        eventually("what it waits for", Duration::from_secs(10), || sink.stderr().contains("waiting for a reader"));
        let signalled = Instant::now();
        sink.signal(signal);
        let ended = sink.end().success();
        assert!(signalled.elapsed() < Duration::from_secs(5) && ended.stdout.is_empty(), "{ended:?}");
    }
    let sink = tcpsink().start(&listen);
    eventually("what it waits for", Duration::from_secs(10), || sink.stderr().contains(text(&fifo)));
    let reader = std::thread::spawn(move || std::fs::read(fifo).unwrap());
    assert!(plain_client(&sink.port(), b"at last").contains("tcp_recv"));
    assert_eq!(reader.join().unwrap(), b"at last");
    assert!(sink.end().status.success());
}

#[test]
fn a_reader_of_a_fifo_that_stops_does_not_hold_the_sink() {
    for idle_timeout in ["1s", "30s"] {
        let (_directory, fifo) = fifo();
        let reader = {
            let fifo = fifo.clone();
            std::thread::spawn(move || File::open(fifo).unwrap())
        };
        let (sink, port) = sink(&["--output", text(&fifo), "--idle-timeout", idle_timeout]);
        let _stopped = reader.join().unwrap();
        let began = Instant::now();
        let client = tcpsink().start(&["send", "127.0.0.1", "--port", &port, "--time", "40s"]);
        if idle_timeout == "30s" {
            std::thread::sleep(Duration::from_secs(1));
            sink.signal(Signal::SIGTERM);
        }
        let ended = sink.end();
        assert!(began.elapsed() < Duration::from_secs(10), "{idle_timeout}: {ended:?}");
        assert!(ended.total("tcp_recv").has_flag("partial"), "{ended:?}");
        assert_eq!(ended.status.code(), Some(1), "{ended:?}");
        if idle_timeout == "1s" {
            assert!(ended.stderr.contains(text(&fifo)) && ended.stderr.contains("--idle-timeout"), "{ended:?}");
        }
        assert_eq!(client.end().status.code(), Some(1));
        assert!(began.elapsed() < Duration::from_secs(15));
    }
}
