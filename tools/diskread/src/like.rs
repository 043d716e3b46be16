//! `--like`: the measurements whose figures people know from other programs, done right where those err.
//!
//! Block sizes, counts, order and depth are theirs. What differs on purpose:
//! - all: nothing is written, so that only their reads are here; the target is one file or device that exists.
//!   Eviction is outside the time.
//! - hdparm: `-t` is evicted first (the original measures the cache if there is one), `-T` is primed first (the original
//!   times the first, uncached read); no pause of 4 s, and no subtraction of an estimated overhead.
//! - `CrystalDiskMark`: every one of the five runs is a line; the original runs once more without showing it, waits 5 s
//!   between tests and shows the best run.
//! - tiobench and bonnie++: all threads read one file, each a region of its own, evicted first; random reads repeat no
//!   block and their remainder by threads is not lost; the sequential reads end after a minute, since a device may be
//!   larger than any file of theirs. bonnie++'s seekers change no block, and nobody reads single bytes.
//! - ioping: direct reads, where the original evicts what it is about to read; anywhere in the target, where the
//!   original stays in 64 MiB with `-R`; nothing is discarded as warm-up.

use std::time::Duration;

use crate::args::{Like, Method, Pattern, ReadArgs};
use crate::plan::Plan;

const MIB: u64 = 1 << 20;
/// The size of the file that `CrystalDiskMark` makes.
const CDM_FILE: u64 = 1 << 30;
const CDM_TIME: Duration = Duration::from_secs(5);
/// Longest sequential read of a whole file.
const PASS: Duration = Duration::from_mins(1);

/// How often each is measured when nobody says.
pub fn runs(program: Like) -> u64 {
    match program {
        Like::Crystaldiskmark | Like::Nvme => 5,
        _ => 1,
    }
}

/// The program's measurements in its order.
pub fn plans(program: Like, args: &ReadArgs) -> Vec<Plan> {
    let base = Plan::base(args);
    let mut plans = match program {
        Like::Hdparm => hdparm(&base),
        Like::Crystaldiskmark => [
            ("cdm_seq1m_q8t1_read", Pattern::Seq, MIB, 8, 1),
            ("cdm_seq1m_q1t1_read", Pattern::Seq, MIB, 1, 1),
            ("cdm_rnd4k_q32t1_read", Pattern::Rand, 4096, 32, 1),
            ("cdm_rnd4k_q1t1_read", Pattern::Rand, 4096, 1, 1),
        ]
        .map(|test| crystal(&base, test))
        .into(),
        Like::Nvme => [
            ("cdm_seq1m_q8t1_read", Pattern::Seq, MIB, 8, 1),
            ("cdm_seq128k_q32t1_read", Pattern::Seq, 128 * 1024, 32, 1),
            ("cdm_rnd4k_q32t16_read", Pattern::Rand, 4096, 32, 16),
            ("cdm_rnd4k_q1t1_read", Pattern::Rand, 4096, 1, 1),
        ]
        .map(|test| crystal(&base, test))
        .into(),
        Like::Tiobench => [1, 2, 4, 8].into_iter().flat_map(|threads| tiobench(&base, threads)).collect(),
        Like::Bonnie => bonnie(&base),
        Like::Ioping => ioping(&base),
    };
    for plan in &mut plans {
        plan.time = args.schedule.time.or(plan.time);
    }
    plans
}

fn hdparm(base: &Plan) -> Vec<Plan> {
    let block = 2 * MIB;
    let cached = Plan {
        test: "hdparm_cached",
        method: Method::Cached,
        block,
        length: Some(block),
        time: Some(Duration::from_secs(2)),
        goes_round: true,
        ..base.clone()
    };
    let buffered = Plan { test: "hdparm_buffered", block, time: Some(Duration::from_secs(3)), ..base.clone() };
    vec![cached, buffered]
}

fn crystal(base: &Plan, (test, pattern, block, depth, threads): (&'static str, Pattern, u64, u32, u32)) -> Plan {
    Plan {
        test,
        pattern,
        block,
        depth,
        threads,
        method: Method::Direct,
        length: Some(CDM_FILE),
        time: Some(CDM_TIME),
        goes_round: true,
        ..base.clone()
    }
}

fn tiobench(base: &Plan, threads: u32) -> [Plan; 2] {
    let sequential = Plan { test: "tiobench_seq_read", block: 4096, threads, time: Some(PASS), ..base.clone() };
    let random =
        Plan { test: "tiobench_rand_read", pattern: Pattern::Rand, amount: Some(4000 * 4096), ..sequential.clone() };
    [sequential, random]
}

fn bonnie(base: &Plan) -> Vec<Plan> {
    let chunk = 8192;
    let block_in = Plan { test: "bonnie_block_read", block: chunk, time: Some(PASS), ..base.clone() };
    let seeks = Plan {
        test: "bonnie_seeks",
        pattern: Pattern::Rand,
        threads: 5,
        amount: Some(8192 * chunk),
        ..block_in.clone()
    };
    vec![block_in, seeks]
}

fn ioping(base: &Plan) -> Vec<Plan> {
    let request = Plan {
        test: "ioping_read",
        method: Method::Direct,
        pattern: Pattern::Rand,
        block: 4096,
        goes_round: true,
        ..base.clone()
    };
    let paced = Plan { amount: Some(10 * 4096), time: None, pause: Some(Duration::from_secs(1)), ..request.clone() };
    let rapid = Plan { test: "ioping_rapid_read", time: Some(Duration::from_secs(3)), ..request };
    vec![paced, rapid]
}
