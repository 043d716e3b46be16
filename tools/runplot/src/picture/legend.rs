//! The legend: above the panels, where it covers no values, in as many rows as it needs.

use plotters::backend::DrawingBackend;

use super::frame::{Area, GAP, TICK};
use super::look::Look;
use super::pen::{Anchor, Pen};
use super::strokes::{INK, line, marker};

/// Length of the piece of line before a name.
const SAMPLE: f64 = 34.0;

/// Height of a row.
const ROW: f64 = TICK + GAP;

/// Draws the names from the area's top down, and returns where it ended.
pub fn draw<B: DrawingBackend>(pen: &mut Pen<'_, B>, names: &[String], area: Area) -> anyhow::Result<f64> {
    let (mut left, mut top) = (area.left, area.top);
    for (number, name) in names.iter().enumerate() {
        let name = pen.fitting(name, TICK, area.width() - SAMPLE - GAP)?;
        let width = SAMPLE + GAP / 2.0 + pen.width(&name, TICK)?;
        if left > area.left && left + width > area.right {
            (left, top) = (area.left, top + ROW);
        }
        let (look, middle) = (Look::of(number), top + ROW / 2.0);
        line(pen, &[(left, middle), (left + SAMPLE, middle)], look)?;
        marker(pen, (left + SAMPLE / 2.0, middle), look, false)?;
        pen.text(&name, TICK, (left + SAMPLE + GAP / 2.0, middle), Anchor::Left, INK)?;
        left += width + 2.5 * GAP;
    }
    Ok(top + ROW + GAP / 2.0)
}
