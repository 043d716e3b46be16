//! One direction of a test at one end: what is to be done, and what came of it.

use std::time::Duration;

use common::measure::crew::CpuList;
use common::measure::sample::Identity;
use common::schema::line::Flag;

use crate::record::Record;
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

/// How a flow ended.
#[derive(Debug)]
pub struct Finished {
    /// The line of the whole run; with `per_stream`, those of the streams before it.
    pub totals: Vec<Record>,
    /// Bytes moved, the warm-up's included.
    pub all_bytes: u64,
    /// It did not run to its planned end.
    pub is_cut: bool,
    /// Why, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
    /// What was done.
    pub role: Role,
}

impl Plan {
    /// The same direction with another role, which the lines name.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        let identity = Identity { test: role.test(), ..self.identity };
        Self { identity, role, ..self }
    }
}

impl Finished {
    /// This end sent the payload.
    pub fn sends(&self) -> bool {
        self.role.sends()
    }

    /// What was sent at one end has to arrive at the other.
    pub fn moves_payload(&self) -> bool {
        !matches!(self.role, Role::Ping(..) | Role::Pong(_) | Role::Connect(_))
    }

    /// Raises a flag on all totals if `holds`.
    pub fn raise_if(&mut self, holds: bool, flag: Flag) {
        for total in &mut self.totals {
            total.raise_if(holds, flag);
        }
    }

    /// Gives a stored file its name.
    pub fn complete(self) -> anyhow::Result<()> {
        if let Role::Store(output) = self.role { output.complete() } else { Ok(()) }
    }
}
