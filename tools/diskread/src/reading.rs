//! A plan applied to a target: everything that is decided, opened, evicted and looked up before the clock starts.

use std::fs::File;
use std::sync::Arc;

use anyhow::{Context, bail};
use common::cli::Usage;
use common::files::page_cache;
use common::stop::Stop;
use common::sys::mapping::FileMap;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::args::{Method, Pattern};
use crate::cache;
use crate::device::Device;
use crate::direct;
use crate::driver::Driver;
use crate::layout::Layout;
use crate::offsets::Range;
use crate::plan::Plan;
use crate::target::{Target, TargetKind};

/// A run that is ready to start.
#[derive(Debug)]
pub struct Reading<'a> {
    pub plan: &'a Plan,
    pub target: &'a Target,
    pub device: Option<Device>,
    /// What is really done, after a fallback.
    pub method: Method,
    pub driver: Driver,
    pub layout: Layout,
    /// Bytes of the range in the page cache just before the run.
    pub resident: Option<u64>,
    /// Less is there than was asked for.
    pub is_short: bool,
    pub range: Range,
    /// What offsets and lengths must be multiples of.
    pub alignment: u64,
    /// One descriptor per thread.
    pub files: Vec<Arc<File>>,
    pub map: Option<Arc<FileMap>>,
}

impl<'a> Reading<'a> {
    /// Gets everything ready. A request that this target cannot grant is a usage error, before anything is read.
    pub fn prepare(plan: &'a Plan, target: &'a Target, stop: &Stop) -> anyhow::Result<Self> {
        let (range, is_short) = range(plan, target)?;
        let driver = Driver::choose(plan)?;
        let (method, alignment) = match plan.method {
            Method::Direct => direct::negotiate(plan, target, range)?,
            method => (method, 1),
        };
        let flags = if method == Method::Direct { libc::O_DIRECT } else { 0 };
        let files = (0..plan.threads).map(|_| open(plan, target, flags)).collect::<anyhow::Result<_>>()?;
        match method {
            Method::Buffered | Method::Mmap => cache::evict(target),
            Method::Cached => prime(target, range, stop)?,
            // Reads past the cache would have to write back what is dirty, and that takes time.
            Method::Direct => drop(nix::unistd::fdatasync(&target.file)),
            Method::Null => {}
        }
        let (start, end) = (range.start, range.end);
        let map = if driver == Driver::Mmap { map(plan, target, range)? } else { None };
        Ok(Self {
            plan,
            target,
            device: Device::of(target),
            method,
            driver,
            layout: Layout::of(target, start, end),
            resident: target.bytes().and_then(|_| page_cache::resident_bytes(&target.file, start, end)),
            is_short,
            range,
            alignment,
            files,
            map,
        })
    }

    /// Whether another method than the one asked for does the work.
    pub fn fell_back(&self) -> bool {
        self.method != self.plan.method
    }

    /// How many readers there are, each with a lane.
    pub fn readers(&self) -> usize {
        let each = if self.driver == Driver::PreadPool { self.plan.depth } else { 1 };
        self.plan.threads as usize * each as usize
    }

    /// Bytes from the beginning to the end of what is read.
    pub fn range_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }
}

/// The range to read, and whether it is shorter than what was asked for.
fn range(plan: &Plan, target: &Target) -> anyhow::Result<(Range, bool)> {
    let (name, start) = (&target.name, plan.offset);
    let beyond = || Usage(format!("--offset {start} with --bytes goes beyond 2^64"));
    let wanted = match plan.amount {
        Some(amount) => Some(start.checked_add(amount).ok_or_else(beyond)?),
        None => None,
    };
    let size = match target.kind {
        TargetKind::Device { bytes: 0 } => {
            // Without O_NONBLOCK this says why.
            target.reopen(0).with_context(|| format!("cannot open {name}"))?;
            bail!("{name} has no medium in it: its size is 0")
        }
        TargetKind::Device { bytes } | TargetKind::File { bytes } => bytes,
        TargetKind::Endless => wanted.ok_or_else(|| Usage(format!("{name} never ends: --bytes is needed")))?,
        TargetKind::Unsized if plan.pattern != Pattern::Seq || plan.threads > 1 || plan.depth > 1 => {
            return Err(Usage(format!("{name} does not say its size: only one thread can read it, in order")).into());
        }
        TargetKind::Unsized => wanted.unwrap_or(u64::MAX),
    };
    if start > size {
        return Err(Usage(format!("--offset {start} is beyond the end of {name}, {size} bytes")).into());
    }
    let mut end = plan.length.map_or(size, |length| start.saturating_add(length).min(size));
    let mut amount = plan.amount;
    let is_short = !plan.goes_round && wanted.is_some_and(|wanted| wanted > end);
    if plan.pattern != Pattern::Rand && !plan.goes_round {
        end = wanted.map_or(end, |wanted| wanted.min(end));
        amount = None;
    }
    let range = Range {
        start,
        end,
        block: plan.block,
        pattern: plan.pattern,
        threads: u64::from(plan.threads),
        depth: 1,
        amount,
        goes_round: plan.goes_round,
        seed: plan.seed.unwrap_or_else(rand::random),
    };
    Ok((range, is_short))
}

fn open(plan: &Plan, target: &Target, flags: i32) -> anyhow::Result<Arc<File>> {
    // Some files in /proc wait at their end for more.
    let flags = if target.kind == TargetKind::Unsized { flags | libc::O_NONBLOCK } else { flags };
    let file = target.reopen(flags).with_context(|| format!("cannot open {}", target.name))?;
    if plan.pattern == Pattern::Rand {
        // What is read ahead of a random read is read for nothing. Files that know no advice have no read-ahead.
        let _ = posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_RANDOM);
    }
    Ok(Arc::new(file))
}

/// Fills the page cache with the range, if it fits.
fn prime(target: &Target, range: Range, stop: &Stop) -> anyhow::Result<()> {
    let Some(_) = target.bytes() else { return Ok(()) };
    let bytes = range.end - range.start;
    if cache::room().is_some_and(|room| bytes > room) {
        bail!("{} does not fit into memory: --method cached needs a smaller range (--bytes)", target.name);
    }
    let file = target.reopen(0).with_context(|| format!("cannot open {}", target.name))?;
    cache::fill(&file, range.start, range.end, stop)
        .with_context(|| format!("{}: cannot fill the page cache", target.name))
}

fn map(plan: &Plan, target: &Target, range: Range) -> anyhow::Result<Option<Arc<FileMap>>> {
    let name = &target.name;
    if target.bytes().is_none() {
        bail!("{name} cannot be mapped: it has no size");
    }
    if range.start == range.end {
        return Ok(None);
    }
    let length = usize::try_from(range.end - range.start).context("the range is too large to be mapped")?;
    let map = FileMap::new(&target.file, range.start, length).with_context(|| format!("cannot map {name}"))?;
    if plan.pattern == Pattern::Rand {
        map.expect_random().with_context(|| format!("cannot advise on {name}"))?;
    }
    Ok(Some(Arc::new(map)))
}
