//! Which blocks a reader reads, in which order. Readers share a range without sharing a block.

use common::files::shuffle::{Shuffle, share};

use crate::args::Pattern;

/// One read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Read {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes should be there.
    pub length: u64,
}

/// The range that all readers read together.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// Its first byte.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// Bytes per read; only the last block of the range is shorter.
    pub block: u64,
    pub pattern: Pattern,
    /// Threads; each reads a region of its own, unless the order is random.
    pub threads: u64,
    /// Readers that share a thread's region: its reads in flight, where each takes a thread.
    pub depth: u64,
    /// Bytes to read, if not all of the range.
    pub amount: Option<u64>,
    pub goes_round: bool,
    pub seed: u64,
}

/// The reads of one reader.
#[derive(Debug, Clone)]
pub struct Offsets {
    range: Range,
    order: Order,
    /// The reader's indices are `first, first + stride, ...` below `count`.
    first: u64,
    stride: u64,
    count: u64,
    next: u64,
    round: u64,
    quota: u64,
}

#[derive(Debug, Clone)]
enum Order {
    /// Index 0 is this block.
    Forward(u64),
    Backward(u64),
    Shuffled(Shuffle),
}

impl Range {
    /// The reads of reader `slot` (below `depth`) of `thread`.
    pub fn reader(self, thread: u64, slot: u64) -> Offsets {
        let blocks = (self.end - self.start).div_ceil(self.block);
        let readers = self.threads * self.depth;
        let reader = thread * self.depth + slot;
        let (order, first, stride, count) = match self.pattern {
            Pattern::Rand => (Order::Shuffled(Shuffle::new(blocks, self.seed)), reader, readers, blocks),
            pattern => {
                let (from, count) = share(blocks, self.threads, thread);
                let order = match pattern {
                    Pattern::Reverse => Order::Backward((from + count).saturating_sub(1)),
                    _ => Order::Forward(from),
                };
                (order, slot, self.depth, count)
            }
        };
        let quota = self.amount.map_or(u64::MAX, |amount| {
            let whole = amount / self.block;
            let (_, blocks) = share(whole, readers, reader);
            // The rest is a read of its own, by whoever would be next.
            blocks * self.block + if reader == whole % readers { amount % self.block } else { 0 }
        });
        Offsets { range: self, order, first, stride, count, next: first, round: 0, quota }
    }
}

impl Iterator for Offsets {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        if self.quota == 0 || self.first >= self.count {
            return None;
        }
        if self.next >= self.count {
            if !self.range.goes_round {
                return None;
            }
            self.next = self.first;
            self.round += 1;
        }
        let block = match &self.order {
            Order::Forward(first) => first + self.next,
            Order::Backward(last) => last - self.next,
            Order::Shuffled(shuffle) => shuffle.at(self.next, self.round),
        };
        self.next += self.stride;
        let offset = self.range.start + block * self.range.block;
        let length = self.range.block.min(self.range.end - offset).min(self.quota);
        self.quota -= length;
        Some(Read { offset, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(pattern: Pattern, end: u64, threads: u64, depth: u64) -> Range {
        Range { start: 0, end, block: 10, pattern, threads, depth, amount: None, goes_round: false, seed: 7 }
    }

    fn all(range: Range) -> Vec<Read> {
        (0..range.threads).flat_map(|t| (0..range.depth).flat_map(move |s| range.reader(t, s))).collect()
    }

    #[test]
    fn every_byte_is_read_once_whatever_the_pattern_and_the_readers() {
        for pattern in [Pattern::Seq, Pattern::Rand, Pattern::Reverse] {
            for (threads, depth) in [(1, 1), (3, 1), (2, 4), (16, 1)] {
                for end in [0, 1, 9, 10, 11, 95, 1003] {
                    let mut reads = all(range(pattern, end, threads, depth));
                    reads.sort_unstable_by_key(|read| read.offset);
                    let mut at = 0;
                    for read in &reads {
                        assert_eq!(read.offset, at, "{pattern:?} {threads} {depth} {end}");
                        at += read.length;
                    }
                    assert_eq!(at, end, "{pattern:?} {threads} {depth} {end}");
                }
            }
        }
    }

    #[test]
    fn an_amount_is_exact_and_shared_without_loss() {
        for (threads, depth) in [(1, 1), (3, 1), (2, 4)] {
            for amount in [1, 10, 57, 400, 995] {
                let of = Range { amount: Some(amount), ..range(Pattern::Rand, 1000, threads, depth) };
                let reads = all(of);
                assert_eq!(reads.iter().map(|read| read.length).sum::<u64>(), amount);
            }
        }
    }

    #[test]
    fn threads_have_different_offsets_and_rounds_different_orders() {
        let of = Range { goes_round: true, ..range(Pattern::Rand, 1000, 2, 1) };
        let [mine, theirs] = [0, 1].map(|thread| of.reader(thread, 0).take(50).collect::<Vec<_>>());
        assert!(mine.iter().all(|read| !theirs.contains(read)));
        let rounds: Vec<_> = of.reader(0, 0).take(100).collect();
        assert_ne!(rounds[..50], rounds[50..]);
        assert_ne!(mine, Range { seed: 8, ..of }.reader(0, 0).take(50).collect::<Vec<_>>());
    }

    #[test]
    fn reverse_is_the_same_blocks_backwards() {
        let mut backwards: Vec<_> = range(Pattern::Reverse, 95, 1, 1).reader(0, 0).collect();
        backwards.reverse();
        assert_eq!(backwards, all(range(Pattern::Seq, 95, 1, 1)));
    }

    #[test]
    fn reads_in_flight_of_one_thread_are_neighbours() {
        let of = range(Pattern::Seq, 100, 1, 2);
        let offsets = |slot| of.reader(0, slot).map(|read| read.offset).take(3).collect::<Vec<_>>();
        assert_eq!((offsets(0), offsets(1)), (vec![0, 20, 40], vec![10, 30, 50]));
    }

    #[test]
    fn no_offset_overflows() {
        let of = Range { start: 0, end: u64::MAX, block: 1 << 20, ..range(Pattern::Rand, 0, 1, 1) };
        for read in of.reader(0, 0).take(1000) {
            assert!(read.offset.checked_add(read.length).is_some());
        }
        let last = Range { pattern: Pattern::Reverse, ..of }.reader(0, 0).next().unwrap();
        assert_eq!(last.offset + last.length, u64::MAX);
    }
}
