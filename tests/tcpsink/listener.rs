//! The sink among many clients, and where it may stand.

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::{eventually, is_root, records};

use super::{connect, plain_client, sink, tcpsink};

#[test]
fn serves_many_at_once_on_both_families() {
    let sink = tcpsink().start(&["listen", "--port", "0"]);
    let port = sink.port();
    let clients: Vec<_> = (0..6)
        .map(|index| {
            let host = if index % 2 == 0 { "127.0.0.1" } else { "::1" };
            tcpsink().start(&["send", host, "--port", &port, "--bytes", "3M", "--label", &format!("c{index}")])
        })
        .collect();
    for (index, client) in clients.into_iter().enumerate() {
        let ended = client.end().success();
        let line = ended.total("tcp_recv");
        assert_eq!(line.count("bytes"), 3 << 20);
        assert_eq!(line.text("label"), format!("c{index}"));
        assert_eq!(line.text("target"), if index % 2 == 0 { "127.0.0.1" } else { "::1" });
    }
    sink.wait_for_records(6);
    sink.signal(Signal::SIGTERM);
    assert_eq!(sink.end().success().records().len(), 6, "a stopped listener has done its work");
}

#[test]
fn silent_connections_keep_nobody_out_and_one_too_many_is_told() {
    let (sink, port) = sink(&["--max-clients", "2"]);
    let silent: Vec<_> = (0..200).map(|_| connect(&port)).collect();
    let ended = tcpsink().run(&["send", "127.0.0.1", "--port", &port, "--bytes", "1M"]).success();
    assert_eq!(ended.total("tcp_recv").count("bytes"), 1 << 20);
    let mut busy: Vec<_> = (0..2).map(|_| connect(&port)).collect();
    for (index, stream) in busy.iter_mut().enumerate() {
        stream.write_all(b"x").unwrap();
        // The sink has to see the one before the other.
        std::thread::sleep(Duration::from_millis(100 * (1 + index as u64)));
    }
    let answer = plain_client(&port, b"me too");
    assert!(answer.starts_with("tcpsink/1 refused") && answer.contains("--max-clients"), "{answer}");
    let refused = tcpsink().run(&["send", "127.0.0.1", "--port", &port]);
    assert_eq!(refused.failure(1, &["127.0.0.1", "--max-clients"]).stdout, "");
    drop((silent, busy));
    sink.wait_for_records(3);
    eventually("a free place", Duration::from_secs(5), || plain_client(&port, b"now").starts_with("schema,"));
}

#[test]
fn needs_no_writable_file_system() {
    if !is_root() {
        return;
    }
    let (_sink, port) = sink(&[]);
    let script = format!(
        "mount --bind / / && mount -o remount,ro,bind / && cd / && unset TMPDIR && ! touch /tmp/linebench-probe 2>/dev/null \
         && {} send 127.0.0.1 --port {port} --bytes 1M",
        tcpsink().path()
    );
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(records(&String::from_utf8(output.stdout).unwrap()).len(), 2);
}

#[test]
fn a_port_in_use_is_named() {
    let (_sink, port) = sink(&[]);
    let ended = tcpsink().run(&["listen", "--bind", "127.0.0.1", "--port", &port]);
    assert_eq!(ended.failure(1, &["127.0.0.1", &port, "in use"]).stdout, "");
}
