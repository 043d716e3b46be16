//! The command line as typed.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Parser, Subcommand};
use common::cli::OutputArgs;
use common::output::Appearance;
use common::units;

use crate::link::Name;

/// What people come for.
const EXAMPLES: &str = "Examples:\n\
\x20 ifstat eth0                          # what passes each second, until Ctrl-C\n\
\x20 ifstat --stack --changed --time 10s  # where packets are lost\n\
\x20 ifstat eth0 -- cp big.iso /mnt/nas   # what passes while a command runs";

/// Say what the interfaces and the layers above them carried and dropped
///
/// Two lines per interval and interface, test rx and tx, and at the end a total of each: bytes, packets (ops), errors and
/// the kernel's other counters, all as they grew in the span; on a terminal both stand in one row. bytes are as the driver counts them: with Ethernet headers,
/// on lo without. With a command, the totals around it. --stack adds the layers above, so that a loss can be placed.
///
/// stdout carries CSV, one line per measurement (--columns explains the columns); stderr is for people. Exit status: 0
/// measured (also when SIGINT ends a run that has no end), 1 the measurement failed, 2 usage; with a command its own, or
/// 125 the measurement failed, 126 it cannot be run, 127 there is none.
#[derive(Debug, Parser)]
#[command(name = "ifstat", version, before_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What else to do
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// The verbs beside watching.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Print what the interfaces are and how they are set: driver, speed, rings, coalescing, offloads, ...
    #[command(before_long_help = "Examples:\n\
\x20 ifstat facts eth0")]
    Facts(FactsArgs),
    /// Print a driver's own counters (ethtool -S) and how they grew
    #[command(before_long_help = "Examples:\n\
\x20 ifstat stats eth0 --changed")]
    Stats(StatsArgs),
}

/// Where to look.
#[derive(Debug, Clone, clap::Args)]
pub struct NetnsArgs {
    /// Look into this network namespace: a name of `ip netns`, or a path; a command still runs in this one
    #[arg(long, value_name = "NAME|PATH", hide_short_help = true)]
    pub netns: Option<String>,
}

/// How long and how often.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub struct ScheduleArgs {
    /// Length of an interval, at least 10ms [default: 1s; with a command only totals]
    #[arg(long, short, value_name = "DUR", value_parser = interval, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// End after N intervals [default: on SIGINT]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "time", allow_hyphen_values = true, hide_short_help = true)]
    pub count: Option<u64>,
    /// End after this long
    #[arg(long, short, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
}

/// How a terminal shows it.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Lines")]
pub struct TopArgs {
    /// Draw the newest interval in place, on a terminal; the totals stay
    #[arg(long)]
    pub top: bool,
}

impl TopArgs {
    /// How lines of `output` appear.
    pub fn appearance(&self, output: &OutputArgs) -> Appearance {
        Appearance { is_top: self.top, ..output.appearance() }
    }
}

/// `ifstat`.
#[derive(Debug, Clone, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct WatchArgs {
    /// Interfaces [default: all]
    #[arg(value_name = "IFACE", value_parser = OsStringValueParser::new().try_map(interface))]
    pub interfaces: Vec<Name>,
    /// Print what was counted while this command ran; its stdout goes to stderr
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["count", "time"])]
    pub command: Vec<OsString>,
    /// Add lines for the layers above: softnet, qdisc, ip, udp, tcp, and where packets were lost
    #[arg(long, help_heading = "What to print")]
    pub stack: bool,
    /// Add the sum over all interfaces: not lo, no bridge port beside its bridge, no VLAN
    #[arg(long, help_heading = "What to print")]
    pub total: bool,
    /// Leave out interfaces at which nothing happened
    #[arg(long, help_heading = "What to print")]
    pub changed: bool,
    /// First print all counters as they are, as tests `rx_boot` and `tx_boot` without seconds and rates
    #[arg(long, hide_short_help = true, help_heading = "What to print")]
    pub since_boot: bool,
    /// Wait for interfaces that are not there instead of failing
    #[arg(long, requires = "interfaces", hide_short_help = true, help_heading = "What to print")]
    pub wait: bool,
    /// Write the command's stdout to this file
    #[arg(long, value_name = "FILE", requires = "command", hide_short_help = true, help_heading = "What to print")]
    pub stdout: Option<PathBuf>,
    #[command(flatten)]
    pub netns: NetnsArgs,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub top: TopArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ifstat facts`.
#[derive(Debug, Clone, clap::Args)]
pub struct FactsArgs {
    /// Interfaces [default: all]
    #[arg(value_name = "IFACE", value_parser = OsStringValueParser::new().try_map(interface))]
    pub interfaces: Vec<Name>,
    /// Print only what differs from the latest facts in this file
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    #[command(flatten)]
    pub netns: NetnsArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ifstat stats`.
#[derive(Debug, Clone, clap::Args)]
pub struct StatsArgs {
    /// Interface
    #[arg(value_name = "IFACE", value_parser = OsStringValueParser::new().try_map(interface))]
    pub interface: Name,
    /// Leave out counters that did not grow
    #[arg(long)]
    pub changed: bool,
    #[command(flatten)]
    pub netns: NetnsArgs,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub top: TopArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn interface(name: impl AsRef<OsStr>) -> Result<Name, &'static str> {
    Name::new(name.as_ref().as_bytes()).ok_or("an interface's name has 1 to 15 bytes")
}

/// Shorter ones would measure the measuring.
const SHORTEST: Duration = Duration::from_millis(10);

fn interval(text: &str) -> Result<Duration, String> {
    match units::positive_duration(text) {
        Ok(interval) if interval < SHORTEST => Err("must be at least 10ms".into()),
        interval => interval.map_err(|error| error.to_string()),
    }
}
