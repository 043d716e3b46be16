//! One direction of a test at one end: what is to be done.

use std::time::Duration;

use common::measure::crew::CpuList;
use common::measure::sample::Identity;

use crate::request::Way;
use crate::role::Role;

/// One direction of a test, valid by construction.
#[derive(Debug)]
pub struct Plan {
    /// The columns that stay the same for all lines of a run.
    pub identity: Identity,
    /// Which way the payload goes.
    pub way: Way,
    /// Connections.
    pub streams: u64,
    /// What is done.
    pub role: Role,
    /// Planned length after the warm-up. It ends the end that leads; the other goes on to the last byte.
    pub time: Option<Duration>,
    /// The other end begins as soon as this one is ready: nothing was sent before.
    pub begins_at_once: bool,
    /// Not counted.
    pub warmup: Duration,
    /// Lines between.
    pub interval: Option<Duration>,
    /// Lines of each stream too.
    pub per_stream: bool,
    /// Give up after so long without a byte.
    pub idle_timeout: Duration,
    /// Give up after so long in any case.
    pub max_time: Option<Duration>,
    /// Give up after so many bytes.
    pub max_bytes: Option<u64>,
    /// Buffers asked for, bytes.
    pub buffer: Option<u64>,
    /// Where the workers run.
    pub cpus: CpuList,
}

impl Plan {
    /// The same direction with another role, which the lines name.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        let identity = Identity { test: role.test(), ..self.identity };
        Self { identity, role, ..self }
    }
}
