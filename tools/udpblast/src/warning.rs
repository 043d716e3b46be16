//! What is doubtful about a figure, and what to do about it.

use std::fmt;

use common::schema::line::Flag;

use crate::record::Record;

/// A doubt about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// So many datagrams were lost in the receiver's own socket.
    SocketDrops(u64),
    /// So many were lost, and nobody knows where.
    Unsplit(u64),
}

impl Warning {
    /// All doubts about a total.
    pub fn of(total: &Record) -> Vec<Self> {
        let drops = total.own.socket_drops.filter(|drops| *drops > 0);
        let unsplit = total.own.lost.filter(|_| total.line.flags.has(Flag::Unsplit));
        drops.map(Self::SocketDrops).into_iter().chain(unsplit.map(Self::Unsplit)).collect()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SocketDrops(drops) => write!(
                f,
                "{drops} datagrams were lost in the receiver's own socket buffer, not in the network: give it a larger \
                 one (sysctl net.core.rmem_max, or run the receiver as root), a CPU of its own, or a lower --rate"
            ),
            Self::Unsplit(lost) => write!(
                f,
                "where {lost} datagrams were lost cannot be told: a queue of the sender's host (tc -s qdisc) or the \
                 receiver's socket dropped some of them unsaid; --no-offload or a lower --rate tells more"
            ),
        }
    }
}
