//! One line: the shared columns and a tool's own, typed until it is printed.

use serde::Serialize;

use crate::output;
use crate::schema::line::{Flag, Line};

/// One line of a tool whose own columns are `Own`.
#[derive(Debug, Clone, Default)]
pub struct Record<Own> {
    /// The shared columns.
    pub line: Line,
    /// The tool's own.
    pub own: Own,
}

impl<Own: Serialize> Record<Own> {
    /// Raises `flag` if `holds`.
    pub fn raise_if(&mut self, holds: bool, flag: Flag) {
        self.line.flags.raise_if(holds, flag);
    }

    /// The line as CSV, LF included.
    pub fn text(&self) -> anyhow::Result<String> {
        output::line_of(&(&self.line, &self.own))
    }
}
