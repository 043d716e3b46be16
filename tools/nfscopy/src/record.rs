//! From a sample and the counters around it to one line: pure arithmetic.

use std::time::Duration;

use common::measure::sample::Identity;
use common::measure::spans::Cut;
use common::schema::Fixed;
use common::schema::line::{Flag, Flags};
use common::schema::nfscopy::Mounted as Columns;

use crate::mechanism::Mechanism;
use crate::mounted::Mounted;
use crate::mountstats::{Calls, Stats};
use crate::worker::{Step, TIMED};

/// Share of the bytes, in percent, that may lie in memory before a read without a word.
const TOLERANCE_PCT: f64 = 1.0;

/// What a line says beside figures.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// How bytes move; empty where that turns out only by trying, or none do.
    pub mechanism: &'static str,
    /// When writes are safe.
    pub sync: &'static str,
    pub threads: u64,
    pub block: Option<u64>,
    /// Bytes of each file, the largest of several.
    pub file_bytes: Option<u64>,
    /// Share of what will be read that lies in this machine's memory.
    pub cached_pct: Option<f64>,
    /// What is read has holes.
    pub is_sparse: bool,
    /// The mechanism that was asked for, if another one is a fallback.
    pub wanted: Option<Mechanism>,
    /// Bytes that should move.
    pub expected: Option<u64>,
    /// Operations that should be done.
    pub expected_ops: Option<u64>,
}

/// What is counted beside bytes, operations and errors, by now.
#[derive(Debug, Clone)]
pub struct Counted {
    /// What the mount has counted since it was made; of NFS only.
    pub calls: Option<Stats>,
    /// Files worked on.
    pub files: u64,
    /// Nanoseconds by step.
    pub steps: [u64; TIMED],
    /// The mechanism that was found by trying.
    pub mechanism: u8,
}

/// One line of `nfscopy`.
pub type Record = common::measure::record::Record<Columns>;

/// The line of one span.
pub fn of(setup: &Setup, mounted: &Mounted, identity: &Identity, cut: &Cut<Counted>) -> Record {
    let tried = Mechanism::of(cut.to.state.mechanism);
    let mut flags = Flags::default();
    flags.raise_if(setup.cached_pct.is_some_and(|pct| pct > TOLERANCE_PCT), Flag::Cached);
    flags.raise_if(setup.is_sparse, Flag::Sparse);
    flags.raise_if(setup.wanted.zip(tried).is_some_and(|(wanted, tried)| tried > wanted), Flag::Fallback);
    Record { line: cut.line(&cut.sample(), identity, cut.errors(), flags), own: columns(setup, mounted, cut, tried) }
}

fn columns(setup: &Setup, mounted: &Mounted, cut: &Cut<Counted>, tried: Option<Mechanism>) -> Columns {
    let (from, to) = (&cut.from.state, &cut.to.state);
    let time = |step: Step| {
        let time = Duration::from_nanos(to.steps[step as usize] - from.steps[step as usize]);
        if time.is_zero() { None } else { Fixed::new(time.as_secs_f64()) }
    };
    let text = |option| mounted.nfs_option(option).map(str::to_owned);
    let number = |option| mounted.nfs_option(option)?.parse().ok();
    let calls = to.calls.as_ref().zip(from.calls.as_ref()).map(|(to, from)| to.since(from));
    let bytes = calls.and_then(|calls| calls.bytes);
    let mean_us = |ms: fn(&Calls) -> u64| {
        calls.as_ref().and_then(|calls| Fixed::ratio(ms(calls) as f64 * 1e3, calls.count as f64))
    };
    let files = to.files - from.files;
    let latencies = cut.latency().percentiles();
    Columns {
        mechanism: tried.map_or(setup.mechanism, Mechanism::name),
        sync: setup.sync,
        threads: setup.threads,
        block_bytes: setup.block,
        file_bytes: setup.file_bytes,
        files: Some(files),
        open_s: time(Step::Open),
        read_s: time(Step::Read),
        write_s: time(Step::Write),
        fsync_s: time(Step::Fsync),
        close_s: time(Step::Close),
        cached_pct: setup.cached_pct.and_then(Fixed::new),
        failure: None,
        p50_us: latencies.p50,
        p90_us: latencies.p90,
        p99_us: latencies.p99,
        p999_us: latencies.p999,
        max_us: latencies.max,
        fs_type: mounted.fs_type().map(str::to_owned),
        source: mounted.source(),
        vers: text("vers"),
        proto: text("proto"),
        rsize_bytes: number("rsize"),
        wsize_bytes: number("wsize"),
        nconnect: mounted.connections(),
        mount_mode: mounted.mode(),
        rpcs: calls.map(|calls| calls.count),
        read_rpcs: calls.map(|calls| calls.reads),
        write_rpcs: calls.map(|calls| calls.writes),
        rpc_rtt_us: mean_us(|calls| calls.rtt_ms),
        rpc_exec_us: mean_us(|calls| calls.execute_ms),
        rpc_retrans: calls.map(|calls| calls.again),
        rpc_timeouts: calls.map(|calls| calls.timeouts),
        normal_read_bytes: bytes.map(|bytes| bytes.normal_read),
        normal_write_bytes: bytes.map(|bytes| bytes.normal_write),
        direct_read_bytes: bytes.map(|bytes| bytes.direct_read),
        direct_write_bytes: bytes.map(|bytes| bytes.direct_write),
        server_read_bytes: bytes.map(|bytes| bytes.server_read),
        server_write_bytes: bytes.map(|bytes| bytes.server_write),
    }
}

/// Adds what is known only at the end.
pub fn finish(total: &mut Record, is_partial: bool, setup: &Setup, failure: Option<&String>) {
    total.raise_if(is_partial, Flag::Partial);
    let is_short = setup.expected > total.line.bytes || setup.expected_ops > total.line.ops;
    total.raise_if(!is_partial && is_short, Flag::Short);
    total.own.failure = failure.cloned();
}
