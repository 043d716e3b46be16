//! Which address is asked, and which one answers.

use testkit::bed::Bed;

use super::{across, both_totals, in_namespace, udpblast};

#[test]
fn the_address_that_was_asked_answers() {
    let listener = udpblast().start(&["listen", "--port", "0"]);
    let port = listener.port();
    for host in ["127.0.0.1", "127.0.0.2", "::1"] {
        for verb in ["send", "recv"] {
            let ended = udpblast().run(&[verb, host, "--port", &port, "--rate", "10M", "--time", "200ms"]).success();
            assert_eq!(both_totals(&ended)[1].count("lost"), 0, "{verb} {host}: {ended:?}");
        }
    }
}

#[test]
fn a_host_of_several_addresses_answers_from_each() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, sender) = across(&bed);
    for (host, route) in [("203.0.113.9", "10.0.2.2"), ("2001:db8::9", "fd00:2::2")] {
        let family = if host.contains(':') { "-6" } else { "-4" };
        in_namespace(&bed.receiver(), &format!("ip {family} address add {host} dev lo"));
        in_namespace(&bed.router(), &format!("ip {family} route add {host} via {route}"));
        let ended = sender.run(&["send", host, "--rate", "10M", "--time", "200ms"]).success();
        assert_eq!(both_totals(&ended)[0].text("target"), host);
    }
}

#[test]
fn listeners_share_a_port_unless_they_share_an_address() {
    let first = udpblast().start(&["listen", "--port", "0", "--bind", "127.0.0.1"]);
    let port = first.port();
    let second = udpblast().start(&["listen", "--port", &port, "--bind", "127.0.0.2"]);
    assert_eq!(second.port(), port);
    for address in ["127.0.0.1", "0.0.0.0", "::"] {
        let _ = udpblast().run(&["listen", "--port", &port, "--bind", address]).failure(1, &[&port, "in use"]);
    }
    for host in ["127.0.0.1", "127.0.0.2"] {
        let ended = udpblast().run(&["send", host, "--port", &port, "--rate", "10M", "--time", "100ms"]).success();
        assert_eq!(both_totals(&ended)[1].count("lost"), 0, "{host}: {ended:?}");
    }
}

#[test]
fn link_local_addresses_work_at_both_ends() {
    let Some(bed) = Bed::new() else { return };
    bed.add_link_local();
    let listener = bed.at_router(&udpblast()).start(&["listen", "--bind", "fe80::1%port1"]);
    listener.port();
    let sender = bed.at_sender(&udpblast());
    for verb in ["send", "recv"] {
        let ended = sender.run(&[verb, "fe80::1%eth0", "--rate", "10M", "--time", "200ms"]).success();
        assert_eq!(both_totals(&ended)[1].count("lost"), 0, "{verb}: {ended:?}");
    }
    let _ = sender.run(&["send", "fe80::1"]).failure(2, &["as in fe80::1%eth0"]);
    let _ = sender.run(&["listen", "--bind", "fe80::2"]).failure(2, &["--bind", "as in fe80::2%eth0"]);
}

#[test]
fn the_addresses_of_a_name_are_tried_side_by_side() {
    let Some(bed) = Bed::new() else { return };
    let (_listener, _) = across(&bed);
    let hosts = "10.0.2.2 pair\nfd00:2::9 pair\nfd00:2::2 six\n10.0.2.9 six\n";
    let (sender, _names) = bed.at_sender_with_names(&udpblast(), hosts);
    // Those that end in 9 swallow what they get.
    for rule in [
        "nft add table inet hole",
        "nft add chain inet hole all4 { type filter hook prerouting priority 0 ; }",
        "nft add rule inet hole all4 ip daddr 10.0.2.9 drop",
        "nft add rule inet hole all4 ip6 daddr fd00:2::9 drop",
    ] {
        in_namespace(&bed.router(), rule);
    }
    for name in ["pair", "six"] {
        let ended =
            sender.run(&["send", name, "--rate", "10M", "--time", "200ms", "--connect-timeout", "4s"]).success();
        assert_eq!(both_totals(&ended)[1].count("lost"), 0, "{name}: {ended:?}");
        assert!(ended.took < std::time::Duration::from_secs(3), "{name}: {ended:?}");
    }
}
