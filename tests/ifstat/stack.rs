//! The layers above the card: where a packet was lost.

use std::net::UdpSocket;
use std::time::Duration;

use super::space::{self, Space};
use super::{some, total};

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
    let verdict = some(&records, &there.name, "stack", "total");
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
    assert_eq!(some(&records, &space.name, "stack", "total")[0].text("lost_at"), "socket");
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
    assert!(some(&records, &here.name, "stack", "total")[0].text("lost_at").split(' ').any(|place| place == "queue"));
}
