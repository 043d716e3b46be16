//! The loop of every measurement: starts the workers, sleeps, prints intervals, and ends what has to end.
//!
//! Who watches wakes by the clock, never by the data, and by news: a worker that begins or ends, or a signal. What differs
//! between tools stands behind [`Gauge`], which is asked once a tick, never per operation.

use std::time::Instant;

use anyhow::Context;

use super::counters::Counts;
use super::crew::{Crew, Work};
use super::lane::{CpuOf, Track};
use super::latency::Latencies;
use super::sample::{Epoch, Snapshot};
use super::spans::{Closed, Cut, Mark, Source, Spans, Timing};
use crate::console::Progress;
use crate::stop::{self, Reason, Stop};

/// What a tool measures.
pub trait Gauge {
    /// What it reads beside what its lanes count.
    type State: Clone;

    /// Reads it, and how much has gone wrong so far, where somebody counts that.
    fn read(&mut self) -> (Self::State, Option<u64>);

    /// Prints an interval.
    fn print(&mut self, interval: &Cut<Self::State>) -> anyhow::Result<()>;

    /// Prints the last interval, or keeps it until all of it is known.
    fn print_last(&mut self, interval: &Cut<Self::State>) -> anyhow::Result<()> {
        self.print(interval)
    }

    /// Whether something has to end the measurement before its time, or, once it is halted, before its workers do.
    fn judge(&mut self, _now: Instant) -> Option<Verdict> {
        None
    }

    /// When it wants to judge again, at the latest.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// The lanes are halted, or have to end more abruptly than before: wakes what waits elsewhere.
    fn halt(&mut self, how: Halt);
}

/// How a measurement is made to end, the gentlest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halt {
    /// The planned time is over: what was begun is finished.
    TimeUp,
    /// Somebody wants to leave, or a worker failed: nothing more is worth waiting for.
    Cut,
    /// A deadline has passed: whoever still waits waits in vain.
    Abandon,
}

/// An end that a tool decides on.
#[derive(Debug)]
pub struct Verdict {
    /// How.
    pub how: Halt,
    /// What went wrong, if that is a failure.
    pub why: Option<anyhow::Error>,
}

/// What a measurement is, as far as it is the same for all tools.
#[derive(Debug)]
pub struct Measurement<'a> {
    /// Ends it.
    pub stop: &'a Stop,
    /// Moves while it goes on.
    pub progress: Option<&'a Progress>,
    /// When.
    pub timing: Timing,
    /// Whether the planned time ends it; else somebody else does, and the time is what to expect.
    pub leads: bool,
    /// Whose CPU time is counted.
    pub cpu: CpuOf,
    /// What the workers' threads are called, before their number.
    pub workers: &'a str,
}

/// How a measurement ended.
#[derive(Debug)]
pub struct Finished<State> {
    /// All of it.
    pub total: Cut<State>,
    /// Whether counting began: an operation was made, and the warm-up was over.
    pub has_begun: bool,
    /// It did not run to its end.
    pub is_cut: bool,
    /// Why, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
}

impl Measurement<'_> {
    /// Runs `works`, each on the lane of its number, until all have ended.
    pub fn run<G: Gauge, Own: Send + Sync>(
        &self,
        track: &Track<Own>,
        works: Vec<Work<'_>>,
        gauge: &mut G,
    ) -> anyhow::Result<Finished<G::State>> {
        let started = Instant::now();
        std::thread::scope(|scope| {
            let mut watch =
                Watch { measurement: self, track, gauge, halted: None, is_told: false, is_cut: false, failure: None };
            let before = watch.mark(started);
            let mut spans = Spans::new(self.timing, Epoch::now(), before);
            let mut crew = Crew::new(track);
            let start = || {
                for (index, (work, lane)) in works.into_iter().zip(track.lanes()).enumerate() {
                    let name = format!("{}-{index}", self.workers);
                    crew.spawn(scope, name, lane, work).context("cannot start a worker")?;
                }
                watch.run(&crew, &mut spans)
            };
            let outcome = start();
            if outcome.is_err() {
                watch.halt(&crew, Halt::Abandon);
            }
            outcome?;
            watch.finish(crew, spans)
        })
    }
}

/// A measurement on its way.
struct Watch<'a, G, Own> {
    measurement: &'a Measurement<'a>,
    track: &'a Track<Own>,
    gauge: &'a mut G,
    /// How, once it is.
    halted: Option<Halt>,
    /// By the stop, or by a worker that failed.
    is_told: bool,
    is_cut: bool,
    failure: Option<anyhow::Error>,
}

impl<G: Gauge, Own> Watch<'_, G, Own> {
    /// Sleeps and samples until every worker has ended.
    fn run(&mut self, crew: &Crew<'_>, spans: &mut Spans<G::State>) -> anyhow::Result<()> {
        let Measurement { stop, progress, leads, .. } = *self.measurement;
        while !crew.is_done() {
            let first = self.track.first();
            let end = spans.end(first).filter(|_| leads && self.halted.is_none());
            let redraw = progress.and_then(Progress::redraw_every).map(|period| Instant::now() + period);
            let judge = self.gauge.due().filter(|_| self.halted != Some(Halt::Abandon));
            let wake = [spans.due(first), end, redraw, judge].into_iter().flatten().min();
            if stop.is_set() && self.is_told {
                stop::wait_for(self.track.news(), wake)?;
            } else {
                stop.wait(&[self.track.news()], wake)?;
            }
            self.track.hear();
            if let Some(progress) = progress {
                progress.tick(|| self.track.counts().into_iter().sum());
            }
            let now = Instant::now();
            if let Some(cut) = spans.pass(now, self.track.first(), self.track.is_over(), self) {
                self.gauge.print(&cut)?;
            }
            self.judge(crew, now, end.is_some_and(|end| now >= end));
        }
        Ok(())
    }

    /// Ends the measurement if it is time to, for good or bad; and once it is halted, makes an end of what does not come to
    /// one.
    fn judge(&mut self, crew: &Crew<'_>, now: Instant, is_over: bool) {
        let stop = self.measurement.stop;
        if !self.is_told && (stop.is_set() || crew.has_failed()) {
            self.is_told = true;
            // A part of the tool that asks for the end gets a whole measurement.
            self.is_cut = crew.has_failed() || stop.reason() != Some(Reason::Requested);
            self.halt(crew, Halt::Cut);
        } else if is_over {
            self.halt(crew, Halt::TimeUp);
        } else if let Some(Verdict { how, why }) = self.gauge.judge(now)
            && self.halted < Some(how)
        {
            self.is_cut |= how > Halt::TimeUp;
            self.failure = self.failure.take().or(why);
            self.halt(crew, how);
        }
    }

    fn halt(&mut self, crew: &Crew<'_>, how: Halt) {
        if self.halted < Some(how) {
            self.halted = Some(how);
            self.track.halt();
            self.gauge.halt(how);
            crew.wake();
        }
    }

    fn finish(mut self, crew: Crew<'_>, mut spans: Spans<G::State>) -> anyhow::Result<Finished<G::State>> {
        // All may be over before anybody looked.
        spans.begin(Instant::now(), self.track.first(), &mut self);
        let (last, lead) = (self.track.last(), self.track.lead());
        let Closed { interval, total, has_begun } = spans.close(last, lead, &mut self);
        let failure = crew.join().err().or(self.failure.take());
        if let Some(interval) = interval {
            self.gauge.print_last(&interval)?;
        }
        Ok(Finished { total, has_begun, is_cut: self.is_cut || failure.is_some(), failure })
    }
}

impl<G: Gauge, Own> Source for Watch<'_, G, Own> {
    type State = G::State;

    fn mark(&mut self, at: Instant) -> Mark<G::State> {
        let lanes = self.track.counts();
        let counts: Counts = lanes.iter().copied().sum();
        let (state, errors) = self.gauge.read();
        Mark { snapshot: Snapshot::take(at, counts, self.track.cpu_time(self.measurement.cpu)), lanes, errors, state }
    }

    fn latencies(&mut self) -> Vec<Latencies> {
        self.track.take_latencies()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::measure::null::Null;

    const MILLI: Duration = Duration::from_millis(1);

    fn measurement(stop: &Stop, time: Option<Duration>, interval: Option<Duration>) -> Measurement<'_> {
        let timing = Timing { warmup: Duration::ZERO, time, interval };
        Measurement { stop, progress: None, timing, leads: true, cpu: CpuOf::Workers, workers: "null" }
    }

    fn stop() -> Stop {
        Stop::on_request().unwrap()
    }

    #[test]
    fn intervals_add_up_to_the_total_whatever_the_clock_does() {
        let (stop, track) = (stop(), Track::new(true, [(), ()]).unwrap());
        let mut null = Null::default();
        let works = track.lanes().iter().map(Null::work).collect();
        let finished = measurement(&stop, Some(60 * MILLI), Some(7 * MILLI)).run(&track, works, &mut null).unwrap();
        assert!(!finished.is_cut && finished.failure.is_none() && finished.has_begun);
        let total = finished.total.sample();
        assert!(null.intervals.len() > 1);
        assert_eq!(null.intervals.iter().map(|cut| cut.sample().counts).sum::<Counts>(), total.counts);
        assert_eq!(null.intervals.iter().map(|cut| cut.sample().length).sum::<Duration>(), total.length);
        assert_eq!(null.intervals.iter().map(|cut| cut.latency().count()).sum::<u64>(), total.counts.ops);
        assert_eq!(null.halts, [Halt::TimeUp]);
    }

    #[test]
    fn a_worker_that_fails_ends_the_others_and_is_why() {
        let (stop, track) = (stop(), Track::new(false, [(), ()]).unwrap());
        let works: Vec<Work<'_>> = vec![Null::work(&track.lanes()[0]), Box::new(|| Err(anyhow::anyhow!("on purpose")))];
        let mut null = Null::default();
        let finished = measurement(&stop, None, None).run(&track, works, &mut null).unwrap();
        assert!(finished.is_cut && finished.failure.unwrap().to_string() == "on purpose");
        assert_eq!(null.halts, [Halt::Cut]);
    }

    #[test]
    fn a_part_of_the_tool_that_asks_for_the_end_gets_a_whole_measurement() {
        let (stop, track) = (stop(), Track::new(false, [()]).unwrap());
        stop.set();
        let works = track.lanes().iter().map(Null::work).collect();
        let finished = measurement(&stop, None, None).run(&track, works, &mut Null::default()).unwrap();
        assert!(!finished.is_cut && finished.failure.is_none());
    }

    #[test]
    fn a_deadline_holds_after_the_halt_too() {
        /// Gives up 20 ms after the time is over, on a worker that does not hear of it.
        struct Deaf<'a>(Option<Instant>, &'a std::sync::mpsc::Sender<()>);
        impl Gauge for Deaf<'_> {
            type State = ();
            fn read(&mut self) -> ((), Option<u64>) {
                ((), None)
            }
            fn print(&mut self, _: &Cut<()>) -> anyhow::Result<()> {
                Ok(())
            }
            fn judge(&mut self, now: Instant) -> Option<Verdict> {
                let is_late = self.0.is_some_and(|halted| now >= halted + 20 * MILLI);
                is_late.then(|| Verdict { how: Halt::Abandon, why: Some(anyhow::anyhow!("too late")) })
            }
            fn due(&self) -> Option<Instant> {
                self.0.map(|halted| halted + 20 * MILLI)
            }
            fn halt(&mut self, how: Halt) {
                match how {
                    Halt::Abandon => self.1.send(()).unwrap(),
                    _ => self.0 = Some(Instant::now()),
                }
            }
        }
        let (stop, track) = (stop(), Track::new(false, [()]).unwrap());
        let (sender, receiver) = std::sync::mpsc::channel();
        let lane = &track.lanes()[0];
        let work: Work<'_> = Box::new(move || {
            lane.begin(Instant::now());
            receiver.recv()?;
            Ok(())
        });
        let finished = measurement(&stop, Some(MILLI), None).run(&track, vec![work], &mut Deaf(None, &sender)).unwrap();
        assert!(finished.is_cut && finished.failure.unwrap().to_string() == "too late");
    }
}
