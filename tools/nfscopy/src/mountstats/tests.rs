//! Saved samples in the forms of several kernels.

use super::*;

const OLD: &str = include_str!("samples/linux-3.10");
const NCONNECT: &str = include_str!("samples/linux-6.1-nconnect");
const RDMA: &str = include_str!("samples/linux-5.15-rdma");

#[test]
fn eight_fields_and_udp() {
    let stats = Stats::of(OLD, "/mnt/old").unwrap();
    let write = stats.operations["WRITE"];
    assert_eq!((write.calls, write.transmissions, write.timeouts, write.errors), (160, 166, 2, None));
    assert_eq!((write.queue_ms, write.rtt_ms, write.execute_ms), (400, 1600, 2400));
    let [transport] = &stats.transports[..] else { panic!("{stats:?}") };
    assert_eq!((transport.protocol.as_str(), transport.connects), ("udp", None));
    assert_eq!((transport.sends, transport.receives, transport.bad_xids), (Some(420), Some(418), Some(2)));
    assert_eq!(stats.bytes.unwrap().server_write, 5_242_880);
}

#[test]
fn nine_fields_four_connections_and_a_space_in_the_name() {
    let stats = Stats::of(NCONNECT, r"/mnt/my\040nfs").unwrap();
    assert_eq!(stats.transports.len(), 4);
    let sum = |of: fn(&Transport) -> Option<u64>| stats.transports.iter().filter_map(of).sum::<u64>();
    assert_eq!((sum(|t| t.sends), sum(|t| t.bad_xids), sum(|t| t.connects)), (60, 1, 5));
    assert_eq!(stats.operations["WRITE"].calls, 32, "and not the other mount's");
    assert_eq!(stats.operations["OPEN"].errors, Some(1));
    assert_eq!(stats.operations["READ_PLUS"].calls, 3);
    assert_eq!(stats.bytes.unwrap().normal_write, 8_388_608);
}

#[test]
fn rdma_and_a_negative_counter() {
    let stats = Stats::of(RDMA, "/scratch").unwrap();
    let transport = &stats.transports[0];
    assert_eq!((transport.protocol.as_str(), transport.sends, transport.receives), ("rdma", Some(4100), Some(4099)));
    let read = stats.operations["READ"];
    assert_eq!((read.calls, read.rtt_ms, read.execute_ms), (4096, 8192, 8300), "what follows the negative one");
    assert_eq!(read.queue_ms, 18_446_744_073_709_551_604);
    assert_eq!(stats.bytes.unwrap().normal_read, 18_446_744_073_709_551_000);
}

#[test]
fn a_span_is_the_difference_even_through_zero() {
    let from = Stats::of(RDMA, "/scratch").unwrap();
    let mut to = from.clone();
    to.bytes.as_mut().unwrap().normal_read = 400;
    let read = to.operations.get_mut("READ").unwrap();
    (read.calls, read.transmissions, read.rtt_ms) = (4106, 4108, 8212);
    let fresh = Operation { calls: 5, transmissions: 5, rtt_ms: 10, execute_ms: 10, ..Operation::default() };
    to.operations.insert("ACCESS".into(), fresh);
    let calls = to.since(&from);
    assert_eq!((calls.count, calls.reads, calls.writes, calls.again), (15, 10, 0, 2));
    assert_eq!((calls.rtt_ms, calls.execute_ms, calls.timeouts), (30, 10, 0));
    assert_eq!(calls.bytes.unwrap().normal_read, 1016);
}

#[test]
fn what_is_cut_or_foreign_is_passed_over() {
    assert_eq!(Stats::of(NCONNECT, "/"), None, "a local file system counts nothing");
    assert_eq!(Stats::of(NCONNECT, "/mnt/elsewhere"), None);
    assert_eq!(Stats::of("", "/"), None);
    for end in 0..NCONNECT.len() {
        // Whatever is missing, it must not panic.
        let _ = Stats::of(&NCONNECT[..end], r"/mnt/my\040nfs");
    }
    let odd =
        "device a:/b mounted on /m with fstype nfs statvers=9\n\tbytes:\t1 2\n\txprt:\n\t READ: 1 x 3\n\tnews:\t1\n";
    assert_eq!(Stats::of(odd, "/m"), Some(Stats::default()));
}
