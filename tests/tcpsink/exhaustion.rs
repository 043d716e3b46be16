//! A sink that has nothing left, or is full of strangers: it refuses, and stays.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::{Running, eventually, is_root};

use super::raw::{Raw, stream};
use super::strangers::{most_memory, send};
use super::{connect, plain_client, sink, tcpsink};

/// A sink under limits of its own (prlimit(1)).
fn limited(limits: &[&str], args: &[&str]) -> (Running, String) {
    let sink = tcpsink()
        .within(&[&["prlimit"], limits].concat())
        .start(&[&["listen", "--port", "0", "--bind", "127.0.0.1"], args].concat());
    let port = sink.port();
    (sink, port)
}

#[test]
fn a_sink_without_descriptors_refuses_and_stays() {
    let (sink, port) = limited(&["--nofile=40"], &["--idle-timeout", "20s"]);
    let crowd: Vec<_> = (0..60).map(|_| connect(&port)).collect();
    let _ = send(&port, &[]).failure(1, &["nothing is left to serve it with"]);
    // A test that has a place and gets no descriptors for its streams.
    drop(crowd);
    std::thread::sleep(Duration::from_millis(300));
    let ended = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--time", "1s", "--streams", "60"]);
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    eventually("room", Duration::from_secs(12), || send(&port, &[]).status.success());
    let notices = sink.stderr();
    assert!(notices.contains("Too many open files") && notices.lines().count() < 30, "{notices}");
    sink.signal(Signal::SIGTERM);
    let _ = sink.end().success();
}

#[test]
fn a_limit_may_be_lowered_while_it_runs() {
    let (sink, port) = sink(&[]);
    let crowd: Vec<_> = (0..60).map(|_| connect(&port)).collect();
    let _ = send(&port, &[]).success();
    let lowered = Command::new("prlimit").args(["--pid", &sink.pid().to_string(), "--nofile=30"]).status();
    assert!(lowered.unwrap().success());
    let _ = send(&port, &[]);
    drop(crowd);
    eventually("room", Duration::from_secs(10), || send(&port, &[]).status.success());
}

#[test]
fn a_sink_without_threads_refuses_and_stays() {
    if !is_root() {
        return;
    }
    // A user that has no other process: the limit is on all of them.
    let uid = 61_000 + std::process::id() % 1000;
    let directory =
        tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir().unwrap();
    let program = directory.path().join("tcpsink");
    std::fs::copy(tcpsink().path(), &program).unwrap();
    let mut child = Command::new("prlimit")
        .args(["--nproc=6", program.to_str().unwrap(), "listen", "--port", "0", "--bind", "127.0.0.1"])
        .uid(uid)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut notices = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut notice = String::new();
    std::io::BufRead::read_line(&mut notices, &mut notice).unwrap();
    let port = notice.trim().rsplit(':').next().unwrap().to_owned();
    let mut crowd: Vec<TcpStream> = (0..4).map(|_| connect(&port)).collect();
    for stream in &mut crowd {
        let _ = stream.write_all(b"x");
        // Two threads each: at once they would take all, and none would have both.
        std::thread::sleep(Duration::from_millis(300));
    }
    let refused = plain_client(&port, b"x");
    let ended = send(&port, &["--streams", "4"]);
    let alive = child.try_wait().unwrap().is_none();
    drop(crowd);
    std::thread::sleep(Duration::from_millis(300));
    let served = send(&port, &[]);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    let status = child.wait().unwrap();
    assert!(refused.contains("Resource temporarily unavailable"), "{refused}");
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(alive && status.success(), "{status}");
    let _ = served.success();
}

#[test]
fn strangers_in_all_states_leave_a_client_its_figures_and_the_sink_its_places() {
    let (sink, port) = sink(&["--idle-timeout", "3s", "--max-clients", "28"]);
    let mut crowd: Vec<Box<dyn std::any::Any>> = Vec::new();
    for number in 0..40 {
        match number % 8 {
            0 => crowd.push(Box::new(connect(&port))),
            1 => crowd.push(Box::new(Raw::says(&port, "tcpsink/1 test kind=se"))),
            2 => crowd.push(Box::new(Raw::asks(&port, &[]))),
            3 => {
                // A stream that sends once, and never again.
                let mut control = Raw::asks(&port, &[]);
                let token = control.token();
                let mut stream = stream(&port, &token, "up", 0);
                stream.write_all(b"x").unwrap();
                crowd.push(Box::new((control, stream)));
            }
            4 => {
                // Streams that never read.
                let mut control = Raw::asks(&port, &[("kind", "recv"), ("time", "60000000us")]);
                let token = control.token();
                crowd.push(Box::new((stream(&port, &token, "down", 0), control)));
            }
            5 => {
                let mut control = Raw::asks(&port, &[("kind", "ping"), ("request", "1"), ("response", "100000000")]);
                let token = control.token();
                let mut stream = stream(&port, &token, "echo", 0);
                stream.write_all(&[7; 100]).unwrap();
                crowd.push(Box::new((control, stream)));
            }
            6 => {
                // Half closed.
                let half = Raw::says(&port, "tcpsink/1");
                half.0.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
                crowd.push(Box::new(half));
            }
            _ => crowd.push(Box::new(Raw::asks(&port, &[("kind", "connect"), ("time", "60000000us")]))),
        }
    }
    let real = tcpsink().run(&["both", "127.0.0.1", "--port", &port, "--time", "2s", "--streams", "2"]);
    let real = real.success();
    let sent: u64 = real.some("tcp_send", "total").iter().map(|line| line.count("bytes")).sum();
    let received: u64 = real.some("tcp_recv", "total").iter().map(|line| line.count("bytes")).sum();
    assert_eq!(sent, received, "{real:?}");
    assert!(most_memory(&sink) < 64 << 10, "{} kB", most_memory(&sink));
    // All places are free before long, though nobody has closed anything.
    eventually("free places", Duration::from_secs(20), || {
        let mut all: Vec<_> = (0..28).map(|_| Raw::asks(&port, &[])).collect();
        let served = all.iter_mut().filter_map(|one| one.line().starts_with("tcpsink/1 ok").then_some(())).count();
        drop(all);
        std::thread::sleep(Duration::from_millis(500));
        served == 28
    });
    drop(crowd);
}
