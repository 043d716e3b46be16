//! A chart as it is before anybody draws it: panels, axes and marks, in values and not in pixels. The picture and the
//! terminal draw the same one.

pub mod axis;
pub mod clock;
mod remark;
pub mod thin;
pub mod unit;

use common::text;

pub use axis::{Axis, Scale};
pub use remark::Remark;

/// All that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    pub title: String,
    /// How to read it, in a sentence or none.
    pub caption: String,
    pub panels: Vec<Panel>,
    /// Names of the series, by the number that marks carry; one alone needs no legend.
    pub legend: Vec<String>,
    pub arrangement: Arrangement,
    /// What the user should know of what is not drawn.
    pub remarks: Vec<Remark>,
}

impl Chart {
    /// A label may hold anything: nothing of it may move the cursor, or stand in an XML file that then is none.
    pub fn make_harmless(&mut self) {
        let panels = self.panels.iter_mut().flat_map(|panel| {
            let ticks = panel.x.ticks.iter_mut().chain(&mut panel.y.ticks).map(|tick| &mut tick.text);
            ticks.chain([&mut panel.heading, &mut panel.x.title, &mut panel.y.title])
        });
        for said in panels.chain(&mut self.legend).chain([&mut self.title, &mut self.caption]) {
            let is_harmful = |c: char| text::is_harmful(c) || matches!(c, '\u{fffe}' | '\u{ffff}');
            if said.contains(is_harmful) {
                *said = said.replace(is_harmful, "\u{fffd}");
            }
        }
    }
}

/// Whole pixels or characters: rounded down, and none of what is negative or no number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` keeps to the range")]
pub fn whole(length: f64) -> usize {
    length as usize
}

/// How the panels lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// One below the other.
    Stacked,
    /// One below the other over the same x axis, which the last one shows.
    SharedX,
    /// Side by side, two in a row.
    Grid,
}

/// One pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub heading: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Its share of the height, in relation to others.
    pub weight: f64,
}

/// What belongs together and looks alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Index in [`Chart::legend`], which picks colour, marker and dash.
    pub look: usize,
    pub marks: Vec<Mark>,
}

/// A place in values: x, y.
pub type Point = (f64, f64);

/// Something drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Points joined by lines.
    Line(Vec<Point>),
    /// Points that stand alone.
    Dots(Vec<Dot>),
    /// From a smallest to a largest value at the same x.
    Range { x: f64, low: f64, high: f64 },
    /// A row's median and the interval that it is known within.
    Median { row: f64, value: f64, interval: Option<(f64, f64)> },
}

/// A point that stands alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    pub at: Point,
    /// Drawn as an outline: flagged as doubtful.
    pub is_hollow: bool,
}
