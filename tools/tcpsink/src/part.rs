//! An end's part in a test, made from the request that both ends know.

use common::measure::crew::CpuList;
use common::measure::sample::Identity;
use common::schema::tcpsink::SCHEMA;

use crate::engine::Method;
use crate::engine::receive::{COPY, Intake};
use crate::engine::send::{MESSAGE, Sending};
use crate::plan::Plan;
use crate::request::{Request, TestKind, Way};
use crate::role::Role;
use crate::socket::Options;

/// Which end this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It asked.
    Client,
    /// It was asked.
    Sink,
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

/// The flow of one direction of `request` at one end.
pub fn plan(request: &Request, way: Way, end: End, speaker: &Speaker) -> Plan {
    let role = role(request, way, end);
    let identity = Identity {
        schema: SCHEMA.tag,
        host: speaker.host.clone(),
        label: speaker.label.clone(),
        test: role.test(),
        target: speaker.target.clone(),
        run: request.run,
    };
    Plan {
        identity,
        way,
        streams: request.streams,
        role,
        time: request.time,
        begins_at_once: true,
        warmup: request.warmup,
        interval: request.interval,
        per_stream: request.per_stream,
        idle_timeout: request.idle_timeout,
        max_time: None,
        max_bytes: None,
        buffer: request.buffer,
        cpus: CpuList::default(),
    }
}

fn role(request: &Request, way: Way, end: End) -> Role {
    match (way, end, request.kind) {
        (Way::Echo, End::Client, TestKind::Ping(sizes)) => Role::Ping(sizes, None),
        (Way::Echo, End::Sink, TestKind::Ping(sizes)) => Role::Pong(sizes),
        (Way::Up, End::Client, _) | (Way::Down, End::Sink, _) => Role::Send(Sending {
            quota: request.bytes,
            message: request.message.unwrap_or(MESSAGE),
            method: if request.method == Method::Auto { Method::Write } else { request.method },
            // Bits to bytes; a rate below a byte per second is one.
            rate: request.rate.map(|bits| (bits / 8).max(1)),
        }),
        _ if request.copy => Role::Receive(Intake::Copy(request.message.unwrap_or(COPY))),
        _ => Role::Receive(Intake::Discard),
    }
}

/// What the sockets of this end need. The congestion control matters to an end that sends.
pub fn options(request: &Request, sends: bool) -> Options {
    Options {
        buffer: request.buffer,
        congestion: request.congestion.clone().filter(|_| sends),
        dscp: request.dscp,
        nodelay: request.nodelay,
        ..Options::default()
    }
}
