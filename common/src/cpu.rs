//! CPU time: of the process, of single threads, and of the whole machine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// User and system time of the whole process so far.
pub fn process_time() -> Duration {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default()
}

fn read(clock: ClockId) -> Option<Duration> {
    clock_gettime(clock).ok().map(Duration::from)
}

/// A thread's CPU time, readable by other threads while it runs and after it ended.
#[derive(Debug)]
pub struct ThreadTimer {
    clock: Option<ClockId>,
    /// The time at the thread's end; a running thread's is [`ThreadTimer::RUNNING`].
    final_ns: AtomicU64,
}

impl ThreadTimer {
    const RUNNING: u64 = u64::MAX;

    /// A timer of the calling thread.
    pub fn start() -> Self {
        Self { clock: crate::sys::thread_cpu_clock(), final_ns: AtomicU64::new(Self::RUNNING) }
    }

    /// Keeps the figure. The thread itself must call this before it ends, since its clock ends with it.
    pub fn finish(&self) {
        let time = read(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default();
        self.final_ns.store(u64::try_from(time.as_nanos()).unwrap_or(Self::RUNNING - 1), Ordering::Release);
    }

    /// User and system time of the thread so far.
    pub fn time(&self) -> Duration {
        let running = self.clock.and_then(read);
        // Read second: if the thread ended meanwhile, what its clock said is void.
        match self.final_ns.load(Ordering::Acquire) {
            Self::RUNNING => running.unwrap_or_default(),
            ended => Duration::from_nanos(ended),
        }
    }
}

/// The machine's CPU time since boot in clock ticks, from `/proc/stat` (proc(5)).
#[derive(Debug, Clone, Copy, Default)]
pub struct HostCpu {
    busy: u64,
    all: u64,
}

impl HostCpu {
    /// `None` where there is no readable `/proc`.
    pub fn now() -> Option<Self> {
        use procfs::CurrentSI;
        let cpu = procfs::KernelStats::current().ok()?.total;
        // Guests' time is part of user and nice.
        let idle = cpu.idle + cpu.iowait.unwrap_or(0);
        let busy =
            cpu.user + cpu.nice + cpu.system + cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0) + cpu.steal.unwrap_or(0);
        Some(Self { busy, all: busy + idle })
    }

    /// Busy share since `earlier` in percent; `None` when not a tick (10 ms) has passed.
    pub fn busy_pct_since(self, earlier: Self) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|ticks| *ticks > 0)?;
        // A CPU that goes offline takes its ticks away.
        let busy = self.busy.checked_sub(earlier.busy)?;
        Some(100.0 * busy as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_time_survives_the_thread() {
        let timer = std::thread::spawn(|| {
            let timer = ThreadTimer::start();
            while timer.time() < Duration::from_millis(2) {}
            timer.finish();
            timer
        })
        .join()
        .unwrap();
        let kept = timer.time();
        assert!(kept >= Duration::from_millis(2) && kept == timer.time());
    }

    #[test]
    fn no_tick_no_share() {
        let at = |busy, all| HostCpu { busy, all };
        assert_eq!(at(5, 10).busy_pct_since(at(5, 10)), None);
        assert_eq!(at(8, 14).busy_pct_since(at(5, 10)), Some(75.0));
        assert_eq!(at(3, 14).busy_pct_since(at(5, 10)), None);
    }
}
