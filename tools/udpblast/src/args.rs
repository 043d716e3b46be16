//! The command line as typed.
#![allow(clippy::doc_markdown, reason = "the texts are help for a terminal first")]

use std::str::FromStr;
use std::time::Duration;

use clap::{Parser, Subcommand};
use common::cli::{IntervalArgs, OutputArgs, ScheduleArgs};
use common::measure::crew::{self, CpuList};
use common::net::access::GuardArgs;
use common::net::address::Address;
use common::net::peer::DEFAULT_PORT;
use common::net::route::RouteArgs;
use common::units;

use crate::packet::HEADER;
use crate::udp::MAX_DATAGRAM;

/// What people come for.
const EXAMPLES: &str = "Examples:\n\
\x20 udpblast listen               # on the machine called nas\n\
\x20 udpblast send nas --rate 50M  # here: what is lost on the way there, and where?\n\
\x20 udpblast search nas           # the highest rate without loss";

/// Send datagrams at a rate; say what was sent, what arrived, and where the rest was lost
///
/// One end runs `udpblast listen`, the other `udpblast send HOST --rate 50M`: both ends' lines come out of the client.
/// A loss is told apart by its place: the sender's queue (sender_drops), the receiver's socket buffer (socket_drops), or
/// the network between (network_lost).
///
/// Nothing is sent at a rate before the other end has agreed. stdout carries CSV, one line per measurement (--columns
/// explains the columns); stderr is for people. Exit status: 0 measured, 1 the measurement failed, 2 usage; SIGINT and
/// SIGTERM print the line so far first.
#[derive(Debug, Parser)]
#[command(name = "udpblast", version, before_long_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Agree to what clients ask for, count what arrives, and tell them
    #[command(before_long_help = "Examples:\n\
\x20 udpblast listen\n\
\x20 udpblast listen --once --port 5202")]
    Listen(ListenArgs),
    /// Send to a listener
    #[command(before_long_help = "Examples:\n\
\x20 udpblast send nas --rate 50M\n\
\x20 udpblast send nas --rate 100M --size 1000 --interval 1s")]
    Send(BlastArgs),
    /// Have a listener send to this end; works through NAT
    #[command(before_long_help = "Examples:\n\
\x20 udpblast recv nas --rate 50M")]
    Recv(BlastArgs),
    /// Send requests and wait for responses: round-trip percentiles, and how many were lost
    #[command(before_long_help = "Examples:\n\
\x20 udpblast ping nas\n\
\x20 udpblast ping nas --time 3s --interval 1s")]
    Ping(PingArgs),
    /// Search the highest rate without loss: each trial a line, the answer the last one
    #[command(before_long_help = "Examples:\n\
\x20 udpblast search nas\n\
\x20 udpblast search nas --rate 200M --loss 1%")]
    Search(SearchArgs),
}

/// `udpblast listen`.
#[derive(Debug, Clone, clap::Args)]
pub struct ListenArgs {
    /// Port to listen on; 0 takes a free one and says which
    #[arg(long, short, value_name = "PORT", default_value_t = DEFAULT_PORT, allow_hyphen_values = true)]
    pub port: u16,
    /// Listen on this address only [default: all, IPv4 and IPv6]
    #[arg(long, value_name = "ADDR")]
    pub bind: Option<Address>,
    /// Serve one client, then end
    #[arg(long)]
    pub once: bool,
    /// Keep the workers on these CPUs, in turn: 0,2-3
    #[arg(long, value_name = "LIST", value_parser = crew::cpu_list, hide_short_help = true)]
    pub cpu: Option<CpuList>,
    /// Drop a client that is silent for this long
    #[arg(long, value_name = "DUR", default_value = "10s", value_parser = units::positive_duration, allow_hyphen_values = true, hide_short_help = true)]
    pub idle_timeout: Duration,
    /// Send to a client, or agree to receive, at most at this rate
    #[arg(long, value_name = "RATE", value_parser = units::bit_rate, allow_hyphen_values = true, help_heading = "In public", hide_short_help = true)]
    pub max_rate: Option<u64>,
    #[command(flatten)]
    pub guard: GuardArgs,
    #[command(flatten)]
    pub interval: IntervalArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// What a datagram is and how many go at a time.
#[derive(Debug, Clone, clap::Args)]
pub struct DatagramArgs {
    /// Bytes of payload in a datagram [default: what fits the route's MTU]
    #[arg(long, short = 'l', value_name = "SIZE", value_parser = datagram, allow_hyphen_values = true, help_heading = "Datagrams")]
    pub size: Option<u64>,
    /// Let the network cut datagrams that are larger than its MTU
    #[arg(long, requires = "size", hide_short_help = true, help_heading = "Datagrams")]
    pub fragment: bool,
    /// Send so many datagrams at a time [default: what is due each millisecond]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), allow_hyphen_values = true, hide_short_help = true, help_heading = "Datagrams")]
    pub burst: Option<u64>,
    /// One datagram per system call at both ends: no GSO, no GRO
    #[arg(long, hide_short_help = true, help_heading = "Datagrams")]
    pub no_offload: bool,
    /// Ask both ends for socket buffers of this size [default: 32M to receive, 8M to send, as far as the kernel allows]
    #[arg(long, short = 'w', value_name = "SIZE", value_parser = units::positive_byte_size, allow_hyphen_values = true, hide_short_help = true, help_heading = "Datagrams")]
    pub buffer: Option<u64>,
}

/// `udpblast send` and `recv`.
#[derive(Debug, Clone, clap::Args)]
pub struct BlastArgs {
    #[command(flatten)]
    pub route: RouteArgs,
    /// Sockets at each end, a thread each
    #[arg(long, short = 'P', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64), allow_hyphen_values = true, help_heading = "Datagrams")]
    pub streams: u32,
    /// Add lines for each stream (test udp_send_stream, udp_recv_stream)
    #[arg(long, hide_short_help = true, help_heading = "Datagrams")]
    pub per_stream: bool,
    /// Bits of payload per second of all streams together, or max for as fast as it goes
    #[arg(
        long,
        short = 'b',
        value_name = "RATE",
        default_value = "10M",
        allow_hyphen_values = true,
        help_heading = "Datagrams"
    )]
    pub rate: Rate,
    /// Send this much instead of for --time, rounded up to whole datagrams
    #[arg(long, short = 'n', value_name = "SIZE", value_parser = units::positive_byte_size, conflicts_with_all = ["time", "warmup"], allow_hyphen_values = true, help_heading = "Datagrams")]
    pub bytes: Option<u64>,
    #[command(flatten)]
    pub datagram: DatagramArgs,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// `udpblast ping`.
#[derive(Debug, Clone, clap::Args)]
pub struct PingArgs {
    #[command(flatten)]
    pub route: RouteArgs,
    /// Send a request every so often, whatever becomes of those before [default: each waits for the response before]
    #[arg(long, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true, help_heading = "Datagrams")]
    pub every: Option<Duration>,
    /// Bytes of payload, of a request and of its response
    #[arg(long, short = 'l', value_name = "SIZE", value_parser = datagram, default_value = "64", allow_hyphen_values = true, help_heading = "Datagrams")]
    pub size: u64,
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// `udpblast search`.
#[derive(Debug, Clone, clap::Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub route: RouteArgs,
    /// The highest rate to try
    #[arg(long, short = 'b', value_name = "RATE", default_value = "1G", value_parser = units::bit_rate, allow_hyphen_values = true, help_heading = "Search")]
    pub rate: u64,
    /// Loss that still counts as none, in percent
    #[arg(long, value_name = "PCT", default_value = "0.1%", value_parser = units::percent_or_none, allow_hyphen_values = true, help_heading = "Search")]
    pub loss: f64,
    /// Stop when the rate is known within this percentage
    #[arg(long, value_name = "PCT", default_value = "1%", value_parser = units::percent, allow_hyphen_values = true, hide_short_help = true, help_heading = "Search")]
    pub resolution: f64,
    /// Let queues empty for this long between two trials
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = units::duration, allow_hyphen_values = true, hide_short_help = true, help_heading = "Search")]
    pub settle: Duration,
    /// Length of a trial
    #[arg(long, short, value_name = "DUR", default_value = "3s", value_parser = units::positive_duration, allow_hyphen_values = true, help_heading = "Search")]
    pub time: Duration,
    #[command(flatten)]
    pub datagram: DatagramArgs,
    #[command(flatten)]
    pub lines: OutputArgs,
}

/// `--rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// Bits of payload per second.
    Bits(u64),
    /// As fast as it goes.
    Max,
}

impl FromStr for Rate {
    type Err = units::UnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "max" { Ok(Self::Max) } else { units::bit_rate(text).map(Self::Bits) }
    }
}

impl Rate {
    /// The limit, if there is one.
    pub fn bits(self) -> Option<u64> {
        match self {
            Self::Bits(bits) => Some(bits),
            Self::Max => None,
        }
    }
}

fn datagram(text: &str) -> Result<u64, String> {
    let bytes = units::positive_byte_size(text).map_err(|error| error.to_string())?;
    if (HEADER as u64..=MAX_DATAGRAM).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(format!("a datagram has {HEADER} (this tool's header) to {MAX_DATAGRAM} bytes"))
    }
}
