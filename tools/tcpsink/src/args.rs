//! The command line as typed.
#![allow(clippy::doc_markdown, reason = "the texts are help for a terminal first")]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use common::cli::{IntervalArgs, OutputArgs, ScheduleArgs};
use common::measure::crew::{self, CpuList};
use common::net::access::GuardArgs;
use common::net::address::Address;
use common::net::peer::DEFAULT_PORT;
pub use common::net::route::RouteArgs;
use common::units;

use crate::engine::Method;

/// What people come for.
const EXAMPLES: &str = "Examples:\n\
\x20 tcpsink listen                             # on the machine called nas\n\
\x20 tcpsink send nas                           # here: how fast is the way there?\n\
\x20 tcpsink recv nas --time 30s --interval 1s  # and back?";

/// Move bytes over TCP and say what arrived
///
/// One end runs `tcpsink listen`, the other `tcpsink send HOST`: both ends' lines come out of the client. Any other TCP
/// client may send to the sink too, and reads its line back after closing its sending side:
/// `dd if=/dev/zero bs=1M count=1000 | nc -N HOST 5201`.
///
/// stdout carries CSV, one line per measurement (--columns explains the columns); stderr is for people. Exit status: 0
/// measured, 1 the measurement failed, 2 usage; SIGINT and SIGTERM print the line so far first.
#[derive(Debug, Parser)]
#[command(name = "tcpsink", version, before_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, for the length of the run")]
pub enum Verb {
    /// Accept TCP clients: discard what they send, and tell them what arrived
    #[command(before_long_help = "Examples:\n\
\x20 tcpsink listen\n\
\x20 tcpsink listen --once --output home.tar")]
    Listen(ListenArgs),
    /// Send to a sink
    #[command(before_long_help = "Examples:\n\
\x20 tcpsink send nas\n\
\x20 tcpsink send nas --streams 4 --interval 1s\n\
\x20 tar c /home | tcpsink send nas --input -")]
    Send(SendArgs),
    /// Have a sink send to this end; works through NAT
    #[command(before_long_help = "Examples:\n\
\x20 tcpsink recv nas\n\
\x20 tcpsink recv nas --time 30s --interval 1s")]
    Recv(TransferArgs),
    /// Send and receive at once
    #[command(before_long_help = "Examples:\n\
\x20 tcpsink both nas --probe")]
    Both(TransferArgs),
    /// Send requests and wait for responses: transactions per second, and their latency
    #[command(before_long_help = "Examples:\n\
\x20 tcpsink ping nas\n\
\x20 tcpsink ping nas --every 100ms --interval 1s\n\
\x20 tcpsink ping nas --depth 16 --request 128 --response 64K  # TCP is fast: are calls, too?")]
    Ping(PingArgs),
    /// Connect, get one byte, close: connections per second, and their latency
    #[command(before_long_help = "Examples:\n\
\x20 tcpsink connect nas --time 3s")]
    Connect(ConnectArgs),
}

/// `tcpsink listen`.
#[derive(Debug, Clone, clap::Args)]
pub struct ListenArgs {
    /// Port to listen on; 0 takes a free one and says which
    #[arg(long, short, value_name = "PORT", default_value_t = DEFAULT_PORT, allow_hyphen_values = true)]
    pub port: u16,
    /// Listen on this address only [default: all, IPv4 and IPv6]
    #[arg(long, value_name = "ADDR", hide_short_help = true)]
    pub bind: Option<Address>,
    /// Serve one client, all tests of its call, then end
    #[arg(long)]
    pub once: bool,
    /// Read into memory as an application would, instead of discarding in the kernel
    #[arg(long, hide_short_help = true)]
    pub copy: bool,
    /// Store what one client sends, then end: FILE appears when all of it is on disk; a FIFO or /dev/fd/N is written as it is
    #[arg(long, short, value_name = "FILE", conflicts_with = "copy")]
    pub output: Option<PathBuf>,
    /// Let --output replace a file
    #[arg(long, short, requires = "output")]
    pub force: bool,
    /// Keep the workers on these CPUs, in turn: 0,2-3
    #[arg(long, value_name = "LIST", value_parser = crew::cpu_list, hide_short_help = true)]
    pub cpu: Option<CpuList>,
    /// Drop a client that moves no byte for this long
    #[arg(long, value_name = "DUR", default_value = "30s", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true)]
    pub idle_timeout: Duration,
    /// Move at most this much for a client, each way
    #[arg(long, value_name = "SIZE", value_parser = units::positive_byte_size, allow_hyphen_values = true, help_heading = "In public", hide_short_help = true)]
    pub max_bytes: Option<u64>,
    /// Hold at most this much for all clients together, half of it for one
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = units::positive_byte_size, allow_hyphen_values = true, help_heading = "In public", hide_short_help = true)]
    pub max_memory: u64,
    #[command(flatten)]
    pub guard: GuardArgs,
    #[command(flatten)]
    pub interval: IntervalArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// How TCP is used.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "TCP")]
pub struct TcpArgs {
    /// Ask both ends for socket buffers of this size; what the kernel grants is reported
    #[arg(long, short = 'w', value_name = "SIZE", value_parser = units::positive_byte_size, allow_hyphen_values = true)]
    pub buffer: Option<u64>,
    /// Congestion control of the sending end
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub congestion: Option<String>,
    /// Largest segment, bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u16).range(88..=32767), allow_hyphen_values = true, hide_short_help = true)]
    pub mss: Option<u16>,
    /// Send small segments at once (no Nagle algorithm)
    #[arg(long, hide_short_help = true)]
    pub nodelay: bool,
}

/// `tcpsink recv`, `tcpsink both`, and most of `tcpsink send`.
#[derive(Debug, Clone, clap::Args)]
pub struct TransferArgs {
    #[command(flatten)]
    pub route: RouteArgs,
    /// Move exactly this much (each way) instead of for --time
    #[arg(long, short = 'n', value_name = "SIZE", value_parser = units::positive_byte_size, conflicts_with_all = ["time", "warmup"], allow_hyphen_values = true, help_heading = "Transfer")]
    pub bytes: Option<u64>,
    /// Connections in each direction, a thread each
    #[arg(long, short = 'P', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256), allow_hyphen_values = true, help_heading = "Transfer")]
    pub streams: u32,
    /// Add lines for each stream (test tcp_send_stream, tcp_recv_stream)
    #[arg(long, hide_short_help = true, help_heading = "Transfer")]
    pub per_stream: bool,
    /// Send at this many bits of payload per second, all streams together
    #[arg(long, short = 'b', value_name = "RATE", value_parser = units::bit_rate, allow_hyphen_values = true, help_heading = "Transfer")]
    pub rate: Option<u64>,
    /// Bytes per send call [default: 1M], and per receive call with --copy [default: 128K]
    #[arg(long, short = 'l', value_name = "SIZE", value_parser = message, allow_hyphen_values = true, hide_short_help = true, help_heading = "Transfer")]
    pub message: Option<u64>,
    /// How the sending end hands bytes to the kernel
    #[arg(
        long,
        short,
        value_name = "METHOD",
        value_enum,
        default_value_t,
        hide_short_help = true,
        help_heading = "Transfer"
    )]
    pub method: Method,
    /// Have the receiver read into memory as an application would, instead of discarding in the kernel
    #[arg(long, hide_short_help = true, help_heading = "Transfer")]
    pub copy: bool,
    /// Measure latency too: one second idle before (tcp_idle_ping), and beside the transfer (tcp_loaded_ping)
    #[arg(long, help_heading = "Transfer")]
    pub probe: bool,
    #[command(flatten)]
    pub tcp: TcpArgs,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// `tcpsink send`.
#[derive(Debug, Clone, clap::Args)]
pub struct SendArgs {
    /// Send this file, or - for standard input, instead of random bytes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["time", "warmup", "streams", "runs", "within", "method", "message", "rate"], help_heading = "Transfer")]
    pub input: Option<PathBuf>,
    #[command(flatten)]
    pub transfer: TransferArgs,
}

/// `tcpsink ping`.
#[derive(Debug, Clone, clap::Args)]
pub struct PingArgs {
    #[command(flatten)]
    pub route: RouteArgs,
    /// Size of a request
    #[arg(long, value_name = "SIZE", default_value = "1", value_parser = message, allow_hyphen_values = true, help_heading = "Requests")]
    pub request: u64,
    /// Size of a response
    #[arg(long, value_name = "SIZE", default_value = "1", value_parser = message, allow_hyphen_values = true, help_heading = "Requests")]
    pub response: u64,
    /// Ping once in this time [default: as fast as the sink answers]; a late answer counts for the pings left out meanwhile
    #[arg(long, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true, help_heading = "Requests")]
    pub every: Option<Duration>,
    /// Requests under way on each connection, as file and block protocols have them: a response makes room for the next
    #[arg(long, short, value_name = "N", default_value_t = 1, conflicts_with = "every", value_parser = clap::value_parser!(u32).range(1..=4096), allow_hyphen_values = true, help_heading = "Requests")]
    pub depth: u32,
    /// Connections that ping at once, a thread each
    #[arg(long, short = 'P', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256), allow_hyphen_values = true, help_heading = "Requests")]
    pub streams: u32,
    #[command(flatten)]
    pub tcp: TcpArgs,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// `tcpsink connect`.
#[derive(Debug, Clone, clap::Args)]
pub struct ConnectArgs {
    #[command(flatten)]
    pub route: RouteArgs,
    /// Threads that connect at once
    #[arg(long, short = 'P', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256), allow_hyphen_values = true, help_heading = "Requests")]
    pub streams: u32,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// Largest message: what one call moves at most anyway.
const MAX_MESSAGE: u64 = 1 << 30;

fn message(text: &str) -> Result<u64, String> {
    match units::positive_byte_size(text) {
        Ok(bytes) if bytes > MAX_MESSAGE => Err("is too large (at most 1G)".into()),
        size => size.map_err(|error| error.to_string()),
    }
}
