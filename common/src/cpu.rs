//! CPU time: of the process, of single threads, and of the whole machine.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
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
        use procfs::FromBufReadSI;
        // Kept open: whoever samples often would spend as much on opening it as on reading it.
        static STAT: OnceLock<Option<File>> = OnceLock::new();
        let text = whole(STAT.get_or_init(|| File::open("/proc/stat").ok()).as_ref()?).ok()?;
        let cpu = procfs::KernelStats::from_buf_read(text.as_slice(), procfs::current_system_info()).ok()?.total;
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

/// A file of /proc in one read, since the kernel makes up its text anew for each.
fn whole(file: &File) -> io::Result<Vec<u8>> {
    let mut text = vec![0; 8 * 1024];
    loop {
        let length = file.read_at(&mut text, 0)?;
        if length < text.len() {
            text.truncate(length);
            return Ok(text);
        }
        text.resize(2 * length, 0);
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
    fn the_machines_time_goes_on() {
        let earlier = HostCpu::now().unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(HostCpu::now().unwrap().busy_pct_since(earlier).is_some_and(|pct| (0.0..=100.0).contains(&pct)));
    }

    #[test]
    fn no_tick_no_share() {
        let at = |busy, all| HostCpu { busy, all };
        assert_eq!(at(5, 10).busy_pct_since(at(5, 10)), None);
        assert_eq!(at(8, 14).busy_pct_since(at(5, 10)), Some(75.0));
        assert_eq!(at(3, 14).busy_pct_since(at(5, 10)), None);
    }
}
