//! What a hot loop adds to, and a sampler reads: one cache line's worth per worker, one writer each.

use std::sync::atomic::{AtomicU64, Ordering};

/// Running totals of one worker. Only that worker adds; anyone may read. Two cache lines, since CPUs prefetch in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Counters {
    bytes: AtomicU64,
    ops: AtomicU64,
}

impl Counters {
    /// Adds one operation that moved `bytes`. Not for two threads: a plain load and store, no locked instruction.
    pub fn add(&self, bytes: u64) {
        self.add_many(bytes, 1);
    }

    /// As [`Counters::add`], for `ops` operations in one call.
    pub fn add_many(&self, bytes: u64, ops: u64) {
        self.bytes.store(self.bytes.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
        self.ops.store(self.ops.load(Ordering::Relaxed) + ops, Ordering::Relaxed);
    }

    /// The totals by now.
    pub fn snapshot(&self) -> Counts {
        Counts { bytes: self.bytes.load(Ordering::Relaxed), ops: self.ops.load(Ordering::Relaxed) }
    }
}

/// Totals at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Payload bytes.
    pub bytes: u64,
    /// Operations.
    pub ops: u64,
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, one| Self { bytes: sum.bytes + one.bytes, ops: sum.ops + one.ops })
    }
}

impl std::ops::Sub for Counts {
    type Output = Self;
    fn sub(self, earlier: Self) -> Self {
        Self { bytes: self.bytes - earlier.bytes, ops: self.ops - earlier.ops }
    }
}
