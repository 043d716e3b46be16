//! The way to a sink, as the command line names it.

use common::cli::OutputArgs;
use common::measure::crew::CpuList;
use common::measure::sample;
use common::net::access::Secret;
use common::net::peer::PeerArgs;

use crate::args::{RouteArgs, TcpArgs};
use crate::part::Speaker;
use crate::socket::Options;

/// The way to a sink.
#[derive(Debug)]
pub struct Peer {
    /// Who it is, and who this end is.
    pub args: PeerArgs,
    /// Options of every connection.
    pub options: Options,
    /// What a sink may want to see proof of.
    pub secret: Option<Secret>,
    /// Where the workers run.
    pub cpus: CpuList,
    /// For the lines of this end.
    pub speaker: Speaker,
}

impl Peer {
    /// As typed.
    pub fn new(args: &RouteArgs, lines: &OutputArgs, tcp: Option<&TcpArgs>) -> anyhow::Result<Self> {
        let options = Options {
            buffer: tcp.and_then(|tcp| tcp.buffer),
            congestion: tcp.and_then(|tcp| tcp.congestion.clone()),
            mss: tcp.and_then(|tcp| tcp.mss),
            dscp: args.dscp,
            nodelay: tcp.is_some_and(|tcp| tcp.nodelay),
            bind: args.bind,
            interface: args.interface.clone(),
        };
        let speaker = Speaker {
            host: sample::host_name(),
            label: lines.label.clone().unwrap_or_default(),
            target: args.peer.host.name.clone(),
        };
        let (secret, cpus) = (args.peer.secret()?, args.cpu.clone().unwrap_or_default());
        Ok(Self { args: args.peer.clone(), options, secret, cpus, speaker })
    }
}
