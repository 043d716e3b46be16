//! What people see on stderr: notices and warnings, a progress bar and one summary sentence. Lines never go here.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the bar moves.
const REDRAW: Duration = Duration::from_millis(200);

/// stderr, as `--quiet` and `--summary` want it.
#[derive(Debug)]
pub struct Console {
    tool: &'static str,
    quiet: bool,
    sums_up: bool,
    bar: ProgressBar,
}

impl Console {
    /// Bar and summary appear while stderr is a terminal; `summary` asks for the sentence anyway, `quiet` takes all away.
    pub fn new(tool: &'static str, quiet: bool, summary: bool) -> Self {
        let watched = io::stderr().is_terminal() && !quiet;
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if watched {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Self { tool, quiet, sums_up: (watched || summary) && !quiet, bar }
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
        if self.sums_up {
            self.error(text);
        }
    }

    /// Does something to the terminal with the bar out of its way.
    pub fn aside<T>(&self, action: impl FnOnce() -> T) -> T {
        self.bar.suspend(action)
    }

    /// Shows a bar over `length` until the guard is dropped; without a length, a clock.
    pub fn progress(&self, length: Option<Duration>) -> Progress<'_> {
        let template = match length {
            Some(_) => "{elapsed_precise} [{bar:40}] {percent}%",
            None => "{elapsed_precise} {spinner}",
        };
        // The templates are constants; a wrong one would show the default bar.
        self.bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.reset();
        if let Some(length) = length {
            self.bar.set_length(millis(length));
        }
        Progress(&self.bar)
    }
}

/// A bar on the screen.
#[derive(Debug)]
pub struct Progress<'a>(&'a ProgressBar);

impl Progress<'_> {
    /// How long the one who waits may sleep before the next [`Progress::tick`]; `None` if nobody watches.
    pub fn redraw_every(&self) -> Option<Duration> {
        (!self.0.is_hidden()).then_some(REDRAW)
    }

    /// Moves the bar to the time that has passed.
    pub fn tick(&self) {
        self.0.set_position(millis(self.0.elapsed()));
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Writes one line `tool: text` to stderr; line breaks and control characters inside it are escaped.
pub fn say(tool: &str, text: &str) {
    let mut line = format!("{tool}: ");
    for c in text.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line.push('\n');
    // There is nowhere left to complain.
    let _ = io::stderr().write_all(line.as_bytes());
}
