//! The command line as typed.
#![allow(clippy::doc_markdown, reason = "the texts are help texts first")]

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use common::cli::{OutputArgs, ScheduleArgs};
use common::units;

/// What people come for.
const EXAMPLES: &str = "Examples:\n\
\x20 diskread /dev/sda                           # the whole device from its beginning, 10 s at most\n\
\x20 diskread /dev/sda --like hdparm             # the figures that hdparm -tT gives\n\
\x20 diskread big.iso --pattern rand --depth 32  # a file, at random";

/// Read a device or file and say how fast the device was
///
/// Each PATH (block device or file) is read after the one before. Without --time or --bytes a run ends when the whole
/// of it was read once, after 10 s at most. With --time, the methods cached, direct and null go round until the time is
/// over; buffered and mmap end with the file, since a second round would read memory, and are flagged short if that was
/// before the time.
///
/// Every line says whether the device was really read: device_bytes, cached_pct, and the flags cached, sparse and
/// unwritten. Nothing is ever written, and no setting is changed; buffered and mmap drop PATH from the page cache first.
///
/// stdout carries CSV, one line per measurement (--columns explains the columns); stderr is for people. Exit status: 0
/// measured, 1 the measurement failed, 2 usage; SIGINT and SIGTERM print the line so far first.
#[derive(Debug, Parser)]
#[command(
    name = "diskread",
    version, before_long_help = EXAMPLES,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Args {
    #[command(flatten)]
    pub read: ReadArgs,
    /// What else to do
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// The command line, and whether `--runs` stood there: some of `--like` have another number by themselves.
#[derive(Debug)]
pub struct CommandLine {
    /// What was typed, with defaults filled in.
    pub args: Args,
    /// `--runs` is the user's own.
    pub has_runs: bool,
}

impl CommandFactory for CommandLine {
    fn command() -> Command {
        Args::command()
    }

    fn command_for_update() -> Command {
        Args::command_for_update()
    }
}

impl FromArgMatches for CommandLine {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let has_runs = matches.value_source("runs") == Some(ValueSource::CommandLine);
        Args::from_arg_matches(matches).map(|args| Self { args, has_runs })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Print what the kernel says of the device or file: model, size, queue, file system, mount options
    #[command(before_long_help = "Examples:\n\
\x20 diskread facts /dev/sda")]
    Facts(FactsArgs),
}

/// `diskread PATH...`.
#[derive(Debug, Clone, clap::Args)]
pub struct ReadArgs {
    /// Block device or file
    #[arg(value_name = "PATH", required = true, hide_short_help = true, value_parser = PathBufValueParser::new().try_map(path))]
    pub paths: Vec<PathBuf>,
    /// How to read [default: buffered]
    #[arg(long, short, value_enum, help_heading = "Reading")]
    pub method: Option<Method>,
    /// In which order to read the blocks [default: seq]
    #[arg(long, value_enum, help_heading = "Reading")]
    pub pattern: Option<Pattern>,
    /// Bytes per read [default: 1M, with --pattern rand 4K]
    #[arg(long, value_name = "SIZE", value_parser = units::positive_byte_size, allow_hyphen_values = true, help_heading = "Reading")]
    pub block: Option<u64>,
    /// Threads that read, each with blocks of its own [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024), allow_hyphen_values = true, help_heading = "Reading")]
    pub threads: Option<u32>,
    /// Reads in flight per thread [default: 1]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), allow_hyphen_values = true, help_heading = "Reading")]
    pub depth: Option<u32>,
    /// What does the reads of buffered, cached and direct [default: auto]
    #[arg(long, value_enum, help_heading = "Reading", hide_short_help = true)]
    pub engine: Option<Engine>,
    /// Read this much at most
    #[arg(long, short = 'n', value_name = "SIZE", value_parser = units::positive_byte_size, conflicts_with = "warmup", allow_hyphen_values = true, help_heading = "Reading")]
    pub bytes: Option<u64>,
    /// Begin here instead of at the beginning
    #[arg(long, value_name = "SIZE", value_parser = units::byte_size, allow_hyphen_values = true, help_heading = "Reading", hide_short_help = true)]
    pub offset: Option<u64>,
    /// Shuffle the blocks of --pattern rand by this number [default: another one each time]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Reading", hide_short_help = true)]
    pub seed: Option<u64>,
    /// Where direct reads are refused, read buffered instead and flag the line
    #[arg(long, help_heading = "Reading", hide_short_help = true)]
    pub fallback: bool,
    /// Measure what another program measures: the figures that people know from it, and its table at the end; --time shortens each
    #[arg(long, value_enum, value_name = "PROGRAM", conflicts_with_all = ["method", "pattern", "block", "threads", "depth", "engine", "bytes"], help_heading = "Measurement")]
    pub like: Option<Like>,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A name such as `if=disk` is dd's habit unless there is such a file.
fn path(path: PathBuf) -> Result<PathBuf, &'static str> {
    let text = path.as_os_str().as_encoded_bytes();
    let is_setting = text.iter().find(|byte| !byte.is_ascii_lowercase()) == Some(&b'=');
    if is_setting && !path.exists() { Err("there is no such file") } else { Ok(path) }
}

/// `diskread facts`.
#[derive(Debug, Clone, clap::Args)]
pub struct FactsArgs {
    /// Block device or file
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `--method`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Through the page cache, after evicting the file from it (not timed)
    #[default]
    Buffered,
    /// From the page cache, after reading the file into it (not timed): memory, not the device
    Cached,
    /// Past the page cache (O_DIRECT)
    Direct,
    /// As memory (mmap), after evicting the file from the page cache (not timed)
    Mmap,
    /// Not at all: measures the tool itself
    Null,
}

impl Method {
    /// The word in the method column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Buffered => "buffered",
            Self::Cached => "cached",
            Self::Direct => "direct",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }
}

/// `--pattern`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// From the first to the last
    #[default]
    Seq,
    /// Shuffled: each once before any is read again
    Rand,
    /// From the last to the first
    Reverse,
}

impl Pattern {
    /// The word in the pattern column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seq => "seq",
            Self::Rand => "rand",
            Self::Reverse => "reverse",
        }
    }
}

/// `--engine`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// pread with --depth 1; else io_uring, or where that is refused a thread per read in flight
    #[default]
    Auto,
    /// pread(2), with a thread per read in flight
    Pread,
    /// io_uring(7)
    #[value(name = "io_uring")]
    IoUring,
}

/// `--like`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Like {
    /// hdparm -T (2 s of the first 2 MiB, cached) and -t (3 s of 2 MiB reads, but evicted first)
    Hdparm,
    /// CrystalDiskMark's default reads: SEQ1M Q8T1, SEQ1M Q1T1, RND4K Q32T1, RND4K Q1T1, five runs of 5 s
    Crystaldiskmark,
    /// Its NVMe profile: SEQ1M Q8T1, SEQ128K Q32T1, RND4K Q32T16, RND4K Q1T1
    Nvme,
    /// tiobench's reads: 1, 2, 4, 8 threads, 4 KiB, sequential, then 4000 at random, evicted first
    Tiobench,
    /// bonnie++'s reads: 8 KiB sequential, then 8192 at random by five seekers, evicted first
    Bonnie,
    /// ioping: ten reads of 4 KiB, one a second; then -R, 3 s without pause
    Ioping,
}
