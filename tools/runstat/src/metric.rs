//! A column that is calculated with, and what its lines say of it.

use common::lines::{ColumnIndex, Line, Wanted};
use common::schema::registry;
use common::schema::role::{RoleKind, Share};

use crate::collapse::{Piece, Rule};

/// A column that is calculated with.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    pub index: ColumnIndex,
    pub rule: Rule,
    /// Where the counts stand that its value is made of, as in [`Piece`].
    part: Option<ColumnIndex>,
    whole: Option<ColumnIndex>,
}

impl Metric {
    /// Wants the column `name`, and what its role needs.
    pub fn new(name: &str, wanted: &mut Wanted) -> Self {
        let role = registry::role(name);
        let (part, whole) = match role.kind {
            RoleKind::Share(Share::Of { part, whole } | Share::Without { part, whole }) => (Some(part), Some(whole)),
            RoleKind::Latency { of, .. } => (None, of),
            _ => (None, None),
        };
        let mut find = |name: Option<&str>| name.map(|name| wanted.column(name));
        let (part, whole) = (find(part), find(whole));
        Self { index: wanted.column(name), rule: Rule::of(role), part, whole }
    }

    /// What an interval of so many seconds says.
    pub fn piece(&self, line: &Line<'_>, seconds: f64) -> Piece {
        let count = |index: Option<ColumnIndex>| index.and_then(|index| line.figure(index));
        Piece { value: line.figure(self.index), seconds, part: count(self.part), whole: count(self.whole) }
    }
}
