//! What people see on stderr: notices and warnings, a progress bar and one summary sentence. Lines never go here.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::measure::counters::Counts;
use crate::output::grid::{self, Grid};
use crate::output::{FAREWELL, PIECE};
use crate::{output, stop, text, units};

/// How often the bar moves.
const REDRAW: Duration = Duration::from_millis(200);

/// stderr, as `--quiet` and `--summary` want it.
#[derive(Debug)]
pub struct Console {
    tool: &'static str,
    quiet: bool,
    sums_up: bool,
    /// Somebody watches, and nobody else draws: what is in a pipe after this tool may well do.
    has_bar: bool,
    bar: ProgressBar,
    /// The thread that draws the bar.
    painter: Mutex<Option<JoinHandle<()>>>,
}

impl Console {
    /// Bar and summary appear while stderr is a terminal; `summary` asks for the sentence anyway, `quiet` takes all away.
    pub fn new(tool: &'static str, quiet: bool, summary: bool) -> Self {
        let is_watched = io::stderr().is_terminal() && !quiet;
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self {
            tool,
            quiet,
            sums_up: (is_watched || summary) && !quiet,
            has_bar: is_watched && output::stdout_pipe().is_none(),
            bar,
            painter: Mutex::default(),
        }
    }

    /// Says something that the user should know, always but for `--quiet`.
    pub fn notice(&self, text: &str) {
        if !self.quiet {
            self.error(text);
        }
    }

    /// Says why something failed, always.
    pub fn error(&self, text: &str) {
        self.aside(|| say(self.tool, text));
    }

    /// The sentence at the end, for people who watch.
    pub fn summary(&self, text: &str) {
        self.wait_for_bar();
        if self.sums_up {
            self.error(text);
        }
    }

    /// The same as a table.
    pub fn summary_table(&self, grid: Grid) {
        self.wait_for_bar();
        if self.sums_up {
            let text = "\n".to_owned() + &grid.closing(grid::room(io::stderr()));
            self.aside(|| put(text.as_bytes()));
        }
    }

    /// Does something to the terminal with the bar out of its way.
    pub fn aside<T>(&self, action: impl FnOnce() -> T) -> T {
        self.bar.suspend(action)
    }

    /// Shows a bar over `length` until the guard is dropped; without a length, a spinner.
    pub fn progress(&self, length: Option<Duration>) -> Progress {
        let template = match length {
            Some(_) => "{elapsed_precise} [{wide_bar}] {percent}% {msg}",
            None => "{elapsed_precise} {spinner} {msg}",
        };
        self.wait_for_bar();
        // The templates are constants; a wrong one would show the default bar.
        self.bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.reset();
        match length {
            Some(length) => self.bar.set_length(millis(length)),
            None => self.bar.unset_length(),
        }
        let counts = Arc::new(Mutex::new(vec![Counts::default()]));
        let (end, is_over) = mpsc::channel();
        let (bar, counted) = (self.bar.clone(), Arc::clone(&counts));
        let start = || {
            let painter = thread::Builder::new().name("bar".into());
            // No bar is better than no measurement.
            painter.spawn(move || paint(&bar, length, &counted, &is_over)).ok()
        };
        let painter = self.has_bar.then(start).flatten();
        let is_drawn = painter.is_some();
        *self.painter.lock().unwrap_or_else(PoisonError::into_inner) = painter;
        Progress(is_drawn.then_some(Share { counts, place: 0, end }))
    }

    /// Waits until a bar that is over is gone.
    fn wait_for_bar(&self) {
        if let Some(painter) = self.painter.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It does not panic; if it did, there would be no bar.
            let _ = painter.join();
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.wait_for_bar();
    }
}

/// A bar on the screen, if somebody watches, until this is dropped. It is drawn by a thread of its own: a terminal that is
/// slow, or stopped, holds up nobody who measures.
#[derive(Debug)]
pub struct Progress(Option<Share>);

/// What one of those who measure adds to what the bar tells.
#[derive(Debug)]
struct Share {
    counts: Arc<Mutex<Vec<Counts>>>,
    place: usize,
    /// The bar is over when the last of them is gone.
    end: Sender<()>,
}

impl Progress {
    /// For another one who measures at the same time: the bar tells the sum.
    #[must_use]
    pub fn beside(&self) -> Self {
        let share = |own: &Share| {
            let mut counts = own.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.push(Counts::default());
            Share { counts: Arc::clone(&own.counts), place: counts.len() - 1, end: own.end.clone() }
        };
        Self(self.0.as_ref().map(share))
    }

    /// How long the one who waits may sleep before the next [`Progress::tick`]; `None` if nobody watches.
    pub fn redraw_every(&self) -> Option<Duration> {
        self.0.as_ref().map(|_| REDRAW)
    }

    /// What has been counted by now, which says how fast it goes.
    pub fn tick(&self, counts: impl FnOnce() -> Counts) {
        if let Some(Share { counts: all, place, .. }) = &self.0
            && let Some(own) = all.lock().unwrap_or_else(PoisonError::into_inner).get_mut(*place)
        {
            *own = counts();
        }
    }
}

/// Draws a bar until the other end of `is_over` is gone.
fn paint(bar: &ProgressBar, length: Option<Duration>, counts: &Mutex<Vec<Counts>>, is_over: &Receiver<()>) {
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let mut last = (Instant::now(), Counts::default());
    while is_over.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
        let (elapsed, now) = (bar.elapsed(), Instant::now());
        let counts: Counts = counts.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().sum();
        let left = length.map(|length| length.saturating_sub(elapsed));
        bar.set_message(pace_text(counts - last.1, now - last.0, left));
        bar.set_position(millis(elapsed));
        bar.tick();
        last = (now, counts);
    }
    bar.finish_and_clear();
    bar.set_draw_target(ProgressDrawTarget::hidden());
}

/// How fast it goes, and how long it will go on.
fn pace_text(more: Counts, within: Duration, left: Option<Duration>) -> String {
    let rate = |amount: u64| amount as f64 / within.as_secs_f64().max(f64::MIN_POSITIVE);
    let pace = if more.bytes > 0 { units::rate_text(rate(more.bytes)) } else { format!("{:.0}/s", rate(more.ops)) };
    left.map_or(pace.clone(), |left| format!("{pace}, {} s left", left.as_secs()))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Writes one line `tool: text` to stderr; line breaks and control characters inside it are escaped. On a terminal it is
/// broken between words.
pub fn say(tool: &str, text: &str) {
    let mut line = format!("{tool}: {}", text::harmless(text));
    if let Some((width, _)) = terminal_size::terminal_size_of(io::stderr()) {
        let options = textwrap::Options::new(width.0.into()).subsequent_indent("    ");
        line = textwrap::fill(&line, options);
    }
    line.push('\n');
    put(line.as_bytes());
}

/// Writes to stderr. Whoever reads it may have stopped: once a signal has come, what finds no room is dropped.
fn put(mut bytes: &[u8]) {
    let mut stderr = io::stderr();
    while !bytes.is_empty() {
        let is_there = stop::wait_for_room(stderr.as_fd(), Instant::now() + FAREWELL);
        match is_there
            .and_then(|is_there| if is_there { stderr.write(&bytes[..bytes.len().min(PIECE)]) } else { Ok(0) })
        {
            Ok(0) if stop::was_signalled() => return,
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // There is nowhere left to complain.
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_tells_the_sum_of_all_who_measure() {
        let (end, is_over) = mpsc::channel();
        let counts = Arc::new(Mutex::new(vec![Counts::default()]));
        let one = Progress(Some(Share { counts: Arc::clone(&counts), place: 0, end }));
        let other = one.beside();
        one.tick(|| Counts { bytes: 1, ops: 2 });
        other.tick(|| Counts { bytes: 10, ops: 20 });
        other.tick(|| Counts { bytes: 30, ops: 40 });
        assert_eq!(*counts.lock().unwrap(), [Counts { bytes: 1, ops: 2 }, Counts { bytes: 30, ops: 40 }]);
        drop(one);
        assert!(is_over.try_recv() == Err(mpsc::TryRecvError::Empty), "the other one still measures");
        drop(other);
        assert!(is_over.try_recv() == Err(mpsc::TryRecvError::Disconnected));
    }
}
