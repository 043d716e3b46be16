//! The command line as typed.
#![allow(clippy::doc_markdown, reason = "the texts are help texts first")]

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use common::lines::Condition;
use common::output::{Color, Header};
use common::units;

use crate::figures::Unit;
use crate::limit::Limit;

/// What is calculated.
const FIGURES: &str = "Figures";

/// What people come for.
const EXAMPLES: &str = "Examples:\n\
\x20 runstat log.csv                    # each group: median, interval, spread\n\
\x20 runstat log.csv --baseline before  # against the runs of --label before\n\
\x20 runstat bottleneck path.csv        # which layer limits?";

/// Read the lines of the other tools: statistics, comparison, verdict, bottleneck
///
/// Reads lines of all tools in any mix, from each FILE or from stdin: headers may be repeated, missing or newer than this
/// program. A run is one value: its total line or, where there is none, what its interval lines come to together. What is
/// no line is skipped, counted and named on stderr.
///
/// With --baseline every other label is compared with that one, group by group: better or worse when it differs (rank
/// test, adjusted for the number of comparisons, p < 5 %) by more than the threshold; same when the whole interval of the
/// ratio is within the threshold; else undecided.
///
/// stdout is a table on a terminal and CSV elsewhere (--columns explains the columns); stderr is for people. Exit status:
/// 0 done, 1 no lines, --fail-on or --max applies, or reading failed, 2 usage.
#[derive(Debug, Parser)]
#[command(name = "runstat", version, before_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(flatten)]
    pub groups: GroupArgs,
    /// What else to do
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Say which layer of a path limits it
    ///
    /// Or that the lines do not decide it. Takes lines of tcpsink, udpblast, diskread and nfscopy on one path.
    #[command(before_long_help = "Examples:\n\
\x20 runstat bottleneck path.csv")]
    Bottleneck(BottleneckArgs),
}

/// `runstat [FILE...]`.
#[derive(Debug, Clone, clap::Args)]
pub struct GroupArgs {
    /// Files with lines; - or nothing: stdin
    #[arg(value_name = "FILE", hide_short_help = true)]
    pub files: Vec<PathBuf>,
    /// Columns to calculate with
    ///
    /// Without it bytes_per_s, else ops_per_s, p50_us or seconds; of pings p50_us and p99_us, compared p50_us alone.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = FIGURES)]
    pub metric: Vec<String>,
    /// Columns whose values make a group
    ///
    /// Without it schema,test,target,label. The file is one, too: --by file.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = FIGURES)]
    pub by: Vec<String>,
    /// Take only lines with this value there
    ///
    /// Of several conditions, lines with all of them.
    #[arg(long = "where", value_name = "COLUMN=VALUE", help_heading = FIGURES)]
    pub conditions: Vec<Condition>,
    /// Count runs with doubtful flags, too: partial, capped, cached, sparse, unwritten, fallback, reset
    #[arg(long, help_heading = FIGURES, hide_short_help = true)]
    pub keep_flagged: bool,
    /// Compare all other labels with LABEL
    #[arg(long, value_name = "LABEL", help_heading = FIGURES)]
    pub baseline: Option<String>,
    /// Compare the lines of each FILE, whatever their labels, with those of this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "along"], help_heading = FIGURES, hide_short_help = true)]
    pub baseline_file: Option<PathBuf>,
    /// Compare along this column instead of the label: --baseline names a value of it
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "baseline",
        default_value = "label",
        help_heading = FIGURES,
        hide_short_help = true
    )]
    pub along: String,
    /// Count a change of up to PCT as the same
    #[arg(
        long,
        value_name = "PCT",
        value_parser = units::percent,
        default_value = "5",
        allow_hyphen_values = true,
        help_heading = FIGURES,
        hide_short_help = true
    )]
    pub threshold: f64,
    /// End with status 1 if a verdict is worse; undecided: if one is neither better nor same
    #[arg(long, value_enum, value_name = "VERDICT", help_heading = FIGURES, hide_short_help = true)]
    pub fail_on: Option<FailOn>,
    /// End with status 1 if a run is beyond a limit, as in 'lost_pct>1' or 'bytes_per_s<100e6'
    #[arg(long, value_name = "LIMIT", help_heading = FIGURES, hide_short_help = true)]
    pub max: Vec<Limit>,
    #[command(flatten)]
    pub show: ShowArgs,
    /// Spread the groups over columns of a table by this column, as in --pivot test
    #[arg(long, value_name = "COLUMN", help_heading = "Output", hide_short_help = true)]
    pub pivot: Option<String>,
    /// What the cells of --pivot hold [default: median, with --baseline verdict]
    #[arg(long, value_enum, value_name = "WHAT", requires = "pivot", help_heading = "Output", hide_short_help = true)]
    pub cell: Option<CellKind>,
    /// Unit of the figures in tables, as in Mbit/s, kB/s, MiB/s, ms [default: one that suits them]
    #[arg(long, value_name = "UNIT", help_heading = "Output", hide_short_help = true)]
    pub unit: Option<Unit>,
}

/// `runstat bottleneck`.
#[derive(Debug, Clone, clap::Args)]
pub struct BottleneckArgs {
    /// Files with lines; - or nothing: stdin
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Count runs with doubtful flags, too: partial, capped, cached, sparse, unwritten, fallback, reset
    #[arg(long, hide_short_help = true)]
    pub keep_flagged: bool,
    #[command(flatten)]
    pub show: ShowArgs,
}

/// How stdout and stderr look.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct ShowArgs {
    /// What stdout is
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
    /// When verdicts of a table have colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_short_help = true)]
    pub color: Color,
    /// When to print the header of --format csv
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, hide_short_help = true)]
    pub header: Header,
    /// Print nothing but errors to stderr
    #[arg(long, short, hide_short_help = true)]
    pub quiet: bool,
}

/// `--format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table on a terminal, CSV elsewhere
    #[default]
    Auto,
    /// A line of CSV a group, all columns
    Csv,
    /// Aligned columns for people
    Table,
    /// An object of JSON a line; what is unknown is left out
    Json,
    /// A table to paste into a report
    Markdown,
}

/// `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A verdict is worse
    Worse,
    /// A verdict is neither better nor same
    Undecided,
}

/// `--cell`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CellKind {
    /// The median
    Median,
    /// The mean
    Mean,
    /// The smallest
    Min,
    /// The largest
    Max,
    /// The number of runs
    N,
    /// Ratio to the baseline and verdict
    Verdict,
}
