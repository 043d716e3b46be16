//! Which counters belong to which interface for how long. Interfaces come, go, are renamed and come again under an old
//! number; each keeps a ledger of its own from its first sight to its last, so that no difference is ever taken between two
//! of them. Pure: it sees dumps and notices, and the time at which they came.

use std::collections::{BTreeMap, HashSet};
use std::time::Instant;

use common::schema::line::{Flag, Flags};

use crate::link::{Counters, Link, Name};
use crate::settings::Settings;

/// What one interface did between two moments.
#[derive(Debug, Clone)]
pub struct Span {
    /// As it was at the end.
    pub link: Link,
    /// As they were at the end.
    pub settings: Settings,
    /// Begin.
    pub from: Instant,
    /// End.
    pub to: Instant,
    /// What was counted; `None` when nobody knows.
    pub delta: Option<Counters>,
    /// How often the carrier came or went.
    pub carrier_changes: Option<u64>,
    /// What is doubtful.
    pub flags: Flags,
}

impl Span {
    /// Nothing moved and nothing happened.
    pub fn is_quiet(&self) -> bool {
        self.flags == Flags::default()
            && self.delta.is_some_and(|delta| delta.is_zero())
            && self.carrier_changes.unwrap_or(0) == 0
    }
}

/// One interface, from its first sight on.
#[derive(Debug)]
struct Ledger {
    link: Link,
    settings: Settings,
    is_wanted: bool,
    /// It was in no dump although nobody said that it left: the notice may be on its way.
    is_missing: bool,
    /// Begin of the open span; the counters of that moment are in `link`.
    from: Instant,
    flags: Flags,
    total: Total,
}

/// What the closed spans add up to.
#[derive(Debug)]
struct Total {
    from: Instant,
    /// Of the spans that are known; `None` while none is.
    counted: Option<Counters>,
    carrier_changes: Option<u64>,
    flags: Flags,
}

/// All interfaces of a namespace.
#[derive(Debug)]
pub struct Tracker {
    /// The names asked for; all interfaces when empty.
    wanted: Vec<Name>,
    ledgers: BTreeMap<u32, Ledger>,
    /// Spans that a notice closed since the last sample.
    closed: Vec<Span>,
    /// Totals of the interfaces that left.
    departed: Vec<Span>,
    /// Who left since [`Tracker::expect_dump`].
    left: HashSet<u32>,
}

/// The flags that a tracker raises, and that a total inherits from its spans.
const FLAGS: [Flag; 5] = [Flag::Reset, Flag::Renamed, Flag::New, Flag::Gone, Flag::Changed];

impl Tracker {
    /// Begins with the interfaces that are there `at` this moment.
    pub fn new(wanted: Vec<Name>, links: &[Link], at: Instant, mut look: impl FnMut(&Link, &mut Settings)) -> Self {
        let mut tracker =
            Self { wanted, ledgers: BTreeMap::new(), closed: Vec::new(), departed: Vec::new(), left: HashSet::new() };
        for link in links {
            let mut ledger = Ledger::new(link, tracker.wants(link), at, Flags::default());
            if ledger.is_wanted {
                look(link, &mut ledger.settings);
            }
            tracker.ledgers.insert(link.index, ledger);
        }
        tracker
    }

    fn wants(&self, link: &Link) -> bool {
        self.wanted.is_empty() || self.wanted.contains(&link.name)
    }

    /// A notice says that this interface is there. Most such notices are about a change of one that is known.
    pub fn is_there(&mut self, link: &Link, at: Instant) {
        let is_wanted = self.wants(link);
        match self.ledgers.get_mut(&link.index) {
            Some(ledger) => ledger.rename(link.name, is_wanted),
            None => self.add(link, at),
        }
    }

    fn add(&mut self, link: &Link, at: Instant) {
        let mut flags = Flags::default();
        flags.raise_if(true, Flag::New);
        let ledger = Ledger::new(link, self.wants(link), at, flags);
        self.ledgers.insert(link.index, ledger);
    }

    /// A notice says that this interface left, with its last counters.
    pub fn has_left(&mut self, link: &Link, at: Instant) {
        self.left.insert(link.index);
        if let Some(ledger) = self.ledgers.remove(&link.index) {
            self.bury(ledger, Some(link), at);
        }
    }

    fn bury(&mut self, mut ledger: Ledger, last: Option<&Link>, at: Instant) {
        ledger.flags.raise_if(true, Flag::Gone);
        let span = ledger.close(last, at);
        if ledger.is_wanted {
            self.closed.push(span);
            self.departed.push(ledger.total(at));
        }
    }

    /// A dump is about to be asked for. What leaves from here on may or may not be in it.
    pub fn expect_dump(&mut self) {
        self.left.clear();
    }

    /// Closes the open spans with the counters of a dump. `is_whole` is false when the dump may lack interfaces. `look` keeps
    /// the settings of an interface up to date. Returns the spans of the interfaces asked for, those that left first.
    pub fn sample(
        &mut self,
        dump: &[Link],
        is_whole: bool,
        at: Instant,
        mut look: impl FnMut(&Link, &mut Settings),
    ) -> Vec<Span> {
        let mut spans = std::mem::take(&mut self.closed);
        let mut seen = HashSet::with_capacity(dump.len());
        // An interface that left after the dump was asked for is in its grave; one that took its number is not in the dump.
        for link in dump {
            if self.left.contains(&link.index) || !seen.insert(link.index) {
                continue;
            }
            let is_wanted = self.wants(link);
            let Some(ledger) = self.ledgers.get_mut(&link.index) else {
                self.add(link, at);
                continue;
            };
            ledger.is_missing = false;
            ledger.rename(link.name, is_wanted);
            if !ledger.is_wanted {
                // Its base moves along, for the day when it gets a name that was asked for.
                ledger.reopen(link, at);
                continue;
            }
            let before = ledger.settings.clone();
            look(link, &mut ledger.settings);
            let changed = ledger.link.mtu != link.mtu || before.differs_from(&ledger.settings);
            ledger.flags.raise_if(changed, Flag::Changed);
            spans.push(ledger.close(Some(link), at));
        }
        if is_whole {
            self.miss(&seen, at);
            spans.append(&mut self.closed);
        }
        spans
    }

    /// Deals with interfaces that a whole dump does not have: their notice comes before the next sample, or it was lost.
    fn miss(&mut self, seen: &HashSet<u32>, at: Instant) {
        let is_absent = |index: &&u32| !seen.contains(index) && !self.left.contains(index);
        let absent: Vec<u32> = self.ledgers.keys().filter(is_absent).copied().collect();
        for index in absent {
            match self.ledgers.get_mut(&index) {
                Some(ledger) if !ledger.is_missing && ledger.from < at => ledger.is_missing = true,
                Some(ledger) if ledger.is_missing => {
                    if let Some(ledger) = self.ledgers.remove(&index) {
                        self.bury(ledger, None, at);
                    }
                }
                _ => {}
            }
        }
    }

    /// The interfaces asked for with their counters as they are, whenever those began.
    pub fn as_they_are(&self) -> Vec<Span> {
        let wanted = self.ledgers.values().filter(|ledger| ledger.is_wanted);
        wanted.map(|ledger| Span { delta: Some(ledger.link.counters), ..ledger.total(ledger.from) }).collect()
    }

    /// The totals of all interfaces asked for: from first to last sight.
    pub fn totals(&self) -> Vec<Span> {
        let alive = self.ledgers.values().filter(|ledger| ledger.is_wanted).map(|ledger| ledger.total(ledger.from));
        let mut totals: Vec<_> = self.departed.iter().cloned().chain(alive).collect();
        totals.sort_by_key(|span| (span.link.index, span.from));
        totals
    }
}

impl Ledger {
    fn new(link: &Link, is_wanted: bool, at: Instant, flags: Flags) -> Self {
        let total = Total { from: at, counted: None, carrier_changes: None, flags: Flags::default() };
        Self { link: *link, settings: Settings::default(), is_wanted, is_missing: false, from: at, flags, total }
    }

    fn rename(&mut self, name: Name, is_wanted: bool) {
        if self.link.name != name {
            self.link.name = name;
            self.flags.raise_if(true, Flag::Renamed);
            // Who was asked for by its old name is still meant.
            self.is_wanted |= is_wanted;
        }
    }

    /// Ends the open span with the counters of `last` and begins the next one.
    fn close(&mut self, last: Option<&Link>, at: Instant) -> Span {
        let delta = last.and_then(|link| link.counters.since(&self.link.counters));
        let carrier_changes = last
            .and_then(|link| link.carrier_changes)
            .zip(self.link.carrier_changes)
            .and_then(|(now, then)| now.checked_sub(then))
            .map(u64::from);
        self.flags.raise_if(last.is_some() && delta.is_none(), Flag::Reset);
        self.total.add(delta.as_ref(), carrier_changes, &self.flags);
        let flags = std::mem::take(&mut self.flags);
        let from = self.from;
        if let Some(link) = last {
            self.reopen(link, at);
        }
        Span { link: self.link, settings: self.settings.clone(), from, to: at, delta, carrier_changes, flags }
    }

    fn reopen(&mut self, link: &Link, at: Instant) {
        self.link = *link;
        self.from = at;
    }

    fn total(&self, to: Instant) -> Span {
        Span {
            link: self.link,
            settings: self.settings.clone(),
            from: self.total.from,
            to,
            delta: self.total.counted,
            carrier_changes: self.total.carrier_changes,
            flags: self.total.flags.clone(),
        }
    }
}

impl Total {
    fn add(&mut self, delta: Option<&Counters>, carrier_changes: Option<u64>, flags: &Flags) {
        if let Some(delta) = delta {
            self.counted.get_or_insert_with(Counters::zero).add(delta);
        }
        if let Some(changes) = carrier_changes {
            *self.carrier_changes.get_or_insert(0) += changes;
        }
        for flag in FLAGS {
            self.flags.raise_if(flags.has(flag), flag);
        }
    }
}

#[cfg(test)]
mod tests {
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
}
