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

/// Up to so many interfaces are asked for one by one.
const FEW: usize = 4;

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
        let moves_along = self.few().is_none();
        match self.ledgers.get_mut(&link.index) {
            Some(ledger) => {
                let was_wanted = ledger.is_wanted;
                ledger.rename(link.name, is_wanted);
                if ledger.is_wanted && !was_wanted && !moves_along {
                    // It was not sampled so far: what it counted before is nobody's.
                    ledger.reopen(link, at);
                }
            }
            None => self.add(link, at),
        }
    }

    /// The interfaces to sample, if they are so few that asking for each costs less than a dump of all; `None` for all.
    pub fn few(&self) -> Option<Vec<u32>> {
        if self.wanted.is_empty() || self.wanted.len() > FEW {
            return None;
        }
        let wanted = self.ledgers.iter().filter(|(_, ledger)| ledger.is_wanted).map(|(index, _)| *index);
        Some(wanted.collect()).filter(|indexes: &Vec<u32>| indexes.len() <= FEW)
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
mod tests;
