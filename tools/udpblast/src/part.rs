//! An end's part in a test, made from the request that both ends know.

use std::net::UdpSocket;
use std::time::Duration;

use common::measure::sample::Identity;
use common::schema::udpblast::SCHEMA;

use crate::engine::receive::Intake;
use crate::engine::send::Blast;
use crate::plan::Plan;
use crate::request::{Request, TestKind};
use crate::role::Role;
use crate::udp;

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
}

/// The part of `end` in `request`, over a socket that is connected and prepared.
pub fn plan(request: &Request, end: End, agreed: Agreed, speaker: Speaker, socket: &UdpSocket) -> anyhow::Result<Plan> {
    let role = role(request, end, agreed);
    let Speaker { host, label, target } = speaker;
    Ok(Plan {
        identity: Identity { schema: SCHEMA.tag, host, label, test: role.test(), target, run: request.run },
        role,
        direction: request.kind.direction(),
        rate: request.rate,
        size: agreed.size,
        route: udp::route(socket)?,
        buffer: request.buffer,
        time: request.time,
        warmup: request.warmup,
        interval: request.interval,
        max_time: None,
    })
}

fn role(request: &Request, end: End, agreed: Agreed) -> Role {
    let Agreed { tag, size, idle_timeout } = agreed;
    match (request.kind, end) {
        (TestKind::Send, End::Client) | (TestKind::Recv, End::Listener) => Role::Blast(blast(request, tag, size)),
        (TestKind::Send, End::Listener) | (TestKind::Recv, End::Client) => {
            Role::Receive(Intake { tag, offload: request.offload, idle_timeout })
        }
        (TestKind::Ping, End::Client) => Role::Ping { tag, size, idle_timeout },
        (TestKind::Ping, End::Listener) => Role::Pong { tag, idle_timeout },
    }
}

fn blast(request: &Request, tag: u32, size: u64) -> Blast {
    Blast {
        tag,
        size,
        // Bits to bytes; a rate below a byte per second is one.
        rate: request.rate.map(|bits| (bits / 8).max(1)),
        burst: request.burst,
        quota: request.bytes.map(|bytes| bytes.div_ceil(size)),
        time: request.time.map(|time| time + request.warmup),
        offload: request.offload,
        fragment: request.fragment,
    }
}
