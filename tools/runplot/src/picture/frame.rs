//! Where things lie: the plot of each panel, with room for the texts around it.

use common::cli::Usage;
use plotters::backend::DrawingBackend;

use super::pen::Pen;
use crate::chart::{Arrangement, Chart, Panel, Point};

/// Sizes of texts, pixels.
pub const TITLE: f64 = 17.0;
pub const HEADING: f64 = 14.0;
pub const AXIS: f64 = 13.0;
pub const TICK: f64 = 12.0;
pub const CAPTION: f64 = 11.0;

/// Between things.
pub const GAP: f64 = 8.0;

/// Most of a panel's width that names of rows may take.
const NAMES: f64 = 0.38;

/// Least width and height of a plot.
const LEAST: (f64, f64) = (60.0, 24.0);

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// A panel's place.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Where values lie.
    pub plot: Area,
    /// Everything of the panel.
    pub whole: Area,
    /// Whether the x axis is named below it.
    pub has_x: bool,
    /// Widest tick of the y axis.
    pub ticks: f64,
}

impl Area {
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

impl Frame {
    /// The place of values; `None` of what the axes have no place for.
    pub fn place(&self, panel: &Panel, (x, y): Point) -> Option<(f64, f64)> {
        let (right, up) = (panel.x.scale.share(x)?, panel.y.scale.share(y)?);
        Some((self.plot.left + right * self.plot.width(), self.plot.bottom - up * self.plot.height()))
    }
}

/// Divides the area between the panels.
pub fn frames<B: DrawingBackend>(pen: &Pen<'_, B>, chart: &Chart, area: Area) -> anyhow::Result<Vec<Frame>> {
    let mut frames = Vec::new();
    for (whole, (index, panel)) in wholes(chart, area).into_iter().zip(chart.panels.iter().enumerate()) {
        let has_x = chart.arrangement != Arrangement::SharedX || index + 1 == chart.panels.len();
        let mut ticks: f64 = 0.0;
        for tick in &panel.y.ticks {
            ticks = ticks.max(pen.width(&tick.text, TICK)?);
        }
        ticks = ticks.min(whole.width() * NAMES);
        let title = if panel.y.title.is_empty() { 0.0 } else { AXIS + GAP };
        let last = panel.x.ticks.last().map_or(Ok(0.0), |tick| pen.width(&tick.text, TICK))?;
        let left = whole.left + title + ticks + GAP;
        let top = whole.top + if panel.heading.is_empty() { TICK / 2.0 } else { HEADING + GAP };
        let below = if !has_x {
            TICK / 2.0
        } else if panel.x.title.is_empty() {
            TICK + GAP
        } else {
            TICK + AXIS + 2.5 * GAP
        };
        let plot = Area {
            left,
            top,
            right: whole.right - (last / 2.0).clamp(GAP, whole.width() / 8.0),
            bottom: whole.bottom - below,
        };
        frames.push(Frame { plot, whole, has_x, ticks });
    }
    if frames.iter().any(|frame| frame.plot.width() < LEAST.0 || frame.plot.height() < LEAST.1) {
        let panels = chart.panels.len();
        return Err(Usage(format!("--size leaves no room for {panels} panels, {} names", chart.legend.len())).into());
    }
    // What stands below each other begins and ends together.
    let columns = columns(chart);
    for column in 0..columns {
        let plots = || frames.iter().skip(column).step_by(columns).map(|frame| frame.plot);
        let left = plots().fold(0.0_f64, |left, plot| left.max(plot.left));
        let right = plots().fold(f64::INFINITY, |right, plot| right.min(plot.right));
        for frame in frames.iter_mut().skip(column).step_by(columns) {
            (frame.plot.left, frame.plot.right) = (left, right);
        }
    }
    Ok(frames)
}

/// Panels side by side.
fn columns(chart: &Chart) -> usize {
    if chart.arrangement == Arrangement::Grid { chart.panels.len().clamp(1, 2) } else { 1 }
}

fn wholes(chart: &Chart, area: Area) -> Vec<Area> {
    let count = chart.panels.len();
    if chart.arrangement == Arrangement::Grid {
        let columns = columns(chart);
        let (width, height) = (area.width() / columns as f64, area.height() / count.div_ceil(columns) as f64);
        let place = |index: usize| (index % columns, index / columns);
        return (0..count)
            .map(place)
            .map(|(column, row)| {
                let (left, top) = (area.left + column as f64 * width, area.top + row as f64 * height);
                Area {
                    left: left + if column > 0 { GAP } else { 0.0 },
                    top,
                    right: left + width,
                    bottom: top + height - GAP,
                }
            })
            .collect();
    }
    // The one that names the shared axis has as much room for its values as it is due all the same.
    let below = if chart.arrangement == Arrangement::SharedX { TICK + AXIS + 2.0 * GAP } else { 0.0 };
    let sum: f64 = chart.panels.iter().map(|panel| panel.weight).sum();
    let mut top = area.top;
    let panels = chart.panels.iter().enumerate();
    panels
        .map(|(index, panel)| {
            let height = (area.height() - below) * panel.weight / sum + if index + 1 == count { below } else { 0.0 };
            let whole = Area { top, bottom: top + height, ..area };
            top += height;
            whole
        })
        .collect()
}
