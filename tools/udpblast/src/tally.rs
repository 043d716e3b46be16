//! Exact accounting of what arrived: 64-bit sequence numbers, a bitmap of the latest 262144 of them.

use std::time::Duration;

/// Numbers that the bitmap tells apart; what arrives further behind is late.
const WINDOW: u64 = 1 << 18;

/// Running totals of one receiver.
#[derive(Debug, Clone)]
pub struct Tally {
    seen: Vec<u64>,
    /// One above the highest number that arrived: how many must have been sent by now.
    next: u64,
    counts: Arrived,
    drops_at_last: u32,
    jitter: Jitter,
    /// Drops of the socket since the last datagram: they may have been words.
    tail_drops: u64,
}

/// What arrived, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrived {
    /// One above the highest number seen.
    pub expected: u64,
    /// Distinct datagrams.
    pub received: u64,
    /// Again.
    pub duplicated: u64,
    /// After a later one.
    pub reordered: u64,
    /// Too far behind to tell.
    pub late: u64,
    /// What this end's own socket dropped.
    pub socket_drops: u64,
    /// Drops of the socket that may stand for several datagrams each, or for none: then the places of the losses are not
    /// known.
    pub unsure: u64,
    /// How often the wall clock, by which arrivals are stamped, was set.
    pub steps: u64,
    /// Not of this test.
    pub strangers: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Jitter {
    transit: Option<i128>,
    mean_ns: f64,
    is_known: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            seen: vec![0; usize::try_from(WINDOW / 64).unwrap_or_default()],
            next: 0,
            counts: Arrived::default(),
            drops_at_last: 0,
            jitter: Jitter::default(),
            tail_drops: 0,
        }
    }
}

impl Tally {
    /// Takes note of one datagram.
    pub fn arrive(&mut self, sequence: u64) {
        if sequence >= self.next {
            self.advance(sequence);
            self.counts.received += 1;
        } else if self.next - sequence > WINDOW {
            self.counts.late += 1;
        } else if self.is_seen(sequence) {
            self.counts.duplicated += 1;
        } else {
            self.mark(sequence);
            self.counts.received += 1;
            self.counts.reordered += 1;
        }
    }

    fn advance(&mut self, sequence: u64) {
        let skipped = sequence - self.next;
        if skipped >= WINDOW {
            self.seen.fill(0);
        } else {
            (self.next..sequence).for_each(|missing| self.clear(missing));
        }
        self.mark(sequence);
        // A number of 2^64 - 1 is nobody's: the packet reader refuses it.
        self.next = sequence.saturating_add(1);
        self.counts.expected = self.next;
    }

    fn place(sequence: u64) -> (usize, u64) {
        (usize::try_from(sequence % WINDOW / 64).unwrap_or_default(), 1 << (sequence % 64))
    }

    fn is_seen(&self, sequence: u64) -> bool {
        let (word, bit) = Self::place(sequence);
        self.seen[word] & bit != 0
    }

    fn mark(&mut self, sequence: u64) {
        let (word, bit) = Self::place(sequence);
        self.seen[word] |= bit;
    }

    fn clear(&mut self, sequence: u64) {
        let (word, bit) = Self::place(sequence);
        self.seen[word] &= !bit;
    }

    /// Before the batch that begins with `sequence` the socket's overflow counter stood at `drops`. If buffers `may_be_joined`
    /// (GRO), a count is one or many datagrams: one each only if there are as many as are missing.
    pub fn overflowed(&mut self, drops: u32, may_be_joined: bool, sequence: u64) {
        let new = u64::from(drops.wrapping_sub(self.drops_at_last));
        self.drops_at_last = drops;
        self.counts.socket_drops += new;
        if may_be_joined && new > 0 && new != sequence.saturating_sub(self.next) {
            self.counts.unsure += new;
        }
    }

    /// A datagram that belongs to nobody here.
    pub fn stranger(&mut self) {
        self.counts.strangers += 1;
    }

    /// Updates the jitter with a datagram sent at `sent_ns` and received at `received`, each by its own end's clock.
    pub fn transit(&mut self, sent_ns: u64, received: Duration) {
        let transit = received.as_nanos().cast_signed() - i128::from(sent_ns);
        if let Some(before) = self.jitter.transit.replace(transit) {
            // RFC 3550, 6.4.1: J += (|D| - J) / 16.
            self.jitter.mean_ns += ((transit - before).unsigned_abs() as f64 - self.jitter.mean_ns) / 16.0;
            self.jitter.is_known = true;
        }
    }

    /// The same after the last datagram, before a word.
    pub fn overflowed_at_end(&mut self, drops: u32, may_be_joined: bool, sent: u64) {
        self.tail_drops += u64::from(drops.wrapping_sub(self.drops_at_last));
        self.overflowed(drops, may_be_joined, sent);
    }

    /// Drops of the socket after the last datagram.
    pub fn tail_drops(&self) -> u64 {
        self.tail_drops
    }

    /// The wall clock was set: what was stamped before tells nothing of what is stamped from here on.
    pub fn stepped(&mut self) {
        self.jitter.transit = None;
        self.counts.steps += 1;
    }

    /// A stamp that the clock contradicts is left out.
    pub fn skip_transit(&mut self) {
        self.jitter.transit = None;
    }

    /// The totals by now.
    pub fn arrived(&self) -> Arrived {
        self.counts
    }

    /// Jitter in microseconds; `None` before two datagrams.
    pub fn jitter_us(&self) -> Option<f64> {
        self.jitter.is_known.then_some(self.jitter.mean_ns / 1e3)
    }
}

impl Arrived {
    /// What arrived since `earlier`. Late repairs of an earlier span count for this one.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            expected: self.expected - earlier.expected,
            received: self.received - earlier.received,
            duplicated: self.duplicated - earlier.duplicated,
            reordered: self.reordered - earlier.reordered,
            late: self.late - earlier.late,
            socket_drops: self.socket_drops - earlier.socket_drops,
            unsure: self.unsure.saturating_sub(earlier.unsure),
            steps: self.steps - earlier.steps,
            strangers: self.strangers - earlier.strangers,
        }
    }

    /// Lost of `sent`, and the part of it that the receiver's own socket dropped, where that is known to the datagram.
    pub fn losses(self, sent: u64) -> (u64, Option<u64>) {
        let lost = sent.saturating_sub(self.received);
        let is_known = self.unsure == 0 && self.socket_drops <= lost;
        (lost, is_known.then_some(self.socket_drops))
    }
}

impl std::iter::Sum for Arrived {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            expected: sum.expected.saturating_add(one.expected),
            received: sum.received.saturating_add(one.received),
            duplicated: sum.duplicated.saturating_add(one.duplicated),
            reordered: sum.reordered.saturating_add(one.reordered),
            late: sum.late.saturating_add(one.late),
            socket_drops: sum.socket_drops.saturating_add(one.socket_drops),
            unsure: sum.unsure.saturating_add(one.unsure),
            steps: sum.steps.saturating_add(one.steps),
            strangers: sum.strangers.saturating_add(one.strangers),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(numbers: impl IntoIterator<Item = u64>) -> Tally {
        let mut tally = Tally::default();
        numbers.into_iter().for_each(|number| tally.arrive(number));
        tally
    }

    #[test]
    fn losses_and_duplicates_do_not_cancel_out() {
        let present = (0..1000).filter(|number| number % 5 != 4);
        let repeated = (0..1000).filter(|number| number % 5 == 0);
        let arrived = tally(present.chain(repeated)).arrived();
        assert_eq!((arrived.received, arrived.duplicated, arrived.reordered), (800, 200, 0));
        assert_eq!(arrived.losses(1000).0, 200);
    }

    #[test]
    fn swapped_pairs_are_reordered_not_lost() {
        let arrived = tally((0..1000).map(|number| number ^ 1)).arrived();
        assert_eq!((arrived.received, arrived.reordered, arrived.duplicated), (1000, 500, 0));
        assert_eq!(arrived.losses(1000).0, 0);
    }

    #[test]
    fn the_tail_counts() {
        let arrived = tally(0..500).arrived();
        assert_eq!(arrived.losses(1000).0, 500);
    }

    #[test]
    fn numbers_around_powers_of_two_do_not_jump() {
        for around in [1 << 31, 1 << 32, 1 << 40] {
            let arrived = tally(around - 1000..around + 1000).arrived();
            assert_eq!((arrived.received, arrived.expected), (2000, around + 1000));
        }
    }

    #[test]
    fn what_lies_behind_the_window_is_late() {
        let arrived = tally([0, WINDOW + 1, 1, 2, 2]).arrived();
        assert_eq!((arrived.received, arrived.late, arrived.reordered, arrived.duplicated), (3, 1, 1, 1));
        let arrived = tally([5, 5 + 10 * WINDOW, 5]).arrived();
        assert_eq!((arrived.received, arrived.late), (2, 1));
    }

    #[test]
    fn what_the_socket_dropped_is_known_to_the_datagram_or_not_at_all() {
        let mut tally = tally(0..10);
        tally.overflowed(5, false, 15);
        tally.arrive(15);
        tally.overflowed(7, false, 20);
        tally.arrive(20);
        let arrived = tally.arrived();
        assert_eq!(arrived.losses(21), (9, Some(7)), "5 and 2 of the gaps of 5 and 4");
        tally.overflowed(9, true, 23);
        tally.arrive(23);
        assert_eq!(tally.arrived().losses(24), (11, Some(9)), "as many as are missing: one each");
        tally.overflowed(10, true, 60);
        assert_eq!(tally.arrived().losses(60), (47, None), "a joined batch counts once");
    }

    #[test]
    fn more_drops_than_losses_are_not_believed() {
        let mut tally = tally(0..10);
        tally.overflowed(3, false, 12);
        tally.arrive(12);
        assert_eq!(tally.arrived().losses(13), (2, None));
    }

    #[test]
    fn steady_transit_has_no_jitter() {
        let mut tally = tally(0..2);
        (0..100).for_each(|n| tally.transit(n * 1000, Duration::from_nanos(5_000_000 + n * 1000)));
        assert_eq!(tally.jitter_us(), Some(0.0));
        tally.transit(100_000, Duration::from_micros(5_116));
        assert_eq!(tally.jitter_us(), Some(1.0), "16 us off, a sixteenth of it");
    }

    #[test]
    fn a_step_of_the_clock_is_no_jitter() {
        let mut tally = tally(0..2);
        (0..10).for_each(|n| tally.transit(n * 1000, Duration::from_nanos(5_000_000 + n * 1000)));
        tally.stepped();
        (10..20).for_each(|n| tally.transit(n * 1000, Duration::from_nanos(3_600_000_000_000 + n * 1000)));
        assert_eq!((tally.jitter_us(), tally.arrived().steps), (Some(0.0), 1));
    }
}
