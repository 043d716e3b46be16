//! What came of one direction of a test.

use common::schema::line::Flag;

use crate::record::Record;
use crate::role::Role;

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
