//! What is doubtful about a figure, and what to do about it.

use std::fmt;

use crate::record::Record;

/// A doubt about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// So many datagrams were lost in the receiver's own socket.
    SocketDrops(u64),
}

impl Warning {
    /// All doubts about a total.
    pub fn of(total: &Record) -> Vec<Self> {
        let drops = total.own.socket_drops.filter(|drops| *drops > 0);
        drops.map(Self::SocketDrops).into_iter().collect()
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
        }
    }
}
