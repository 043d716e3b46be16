//! One end's part in a test: what is to be done.

use std::time::Duration;

use common::measure::sample::Identity;

use crate::role::Role;
use crate::udp::Route;

/// One end's part, valid by construction.
#[derive(Debug)]
pub struct Plan {
    /// The columns that stay the same for all lines of a run.
    pub identity: Identity,
    /// What is done.
    pub role: Role,
    /// up, down or echo.
    pub direction: &'static str,
    /// Bits of payload per second asked for.
    pub rate: Option<u64>,
    /// Bytes of a datagram.
    pub size: u64,
    /// The way there.
    pub route: Route,
    /// Buffers asked for, bytes.
    pub buffer: Option<u64>,
    /// Planned length after the warm-up.
    pub time: Option<Duration>,
    /// Not counted.
    pub warmup: Duration,
    /// Lines between.
    pub interval: Option<Duration>,
    /// Give up after so long in any case.
    pub max_time: Option<Duration>,
}
