//! Interfaces that come, go and come again.

use std::time::Duration;

use super::*;
use crate::link::Counter::{RxBytes, TxBytes};
use crate::link::tests::counters;

fn link(index: u32, name: &str, rx_bytes: u64) -> Link {
    let name = Name::new(name.as_bytes()).unwrap();
    Link { index, name, counters: counters(&[(RxBytes, rx_bytes), (TxBytes, 1)]), ..Link::default() }
}

/// A tracker, and the time as seconds from its start.
struct Bench {
    tracker: Tracker,
    start: Instant,
}

impl Bench {
    fn new(wanted: &[&str], links: &[Link]) -> Self {
        let start = Instant::now();
        let wanted = wanted.iter().map(|name| Name::new(name.as_bytes()).unwrap()).collect();
        Self { tracker: Tracker::new(wanted, links, start, |_, _| ()), start }
    }

    fn at(&self, seconds: u64) -> Instant {
        self.start + Duration::from_secs(seconds)
    }

    fn sample(&mut self, seconds: u64, links: &[Link]) -> Vec<String> {
        self.tracker.expect_dump();
        self.after_dump(seconds, links)
    }

    fn after_dump(&mut self, seconds: u64, links: &[Link]) -> Vec<String> {
        let at = self.at(seconds);
        told(&self.tracker.sample(links, true, at, |_, _| ()))
    }
}

/// Index, name, rx bytes, seconds, flags.
fn told(spans: &[Span]) -> Vec<String> {
    let tell = |span: &Span| {
        let bytes = span.delta.and_then(|delta| delta.get(RxBytes)).map_or("?".into(), |bytes| bytes.to_string());
        let seconds = (span.to - span.from).as_secs();
        format!("{} {} {bytes} {seconds}s {}", span.link.index, span.link.name.text(), span.flags)
    };
    spans.iter().map(|span| tell(span).trim_end().to_owned()).collect()
}

#[test]
fn spans_are_differences_and_totals_their_sum() {
    let mut bench = Bench::new(&[], &[link(2, "eth0", 1000)]);
    assert_eq!(bench.sample(1, &[link(2, "eth0", 1500)]), ["2 eth0 500 1s"]);
    assert_eq!(bench.sample(2, &[link(2, "eth0", 1600)]), ["2 eth0 100 1s"]);
    assert_eq!(told(&bench.tracker.totals()), ["2 eth0 600 2s"]);
}

#[test]
fn a_counter_that_went_back_is_not_known_and_never_a_spike() {
    let mut bench = Bench::new(&[], &[link(2, "eth0", 1000), link(3, "eth1", 5)]);
    assert_eq!(bench.sample(1, &[link(2, "eth0", 10), link(3, "eth1", 6)]), ["2 eth0 ? 1s reset", "3 eth1 1 1s"]);
    assert_eq!(bench.sample(2, &[link(2, "eth0", 15), link(3, "eth1", 6)]), ["2 eth0 5 1s", "3 eth1 0 1s"]);
    assert_eq!(told(&bench.tracker.totals()), ["2 eth0 5 2s reset", "3 eth1 1 2s"]);
}

#[test]
fn a_new_interface_counts_from_its_first_sight() {
    let mut bench = Bench::new(&[], &[]);
    assert!(bench.sample(1, &[link(4, "tap0", 9_000_000)]).is_empty(), "no span yet, and nothing since boot");
    assert_eq!(bench.sample(2, &[link(4, "tap0", 9_000_007)]), ["4 tap0 7 1s new"]);
    assert_eq!(bench.sample(3, &[link(4, "tap0", 9_000_007)]), ["4 tap0 0 1s"]);
}

#[test]
fn who_left_has_exact_last_figures() {
    let mut bench = Bench::new(&[], &[link(2, "eth0", 10)]);
    bench.tracker.has_left(&link(2, "eth0", 17), bench.at(1));
    assert_eq!(bench.sample(2, &[]), ["2 eth0 7 1s gone"]);
    assert!(bench.sample(3, &[]).is_empty());
    assert_eq!(told(&bench.tracker.totals()), ["2 eth0 7 1s gone"]);
}

#[test]
fn an_interface_that_came_and_went_between_two_samples_is_told() {
    let mut bench = Bench::new(&[], &[]);
    bench.tracker.is_there(&link(9, "br9", 0), bench.at(1));
    bench.tracker.has_left(&link(9, "br9", 3), bench.at(3));
    assert_eq!(bench.sample(4, &[]), ["9 br9 3 2s new gone"]);
}

#[test]
fn the_same_number_again_is_another_interface() {
    let mut bench = Bench::new(&[], &[link(7, "a", 1000)]);
    bench.tracker.has_left(&link(7, "a", 1001), bench.at(1));
    bench.tracker.is_there(&link(7, "a", 0), bench.at(1));
    assert_eq!(bench.sample(2, &[link(7, "a", 5000)]), ["7 a 1 1s gone", "7 a 5000 1s new"]);
    assert_eq!(told(&bench.tracker.totals()), ["7 a 1 1s gone", "7 a 5000 1s new"]);
}

#[test]
fn what_leaves_during_the_dump_is_not_raised_from_the_dead() {
    let mut bench = Bench::new(&[], &[link(7, "a", 10)]);
    bench.tracker.expect_dump();
    bench.tracker.has_left(&link(7, "a", 12), bench.at(1));
    assert_eq!(bench.after_dump(1, &[link(7, "a", 11)]), ["7 a 2 1s gone"]);
    assert!(bench.tracker.totals().len() == 1);
    // Nor does one that takes the number at that moment get the figures of the other.
    bench.tracker.is_there(&link(8, "b", 100), bench.at(2));
    bench.tracker.expect_dump();
    bench.tracker.has_left(&link(8, "b", 100), bench.at(3));
    bench.tracker.is_there(&link(8, "b", 0), bench.at(3));
    assert_eq!(bench.after_dump(4, &[link(8, "b", 100)]), ["8 b 0 1s new gone"]);
    assert_eq!(bench.sample(5, &[link(8, "b", 4)]), ["8 b 4 2s new"]);
}

#[test]
fn one_absence_without_notice_is_waited_out() {
    let mut bench = Bench::new(&[], &[link(2, "eth0", 10)]);
    assert!(bench.sample(1, &[]).is_empty());
    assert_eq!(bench.sample(2, &[]), ["2 eth0 ? 2s gone"], "its last figures are lost");
    let mut bench = Bench::new(&[], &[link(2, "eth0", 10)]);
    assert!(bench.sample(1, &[]).is_empty());
    assert_eq!(bench.sample(2, &[link(2, "eth0", 30)]), ["2 eth0 20 2s"], "it was there all the time");
}

#[test]
fn a_rename_is_the_same_interface() {
    let mut bench = Bench::new(&["eth0"], &[link(2, "eth0", 10), link(3, "other", 10)]);
    assert_eq!(bench.sample(1, &[link(2, "wan", 11), link(3, "other", 12)]), ["2 wan 1 1s renamed"]);
    assert_eq!(bench.sample(2, &[link(2, "wan", 12), link(3, "eth0", 20)]), ["2 wan 1 1s", "3 eth0 8 1s renamed"]);
}

#[test]
fn a_changed_mtu_is_flagged() {
    let with_mtu = |mtu| Link { mtu: Some(mtu), ..link(2, "eth0", 10) };
    let mut bench = Bench::new(&[], &[with_mtu(1500)]);
    assert_eq!(bench.sample(1, &[with_mtu(9000)]), ["2 eth0 0 1s changed"]);
    assert_eq!(bench.sample(2, &[with_mtu(9000)]), ["2 eth0 0 1s"]);
}

#[test]
fn one_that_takes_a_wanted_name_does_not_bring_its_past() {
    let mut bench = Bench::new(&["eth0"], &[link(2, "eth0", 10), link(3, "other", 5)]);
    assert_eq!(bench.tracker.few(), Some(vec![2]), "the other one is not sampled");
    let at = bench.at(1);
    bench.tracker.is_there(&link(2, "old", 11), at);
    bench.tracker.is_there(&link(3, "eth0", 9_000_000), at);
    assert_eq!(bench.tracker.few(), Some(vec![2, 3]));
    let links = [link(2, "old", 12), link(3, "eth0", 9_000_007)];
    assert_eq!(bench.sample(2, &links), ["2 old 2 2s renamed", "3 eth0 7 1s renamed"]);
}
