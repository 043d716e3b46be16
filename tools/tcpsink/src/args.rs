//! The command line as typed.

use std::net::IpAddr;
use std::time::Duration;

use clap::{Parser, Subcommand};
use common::cli::{IntervalArgs, OutputArgs, ScheduleArgs};
use common::units;

/// Move bytes over TCP and say what arrived
///
/// One end runs `tcpsink listen`, the other `tcpsink send HOST`: both ends' lines come out of the client. Any other TCP
/// client may send to the sink too, and reads its line back after closing its sending side:
/// `dd if=/dev/zero bs=1M count=1000 | nc -N HOST 5201`.
///
/// stdout carries CSV, one line per measurement (--columns explains the columns); stderr is for people. Exit status: 0
/// measured, 1 the measurement failed, 2 usage; SIGINT and SIGTERM print the line so far first.
#[derive(Debug, Parser)]
#[command(name = "tcpsink", version, arg_required_else_help = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Accept TCP clients, discard what they send, and tell them what arrived
    Listen(ListenArgs),
    /// Send to a sink; print the sender's line and the receiver's
    Send(SendArgs),
}

/// `tcpsink listen`.
#[derive(Debug, Clone, clap::Args)]
pub struct ListenArgs {
    /// Port to listen on; 0 takes a free one and says which
    #[arg(long, short, value_name = "PORT", default_value_t = DEFAULT_PORT, allow_hyphen_values = true)]
    pub port: u16,
    /// Listen on this address only [default: all, IPv4 and IPv6]
    #[arg(long, value_name = "ADDR")]
    pub bind: Option<IpAddr>,
    /// Serve one client, then end
    #[arg(long)]
    pub once: bool,
    /// Read into memory as an application would, instead of discarding in the kernel
    #[arg(long)]
    pub copy: bool,
    /// Drop a client that moves no byte for this long
    #[arg(long, value_name = "DUR", default_value = "30s", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub idle_timeout: Duration,
    /// Serve at most this many clients at once; connections that have sent nothing do not count
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..), allow_hyphen_values = true)]
    pub max_clients: u32,
    #[command(flatten)]
    pub interval: IntervalArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `tcpsink send`.
#[derive(Debug, Clone, clap::Args)]
pub struct SendArgs {
    /// Name or address of the sink
    pub host: String,
    /// Port of the sink
    #[arg(long, short, value_name = "PORT", default_value_t = DEFAULT_PORT, value_parser = clap::value_parser!(u16).range(1..), allow_hyphen_values = true)]
    pub port: u16,
    /// Send exactly this much instead of for --time
    #[arg(long, short = 'n', value_name = "SIZE", value_parser = units::positive_byte_size, conflicts_with_all = ["time", "warmup"], allow_hyphen_values = true)]
    pub bytes: Option<u64>,
    /// Have the receiver read into memory as an application would, instead of discarding in the kernel
    #[arg(long)]
    pub copy: bool,
    /// Give up when name lookup, connection or the sink's first word take longer
    #[arg(long, value_name = "DUR", default_value = "5s", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub connect_timeout: Duration,
    /// Give up when no byte gets through for this long
    #[arg(long, value_name = "DUR", default_value = "10s", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub idle_timeout: Duration,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The port that firewalls already know from iperf3.
const DEFAULT_PORT: u16 = 5201;
