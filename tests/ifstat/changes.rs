//! Interfaces that come, go, and change while they are watched.

use std::net::UdpSocket;
use std::time::Duration;

use testkit::{eventually, is_root, records};

use super::space::{self, Space};
use super::{ifstat, some, sum, total};

#[test]
fn no_such_interface_is_a_failure_at_once() {
    for args in [&["nosuch"][..], &["lo", "nosuch"], &["facts", "nosuch"], &["stats", "nosuch"]] {
        let ended = ifstat().run(args).failure(1, &["nosuch"]);
        assert_eq!(ended.stdout, "");
    }
    if is_root() {
        let _ = ifstat().run(&["--netns", "no-such-netns"]).failure(1, &["no-such-netns", "--netns"]);
    }
}

#[test]
fn waits_for_an_interface() {
    let Some(space) = Space::new() else { return };
    let running = space.start(&["late", "--wait", "--count", "1", "--interval", "50ms"]);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(running.stdout(), "");
    space.ip("link add late type bridge");
    let ended = running.end().success();
    assert_eq!(some(&ended.records(), "late", "rx", "interval").len(), 1);
    assert_eq!(total(&ended.records(), "late", "rx").text("flags"), "", "it was there from the beginning");
}

#[test]
fn interfaces_that_come_and_go_disturb_no_other() {
    const DATAGRAMS: usize = 200;
    let Some((here, there)) = Space::pair() else { return };
    let running = here.start(&["--interval", "100ms"]);
    running.wait_for_records(4);
    for round in 0..DATAGRAMS {
        here.enter(|| {
            let socket = UdpSocket::bind("10.7.0.1:0").unwrap();
            socket.send_to(&[7; 1000], "10.7.0.2:9").unwrap();
        });
        here.ip(&format!("link add if{round} type ifb"));
        here.ip(&format!("link del if{round}"));
    }
    let ended = space::stop(running);
    let records = ended.records();
    assert_eq!(ended.stderr, "");
    let record = total(&records, "va", "tx");
    assert!((200..=220).contains(&record.count("ops")), "{record:?}");
    assert_eq!(sum(&some(&records, "va", "tx", "interval"), "bytes"), record.count("bytes"));
    assert_eq!(record.text("flags"), "nominal");
    for round in 0..DATAGRAMS {
        let record = total(&records, &format!("if{round}"), "rx");
        assert!(record.has_flag("new") && record.has_flag("gone"), "{record:?}");
        assert_eq!(record.text("bytes"), "0");
    }
    let kernel = here.counters("va");
    assert!(record.count("bytes") <= kernel["tx"].0 && record.count("bytes") + 1000 > kernel["tx"].0);
    drop(there);
}

#[test]
fn the_same_name_and_number_again_is_another_interface() {
    let Some((here, _there)) = Space::pair() else { return };
    here.ip("link add name x index 77 type veth peer name y");
    here.ip("addr add 10.8.0.1/24 dev x");
    here.ip("link set x up");
    here.ip("link set y up");
    here.until_up("x");
    here.ip("neigh add 10.8.0.2 lladdr 02:00:00:00:00:02 dev x");
    let send = |count: usize| {
        here.enter(|| {
            let socket = UdpSocket::bind("10.8.0.1:0").unwrap();
            for _ in 0..count {
                socket.send_to(&[7; 1000], "10.8.0.2:9").unwrap();
            }
        });
    };
    send(100);
    let running = here.start(&["x", "--interval", "100ms"]);
    running.wait_for_records(2);
    send(10);
    here.ip("link del x");
    here.ip("link add name x index 77 type veth peer name y");
    here.ip("addr add 10.8.0.1/24 dev x");
    here.ip("link set x up");
    here.ip("link set y up");
    here.until_up("x");
    here.ip("neigh add 10.8.0.2 lladdr 02:00:00:00:00:02 dev x");
    send(20);
    let records = space::stop(running).records();
    let totals = some(&records, "x", "tx", "total");
    assert_eq!(totals.len(), 2, "{totals:?}");
    assert!(totals[0].has_flag("gone") && !totals[0].has_flag("new"), "{totals:?}");
    assert!(totals[1].has_flag("new") && !totals[1].has_flag("gone"), "{totals:?}");
    assert!((10..=20).contains(&totals[0].count("ops")), "ten datagrams, perhaps IPv6 noise: {totals:?}");
    assert!((20..=40).contains(&totals[1].count("ops")), "{totals:?}");
    assert!(totals.iter().all(|record| record.count("ifindex") == 77));
    assert_eq!(sum(&some(&records, "x", "tx", "interval"), "ops"), sum(&totals, "ops"), "no spike");
}

#[test]
fn a_rename_while_up_and_a_move_to_another_namespace_are_flagged() {
    let Some((here, there)) = Space::pair() else { return };
    here.ip("link add name mover type veth peer name left");
    let running = here.start(&["va", "mover", "--interval", "100ms"]);
    running.wait_for_records(4);
    here.ip("link set va name wan");
    eventually("the new name", Duration::from_secs(20), || {
        running.records().iter().any(|record| record.text("target") == "wan")
    });
    here.ip(&format!("link set dev mover netns {}", there.name));
    eventually("its end", Duration::from_secs(20), || {
        some(&running.records(), "mover", "rx", "interval").iter().any(|record| record.has_flag("gone"))
    });
    let records = space::stop(running).records();
    let renamed = some(&records, "wan", "tx", "interval");
    assert!(renamed[0].has_flag("renamed") && !renamed[0].has_flag("new"), "{renamed:?}");
    assert!(renamed.len() > 1 && renamed[1..].iter().all(|record| !record.has_flag("renamed")));
    assert!(total(&records, "wan", "tx").has_flag("renamed"));
    assert!(total(&records, "mover", "tx").has_flag("gone"));
}

#[test]
fn a_changed_setting_is_flagged() {
    let Some((here, _there)) = Space::pair() else { return };
    let running = here.start(&["va", "--interval", "100ms"]);
    running.wait_for_records(2);
    here.ip("link set va mtu 1400");
    eventually("the new MTU", Duration::from_secs(20), || {
        running.records().iter().any(|record| record.text("mtu") == "1400")
    });
    let records = records(&space::stop(running).stdout);
    let intervals = some(&records, "va", "rx", "interval");
    let first = intervals.iter().find(|record| record.text("mtu") == "1400").unwrap();
    assert!(first.has_flag("changed"), "{first:?}");
    assert!(!intervals[0].has_flag("changed"));
}
