//! What the worker of a part does: the table of what differs between the verbs.

use std::net::UdpSocket;
use std::time::Duration;

use crate::engine::ping::{self, Pinging};
use crate::engine::receive::{self, Intake};
use crate::engine::send::{self, Blast};
use crate::engine::{Inbox, Lane};

/// What the worker does.
#[derive(Debug, Clone, Copy)]
pub enum Role {
    /// Send at a rate.
    Blast(Blast),
    /// Receive to the sender's end.
    Receive(Intake),
    /// Send requests.
    Ping(Pinging),
    /// Answer them.
    Pong {
        /// Names the test.
        tag: u32,
        /// Give up without a request.
        patience: Duration,
    },
}

impl Role {
    /// The word in the test column.
    pub fn test(&self) -> &'static str {
        match self {
            Self::Blast(_) => "udp_send",
            Self::Receive(_) => "udp_recv",
            Self::Ping(_) => "udp_ping",
            Self::Pong { .. } => "udp_pong",
        }
    }

    /// This end decides when the test ends.
    pub fn leads(&self) -> bool {
        matches!(self, Self::Blast(_) | Self::Ping(_))
    }

    /// This end sends at a rate.
    pub fn sends(&self) -> bool {
        matches!(self, Self::Blast(_))
    }

    /// Datagrams go there and back.
    pub fn is_echo(&self) -> bool {
        matches!(self, Self::Ping(_) | Self::Pong { .. })
    }

    /// The send buffer, not the receive buffer, is what matters to this end.
    pub fn fills_send_buffer(&self) -> bool {
        self.leads()
    }

    /// The share of one of so many streams: rate and amount are of all of them together.
    pub fn of_stream(&self, index: u64, streams: u64) -> Self {
        let share = |all: u64| all / streams + u64::from(index < all % streams);
        match *self {
            Self::Blast(blast) => Self::Blast(Blast {
                rate: blast.rate.map(|all| share(all).max(1)),
                quota: blast.quota.map(share),
                ..blast
            }),
            other => other,
        }
    }

    /// Does it, over one stream.
    pub fn run(&self, socket: &UdpSocket, stream: usize, lane: &Lane, inbox: &dyn Inbox) -> anyhow::Result<()> {
        match self {
            Self::Blast(blast) => send::run(socket, blast, lane),
            Self::Receive(intake) => receive::run(socket, stream, *intake, lane, inbox),
            Self::Ping(pinging) => ping::ping(socket, pinging, lane, inbox),
            Self::Pong { tag, patience } => ping::pong(socket, *tag, *patience, lane, inbox),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_streams_add_up() {
        let second = Duration::from_secs(1);
        let blast = Blast {
            tag: 1,
            size: 100,
            rate: Some(1003),
            burst: None,
            quota: Some(10),
            time: None,
            offload: true,
            is_wary: false,
            fragment: false,
            catch_up: second,
            patience: second,
        };
        let shares: Vec<_> = (0..4)
            .map(|index| match Role::Blast(blast).of_stream(index, 4) {
                Role::Blast(blast) => (blast.rate.unwrap(), blast.quota.unwrap()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(shares, [(251, 3), (251, 3), (251, 2), (250, 2)]);
    }
}
