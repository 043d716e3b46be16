//! Draws a chart: texts, grid, marks, in this order, so that marks are never covered.

use std::collections::BTreeSet;

use plotters::backend::DrawingBackend;
use plotters::style::{RGBColor, WHITE};

use super::frame::{AXIS, Area, CAPTION, Frame, GAP, HEADING, TICK, TITLE, frames};
use super::legend;
use super::look::Look;
use super::pen::{Anchor, Pen};
use super::strokes::{INK, RADIUS, line, marker};
use crate::chart::thin::thin;
use crate::chart::{Axis, Chart, Dot, Mark, Panel, Point, whole};

const FAINT: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);

/// Around everything.
const MARGIN: f64 = 14.0;

/// A line with more points than that has a marker on some of them only; on none if there is no other series.
const MARKED: usize = 40;
/// From so many dots on, a picture is not made larger by those that nobody sees.
const MANY: usize = 1000;

/// A line with more points than that has no dashes.
const DASHED: usize = 300;
/// On how many.
const SOME: usize = 10;

/// Half the heights of a median's bar and of its interval, as shares of a row.
const BAR: f64 = 0.36;
const BOX: f64 = 0.26;

/// Draws the whole chart on a picture of this size.
pub fn chart<B: DrawingBackend>(
    pen: &mut Pen<'_, B>,
    chart: &Chart,
    (width, height): (u32, u32),
) -> anyhow::Result<()> {
    let (width, height) = (f64::from(width), f64::from(height));
    pen.rectangle((0.0, 0.0), (width, height), WHITE)?;
    let mut area = Area { left: MARGIN, top: MARGIN, right: width - MARGIN, bottom: height - MARGIN };
    let title = pen.fitting(&chart.title, TITLE, area.width())?;
    pen.text(&title, TITLE, (area.left, area.top + TITLE / 2.0), Anchor::Left, INK)?;
    area.top += TITLE + GAP;
    if chart.legend.len() > 1 {
        area.top = legend::draw(pen, &chart.legend, area)?;
    }
    if !chart.caption.is_empty() {
        let caption = pen.fitting(&chart.caption, CAPTION, area.width())?;
        pen.text(&caption, CAPTION, (area.left, area.bottom - CAPTION / 2.0), Anchor::Left, FAINT)?;
        area.bottom -= CAPTION + GAP;
    }
    for (frame, panel) in frames(pen, chart, area)?.iter().zip(&chart.panels) {
        axes(pen, frame, panel)?;
        marks(pen, frame, panel, chart.legend.len() == 1)?;
    }
    Ok(())
}

fn axes<B: DrawingBackend>(pen: &mut Pen<'_, B>, frame: &Frame, panel: &Panel) -> anyhow::Result<()> {
    let Area { left, top, right, bottom } = frame.plot;
    if !panel.heading.is_empty() {
        pen.text(&panel.heading, HEADING, (left, top - GAP / 2.0 - HEADING / 2.0), Anchor::Left, INK)?;
    }
    for tick in &panel.y.ticks {
        let Some(y) = panel.y.scale.share(tick.at).map(|share| bottom - share * frame.plot.height()) else { continue };
        if panel.y.has_grid {
            pen.line(&[(left, y), (right, y)], GRID, 1.0)?;
        }
        let text = pen.fitting(&tick.text, TICK, frame.ticks + 1.0)?;
        pen.text(&text, TICK, (left - GAP, y), Anchor::Right, INK)?;
    }
    x_ticks(pen, frame, &panel.x)?;
    pen.line(&[(left, top), (left, bottom), (right, bottom)], FAINT, 1.0)?;
    if frame.has_x && !panel.x.title.is_empty() {
        let title = pen.fitting(&panel.x.title, AXIS, right - left)?;
        let y = bottom + TICK + 2.0 * GAP + AXIS / 2.0;
        pen.text(&title, AXIS, (f64::midpoint(left, right), y), Anchor::Middle, INK)?;
    }
    if !panel.y.title.is_empty() {
        let title = pen.fitting(&panel.y.title, AXIS, frame.whole.height())?;
        let x = left - 2.0 * GAP - frame.ticks - AXIS / 2.0;
        // Centred on the plot, unless it is longer: then on the panel.
        let (middle, half) = (f64::midpoint(top, bottom), pen.width(&title, AXIS)? / 2.0);
        let middle = middle.max(frame.whole.top + half).min(frame.whole.bottom - half);
        pen.text(&title, AXIS, (x, middle), Anchor::Upwards, INK)?;
    }
    Ok(())
}

/// The x axis: a tick whose text would touch the one before it has none.
fn x_ticks<B: DrawingBackend>(pen: &mut Pen<'_, B>, frame: &Frame, axis: &Axis) -> anyhow::Result<()> {
    let Area { left, top, bottom, .. } = frame.plot;
    let mut taken = f64::NEG_INFINITY;
    for tick in &axis.ticks {
        let Some(x) = axis.scale.share(tick.at).map(|share| left + share * frame.plot.width()) else { continue };
        if axis.has_grid {
            pen.line(&[(x, top), (x, bottom)], GRID, 1.0)?;
        }
        if frame.has_x {
            pen.line(&[(x, bottom), (x, bottom + GAP / 2.0)], FAINT, 1.0)?;
            let half = pen.width(&tick.text, TICK)? / 2.0;
            if x - half > taken {
                pen.text(&tick.text, TICK, (x, bottom + GAP + TICK / 2.0), Anchor::Middle, INK)?;
                taken = x + half + GAP;
            }
        }
    }
    Ok(())
}

fn marks<B: DrawingBackend>(pen: &mut Pen<'_, B>, frame: &Frame, panel: &Panel, is_alone: bool) -> anyhow::Result<()> {
    let all = || panel.series.iter().flat_map(|series| series.marks.iter().map(|mark| (Look::of(series.look), mark)));
    for (look, mark) in all() {
        match mark {
            Mark::Range { x, low, high } => range(pen, frame, panel, look, (*x, *low, *high))?,
            Mark::Median { row, interval: Some((low, high)), .. } => {
                let corners = frame.place(panel, (*low, row - BOX)).zip(frame.place(panel, (*high, row + BOX)));
                if let Some((from, to)) = corners {
                    // An interval of equal values is still seen.
                    pen.rectangle((from.0 - 1.0, from.1), (to.0 + 1.0, to.1), pale(look.colour))?;
                }
            }
            _ => {}
        }
    }
    for (look, mark) in all() {
        if let Mark::Line(points) = mark {
            curve(pen, frame, panel, look, points, is_alone)?;
        }
    }
    for (look, mark) in all() {
        match mark {
            Mark::Dots(dots) => scatter(pen, frame, panel, look, dots)?,
            Mark::Median { row, value, .. } => {
                let ends = frame.place(panel, (*value, row - BAR)).zip(frame.place(panel, (*value, row + BAR)));
                if let Some((from, to)) = ends {
                    pen.rectangle((from.0 - 1.25, from.1), (to.0 + 1.25, to.1), INK)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Dots; of very many that lie on each other, one.
fn scatter<B: DrawingBackend>(
    pen: &mut Pen<'_, B>,
    frame: &Frame,
    panel: &Panel,
    look: Look,
    dots: &[Dot],
) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for dot in dots {
        let Some(place) = frame.place(panel, dot.at) else { continue };
        let spot = (whole(place.0 / RADIUS * 2.0), whole(place.1 / RADIUS * 2.0), dot.is_hollow);
        if dots.len() < MANY || seen.insert(spot) {
            marker(pen, place, look, dot.is_hollow)?;
        }
    }
    Ok(())
}

fn range<B: DrawingBackend>(
    pen: &mut Pen<'_, B>,
    frame: &Frame,
    panel: &Panel,
    look: Look,
    (x, low, high): (f64, f64, f64),
) -> anyhow::Result<()> {
    let Some((from, to)) = frame.place(panel, (x, low)).zip(frame.place(panel, (x, high))) else { return Ok(()) };
    for end in [from, to] {
        pen.line(&[(end.0 - RADIUS, end.1), (end.0 + RADIUS, end.1)], look.colour, 1.0)?;
    }
    pen.line(&[from, to], look.colour, 1.0)
}

fn curve<B: DrawingBackend>(
    pen: &mut Pen<'_, B>,
    frame: &Frame,
    panel: &Panel,
    look: Look,
    points: &[Point],
    is_alone: bool,
) -> anyhow::Result<()> {
    // Two columns a pixel: what they cannot show nobody sees.
    let thinned = thin(points, panel.x.scale, whole(frame.plot.width() * 2.0));
    let places: Vec<(f64, f64)> = thinned.iter().filter_map(|point| frame.place(panel, *point)).collect();
    // Dashes of a line that goes up and down at every pixel are noise.
    let look_of_line = if places.len() > DASHED { Look { dash: &[], ..look } } else { look };
    line(pen, &places, look_of_line)?;
    let step = if places.len() > MARKED { places.len().div_ceil(SOME) } else { 1 };
    if step > 1 && is_alone {
        return Ok(());
    }
    for place in places.iter().skip(step / 2).step_by(step) {
        marker(pen, *place, look, false)?;
    }
    Ok(())
}

/// A colour on its way to white.
fn pale(colour: RGBColor) -> RGBColor {
    let pale = |part: u8| u8::try_from((u32::from(part) + 3 * 255) / 4).unwrap_or(u8::MAX);
    RGBColor(pale(colour.0), pale(colour.1), pale(colour.2))
}
