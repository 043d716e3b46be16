//! An end's part in a test, made from the request that both ends know.

use std::net::UdpSocket;
use std::time::Duration;

use anyhow::bail;
use common::measure::crew::CpuList;
use common::measure::sample::Identity;
use common::pace::CATCH_UP;
use common::schema::udpblast::SCHEMA;

use crate::engine::ping::{PATIENCE, Pinging};
use crate::engine::receive::Intake;
use crate::engine::send::{self, Blast};
use crate::packet::HEADER;
use crate::plan::Plan;
use crate::request::{Request, TestKind};
use crate::role::Role;
use crate::udp;

/// What a sender whose rate is limited makes up for: its limit holds in any tenth of a second, too.
const LIMITED_CATCH_UP: Duration = Duration::from_millis(1);

/// Which end this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It asked.
    Client,
    /// It was asked.
    Listener,
}

/// What this end's lines say of it.
#[derive(Debug, Clone)]
pub struct Speaker {
    /// Node name.
    pub host: String,
    /// Label.
    pub label: String,
    /// The other end.
    pub target: String,
}

/// One end of a test that both have agreed on.
#[derive(Debug, Clone, Copy)]
pub struct Agreed {
    /// Names the test in each datagram.
    pub tag: u32,
    /// Bytes of a datagram.
    pub size: u64,
    /// Give up after so long without a datagram.
    pub idle_timeout: Duration,
    /// The rate is the most that is allowed here.
    pub is_limited: bool,
    /// A queue of this host drops parts of buffers unsaid.
    pub is_wary: bool,
}

/// The request with the size of a datagram that this end's route takes, if this end sends.
pub fn sized(request: &Request, socket: &UdpSocket) -> anyhow::Result<Request> {
    let mut request = request.clone();
    if request.kind == TestKind::Recv {
        return Ok(request);
    }
    let fits = udp::fits(socket);
    let size = request.size.unwrap_or(fits).max(HEADER as u64);
    if size > fits && !request.fragment {
        let mtu = udp::mtu(socket).map_or_else(|| "unknown".into(), |mtu| mtu.to_string());
        bail!("--size {size} does not fit the route's MTU of {mtu} (at most {fits}; --fragment sends it all the same)");
    }
    request.size = Some(size);
    Ok(request)
}

/// The part of `end` in `request`, over a socket that is connected and prepared.
pub fn plan(request: &Request, end: End, agreed: Agreed, speaker: Speaker, socket: &UdpSocket) -> anyhow::Result<Plan> {
    let role = role(request, end, agreed);
    let Speaker { host, label, target } = speaker;
    Ok(Plan {
        identity: Identity { schema: SCHEMA.tag, host, label, test: role.test(), target, run: request.run },
        role,
        streams: request.streams,
        per_stream: request.per_stream,
        direction: request.kind.direction(),
        rate: request.rate,
        every: request.every,
        size: agreed.size,
        route: udp::route(socket)?,
        buffer: request.buffer,
        time: request.time,
        warmup: request.warmup,
        interval: request.interval,
        max_time: None,
        cpus: CpuList::default(),
    })
}

/// Whether this end of `request` receives in joined buffers: at low rates that saves nothing, and what the socket drops would
/// not be known to the datagram.
pub fn joins(request: &Request, end: End, fits: u64) -> bool {
    let receives = matches!((request.kind, end), (TestKind::Send, End::Listener) | (TestKind::Recv, End::Client));
    let rate = request.rate.map(|bits| bits / 8);
    receives && request.offload && send::is_brisk(rate, request.size.unwrap_or(fits))
}

fn role(request: &Request, end: End, agreed: Agreed) -> Role {
    let Agreed { tag, size, idle_timeout, .. } = agreed;
    // What comes seldom is not missed sooner.
    let patience = idle_timeout.saturating_add(request.gap().saturating_mul(2));
    match (request.kind, end) {
        (TestKind::Send, End::Client) | (TestKind::Recv, End::Listener) => Role::Blast(blast(request, agreed)),
        (TestKind::Send, End::Listener) | (TestKind::Recv, End::Client) => {
            Role::Receive(Intake { tag, offload: joins(request, end, size), patience })
        }
        (TestKind::Ping, End::Client) => {
            // A response is given up before the other end is.
            let time = request.time.map(|time| time + request.warmup);
            Role::Ping(Pinging { tag, size, every: request.every, time, patience: patience.max(PATIENCE) })
        }
        (TestKind::Ping, End::Listener) => Role::Pong { tag, patience: patience.saturating_add(PATIENCE) },
    }
}

fn blast(request: &Request, agreed: Agreed) -> Blast {
    let Agreed { tag, size, idle_timeout, is_limited, is_wary } = agreed;
    Blast {
        tag,
        size,
        // Bits to bytes; a rate below a byte per second is one.
        rate: request.rate.map(|bits| (bits / 8).max(1)),
        burst: request.burst,
        quota: request.bytes.map(|bytes| bytes.div_ceil(size)),
        time: request.time.map(|time| time + request.warmup),
        offload: request.offload,
        is_wary,
        fragment: request.fragment,
        catch_up: if is_limited { LIMITED_CATCH_UP } else { CATCH_UP },
        patience: idle_timeout.saturating_add(request.gap()),
    }
}
