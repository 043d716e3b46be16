//! Queues of real namespaces; what they drop is what the other end misses.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use testkit::bed::{Bed, RECEIVER, RECEIVER_V6, enter, run};

use super::*;

/// Payload of a datagram.
const SIZE: usize = 1000;

/// The queues from the sender to the receiver's `address`.
fn towards(bed: &Bed, address: &str) -> Option<Queues> {
    let peer = SocketAddr::new(address.parse().unwrap(), 9);
    enter(&bed.sender(), || Queues::towards(Ipv4Addr::UNSPECIFIED.into(), peer))
}

fn drops(bed: &Bed, queues: &Queues) -> Option<u64> {
    enter(&bed.sender(), || queues.drops())
}

/// Sends so many datagrams, as many a call as `per_call` says; returns how many arrive.
fn blast(bed: &Bed, count: usize, per_call: usize) -> u64 {
    let receiver = enter(&bed.receiver(), || UdpSocket::bind((RECEIVER, 0)).unwrap());
    setsockopt(&receiver, sockopt::RcvBufForce, &(64 << 20)).unwrap();
    receiver.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let peer = receiver.local_addr().unwrap();
    enter(&bed.sender(), || {
        let sender = UdpSocket::bind("0.0.0.0:0").unwrap();
        setsockopt(&sender, sockopt::SndBufForce, &(64 << 20)).unwrap();
        setsockopt(&sender, sockopt::UdpGsoSegment, &i32::try_from(SIZE).unwrap()).unwrap();
        let buffer = vec![7; SIZE * per_call];
        for _ in 0..count / per_call {
            sender.send_to(&buffer, peer).unwrap();
        }
    });
    let mut arrived = 0;
    while receiver.recv(&mut [0; 2 * SIZE]).is_ok() {
        arrived += 1;
    }
    arrived
}

#[test]
fn devices_without_a_queue_drop_nothing() {
    let Some(bed) = Bed::new() else { return };
    for address in [RECEIVER, RECEIVER_V6, "10.0.1.2", "127.0.0.1", "::1", "::ffff:10.0.2.2"] {
        let queues = towards(&bed, address).unwrap_or_else(|| panic!("{address}"));
        assert_eq!((queues.kinds().as_str(), queues.cuts(), queues.drops_later()), ("noqueue", false, false));
        assert_eq!(drops(&bed, &queues), Some(0), "{address}");
    }
    enter(&bed.sender(), || run("ip route del default"));
    assert!(towards(&bed, "203.0.113.1").is_none(), "no way there");
}

#[test]
fn a_source_address_of_another_host_has_no_way() {
    let Some(bed) = Bed::new() else { return };
    let peer = SocketAddr::new(RECEIVER.parse().unwrap(), 9);
    let from = |local: [u8; 4]| enter(&bed.sender(), || Queues::towards(IpAddr::from(local), peer));
    assert!(from([10, 0, 1, 2]).is_some() && from([192, 0, 2, 1]).is_none());
}

#[test]
fn a_link_local_peer_is_looked_for_on_its_link() {
    let Some(bed) = Bed::new() else { return };
    bed.add_link_local();
    run(&format!("ip -n {} link add other0 type veth peer name other1", bed.sender()));
    run(&format!("ip -n {} link set other0 up", bed.sender()));
    run(&format!("ip -n {} link set other1 up", bed.sender()));
    run(&format!("ip -n {} addr add fe80::3/64 dev other0 nodad", bed.sender()));
    run(&format!("tc -n {} qdisc replace dev eth0 root tbf rate 1mbit burst 5000 limit 5000", bed.sender()));
    for (link, cuts) in [("eth0", true), ("other0", false)] {
        let queues = enter(&bed.sender(), || {
            let peer: crate::net::address::Address = format!("fe80::1%{link}").parse().unwrap();
            Queues::towards(std::net::Ipv6Addr::UNSPECIFIED.into(), peer.with_port(9))
        });
        assert_eq!(queues.map(|queues| queues.cuts()), Some(cuts), "{link}");
    }
}

#[test]
fn a_shaper_cuts_buffers_and_its_drops_are_what_does_not_arrive() {
    let Some(bed) = Bed::new() else { return };
    run(&format!("tc -n {} qdisc replace dev eth0 root tbf rate 100mbit burst 16000 limit 40000", bed.sender()));
    let queues = towards(&bed, RECEIVER).unwrap();
    assert!(queues.cuts() && !queues.drops_later(), "{queues:?}");
    let arrived = blast(&bed, 3200, 32);
    let dropped = drops(&bed, &queues).unwrap();
    assert!(dropped > 100, "{dropped}");
    // A buffer that was refused as a whole is one drop: the shaper cuts before it asks.
    assert_eq!(arrived + dropped, 3200);
}

#[test]
fn what_a_class_drops_is_counted_once() {
    let Some(bed) = Bed::new() else { return };
    let tc = |words: &str| run(&format!("tc -n {} {words}", bed.sender()));
    tc("qdisc add dev eth0 root handle 1: htb default 10");
    tc("class add dev eth0 parent 1: classid 1:10 htb rate 20mbit burst 3000");
    tc("qdisc add dev eth0 parent 1:10 handle 10: pfifo limit 20");
    let queues = towards(&bed, RECEIVER).unwrap();
    assert_eq!((queues.kinds().as_str(), queues.cuts()), ("htb, pfifo", true));
    let arrived = blast(&bed, 400, 1);
    let dropped = drops(&bed, &queues).unwrap();
    assert!(dropped > 100, "{dropped}");
    assert_eq!(arrived + dropped, 400);
    tc("qdisc replace dev eth0 parent 1:10 handle 11: pfifo limit 20");
    assert_eq!(drops(&bed, &queues), None, "a leaf was replaced");
}

#[test]
fn a_queue_that_was_replaced_or_made_anew_tells_nothing() {
    let Some(bed) = Bed::new() else { return };
    let qdisc = |words: &str| run(&format!("tc -n {} qdisc {words}", bed.sender()));
    qdisc("add dev eth0 root tbf rate 1mbit burst 5000 limit 5000");
    let queues = towards(&bed, RECEIVER).unwrap();
    qdisc("change dev eth0 root tbf rate 2mbit burst 5000 limit 5000");
    assert_eq!(drops(&bed, &queues), Some(0), "another rate is the same queue");
    qdisc("replace dev eth0 root pfifo_fast");
    assert_eq!(drops(&bed, &queues), None);
    assert!(!towards(&bed, RECEIVER).unwrap().cuts(), "a plain one");
    assert!(blast(&bed, 10, 1) == 10 && drops(&bed, &queues).is_none());
    qdisc("replace dev eth0 root handle 1: tbf rate 100kbit burst 2000 limit 2000");
    let before = towards(&bed, RECEIVER).unwrap();
    blast(&bed, 20, 1);
    let after = towards(&bed, RECEIVER).unwrap();
    assert!(drops(&bed, &before).unwrap() > 10);
    qdisc("del dev eth0 root");
    qdisc("add dev eth0 root handle 1: tbf rate 100kbit burst 2000 limit 2000");
    assert_eq!(drops(&bed, &after), None, "its counter went back");
}

#[test]
fn the_queue_of_the_device_below_is_on_the_way() {
    let Some(bed) = Bed::new() else { return };
    let sender = bed.sender();
    run(&format!("ip -n {sender} link add upper0 link eth0 type macvlan mode bridge"));
    run(&format!("ip -n {sender} addr add 10.0.9.1/24 dev upper0"));
    run(&format!("ip -n {sender} link set upper0 up"));
    run(&format!("tc -n {sender} qdisc replace dev eth0 root tbf rate 8kbit burst 1600 limit 1600"));
    let queues = towards(&bed, "10.0.9.2").unwrap();
    assert_eq!(queues.kinds(), "noqueue, tbf");
    assert!(queues.cuts());
    enter(&sender, || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        run(&format!("ip -n {sender} neigh add 10.0.9.2 lladdr 02:00:00:00:00:09 dev upper0"));
        (0..50).for_each(|_| assert!(socket.send_to(&[7; SIZE], "10.0.9.2:9").is_ok()));
    });
    assert!(drops(&bed, &queues).unwrap() > 40);
}

#[test]
fn whoever_may_send_may_ask() {
    let Some(bed) = Bed::new() else { return };
    run(&format!("tc -n {} qdisc replace dev eth0 root tbf rate 1mbit burst 5000 limit 5000", bed.sender()));
    let peer = SocketAddr::new(RECEIVER.parse().unwrap(), 9);
    let told = enter(&bed.sender(), || {
        // Of this thread alone.
        rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(65_534)).unwrap();
        let queues = Queues::towards(Ipv4Addr::UNSPECIFIED.into(), peer)?;
        Some((queues.cuts(), queues.drops()?))
    });
    assert_eq!(told, Some((true, 0)));
}

#[test]
fn what_cannot_be_seen_is_not_guessed() {
    let plain = |index| Link { index, ..Link::default() };
    let vlan = Link { lower: Some(2), ..plain(1) };
    let port = |index| Link { master: Some(2), ..plain(index) };
    assert_eq!(with_those_below(1, &[vlan, plain(2), port(3), port(4), plain(5)]), Some(vec![1, 2, 3, 4]));
    assert_eq!(with_those_below(1, &[vlan]), None, "below is nothing that is listed");
    let loops = Link { lower: Some(1), ..plain(2) };
    assert_eq!(with_those_below(1, &[vlan, loops]), Some(vec![1, 2]));
    assert_eq!(with_those_below(1, &[Link { is_blind: true, ..plain(1) }]), None);
    assert_eq!(Link::parse(&[0; 3]), None);
}
