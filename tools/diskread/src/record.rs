//! From a sample and the counters around it to one line: pure arithmetic.

use common::measure::sample::Identity;
use common::measure::spans::Cut;
use common::schema::Fixed;
use common::schema::diskread::Disk;
use common::schema::line::{Flag, Flags, Span};

use crate::args::Method;
use crate::device::{Device, Fetched};
use crate::reading::Reading;
use crate::target::TargetKind;

/// Share of the bytes, in percent, that may come from elsewhere than the device without a word.
const TOLERANCE_PCT: f64 = 1.0;

/// Windows of read-ahead per thread that may have been fetched before a span began: the one in use and the next.
const WINDOWS_AHEAD: u64 = 2;

/// One line of `diskread`.
pub type Record = common::measure::record::Record<Disk>;

/// The line of one span.
pub fn of(reading: &Reading<'_>, identity: &Identity, cut: &Cut<Fetched>) -> Record {
    let (plan, device) = (reading.plan, reading.device.as_ref());
    let is_read = reading.method != Method::Null;
    let sample = cut.sample();
    let bytes = sample.counts.bytes;
    let (from, to) = (&cut.from.state, &cut.to.state);
    let device_bytes = to.by_process_since(from).filter(|_| is_read);
    let cached_pct = device_bytes.and_then(|fetched| cached_pct(bytes, fetched));
    let latencies = cut.latency().percentiles();
    let own = Disk {
        method: reading.method.name(),
        pattern: plan.pattern.name(),
        engine: reading.driver.name(),
        block_bytes: plan.block,
        threads: plan.threads.into(),
        depth: plan.depth.into(),
        device_bytes,
        disk_bytes: to.by_device_since(from),
        cached_pct: cached_pct.and_then(Fixed::new),
        resident_bytes: reading.resident,
        sparse_bytes: reading.layout.sparse,
        unwritten_bytes: reading.layout.unwritten,
        p50_us: latencies.p50,
        p90_us: latencies.p90,
        p99_us: latencies.p99,
        p999_us: latencies.p999,
        max_us: latencies.max,
        device: device.map(|device| device.name.clone()),
        scheduler: device.and_then(Device::scheduler),
        read_ahead_kb: device.and_then(|device| device.number("queue/read_ahead_kb")),
        logical_block_bytes: device.and_then(|device| device.number("queue/logical_block_size")),
    };
    let begins_midway = cut.span == Span::Interval || !plan.warmup.is_zero();
    let doubt = Doubt {
        method: reading.method,
        cached_pct,
        blank_pct: reading.layout.blank_pct(reading.range_bytes()),
        ahead_pct: if begins_midway { share_pct(ahead_bytes(&own), bytes) } else { 0.0 },
        resident_pct: reading.resident.map(|resident| share_pct(resident, reading.range_bytes())),
    };
    let mut flags = Flags::default();
    flags.raise_if(doubt.is_cached(), Flag::Cached);
    flags.raise_if(is_read && own.sparse_bytes.is_some_and(|bytes| bytes > 0), Flag::Sparse);
    flags.raise_if(is_read && own.unwritten_bytes.is_some_and(|bytes| bytes > 0), Flag::Unwritten);
    flags.raise_if(reading.fell_back(), Flag::Fallback);
    Record { line: cut.line(&sample, identity, cut.errors(), flags), own }
}

/// Adds what is known only at the end of the run.
pub fn finish(total: &mut Record, is_cut: bool, has_ended_early: bool, reading: &Reading<'_>) {
    let plan = reading.plan;
    let is_announced = reading.target.kind != TargetKind::Unsized || plan.amount.is_some() || plan.asked_time.is_some();
    total.raise_if(is_cut, Flag::Partial);
    total.raise_if(reading.is_short || (has_ended_early && is_announced), Flag::Short);
}

/// Share of `bytes` that was not fetched, in percent; `None` of nothing. Read-ahead may fetch more than was read.
fn cached_pct(bytes: u64, fetched: u64) -> Option<f64> {
    (bytes > 0).then(|| share_pct(bytes.saturating_sub(fetched), bytes))
}

fn share_pct(part: u64, whole: u64) -> f64 {
    if whole > 0 { 100.0 * part as f64 / whole as f64 } else { 0.0 }
}

/// What may have been read ahead before a span began.
fn ahead_bytes(disk: &Disk) -> u64 {
    disk.read_ahead_kb.unwrap_or_default() * 1024 * WINDOWS_AHEAD * disk.threads
}

/// What speaks for and against the device as the source of the bytes, in percent of them.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    method: Method,
    cached_pct: Option<f64>,
    blank_pct: f64,
    ahead_pct: f64,
    resident_pct: Option<f64>,
}

impl Doubt {
    /// Whether bytes came from memory that a device should have delivered. Where nobody counts what is fetched, what lay
    /// in the page cache before the run decides.
    fn is_cached(self) -> bool {
        let reads_ahead = matches!(self.method, Method::Buffered | Method::Mmap);
        let ahead_pct = if reads_ahead { self.ahead_pct } else { 0.0 };
        match (self.method, self.cached_pct) {
            (Method::Null, _) | (Method::Direct, None) => false,
            (_, Some(cached)) => cached > self.blank_pct + ahead_pct + TOLERANCE_PCT,
            (_, None) => self.resident_pct.is_some_and(|resident| resident > TOLERANCE_PCT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_fetched_was_cached() {
        assert_eq!(cached_pct(100, 100), Some(0.0));
        assert_eq!(cached_pct(100, 150), Some(0.0));
        assert_eq!(cached_pct(100, 25), Some(75.0));
        assert_eq!(cached_pct(0, 0), None);
    }

    #[test]
    fn what_holes_and_read_ahead_explain_is_not_cached() {
        let clean = Doubt {
            method: Method::Buffered,
            cached_pct: Some(0.5),
            blank_pct: 0.0,
            ahead_pct: 0.0,
            resident_pct: Some(0.0),
        };
        assert!(!clean.is_cached());
        let half = Doubt { cached_pct: Some(50.0), ..clean };
        assert!(half.is_cached());
        assert!(!Doubt { blank_pct: 50.0, ..half }.is_cached());
        assert!(!Doubt { ahead_pct: 50.0, ..half }.is_cached());
        assert!(Doubt { ahead_pct: 50.0, method: Method::Direct, ..half }.is_cached(), "nothing is read ahead");
        let uncounted = Doubt { cached_pct: None, ..clean };
        assert!(!uncounted.is_cached());
        assert!(Doubt { resident_pct: Some(40.0), ..uncounted }.is_cached());
    }
}
