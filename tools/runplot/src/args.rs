//! The command line as typed.
#![allow(clippy::doc_markdown, reason = "the texts are help texts first")]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use common::lines::Condition;
use common::units;

use crate::chart::unit::Unit;

/// What people come for.
const EXAMPLES: &str = "Examples:\n\
\x20 runplot log.csv                                  # a chart in this terminal\n\
\x20 runplot log.csv --output log.svg                 # a picture\n\
\x20 tcpsink send nas --interval 1s | runplot --live  # while it runs";

/// Read the lines of the other tools: a picture, or a chart in the terminal
///
/// Reads lines of all tools in any mix, from each FILE or from stdin, as runstat does. What is drawn follows from what
/// they contain, and can be chosen with --kind: interval lines become a time series, percentiles of requests become
/// curves, totals with a growing setting a sweep over it, and other totals a row of runs for each label, with the median
/// and its 95 % confidence interval.
///
/// With --output the picture is an SVG or PNG file, complete or not there at all; without it a chart goes to stdout. It
/// prints no lines of its own: --columns lists the columns that it can draw. Exit status: 0 drawn, 1 nothing to draw, or
/// reading or writing failed, 2 usage.
#[derive(Debug, Clone, Parser)]
#[command(name = "runplot", version, before_long_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option that people turn on")]
pub struct Args {
    /// Files with lines; - or nothing: stdin
    #[arg(value_name = "FILE", hide_short_help = true)]
    pub files: Vec<PathBuf>,
    /// What to draw
    ///
    /// Without it, what the lines contain.
    #[arg(long, short, value_enum, help_heading = "Chart")]
    pub kind: Option<ChartKind>,
    /// Column along the x axis
    ///
    /// It is time, elapsed (in each run), a number such as threads or rtt_us, or for --kind runs a text such as label, which
    /// makes the rows.
    #[arg(long, short, value_name = "COLUMN", help_heading = "Chart")]
    pub x: Option<String>,
    /// Columns to draw
    ///
    /// A time series has a panel for each. Without it bytes_per_s, else ops_per_s, p50_us or seconds; in time also
    /// round-trip times or latencies, and errors.
    #[arg(long, short, value_name = "COLUMN", value_delimiter = ',', help_heading = "Chart")]
    pub y: Vec<String>,
    /// Columns whose values make a series
    ///
    /// Without it label, test, target and every setting that differs. Tests are never mixed.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Chart")]
    pub by: Vec<String>,
    /// Take only lines with this value in this column
    #[arg(long = "where", value_name = "COLUMN=VALUE", help_heading = "Chart")]
    pub conditions: Vec<Condition>,
    /// Count runs with doubtful flags in medians, too: partial, capped, cached, sparse, unwritten, fallback, reset; they
    /// are always drawn, but hollow
    #[arg(long, help_heading = "Chart", hide_short_help = true)]
    pub keep_flagged: bool,
    /// Save a picture: FILE ends in .svg or .png
    #[arg(long, short, value_name = "FILE", help_heading = "Look")]
    pub output: Option<PathBuf>,
    /// Heading [default: what is drawn]
    #[arg(long, value_name = "TEXT", help_heading = "Look", hide_short_help = true)]
    pub title: Option<String>,
    /// Unit of the values, as in Mbit/s, kB/s, MiB/s, ms
    ///
    /// Without it, one that suits them.
    #[arg(long, value_name = "UNIT", help_heading = "Look")]
    pub unit: Option<Unit>,
    /// Logarithmic values
    #[arg(long, help_heading = "Look", hide_short_help = true)]
    pub log: bool,
    /// Fit the axes to the values instead of beginning at zero
    #[arg(long, conflicts_with = "log", help_heading = "Look", hide_short_help = true)]
    pub zoom: bool,
    /// Pixels of the picture, or characters of the chart [default: what suits the picture, or the terminal]
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Look", hide_short_help = true)]
    pub size: Option<(u32, u32)>,
    /// Draw the chart with ASCII only
    #[arg(long, help_heading = "Look", hide_short_help = true)]
    pub ascii: bool,
    /// Draw while lines arrive
    ///
    /// Where the chart goes to no terminal, once at the end.
    #[arg(long, help_heading = "Pipes")]
    pub live: bool,
    /// Pass what is read on to stdout unchanged; the chart goes to stderr
    #[arg(long, help_heading = "Pipes", hide_short_help = true)]
    pub tee: bool,
    /// Draw only the last part of the time [default: all of it, with --live 5m]
    #[arg(long, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true, help_heading = "Pipes", hide_short_help = true)]
    pub last: Option<Duration>,
    /// Print nothing but errors to stderr
    #[arg(long, short, help_heading = "Pipes", hide_short_help = true)]
    pub quiet: bool,
}

/// `--kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChartKind {
    /// Interval lines over time, or totals where there are no intervals
    Time,
    /// A row of dots for each label: total lines, their median and its interval
    Runs,
    /// Latency at p50, p90, p99, p99.9 and the longest
    Percentiles,
    /// Medians over a setting: threads, depth, block size, ... (--x)
    Sweep,
}

/// Most pixels of a side: what the picture costs grows with its area.
const MOST: u32 = 4000;

/// Fewer lines of text are no chart.
const LEAST: u32 = 8;

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |side: &str| side.trim().parse().ok().filter(|length| (LEAST..=MOST).contains(length));
    let sides = text.split_once(['x', 'X']).and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.ok_or_else(|| format!("expected WIDTHxHEIGHT with sides from {LEAST} to {MOST}, as in 960x600"))
}
