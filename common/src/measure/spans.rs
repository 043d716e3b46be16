//! Which stretches of a measurement become lines, by arithmetic on instants alone: the whole, from the first operation or
//! the end of the warm-up to the last operation, and its intervals, which add up to it exactly.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::counters::Counts;
use super::latency::Latencies;
use super::sample::{Epoch, Identity, Sample, Snapshot, Ticker};
use crate::schema::line::{Flags, Line, Span};

/// When counting begins and ends, and how often a line is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// Not counted, from the first operation on.
    pub warmup: Duration,
    /// Planned length after that.
    pub time: Option<Duration>,
    /// Lines between.
    pub interval: Option<Duration>,
}

/// One end of a span. `State` is what a tool reads beside what its lanes count.
#[derive(Debug, Clone)]
pub struct Mark<State> {
    /// The time, what all lanes have counted, and the CPU time.
    pub snapshot: Snapshot,
    /// What each lane has counted.
    pub lanes: Vec<Counts>,
    /// What has gone wrong so far, where somebody counts that.
    pub errors: Option<u64>,
    /// What the tool read.
    pub state: State,
}

/// Where marks come from.
pub trait Source {
    /// What the tool reads beside what its lanes count.
    type State: Clone;
    /// The state as it is, for a span that ends or begins at `at`.
    fn mark(&mut self, at: Instant) -> Mark<Self::State>;
    /// The latencies recorded since the last call, by lane; empty where operations are not timed.
    fn latencies(&mut self) -> Vec<Latencies>;
}

/// A span between its two ends.
#[derive(Debug, Clone)]
pub struct Cut<State> {
    /// The whole, or a part of it.
    pub span: Span,
    /// Where it begins.
    pub from: Mark<State>,
    /// Where it ends.
    pub to: Mark<State>,
    /// What was recorded in it, by lane.
    pub latencies: Vec<Latencies>,
    epoch: Epoch,
}

impl<State> Cut<State> {
    /// What was counted, and how fast.
    pub fn sample(&self) -> Sample {
        Sample::between(&self.from.snapshot, &self.to.snapshot)
    }

    /// The same of some of the lanes.
    pub fn sample_of(&self, lanes: Range<usize>) -> Sample {
        let counts = |mark: &Mark<State>| mark.lanes.get(lanes.clone()).unwrap_or_default().iter().copied().sum();
        let [from, to] = [&self.from, &self.to].map(|mark| mark.snapshot.with_counts(counts(mark)));
        Sample::between(&from, &to)
    }

    /// What went wrong in it.
    pub fn errors(&self) -> Option<u64> {
        Some(self.to.errors?.saturating_sub(self.from.errors?))
    }

    /// The latencies of all lanes.
    pub fn latency(&self) -> Latencies {
        Latencies::sum(&self.latencies)
    }

    /// The shared columns of a line about `sample`, which is this span's or a part of it.
    pub fn line(&self, sample: &Sample, of: &Identity, errors: Option<u64>, flags: Flags) -> Line {
        sample.line(of, &self.epoch, self.span, errors, flags)
    }
}

/// What a measurement comes to.
#[derive(Debug)]
pub struct Closed<State> {
    /// The interval that was open, if anything of it is left to tell.
    pub interval: Option<Cut<State>>,
    /// All of it.
    pub total: Cut<State>,
    /// Whether counting began: an operation was made, and the warm-up was over.
    pub has_begun: bool,
}

/// The spans of a measurement that goes on.
#[derive(Debug)]
pub struct Spans<State> {
    timing: Timing,
    epoch: Epoch,
    /// The state before the first operation.
    before: Mark<State>,
    counting: Option<Counting<State>>,
}

#[derive(Debug)]
struct Counting<State> {
    base: Mark<State>,
    /// What was recorded since.
    latencies: Vec<Latencies>,
    /// The interval that is open, if there are any.
    open: Option<(Mark<State>, Ticker)>,
}

impl<State: Clone> Spans<State> {
    /// Nothing has happened yet; `before` is the state of that.
    pub fn new(timing: Timing, epoch: Epoch, before: Mark<State>) -> Self {
        Self { timing, epoch, before, counting: None }
    }

    /// When there is something to do here: counting begins, or an interval ends. `first` is when the first operation began.
    pub fn due(&self, first: Option<Instant>) -> Option<Instant> {
        match &self.counting {
            Some(counting) => counting.open.as_ref().map(|(_, ticker)| ticker.next()),
            None => first.map(|first| first + self.timing.warmup),
        }
    }

    /// When the planned time is over.
    pub fn end(&self, first: Option<Instant>) -> Option<Instant> {
        let start = match &self.counting {
            Some(counting) => counting.base.snapshot.at,
            None => first? + self.timing.warmup,
        };
        Some(start + self.timing.time?)
    }

    /// Does what is due at `now`: begins to count, or ends an interval and opens the next. Once the planned time is over, an
    /// interval with nothing in it is no stall but the wait for the end, and is none; once `is_over` says that all is, as far
    /// as anybody knows, the open one ends with the last operation.
    pub fn pass(
        &mut self,
        now: Instant,
        first: Option<Instant>,
        is_over: bool,
        source: &mut impl Source<State = State>,
    ) -> Option<Cut<State>> {
        let end = self.end(first);
        let Some(counting) = &mut self.counting else {
            self.begin(now, first, source);
            return None;
        };
        let (from, ticker) = counting.open.as_mut()?;
        if !ticker.pass(now) || is_over {
            return None;
        }
        let to = settled(source.mark(now), self.epoch, from.snapshot.at);
        if end.is_some_and(|end| now >= end) && !has_counted(from, &to) {
            return None;
        }
        let latencies = source.latencies();
        add(&mut counting.latencies, &latencies);
        let from = std::mem::replace(from, to.clone());
        Some(Cut { span: Span::Interval, from, to, latencies, epoch: self.epoch })
    }

    /// Begins to count, if that is due by `now` and has not been done.
    pub fn begin(&mut self, now: Instant, first: Option<Instant>, source: &mut impl Source<State = State>) {
        let Timing { warmup, time, interval } = self.timing;
        let is_due = self.counting.is_none() && first.is_some_and(|first| first + warmup <= now);
        let Some(first) = first.filter(|_| is_due) else { return };
        let mark = source.mark(now);
        let base = if warmup.is_zero() {
            // What was counted since the first operation is in the first span; the machine's share is known from here on.
            let snapshot = mark.snapshot.before_anything(self.epoch.on_grid(first));
            Mark { snapshot, ..self.before.clone() }
        } else {
            // What was recorded until now belongs to the warm-up.
            drop(source.latencies());
            settled(mark, self.epoch, first)
        };
        let at = base.snapshot.at;
        let ticker = interval.map(|interval| Ticker::new(at, interval, time.map(|time| at + time)));
        let open = ticker.map(|ticker| (base.clone(), ticker));
        self.counting = Some(Counting { base, latencies: Vec::new(), open });
    }

    /// The end, `last` is when the last operation ended. If that was before the end of an interval that was printed, as in a
    /// stall, the end is the interval's. The first operation turned out to have begun by `lead` earlier: where nobody was told
    /// otherwise, by intervals or a warm-up, so did the whole.
    pub fn close(
        self,
        last: Option<Instant>,
        lead: Duration,
        source: &mut impl Source<State = State>,
    ) -> Closed<State> {
        let epoch = self.epoch;
        let latencies = source.latencies();
        let mark = source.mark(last.unwrap_or(self.before.snapshot.at));
        let is_free = self.timing.warmup.is_zero() && self.timing.interval.is_none();
        let Some(Counting { mut base, latencies: mut all, open }) = self.counting else {
            let end = settled(mark, epoch, self.before.snapshot.at);
            let total = Cut { span: Span::Total, from: end.clone(), to: end, latencies: Vec::new(), epoch };
            return Closed { interval: None, total, has_begun: false };
        };
        if let Some(at) = base.snapshot.at.checked_sub(lead).filter(|_| is_free) {
            base.snapshot.at = epoch.on_grid(at);
        }
        let latest = open.as_ref().map_or(base.snapshot.at, |(from, _)| from.snapshot.at);
        let to = settled(mark, epoch, latest);
        add(&mut all, &latencies);
        let interval = open.map(|(from, _)| from).filter(|from| is_news(from, &to)).map(|from| Cut {
            span: Span::Interval,
            from,
            to: to.clone(),
            latencies,
            epoch,
        });
        Closed { interval, total: Cut { span: Span::Total, from: base, to, latencies: all, epoch }, has_begun: true }
    }
}

/// Whether there is anything to tell of a last interval.
fn is_news<State>(from: &Mark<State>, to: &Mark<State>) -> bool {
    to.snapshot.at > from.snapshot.at || has_counted(from, to)
}

fn has_counted<State>(from: &Mark<State>, to: &Mark<State>) -> bool {
    to.lanes != from.lanes || to.errors != from.errors
}

/// The mark on the grid of microseconds, so that printed lengths add up, and not before `earliest`.
fn settled<State>(mark: Mark<State>, epoch: Epoch, earliest: Instant) -> Mark<State> {
    let at = epoch.on_grid(mark.snapshot.at.max(earliest));
    Mark { snapshot: Snapshot { at, ..mark.snapshot }, ..mark }
}

fn add(all: &mut Vec<Latencies>, more: &[Latencies]) {
    all.resize_with(all.len().max(more.len()), Latencies::default);
    all.iter_mut().zip(more).for_each(|(all, more)| all.add(more));
}

#[cfg(test)]
mod tests;
