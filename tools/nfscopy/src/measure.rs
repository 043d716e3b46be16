//! One phase: workers at work on the mount, and what the mount counted meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::cli::Session;
use common::measure::crew;
use common::measure::lane::{CpuOf, Track};
use common::measure::latency::Moments;
use common::measure::sample::Identity;
use common::measure::spans::{Cut, Timing};
use common::measure::watch::{Finished, Gauge, Halt, Measurement, Verdict};

use crate::mounted::Mounted;
use crate::record::{self, Counted, Record, Setup};
use crate::worker::{self, Own, Shared, TIMED, Worker};

/// How long whoever asked to leave waits before hearing what for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What one worker does.
pub type Work<'a> = Box<dyn FnOnce(&Worker<'_>) -> anyhow::Result<()> + Send + 'a>;

/// What is measured.
pub struct Phase<'a> {
    /// The word in the test column.
    pub test: &'static str,
    /// What the line says of it beside figures.
    pub setup: Setup,
    /// A worker for each.
    pub works: Vec<Work<'a>>,
    /// End it after this long.
    pub time: Option<Duration>,
}

/// Where phases are measured, the same for all phases of a run.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Signals, stderr and stdout.
    pub session: &'a Session,
    /// The mount beneath.
    pub mounted: &'a Mounted,
    /// Lines between.
    pub interval: Option<Duration>,
}

/// A phase that is over.
pub struct Done {
    /// The line of all of it.
    pub total: Record,
    /// How long an operation took, where that was measured.
    pub latency: Option<Moments>,
    /// Why it did not run to its end, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

/// Works until all is done, the time is over, the stop is set or something fails.
pub fn run(site: Site<'_>, identity: &Identity, phase: Phase<'_>) -> anyhow::Result<Done> {
    let Phase { setup, works, time, .. } = phase;
    let shared = Arc::new(Shared::default());
    let track = Track::new(true, works.iter().map(|_| Own::new(&shared)))?;
    let works = works.into_iter().zip(track.lanes()).map(|(work, lane)| -> crew::Work<'_> {
        Box::new(move || {
            let worker = Worker::start(lane);
            let outcome = work(&worker);
            worker.finish();
            outcome
        })
    });
    let measurement = Measurement {
        stop: &site.session.stop,
        progress: Some(&site.session.console.progress(time)),
        timing: Timing { warmup: Duration::ZERO, time, interval: site.interval },
        leads: true,
        cpu: CpuOf::Process,
        workers: "worker",
    };
    let mut mount = MountGauge { site, identity, setup: &setup, track: &track, shared: &shared, complaint: None };
    let Finished { total, has_begun, is_cut, failure } = measurement.run(&track, works.collect(), &mut mount)?;
    let latency = total.latency().moments();
    let mut total = record::of(&setup, site.mounted, identity, &total);
    record::finish(&mut total, is_cut || !has_begun, &setup, shared.failure.get());
    Ok(Done { total, latency, failure })
}

/// What is read beside what the workers count.
struct MountGauge<'a> {
    site: Site<'a>,
    identity: &'a Identity,
    setup: &'a Setup,
    track: &'a Track<Own>,
    shared: &'a Shared,
    /// When to say what whoever asked to leave waits for.
    complaint: Option<Instant>,
}

impl Gauge for MountGauge<'_> {
    type State = Counted;

    fn read(&mut self) -> (Counted, Option<u64>) {
        let lanes = || self.track.lanes().iter().map(|lane| &lane.own);
        let mut steps = [0; TIMED];
        for own in lanes() {
            for (sum, time) in steps.iter_mut().zip(&own.steps) {
                *sum += time.load(Ordering::Relaxed);
            }
        }
        let counted = Counted {
            calls: self.site.mounted.stats(),
            files: lanes().map(|own| own.files.load(Ordering::Relaxed)).sum(),
            steps,
            mechanism: self.shared.mechanism.load(Ordering::Relaxed),
        };
        (counted, Some(self.shared.errors.load(Ordering::Relaxed)))
    }

    fn print(&mut self, interval: &Cut<Counted>) -> anyhow::Result<()> {
        let record = record::of(self.setup, self.site.mounted, self.identity, interval);
        self.site.session.lines.write_line(&record.text()?)
    }

    /// A call on a mount whose server is silent cannot be interrupted, but whoever waits should know.
    fn judge(&mut self, now: Instant) -> Option<Verdict> {
        if self.complaint.is_some_and(|due| now >= due) {
            self.complaint = None;
            if let Some(calls) = worker::waited_for(self.track.lanes()) {
                self.site.session.console.error(&format!(
                    "waiting for {calls} to end (does the server answer?); interrupt again to leave at once, and leave \
                     what was written behind"
                ));
            }
        }
        None
    }

    fn due(&self) -> Option<Instant> {
        self.complaint
    }

    fn halt(&mut self, how: Halt) {
        if how >= Halt::Cut {
            self.shared.cut();
            // Whoever asked to leave should know; a failure speaks for itself.
            self.complaint = self.site.session.stop.is_set().then(|| Instant::now() + PATIENCE);
        }
    }
}
