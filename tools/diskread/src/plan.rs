//! What to measure, valid by construction, before any file is looked at.

use std::time::Duration;

use common::cli::Usage;

use crate::args::{Engine, Method, Pattern, ReadArgs};

/// How long a run is at most when nobody says.
const DEFAULT_TIME: Duration = Duration::from_secs(10);

/// Largest block: a read call takes no more than 2 GiB (read(2)).
const MAX_BLOCK: u64 = 1 << 30;

/// Most memory that all reads in flight may fill together.
const MAX_MEMORY: u64 = 4 << 30;

/// Most threads that stand in for `io_uring`.
pub const MAX_POOL: u64 = 1024;

/// One measurement of one target.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The word in the test column.
    pub test: &'static str,
    pub method: Method,
    pub pattern: Pattern,
    pub engine: Engine,
    /// Bytes per read.
    pub block: u64,
    pub threads: u32,
    /// Reads in flight per thread.
    pub depth: u32,
    /// Where the range begins.
    pub offset: u64,
    /// How long the range is, if not to the end.
    pub length: Option<u64>,
    /// Bytes to read, if not all of the range.
    pub amount: Option<u64>,
    /// When to end at the latest.
    pub time: Option<Duration>,
    /// How long the reading was asked to last, where no amount was asked for.
    pub asked_time: Option<Duration>,
    /// Begin again at the end of the range, until the time is over.
    pub goes_round: bool,
    pub warmup: Duration,
    pub interval: Option<Duration>,
    /// Rest after each read.
    pub pause: Option<Duration>,
    pub seed: Option<u64>,
    /// Read buffered where direct reads are refused.
    pub may_fall_back: bool,
}

impl Plan {
    /// What is the same for everything: one thread, one read at a time, once over all of it.
    pub fn base(args: &ReadArgs) -> Self {
        Self {
            test: "seq_read",
            method: Method::default(),
            pattern: Pattern::default(),
            engine: Engine::default(),
            block: 1 << 20,
            threads: 1,
            depth: 1,
            offset: args.offset.unwrap_or_default(),
            length: None,
            amount: None,
            time: Some(DEFAULT_TIME),
            asked_time: None,
            goes_round: false,
            warmup: args.schedule.warm_up(),
            interval: args.schedule.interval.interval,
            pause: None,
            seed: args.seed,
            may_fall_back: args.fallback,
        }
    }

    /// The one measurement that was asked for in single options.
    pub fn one(args: &ReadArgs) -> Result<Self, Usage> {
        let mut plan = Self::base(args);
        plan.method = args.method.unwrap_or_default();
        plan.pattern = args.pattern.unwrap_or_default();
        (plan.test, plan.block) = match plan.pattern {
            Pattern::Seq => ("seq_read", 1 << 20),
            Pattern::Rand => ("rand_read", 4096),
            Pattern::Reverse => ("reverse_read", 1 << 20),
        };
        plan.block = args.block.unwrap_or(plan.block);
        plan.threads = args.threads.unwrap_or(1);
        plan.depth = args.depth.unwrap_or(1);
        plan.engine = args.engine.unwrap_or_default();
        plan.amount = args.bytes;
        plan.asked_time = args.schedule.time.filter(|_| args.bytes.is_none());
        plan.time = args.schedule.time.or(if args.bytes.is_some() { None } else { Some(DEFAULT_TIME) });
        let is_memory_after = matches!(plan.method, Method::Buffered | Method::Mmap);
        plan.goes_round = args.schedule.time.is_some() && !is_memory_after;
        plan.check()
    }

    fn check(self) -> Result<Self, Usage> {
        let usage = |text: String| Err(Usage(text));
        let method = self.method.name();
        if self.block > MAX_BLOCK {
            return usage(format!("--block {} is too large (at most 1G)", self.block));
        }
        let in_flight = u64::from(self.threads) * u64::from(self.depth);
        if self.block.max(4096) * in_flight > MAX_MEMORY {
            return usage(format!(
                "--block {} with --threads {} and --depth {} needs more than 4G of memory",
                self.block, self.threads, self.depth
            ));
        }
        if self.engine == Engine::Pread && in_flight > MAX_POOL {
            return usage(format!(
                "--threads {} with --depth {} needs more than {MAX_POOL} threads",
                self.threads, self.depth
            ));
        }
        if matches!(self.method, Method::Mmap | Method::Null) {
            if self.depth > 1 {
                return usage(format!("--depth {} makes no sense with --method {method}", self.depth));
            }
            if self.engine != Engine::Auto {
                return usage(format!("--engine makes no sense with --method {method}"));
            }
        }
        if self.may_fall_back && self.method != Method::Direct {
            return usage("--fallback needs --method direct".into());
        }
        Ok(self)
    }
}
