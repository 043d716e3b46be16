//! One run: readers at work, and what was fetched from the device meanwhile.

use std::sync::atomic::Ordering;

use common::cli::Session;
use common::console::Progress;
use common::measure::lane::{CpuOf, Track};
use common::measure::sample::Identity;
use common::measure::spans::{Cut, Timing};
use common::measure::watch::{Finished, Gauge, Halt, Measurement};

use crate::device::Fetched;
use crate::engine;
use crate::reading::Reading;
use crate::record::{self, Record};
use crate::worker::Own;

/// Reads until it is done, the session's stop is set or it fails; the line of all of it, and how it ended.
pub fn run(
    reading: &Reading<'_>,
    identity: &Identity,
    session: &Session,
    progress: &Progress,
) -> anyhow::Result<(Record, Finished<Fetched>)> {
    let plan = reading.plan;
    let track = Track::new(true, (0..reading.readers()).map(|_| Own::default()))?;
    let works = engine::works(reading, track.lanes())?;
    let measurement = Measurement {
        stop: &session.stop,
        progress: Some(progress),
        timing: Timing { warmup: plan.warmup, time: plan.time, interval: plan.interval },
        leads: true,
        // The kernel reads for io_uring in threads of its own.
        cpu: CpuOf::Process,
        workers: "reader",
    };
    let mut device = DeviceGauge { reading, identity, session, track: &track, fetched: None, was_halted: false };
    let finished = measurement.run(&track, works, &mut device)?;
    // The file ended in the warm-up, unless somebody cut it.
    let is_used_up = !finished.has_begun && !finished.is_cut && !plan.warmup.is_zero();
    let is_early = plan.asked_time.is_some() && !device.was_halted;
    let is_short = is_used_up || is_early || track.lanes().iter().any(|lane| lane.own.is_short.load(Ordering::Relaxed));
    let mut total = record::of(reading, identity, &finished.total);
    record::finish(&mut total, finished.is_cut, is_short, reading);
    Ok((total, finished))
}

/// What is read beside what the readers count.
struct DeviceGauge<'a> {
    reading: &'a Reading<'a>,
    identity: &'a Identity,
    session: &'a Session,
    track: &'a Track<Own>,
    /// As it was at first, and when it was last read.
    fetched: Option<(Fetched, Fetched)>,
    /// The readers did not end by themselves.
    was_halted: bool,
}

impl Gauge for DeviceGauge<'_> {
    type State = Fetched;

    fn read(&mut self) -> (Fetched, Option<u64>) {
        let errors = self.track.lanes().iter().map(|lane| lane.own.errors.load(Ordering::Relaxed)).sum();
        let now = Fetched::now(self.reading.target, self.reading.device.as_ref());
        let (first, before) = self.fetched.unwrap_or((now, now));
        let now = now.bounded(&first, &before);
        self.fetched = Some((first, now));
        (now, Some(errors))
    }

    fn print(&mut self, interval: &Cut<Fetched>) -> anyhow::Result<()> {
        self.session.lines.write_line(&record::of(self.reading, self.identity, interval).text()?)
    }

    fn halt(&mut self, _how: Halt) {
        // A reader looks before each read, and a read ends by itself.
        self.was_halted = true;
    }
}
