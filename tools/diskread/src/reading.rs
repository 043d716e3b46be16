//! A plan applied to a target: everything that is decided, opened, evicted and looked up before the clock starts.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use anyhow::{Context, bail};
use common::buffer;
use common::cli::Usage;
use common::stop::Stop;
use common::sys::block;
use common::sys::mapping::{self, FileMap};
use common::sys::ring::{self, ReadRing};
use common::workers::Bell;
use memmap2::{Advice, MmapMut};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::args::{Engine, Method, Pattern};
use crate::cache;
use crate::device::Device;
use crate::layout::Layout;
use crate::offsets::Range;
use crate::plan::{MAX_POOL, Plan};
use crate::source::{Mapped, Null, Pread};
use crate::target::{Kind, Target};
use crate::worker::{self, Lane, Shared};

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
    range: Range,
    alignment: u64,
    /// One descriptor per thread.
    files: Vec<Arc<File>>,
    map: Option<Arc<FileMap>>,
}

/// What does the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    Pread,
    PreadPool,
    IoUring,
    Mmap,
    Null,
}

impl Driver {
    /// The word in the engine column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pread => "pread",
            Self::PreadPool => "pread-pool",
            Self::IoUring => "io_uring",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }

    fn choose(plan: &Plan) -> anyhow::Result<Self> {
        let pread = if plan.depth > 1 { Self::PreadPool } else { Self::Pread };
        Ok(match (plan.method, plan.engine) {
            (Method::Mmap, _) => Self::Mmap,
            (Method::Null, _) => Self::Null,
            (_, Engine::Pread) => pread,
            (_, Engine::Auto) if plan.depth == 1 => pread,
            (_, Engine::Auto) => match ring::is_allowed() {
                Ok(()) => Self::IoUring,
                Err(error) if u64::from(plan.threads) * u64::from(plan.depth) > MAX_POOL => {
                    bail!(
                        "io_uring is refused ({error}), and more than {MAX_POOL} threads would have to stand in for it"
                    )
                }
                Err(_) => pread,
            },
            (_, Engine::IoUring) => {
                ring::is_allowed().context("io_uring is refused (--engine auto does without it)")?;
                Self::IoUring
            }
        })
    }
}

/// What one worker does.
pub type Work<'a> = Box<dyn FnOnce(&Bell) -> anyhow::Result<()> + Send + 'a>;

impl<'a> Reading<'a> {
    /// Gets everything ready. A request that this target cannot grant is a usage error, before anything is read.
    pub fn prepare(plan: &'a Plan, target: &'a Target, stop: &Stop) -> anyhow::Result<Self> {
        let (range, is_short) = range(plan, target)?;
        let driver = Driver::choose(plan)?;
        let (method, alignment) = match plan.method {
            Method::Direct => direct(plan, target, range)?,
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
            resident: target.bytes().and_then(|_| cache::resident_bytes(&target.file, start, end)),
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

    /// Bytes from the beginning to the end of what is read.
    pub fn range_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// How many workers there are, each with a lane.
    pub fn readers(&self) -> usize {
        let each = if self.driver == Driver::PreadPool { self.plan.depth } else { 1 };
        self.plan.threads as usize * each as usize
    }

    /// One piece of work per lane, with its memory.
    pub fn works<'b>(&'b self, shared: &'b Shared, lanes: &'b [Lane]) -> anyhow::Result<Vec<Work<'b>>> {
        let per_thread = self.readers() / self.files.len();
        let range = Range { depth: per_thread as u64, ..self.range };
        let mut works = Vec::with_capacity(lanes.len());
        for (index, lane) in lanes.iter().enumerate() {
            let (thread, slot) = (index / per_thread, index % per_thread);
            let reads = range.reader(thread as u64, slot as u64);
            let file = &self.files[thread];
            let pause = self.plan.pause;
            let alignment = self.alignment;
            works.push(match self.driver {
                Driver::Pread | Driver::PreadPool => {
                    let mut source = Pread { file: Arc::clone(file), buffer: self.memory(1)?, alignment };
                    Box::new(move |bell: &Bell| worker::read_in_turn(&mut source, reads, pause, shared, lane, bell))
                        as Work<'b>
                }
                Driver::Mmap => {
                    let Some(map) = &self.map else { continue };
                    let is_device = matches!(self.target.kind, Kind::Device { .. });
                    let file = file.try_clone()?;
                    let mut source = Mapped { map: Arc::clone(map), file, start: self.range.start, is_device };
                    Box::new(move |bell: &Bell| worker::read_in_turn(&mut source, reads, pause, shared, lane, bell))
                }
                Driver::Null => {
                    Box::new(move |bell: &Bell| worker::read_in_turn(&mut Null, reads, pause, shared, lane, bell))
                }
                Driver::IoUring => {
                    let (depth, slot_bytes) = (self.plan.depth, self.slot_bytes());
                    let memory = self.memory(depth as usize)?;
                    Box::new(move |bell: &Bell| {
                        let mut ring = ReadRing::new(file, memory, depth, slot_bytes)
                            .context("cannot set up io_uring (--engine pread does without it)")?;
                        worker::read_queued(&mut ring, depth, alignment, reads, shared, lane, bell)
                    })
                }
            });
        }
        Ok(works)
    }

    /// A block, rounded up to what direct reads may need.
    fn slot_bytes(&self) -> usize {
        let unit = self.alignment.max(mapping::page_bytes() as u64);
        usize::try_from(self.plan.block.next_multiple_of(unit)).unwrap_or(usize::MAX)
    }

    /// Memory for so many blocks, present before the clock starts, in huge pages if there are any.
    fn memory(&self, blocks: usize) -> anyhow::Result<MmapMut> {
        let bytes = self.slot_bytes().saturating_mul(blocks);
        let mut memory = buffer::blank(bytes).with_context(|| format!("cannot get {bytes} bytes of memory"))?;
        // Only faster.
        let _ = memory.advise(Advice::HugePage);
        memory.iter_mut().step_by(mapping::page_bytes()).for_each(|byte| *byte = 0);
        Ok(memory)
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
        Kind::Device { bytes: 0 } => {
            // Without O_NONBLOCK this says why.
            target.reopen(0).with_context(|| format!("cannot open {name}"))?;
            bail!("{name} has no medium in it: its size is 0")
        }
        Kind::Device { bytes } | Kind::File { bytes } => bytes,
        Kind::Endless => wanted.ok_or_else(|| Usage(format!("{name} never ends: --bytes is needed")))?,
        Kind::Unsized if plan.pattern != Pattern::Seq || plan.threads > 1 || plan.depth > 1 => {
            return Err(Usage(format!("{name} does not say its size: only one thread can read it, in order")).into());
        }
        Kind::Unsized => wanted.unwrap_or(u64::MAX),
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

/// Whether direct reads are possible, and what they must be aligned to.
fn direct(plan: &Plan, target: &Target, range: Range) -> anyhow::Result<(Method, u64)> {
    let alignment = match target.kind {
        Kind::Device { .. } => block::direct_alignment(&target.file).or(block::logical_block_bytes(&target.file).ok()),
        _ => block::direct_alignment(&target.file),
    };
    let alignment = alignment.unwrap_or(DEFAULT_ALIGNMENT);
    for (option, value) in [("--block", Some(plan.block)), ("--offset", Some(plan.offset)), ("--bytes", plan.amount)] {
        // What ends at the end of the file is read to its last byte.
        let is_whole = option == "--bytes" && plan.amount.map(|amount| plan.offset + amount) == target.bytes();
        if let Some(value) = value.filter(|value| !value.is_multiple_of(alignment) && !is_whole) {
            return Err(Usage(format!(
                "{option} {value} is not a multiple of {alignment}, which {} needs for direct reads",
                target.name
            ))
            .into());
        }
    }
    match probe(target, range, alignment) {
        Err(error) if is_refusal(&error) && plan.may_fall_back => Ok((Method::Buffered, 1)),
        Err(error) if is_refusal(&error) => {
            bail!("{} refuses direct reads: {error} (--fallback reads it buffered)", target.name)
        }
        // A device that cannot be read fails where it is measured, and with the offset.
        Ok(()) | Err(_) => Ok((Method::Direct, alignment)),
    }
}

/// What every device that reads directly can do, unless it says otherwise.
const DEFAULT_ALIGNMENT: u64 = 4096;

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

/// Tries a direct read: statx(2) alone is not to be trusted (tmpfs reads directly and does not say so).
fn probe(target: &Target, range: Range, alignment: u64) -> io::Result<()> {
    let file = target.reopen(libc::O_DIRECT)?;
    if range.start == range.end {
        return Ok(());
    }
    let mut memory = buffer::blank(usize::try_from(alignment).unwrap_or(mapping::page_bytes()))?;
    file.read_at(&mut memory, range.start).map(drop)
}

fn open(plan: &Plan, target: &Target, flags: i32) -> anyhow::Result<Arc<File>> {
    // Some files in /proc wait at their end for more.
    let flags = if target.kind == Kind::Unsized { flags | libc::O_NONBLOCK } else { flags };
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
