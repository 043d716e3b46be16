//! What the worker of a part does: the table of what differs between the verbs.

use std::net::UdpSocket;
use std::time::Duration;

use crate::engine::receive::{self, Intake};
use crate::engine::send::{self, Blast};
use crate::engine::{Inbox, Lane, ping};

/// What the worker does.
#[derive(Debug, Clone, Copy)]
pub enum Role {
    /// Send at a rate.
    Blast(Blast),
    /// Receive to the sender's end.
    Receive(Intake),
    /// Send requests.
    Ping {
        /// Names the test.
        tag: u32,
        /// Bytes.
        size: u64,
        /// Give up without a response.
        idle_timeout: Duration,
    },
    /// Answer them.
    Pong {
        /// Names the test.
        tag: u32,
        /// Give up without a request.
        idle_timeout: Duration,
    },
}

impl Role {
    /// The word in the test column.
    pub fn test(&self) -> &'static str {
        match self {
            Self::Blast(_) => "udp_send",
            Self::Receive(_) => "udp_recv",
            Self::Ping { .. } => "udp_ping",
            Self::Pong { .. } => "udp_pong",
        }
    }

    /// This end decides when the test ends.
    pub fn leads(&self) -> bool {
        matches!(self, Self::Blast(_) | Self::Ping { .. })
    }

    /// This end sends at a rate.
    pub fn sends(&self) -> bool {
        matches!(self, Self::Blast(_))
    }

    /// Datagrams go there and back.
    pub fn is_echo(&self) -> bool {
        matches!(self, Self::Ping { .. } | Self::Pong { .. })
    }

    /// The send buffer, not the receive buffer, is what matters to this end.
    pub fn fills_send_buffer(&self) -> bool {
        matches!(self, Self::Blast(_) | Self::Ping { .. })
    }

    /// Does it.
    pub fn run(&self, socket: &UdpSocket, lane: &Lane, inbox: &dyn Inbox) -> anyhow::Result<()> {
        match *self {
            Self::Blast(blast) => send::run(socket, &blast, lane),
            Self::Receive(intake) => receive::run(socket, intake, lane, inbox),
            Self::Ping { tag, size, idle_timeout } => ping::ping(socket, (tag, size), idle_timeout, lane, inbox),
            Self::Pong { tag, idle_timeout } => ping::pong(socket, tag, idle_timeout, lane, inbox),
        }
    }
}
