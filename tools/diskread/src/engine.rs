//! Who does the reads: threads, each with its share of the range, its memory and its way of reading.

use std::sync::Arc;

use anyhow::{Context, bail};
use common::files::buffer;
use common::measure::crew::Bell;
use common::sys::mapping;
use common::sys::ring::{self, ReadRing};
use memmap2::{Advice, MmapMut};

use crate::args::{Engine, Method};
use crate::offsets::Range;
use crate::plan::{MAX_POOL, Plan};
use crate::reading::Reading;
use crate::source::{Mapped, Null, Pread};
use crate::target::Kind;
use crate::worker::{self, Lane, Shared};

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

    /// The one for a plan, as far as the kernel allows it.
    pub fn choose(plan: &Plan) -> anyhow::Result<Self> {
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

impl Reading<'_> {
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
