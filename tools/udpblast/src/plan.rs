//! One end's part in a test: what is to be done.

use std::time::Duration;

use common::measure::crew::CpuList;
use common::measure::sample::Identity;

use crate::role::Role;
use crate::udp::Route;

/// One end's part, valid by construction.
#[derive(Debug)]
pub struct Plan {
    /// The columns that stay the same for all lines of a run.
    pub identity: Identity,
    /// What is done, by all streams together.
    pub role: Role,
    /// Sockets.
    pub streams: u64,
    /// Lines of each of them.
    pub per_stream: bool,
    /// up, down or echo.
    pub direction: &'static str,
    /// Bits of payload per second asked for.
    pub rate: Option<u64>,
    /// Between two pings.
    pub every: Option<Duration>,
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
    /// The workers' CPUs.
    pub cpus: CpuList,
}
