//! What panels and the legend are drawn with alike: ink, lines and markers.

use plotters::backend::DrawingBackend;
use plotters::style::{RGBColor, WHITE};

use super::look::{Look, dashes};
use super::pen::Pen;

/// The colour of texts.
pub const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);

const LINE_WIDTH: f64 = 1.75;
/// Radius of a marker, and half the width of a range's ends.
pub const RADIUS: f64 = 3.75;

/// A line with its dashes.
pub fn line<B: DrawingBackend>(pen: &mut Pen<'_, B>, places: &[(f64, f64)], look: Look) -> anyhow::Result<()> {
    for piece in dashes(places, look.dash) {
        pen.line(&piece, look.colour, LINE_WIDTH)?;
    }
    Ok(())
}

/// A point with its form.
pub fn marker<B: DrawingBackend>(
    pen: &mut Pen<'_, B>,
    place: (f64, f64),
    look: Look,
    is_hollow: bool,
) -> anyhow::Result<()> {
    let mut form = |radius: f64, colour: RGBColor| match look.marker.corners() {
        [] => pen.disc(place, radius, colour),
        corners => {
            let corners = corners.iter().map(|(x, y)| (place.0 + x * radius, place.1 + y * radius));
            pen.area(&corners.collect::<Vec<_>>(), colour)
        }
    };
    form(RADIUS, look.colour)?;
    if is_hollow { form(RADIUS - 1.5, WHITE) } else { Ok(()) }
}
