//! Clients that know nothing of tcpsink, and what they read back.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::process::Command;
use std::time::Duration;

use testkit::{has_program, records};

use super::{connect, plain_client, sink};

#[test]
fn dd_and_nc_read_what_the_receiver_measured() {
    if !has_program("nc", "netcat-openbsd") {
        return;
    }
    let (sink, port) = sink(&[]);
    let script = format!("dd if=/dev/zero bs=1M count=200 status=none | nc -N 127.0.0.1 {port}");
    let answer = Command::new("sh").args(["-c", &script]).output().unwrap().stdout;
    let answer = String::from_utf8(answer).unwrap();
    let line = records(&answer).remove(0);
    assert_eq!(line.count("bytes"), 209_715_200);
    assert_eq!(line.text("test"), "tcp_recv");
    assert_eq!(line.text("method"), "discard");
    assert_eq!(line.text("flags"), "");
    assert_eq!(line.text("target"), "127.0.0.1");
    sink.wait_for_records(1);
    assert_eq!(sink.stdout(), answer, "the sink prints the same header and line");
}

#[test]
fn every_plain_client_gets_its_line() {
    let (sink, port) = sink(&["--label", "tiny"]);
    for payload in [&b""[..], b"x", b"tcpsink", b"GET / HTTP/1.1\r\n\r\n"] {
        let answer = records(&plain_client(&port, payload));
        assert_eq!(answer.len(), 1);
        assert_eq!(answer[0].count("bytes"), payload.len() as u64);
        assert_eq!(answer[0].text("bytes_per_s"), "", "no rate over no time");
        assert_eq!(answer[0].text("seconds"), "0.000000");
        assert_eq!((answer[0].text("label"), answer[0].text("flags")), ("tiny", ""));
    }
    sink.wait_for_records(4);
}

#[test]
fn the_time_ends_with_the_last_byte_not_with_the_connection() {
    let (_sink, port) = sink(&[]);
    let mut stream = connect(&port);
    stream.write_all(&[1; 20]).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    stream.write_all(&[2; 17]).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let line = records(&answer).remove(0);
    assert_eq!(line.count("bytes"), 37);
    assert!((0.04..0.9).contains(&line.number("seconds")), "{line:?}");
}

#[test]
fn a_client_that_waits_is_dropped_while_others_are_served() {
    let (sink, port) = sink(&["--idle-timeout", "1s"]);
    let mut waiting = connect(&port);
    waiting.write_all(&[0; 37]).unwrap();
    let mut silent = connect(&port);
    assert_eq!(records(&plain_client(&port, &[0; 1000]))[0].count("bytes"), 1000);
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).unwrap();
    let line = records(&answer).remove(0);
    assert_eq!(line.count("bytes"), 37);
    assert!(line.has_flag("partial"));
    let mut answer = String::new();
    silent.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("tcpsink/1 refused") && answer.contains("idle-timeout"), "{answer}");
    assert_eq!(sink.wait_for_records(2).len(), 2, "a silent client measured nothing");
}

#[test]
fn once_is_one_client() {
    let (sink, port) = sink(&["--once"]);
    plain_client(&port, b"only");
    let ended = sink.end().success();
    assert_eq!(ended.records().len(), 1);
}
