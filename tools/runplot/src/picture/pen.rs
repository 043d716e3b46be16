//! Drawing in pixels and parts of pixels, on any of the plotters backends.
//!
//! Those backends know whole units only. A pixel is therefore [`FINE`] of their units wide: an SVG says so in its view box,
//! a bitmap is averaged down at the end, which also smooths its edges.

use anyhow::anyhow;
use plotters::backend::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, ShapeStyle, TextStyle, register_font};

use crate::chart::whole;

/// A place in units of the backend.
type BackendCoord = (i32, i32);

/// Units of the backend in a pixel.
pub const FINE: u32 = 4;

/// The name that the font has in an SVG, whose viewer has one of its own; texts are measured, and bitmaps drawn, with the
/// font that is built in.
const FAMILY: FontFamily<'_> = FontFamily::SansSerif;

/// plotters gives a font's height from its highest to its lowest letter; people know the size of its square.
const HEIGHT_OF_SIZE: f64 = 1.24;

/// Whatever a backend said.
pub fn error_of(error: &impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}

/// Makes the built-in font known: `DejaVu` Sans, so that a machine without fonts draws, and measures, like any other.
pub fn load_font() -> anyhow::Result<()> {
    register_font(FAMILY.as_str(), FontStyle::Normal, dejavu::sans::regular())
        .map_err(|_| anyhow!("cannot load the built-in font"))
}

/// A backend to draw on.
#[derive(Debug)]
pub struct Pen<'a, B> {
    pub backend: &'a mut B,
    /// How far below its place a text has to be drawn to be centred there, as a share of its size: an SVG viewer centres
    /// small letters, a bitmap the highest and lowest.
    pub drop: f64,
}

/// Where a text lies, seen from the place that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Left,
    Right,
    Middle,
    /// In the middle, and running upwards.
    Upwards,
}

impl<B: DrawingBackend> Pen<'_, B> {
    /// A line through points.
    pub fn line(&mut self, points: &[(f64, f64)], colour: RGBColor, width: f64) -> anyhow::Result<()> {
        let style = stroke(colour, width);
        let path: Vec<BackendCoord> = points.iter().map(|point| unit(*point)).collect();
        if path.len() > 1 { self.backend.draw_path(path, &style).map_err(|error| error_of(&error)) } else { Ok(()) }
    }

    /// A filled area.
    pub fn area(&mut self, corners: &[(f64, f64)], colour: RGBColor) -> anyhow::Result<()> {
        let corners = corners.iter().map(|corner| unit(*corner));
        self.backend.fill_polygon(corners, &ShapeStyle::from(colour).filled()).map_err(|error| error_of(&error))
    }

    /// A filled rectangle from one corner to the other.
    pub fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), colour: RGBColor) -> anyhow::Result<()> {
        self.backend
            .draw_rect(unit(from), unit(to), &ShapeStyle::from(colour).filled(), true)
            .map_err(|error| error_of(&error))
    }

    /// A filled circle.
    pub fn disc(&mut self, centre: (f64, f64), radius: f64, colour: RGBColor) -> anyhow::Result<()> {
        let radius = u32::try_from(coordinate(radius)).unwrap_or_default();
        self.backend
            .draw_circle(unit(centre), radius, &ShapeStyle::from(colour).filled(), true)
            .map_err(|error| error_of(&error))
    }

    /// A text, vertically centred at its place.
    pub fn text(
        &mut self,
        text: &str,
        size: f64,
        at: (f64, f64),
        anchor: Anchor,
        colour: RGBColor,
    ) -> anyhow::Result<()> {
        let (h_pos, transform) = match anchor {
            Anchor::Left => (HPos::Left, FontTransform::None),
            Anchor::Right => (HPos::Right, FontTransform::None),
            Anchor::Middle => (HPos::Center, FontTransform::None),
            Anchor::Upwards => (HPos::Center, FontTransform::Rotate270),
        };
        let style = TextStyle::from(font(size).transform(transform)).color(&colour).pos(Pos::new(h_pos, VPos::Center));
        let drop = self.drop * size;
        let at = if anchor == Anchor::Upwards { (at.0 + drop, at.1) } else { (at.0, at.1 + drop) };
        self.backend.draw_text(text, &style, unit(at)).map_err(|error| error_of(&error))
    }

    /// How wide a text is, pixels.
    pub fn width(&self, text: &str, size: f64) -> anyhow::Result<f64> {
        let style = TextStyle::from(font(size));
        let (width, _) = self.backend.estimate_text_size(text, &style).map_err(|error| error_of(&error))?;
        Ok(f64::from(width) / f64::from(FINE))
    }

    /// The text, its middle left out where it is wider than `room`.
    pub fn fitting(&self, text: &str, size: f64, room: f64) -> anyhow::Result<String> {
        let letters: Vec<char> = text.chars().collect();
        let mut kept = letters.len();
        let mut fitting = text.to_owned();
        while kept > 1 && self.width(&fitting, size)? > room {
            // As much less as it is too wide, so that long texts take few turns.
            let share = room / self.width(&fitting, size)?.max(1.0);
            kept = whole(kept as f64 * share).clamp(1, kept - 1);
            let (head, tail) = (kept.div_ceil(2), letters.len() - kept / 2);
            fitting = letters[..head].iter().chain(&['…']).chain(&letters[tail..]).collect();
        }
        Ok(fitting)
    }
}

fn font(size: f64) -> FontDesc<'static> {
    FontDesc::new(FAMILY, size * HEIGHT_OF_SIZE * f64::from(FINE), FontStyle::Normal)
}

fn stroke(colour: RGBColor, width: f64) -> ShapeStyle {
    ShapeStyle::from(colour).stroke_width(u32::try_from(coordinate(width)).unwrap_or(1).max(1))
}

fn unit(point: (f64, f64)) -> BackendCoord {
    (coordinate(point.0), coordinate(point.1))
}

#[allow(clippy::cast_possible_truncation, reason = "`as` keeps to the range, and a picture has some thousand pixels")]
fn coordinate(pixels: f64) -> i32 {
    (pixels * f64::from(FINE)).round() as i32
}
