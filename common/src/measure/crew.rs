//! Named threads that run the hot loops.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use super::lane::{Gate, Lane, Track};

/// The workers of one measurement.
#[derive(Debug)]
pub struct Crew<'scope> {
    handles: Vec<ScopedJoinHandle<'scope, anyhow::Result<()>>>,
    gate: Arc<Gate>,
}

/// What one worker does.
pub type Work<'a> = Box<dyn FnOnce() -> anyhow::Result<()> + Send + 'a>;

/// Reports a worker's end even when it panics.
struct AtWork<'a, Own> {
    gate: Arc<Gate>,
    lane: &'a Lane<Own>,
}

impl<Own> Drop for AtWork<'_, Own> {
    fn drop(&mut self) {
        self.lane.end(Instant::now());
        if std::thread::panicking() {
            self.gate.failed.fetch_add(1, Ordering::Release);
        }
        self.gate.running.fetch_sub(1, Ordering::Release);
        self.gate.ring();
    }
}

impl<'scope> Crew<'scope> {
    /// A crew without workers, for the lanes of `track`.
    pub fn new<Own>(track: &Track<Own>) -> Self {
        Self { handles: Vec::new(), gate: Arc::clone(track.gate()) }
    }

    /// Starts the work of `lane` in a thread called `name` (shown by `ps -T` up to 15 bytes).
    pub fn spawn<'env, Own: Sync>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        name: String,
        lane: &'scope Lane<Own>,
        work: Work<'scope>,
    ) -> io::Result<()> {
        let gate = Arc::clone(&self.gate);
        gate.running.fetch_add(1, Ordering::Relaxed);
        let started = Builder::new().name(name).spawn_scoped(scope, move || {
            let at_work = AtWork { gate, lane };
            let outcome = work();
            if outcome.is_err() {
                at_work.gate.failed.fetch_add(1, Ordering::Release);
            }
            outcome
        });
        match started {
            Ok(handle) => {
                self.handles.push(handle);
                Ok(())
            }
            Err(error) => {
                self.gate.running.fetch_sub(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    /// Wakes workers that rest.
    pub fn wake(&self) {
        self.handles.iter().for_each(|handle| handle.thread().unpark());
    }

    /// Whether every worker has ended.
    pub fn is_done(&self) -> bool {
        self.gate.running.load(Ordering::Acquire) == 0
    }

    /// Whether a worker has failed, so that the others should stop.
    pub fn has_failed(&self) -> bool {
        self.gate.failed.load(Ordering::Acquire) > 0
    }

    /// Waits for every worker; the first error of any.
    pub fn join(self) -> anyhow::Result<()> {
        let ended = self
            .handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a worker thread panicked"))));
        // All of them, before the first error is looked for.
        ended.collect::<Vec<_>>().into_iter().collect()
    }
}

/// Keeps the calling thread on one CPU (`sched_setaffinity(2)`).
pub fn pin(cpu: usize) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .with_context(|| format!("--cpu {cpu}: cannot run there"))
}

/// Parses a list of CPUs such as `0,2-3`, as taskset(1) has it.
pub fn cpu_list(text: &str) -> Result<CpuList, String> {
    let number = |part: &str| part.trim().parse::<usize>().ok().filter(|cpu| *cpu < CpuSet::count());
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => return Err("expected a list of CPUs such as 0,2-3".into()),
        }
    }
    Ok(CpuList(cpus))
}

/// CPUs to use in turn; empty for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuList(Vec<usize>);

impl CpuList {
    /// The CPU for worker number `index`.
    pub fn of(&self, index: usize) -> Option<usize> {
        self.0.get(index.checked_rem(self.0.len())?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_for_taskset() {
        let list = cpu_list("0,2-3").unwrap();
        assert_eq!([0, 1, 2, 3].map(|index| list.of(index)), [Some(0), Some(2), Some(3), Some(0)]);
        assert_eq!(CpuList::default().of(5), None);
        for wrong in ["", "x", "3-1", "-1", "99999"] {
            assert!(cpu_list(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_panic_is_an_error_and_an_end() {
        let track = Track::new(false, [(), ()]).unwrap();
        std::thread::scope(|scope| {
            let mut crew = Crew::new(&track);
            crew.spawn(scope, "good".into(), &track.lanes()[0], Box::new(|| Ok(()))).unwrap();
            crew.spawn(scope, "bad".into(), &track.lanes()[1], Box::new(|| panic!("on purpose"))).unwrap();
            while !crew.is_done() {
                std::thread::yield_now();
            }
            track.hear();
            assert!(crew.has_failed());
            assert!(crew.join().unwrap_err().to_string().contains("panicked"));
        });
    }

    #[test]
    fn a_worker_that_fails_on_its_way_has_an_end() {
        let track = Track::new(false, [(), ()]).unwrap();
        let began = Instant::now();
        std::thread::scope(|scope| {
            let mut crew = Crew::new(&track);
            let [never, failing] = [&track.lanes()[0], &track.lanes()[1]];
            crew.spawn(scope, "never".into(), never, Box::new(|| Ok(()))).unwrap();
            let fail = || {
                failing.begin(Instant::now());
                failing.counters.add(7);
                anyhow::bail!("on purpose")
            };
            crew.spawn(scope, "failing".into(), failing, Box::new(fail)).unwrap();
            assert!(crew.join().is_err());
        });
        assert!(track.last().is_some_and(|last| last > began), "its bytes took some time");
    }
}
