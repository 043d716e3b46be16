//! The words that every tool understands.

use std::time::Duration;

use crate::cli::Usage;
use crate::measure::repeat::{Repeat, Runs};
use crate::output::{Appearance, Color, Format, Header};
use crate::units;

/// Longest label, bytes. A line must stay well below 4096, which is what a pipe takes in one piece (`PIPE_BUF`, pipe(7)).
pub const MAX_LABEL: usize = 1024;

fn label(text: &str) -> Result<String, String> {
    if text.len() > MAX_LABEL { Err(format!("is longer than {MAX_LABEL} bytes")) } else { Ok(text.to_owned()) }
}

/// Words about the lines, which every verb of every tool understands.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Lines")]
pub struct OutputArgs {
    /// Put TEXT into the label column: which set-up this was
    #[arg(long, value_name = "TEXT", value_parser = label, hide_short_help = true)]
    pub label: Option<String>,
    /// How lines appear
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
    /// Columns that a table shall have beside its own; `all` for a block of everything
    #[arg(long, value_name = "LIST", hide_short_help = true, value_delimiter = ',')]
    pub show: Vec<String>,
    /// When a table has colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_short_help = true)]
    pub color: Color,
    /// When to print the header of CSV
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_short_help = true)]
    pub header: Header,
    /// Print nothing but errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the closing sentence to stderr even when it is no terminal
    #[arg(long, conflicts_with = "quiet", hide_short_help = true)]
    pub summary: bool,
}

impl OutputArgs {
    /// How lines appear.
    pub fn appearance(&self) -> Appearance {
        Appearance {
            format: self.format,
            header: self.header,
            show: self.show.clone(),
            color: self.color,
            is_top: false,
            has_targets: false,
        }
    }
}

/// `--interval`, for what measures.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub struct IntervalArgs {
    /// Add a line for every interval of this length
    #[arg(long, short, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
}

/// Words about how long and how often, for what measures by itself.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub struct ScheduleArgs {
    /// Measure for this long [default: 10s]
    #[arg(long, short, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
    /// The lines between.
    #[command(flatten)]
    pub interval: IntervalArgs,
    /// Run this long first, not counted
    #[arg(long, value_name = "DUR", value_parser = units::duration, allow_hyphen_values = true, hide_short_help = true)]
    pub warmup: Option<Duration>,
    /// How often.
    #[command(flatten)]
    pub repeat: RepeatArgs,
}

/// How often, for what measures by itself.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub struct RepeatArgs {
    /// Measure N times, or MIN..MAX times: until the mean rate is known within --within
    #[arg(long, value_name = "N|MIN..MAX", default_value = "1", allow_hyphen_values = true)]
    pub runs: Runs,
    /// With --runs MIN..MAX: half width of the 95 % confidence interval, in percent of the mean
    #[arg(long, value_name = "PCT", value_parser = units::percent, allow_hyphen_values = true, hide_short_help = true)]
    pub within: Option<f64>,
}

/// How long one run is when nobody says.
const DEFAULT_TIME: Duration = Duration::from_secs(10);

impl ScheduleArgs {
    /// The length of a run.
    pub fn run_time(&self) -> Duration {
        self.time.unwrap_or(DEFAULT_TIME)
    }

    /// The time that is not counted.
    pub fn warm_up(&self) -> Duration {
        self.warmup.unwrap_or_default()
    }

    /// Checks what belongs together; `timed` says whether the time, not an amount, ends a run.
    pub fn repeat(&self, timed: bool) -> Result<Repeat, Usage> {
        if let Some(interval) = self.interval.interval.filter(|interval| timed && *interval > self.run_time()) {
            let [interval, time] = [interval, self.run_time()].map(units::duration_text);
            return Err(Usage(format!("--interval {interval} is longer than the measurement (--time {time})")));
        }
        self.repeat.repeat()
    }
}

impl RepeatArgs {
    /// Checks what belongs together.
    pub fn repeat(&self) -> Result<Repeat, Usage> {
        match (self.runs, self.within) {
            (Runs::Until { .. }, None) => Err(Usage("--runs MIN..MAX needs --within PCT".into())),
            (Runs::Fixed(_), Some(_)) => Err(Usage("--within PCT needs --runs MIN..MAX".into())),
            (runs, within) => Ok(Repeat::new(runs, within.unwrap_or_default())),
        }
    }
}
