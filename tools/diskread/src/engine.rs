//! The readers of a run, each with its share of the range, its memory and its way of reading.

use std::sync::Arc;

use anyhow::Context;
use common::files::buffer;
use common::measure::crew::Work;
use common::sys::mapping;
use common::sys::ring::ReadRing;
use memmap2::{Advice, MmapMut};

use crate::driver::Driver;
use crate::offsets::Range;
use crate::reading::Reading;
use crate::source::{Mapped, Null, Pread};
use crate::target::TargetKind;
use crate::worker::{self, Lane};

/// One piece of work per lane, with its memory.
pub fn works<'a>(reading: &'a Reading<'_>, lanes: &'a [Lane]) -> anyhow::Result<Vec<Work<'a>>> {
    let per_thread = reading.readers() / reading.files.len();
    let range = Range { depth: per_thread as u64, ..reading.range };
    let (pause, alignment) = (reading.plan.pause, reading.alignment);
    let mut works = Vec::with_capacity(lanes.len());
    for (index, lane) in lanes.iter().enumerate() {
        let (thread, slot) = (index / per_thread, index % per_thread);
        let reads = range.reader(thread as u64, slot as u64);
        let file = &reading.files[thread];
        works.push(match reading.driver {
            Driver::Pread | Driver::PreadPool => {
                let mut source = Pread { file: Arc::clone(file), buffer: memory(reading, 1)?, alignment };
                Box::new(move || worker::read_in_turn(&mut source, reads, pause, lane)) as Work<'a>
            }
            Driver::Mmap => {
                let Some(map) = &reading.map else { continue };
                let is_device = matches!(reading.target.kind, TargetKind::Device { .. });
                let file = file.try_clone()?;
                let mut source = Mapped { map: Arc::clone(map), file, start: reading.range.start, is_device };
                Box::new(move || worker::read_in_turn(&mut source, reads, pause, lane))
            }
            Driver::Null => Box::new(move || worker::read_in_turn(&mut Null, reads, pause, lane)),
            Driver::IoUring => {
                let (depth, slot_bytes) = (reading.plan.depth, slot_bytes(reading));
                let memory = memory(reading, depth as usize)?;
                Box::new(move || {
                    let mut ring = ReadRing::new(file, memory, depth, slot_bytes)
                        .context("cannot set up io_uring (--engine pread does without it)")?;
                    worker::read_queued(&mut ring, depth, alignment, reads, lane)
                })
            }
        });
    }
    Ok(works)
}

/// A block, rounded up to what direct reads may need.
fn slot_bytes(reading: &Reading<'_>) -> usize {
    let unit = reading.alignment.max(mapping::page_bytes() as u64);
    usize::try_from(reading.plan.block.next_multiple_of(unit)).unwrap_or(usize::MAX)
}

/// Memory for so many blocks, present before the clock starts, in huge pages if there are any.
fn memory(reading: &Reading<'_>, blocks: usize) -> anyhow::Result<MmapMut> {
    let bytes = slot_bytes(reading).saturating_mul(blocks);
    let mut memory = buffer::blank(bytes).with_context(|| format!("cannot get {bytes} bytes of memory"))?;
    // Only faster.
    let _ = memory.advise(Advice::HugePage);
    memory.iter_mut().step_by(mapping::page_bytes()).for_each(|byte| *byte = 0);
    Ok(memory)
}
