//! Bytes and packets, to the last one.

use std::io::Read;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use testkit::eventually;

use super::space::{self, Space};
use super::{some, total};

#[test]
fn datagrams_over_a_veth_are_counted_with_their_headers() {
    const DATAGRAMS: usize = 1000;
    const PAYLOAD: usize = 1000;
    const HEADERS: usize = 14 + 20 + 8;
    let Some((here, there)) = Space::pair() else { return };
    let watching = [here.watch(&["va"]), there.watch(&["vb"])];
    let taker = there.enter(|| UdpSocket::bind("10.7.0.2:9").unwrap());
    here.enter(|| {
        let socket = UdpSocket::bind("10.7.0.1:0").unwrap();
        for _ in 0..DATAGRAMS {
            socket.send_to(&[7; PAYLOAD], "10.7.0.2:9").unwrap();
        }
    });
    drop(taker);
    let [sent, received] = watching.map(|running| space::stop(running).records());
    for record in [total(&sent, "va", "tx"), total(&received, "vb", "rx")] {
        let (bytes, packets) = (record.count("bytes"), record.count("ops"));
        let exact = (DATAGRAMS * (PAYLOAD + HEADERS)) as u64;
        assert!((exact..=exact + exact / 100).contains(&bytes), "{bytes} for {exact}");
        assert!((1000..=1010).contains(&packets), "{packets}");
        assert_eq!(record.count("errors"), 0);
    }
}

#[test]
fn a_tcp_stream_over_a_veth_is_counted_with_its_headers() {
    const PAYLOAD: u64 = 100_000_000;
    /// Ethernet, IPv4, TCP with time stamps; one set for each packet as the driver sees it (GSO: up to 64 KiB).
    const HEADERS: u64 = 14 + 20 + 32;
    let Some((here, there)) = Space::pair() else { return };
    let watching = here.watch(&["va"]);
    let listener = there.enter(|| TcpListener::bind("10.7.0.2:0").unwrap());
    let address = listener.local_addr().unwrap();
    let reader =
        std::thread::spawn(move || std::io::copy(&mut listener.accept().unwrap().0, &mut std::io::sink()).unwrap());
    here.enter(|| {
        std::io::copy(&mut std::io::repeat(0).take(PAYLOAD), &mut TcpStream::connect(address).unwrap()).unwrap()
    });
    assert_eq!(reader.join().unwrap(), PAYLOAD);
    let records = space::stop(watching).records();
    let record = total(&records, "va", "tx");
    let payload = record.count("bytes") - record.count("ops") * HEADERS;
    assert!(payload.abs_diff(PAYLOAD) < PAYLOAD / 100, "{payload}");
}

#[test]
fn more_than_four_gib_in_one_interval_are_exact() {
    const PAYLOAD: u64 = (4 << 30) + (100 << 20);
    let Some(space) = Space::new() else { return };
    let running = space.watch(&["lo"]);
    space.enter(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sender = space.spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            space::send_bytes(&mut stream, PAYLOAD);
        });
        assert_eq!(space::discard(&mut listener.accept().unwrap().0), PAYLOAD);
        sender.join().unwrap();
    });
    // The last acknowledgements come after the last byte.
    eventually("silence", Duration::from_secs(20), || {
        let earlier = space.counters("lo");
        std::thread::sleep(Duration::from_millis(300));
        space.counters("lo") == earlier
    });
    let records = space::stop(running).records();
    let kernel = space.counters("lo");
    for test in ["rx", "tx"] {
        let record = total(&records, "lo", test);
        assert_eq!(record.count("bytes"), kernel[test].0);
        assert_eq!(record.count("ops"), kernel[test].1);
        assert!(record.count("bytes") > PAYLOAD);
        let longest = some(&records, "lo", test, "interval").into_iter().map(|record| record.count("bytes")).max();
        assert!(longest > Some(u64::from(u32::MAX)), "one interval has it: {longest:?}");
        assert_eq!((record.text("speed_mbit"), record.text("util_pct"), record.text("flags")), ("", "", ""));
    }
}

#[test]
fn the_sum_counts_no_packet_twice() {
    let Some((here, _there)) = Space::pair() else { return };
    here.ip("link add name br type bridge");
    here.ip("link add p type veth peer name q");
    here.ip("link set p master br");
    let records = here.run(&["--count", "1", "--interval", "50ms", "--total"]).success().records();
    let all = total(&records, "all", "tx_all");
    let mut left_out: Vec<_> = all.text("left_out").split(' ').collect();
    left_out.sort_unstable();
    assert_eq!(left_out, ["lo:loopback", "p:port-of-br"], "q counts in place of p");
    let members = ["va", "br", "q"];
    assert_eq!(all.count("summed"), 3);
    assert_eq!(all.count("bytes"), members.iter().map(|name| total(&records, name, "tx").count("bytes")).sum::<u64>());
}

#[test]
fn since_boot_has_to_be_asked_for() {
    let Some(space) = Space::new() else { return };
    space.enter(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..10 {
            socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        }
    });
    let args = ["lo", "--count", "1", "--interval", "50ms"];
    let plain = space.run(&args).success().records();
    assert!(plain.iter().all(|record| record.count("bytes") == 0), "{plain:?}");
    let asked = space.run(&[&args[..], &["--since-boot"]].concat()).success().records();
    let boot = total(&asked, "lo", "rx_boot");
    assert_eq!((boot.count("bytes"), boot.count("ops")), (1280, 10));
    assert_eq!((boot.text("seconds"), boot.text("bytes_per_s")), ("", ""));
    assert_eq!(total(&asked, "lo", "rx").count("bytes"), 0);
}
