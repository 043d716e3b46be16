//! Where packets were lost, in words, and what to do about it.

use std::fmt;

/// A layer that loses packets, from the card up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossPlace {
    Card,
    Softirq,
    Queue,
    Ip,
    Socket,
}

/// What is worth a word on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// So many packets were lost at a place.
    Lost(LossPlace, u64),
}

impl LossPlace {
    /// The word in the column `lost_at`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Softirq => "softirq",
            Self::Queue => "queue",
            Self::Ip => "ip",
            Self::Socket => "socket",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Card => "see the lines rx and tx, and ifstat stats; cable, duplex, ring size (ethtool -G)",
            Self::Softirq => {
                "the CPU was behind: spread the work (RPS, more queues), or raise net.core.netdev_max_backlog"
            }
            Self::Queue => "more was sent than the queueing discipline lets through (tc -s qdisc)",
            Self::Ip => "no memory, no route or fragments that did not fit (MTU)",
            Self::Socket => {
                "the application reads too slowly: larger socket buffers (net.core.rmem_max), or a faster reader"
            }
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(place, packets) => {
                write!(f, "{packets} packets lost at the {}: {}", place.word(), place.remedy())
            }
        }
    }
}
