//! The command line as typed.
#![allow(clippy::doc_markdown, reason = "the texts are help texts first")]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use common::cli::{IntervalArgs, OutputArgs, RepeatArgs};
use common::units;

/// What people come for.
const EXAMPLES: &str = "Examples:\n\
\x20 nfscopy file /mnt/nas          # write, rewrite, read, at random\n\
\x20 nfscopy tree /mnt/nas          # many small files\n\
\x20 nfscopy copy big.iso /mnt/nas  # a copy, safe on storage, and its time";

/// Write, read, copy and create files in a mounted directory, with the mount's own facts beside the speed
///
/// Works in any directory; on NFS every line also carries vers, proto, rsize, wsize and nconnect, and what the calls to
/// the server cost in that very span: their number, round-trip time, retransmissions, and bytes by kind.
///
/// Writes end when the data is safe: fsync and close are inside the time, and apart in columns of their own. What is
/// written is incompressible and never the same twice. Reads evict the files from this machine's page cache first,
/// outside the time, and say what was left (cached_pct).
///
/// stdout carries CSV, one line per measurement (--columns explains the columns); stderr is for people. Exit status: 0
/// measured, 1 the measurement failed, 2 usage; SIGINT, SIGTERM and SIGHUP print the line so far and remove what was
/// written; a second one leaves at once, unless what was written waits for a silent server: then the kernel
/// keeps even a dying process.
#[derive(Debug, Parser)]
#[command(name = "nfscopy", version, before_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Copy a file or a tree, to, from or within a mount
    ///
    /// Explicit reads and writes, so that all bytes cross the wire; SRC is evicted from the page cache first. DST is complete
    /// or absent: it is written under a temporary name beside DST and renamed when it is safe on storage. An existing
    /// directory as DST receives a copy of SRC's name; /dev/null as DST discards what is read.
    ///
    /// Files, directories and symbolic links are copied with their permissions, hard links within SRC stay links of each
    /// other; owners, times and extended attributes are not copied. A tree with a FIFO, socket or device is refused before
    /// anything is written.
    #[command(before_long_help = "Examples:\n\
\x20 nfscopy copy big.iso /mnt/nas\n\
\x20 nfscopy copy photos /mnt/nas --verify")]
    Copy(CopyArgs),
    /// Write and read large files in DIR: sequentially, at random, by threads
    ///
    /// Each thread has a file of its own, in a directory that is removed at the end. A list of threads is a sweep: all
    /// phases with the first number, then with the next. Reads without a write before them write the files first, not
    /// counted. Random phases visit no block twice and end when they visited all, flagged short if --ops wanted more.
    ///
    /// Only this machine's cache is emptied: a server that has the memory for it answers reads from there, unless --size is
    /// beyond that. The bytes of a line that is partial are those that this machine took; what reached the server stands in
    /// server_write_bytes.
    #[command(before_long_help = "Examples:\n\
\x20 nfscopy file /mnt/nas\n\
\x20 nfscopy file /mnt/nas --size 4G --threads 1,2,4\n\
\x20 nfscopy file /mnt/nas --like bonnie")]
    File(FileArgs),
    /// Create, stat, read, rename and delete many small files in DIR
    ///
    /// All phases in the order of creation, then again at random (tests that begin with rand_). stat may be answered from
    /// this machine's cache, stat_server may not (AT_STATX_FORCE_SYNC). create, rename and delete end when the file system is
    /// synced (syncfs), inside the time.
    #[command(before_long_help = "Examples:\n\
\x20 nfscopy tree /mnt/nas\n\
\x20 nfscopy tree /mnt/nas --files 1000 --threads 4")]
    Tree(TreeArgs),
    /// Print what the kernel says of the mount that holds PATH: options, transports, calls by operation
    #[command(before_long_help = "Examples:\n\
\x20 nfscopy facts /mnt/nas")]
    Facts(FactsArgs),
}

/// `nfscopy copy`.
#[derive(Debug, Clone, clap::Args)]
pub struct CopyArgs {
    /// File or directory to copy
    #[arg(value_name = "SRC")]
    pub source: PathBuf,
    /// The copy; a directory that receives it; or /dev/null
    #[arg(value_name = "DST")]
    pub target: PathBuf,
    /// Let the kernel or the server copy: shared blocks, else copy_file_range(2), else read and write (flagged fallback)
    #[arg(long, help_heading = "Copying", hide_short_help = true)]
    pub offload: bool,
    /// Read the copy again and compare: evicted first, before it gets its name, with a line of its own
    #[arg(long, help_heading = "Copying")]
    pub verify: bool,
    /// Replace DST if it exists, or what has SRC's name in it: a tree as a whole, what only the old one had is removed
    #[arg(long, short, help_heading = "Copying")]
    pub force: bool,
    /// Bytes per read and write [default: 1M]
    #[arg(long, value_name = "SIZE", value_parser = units::positive_byte_size, allow_hyphen_values = true, help_heading = "Copying")]
    pub block: Option<u64>,
    #[command(flatten)]
    pub repeat: RepeatArgs,
    #[command(flatten)]
    pub interval: IntervalArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `nfscopy file`.
#[derive(Debug, Clone, clap::Args)]
pub struct FileArgs {
    /// Directory to measure in
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Bytes of all files together [default: 1G; with --like twice the memory]
    #[arg(long, value_name = "SIZE", value_parser = units::positive_byte_size, allow_hyphen_values = true, help_heading = "Files")]
    pub size: Option<u64>,
    /// What to do, in this order [default: write,rewrite,read,rand_read,rand_write]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', help_heading = "Files")]
    pub phases: Vec<PhaseName>,
    /// Threads, each with a file of its own; a list is a sweep [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024), allow_hyphen_values = true, help_heading = "Files")]
    pub threads: Vec<u32>,
    /// Bytes per call [default: 1M, at random 4K]
    #[arg(long, value_name = "SIZE", value_parser = units::positive_byte_size, allow_hyphen_values = true, help_heading = "Files")]
    pub block: Option<u64>,
    /// Random operations of all threads together [default: 8192]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_hyphen_values = true, help_heading = "Files", hide_short_help = true)]
    pub ops: Option<u64>,
    /// Have every write reach storage before the next (O_SYNC)
    #[arg(long, help_heading = "Files", hide_short_help = true)]
    pub sync: bool,
    /// Past this machine's page cache (O_DIRECT)
    #[arg(long, help_heading = "Files")]
    pub direct: bool,
    /// Do what another program does, and end with its table: its phases, block sizes, order, without evicting where it does not
    #[arg(long, value_enum, value_name = "PROGRAM", conflicts_with_all = ["phases", "block", "ops", "sync", "direct"], help_heading = "Files")]
    pub like: Option<Like>,
    /// End each phase after this long
    #[arg(long, short, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true, help_heading = "Measurement")]
    pub time: Option<Duration>,
    #[command(flatten)]
    pub interval: IntervalArgs,
    #[command(flatten)]
    pub repeat: RepeatArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `nfscopy tree`.
#[derive(Debug, Clone, clap::Args)]
pub struct TreeArgs {
    /// Directory to measure in
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Files of all threads together [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), allow_hyphen_values = true, help_heading = "Files")]
    pub files: Option<u64>,
    /// Bytes of each file [default: 4K]
    #[arg(long, value_name = "SIZE", value_parser = units::byte_size, allow_hyphen_values = true, help_heading = "Files")]
    pub size: Option<u64>,
    /// Threads; a list is a sweep [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024), allow_hyphen_values = true, help_heading = "Files")]
    pub threads: Vec<u32>,
    /// One directory for all threads instead of one for each
    #[arg(long, help_heading = "Files", hide_short_help = true)]
    pub shared_dir: bool,
    /// Have every file reach storage before the next (O_SYNC)
    #[arg(long, help_heading = "Files", hide_short_help = true)]
    pub sync: bool,
    /// In which order
    #[arg(long, value_enum, default_value_t, help_heading = "Files", hide_short_help = true)]
    pub order: Order,
    #[command(flatten)]
    pub interval: IntervalArgs,
    #[command(flatten)]
    pub repeat: RepeatArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `nfscopy facts`.
#[derive(Debug, Clone, clap::Args)]
pub struct FactsArgs {
    /// File or directory in the mount
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `--phases`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum PhaseName {
    /// Every block of a new file, then fsync and close
    Write,
    /// Read every block, change it, write it back
    Rewrite,
    /// Every block
    Read,
    /// Blocks at random
    RandRead,
    /// Blocks at random, then fsync and close
    RandWrite,
    /// Five seekers in one file, as bonnie++: reads at random, one in ten changes the block and writes it back
    Seek,
    /// A call for every byte, 3 MiB at most
    StdioWrite,
    /// A call for every byte, 3 MiB at most
    StdioRead,
}

/// `--order`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// As created
    Seq,
    /// Shuffled, and with names in no order
    Rand,
    /// One after the other
    #[default]
    Both,
}

/// `--like`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Like {
    /// bonnie++: bytes, blocks of 8K, rewrite, seeks; then 16384 empty files created, looked at and deleted, in order and at random
    Bonnie,
    /// tiobench: 1, 2, 4, 8 threads; 4K; write, 4000 random writes, read, 4000 random reads
    Tiobench,
    /// dd bs=1M with conv=fsync, and reading it back at once
    Dd,
}
