//! The listener among strangers, and its limits.

use std::net::UdpSocket;

use testkit::hand_sender::HandSender;

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
