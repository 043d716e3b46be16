//! Whether lines go on as before: what depends on their columns is found once for each layout in a row.

use common::lines::Line;

use crate::sample::Spot;

/// The layout of the line before, and its file: a layout's number is one of its own file only.
#[derive(Debug, Default)]
pub struct LastLayout(Option<(u32, usize)>);

impl LastLayout {
    /// Whether the line at `spot` has another one.
    pub fn changes(&mut self, spot: Spot, line: &Line<'_>) -> bool {
        let layout = Some((spot.file, line.layout().id()));
        let changes = self.0 != layout;
        self.0 = layout;
        changes
    }

    /// Whether there was no line at all.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }
}
