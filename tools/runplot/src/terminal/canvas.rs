//! A panel's plot in characters: lines of braille with the series' sign on them, or made of signs where there are no colours.

use crate::chart::whole;
use crate::kinds::MOST_SERIES;

/// Dots of a character across and down.
const ACROSS: usize = 2;
const DOWN: usize = 4;

/// The bit of a dot in a braille character, by row and column (Unicode 15, 21.1).
const DOTS: [[u8; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Signs of series, for those who cannot tell colours, or have none: letters that every font has. One for each series.
const SIGNS: [char; MOST_SERIES] = ['*', 'o', '+', 'x', '#', '@', '%', '&', '$', '=', 'a', 'b', 'c', 'd', 'e', 'f'];

/// Columns from one sign of a line to the next.
const BETWEEN_SIGNS: usize = 10;

/// Colours of series: SGR of the sixteen that every terminal has, the readable ones on dark and on light.
const COLOURS: [u8; 6] = [34, 31, 32, 35, 36, 33];

/// How series look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub is_ascii: bool,
    pub has_colours: bool,
    /// Whether more than one series has to be told apart.
    pub has_several: bool,
}

impl Style {
    /// Whether lines consist of signs.
    fn is_of_signs(self) -> bool {
        self.is_ascii || (self.has_several && !self.has_colours)
    }

    /// What stands for a series in the legend.
    pub fn sign(self, look: usize) -> String {
        self.painted(&sign_of(look).to_string(), Some(look))
    }

    fn painted(self, text: &str, look: Option<usize>) -> String {
        match look.filter(|_| self.has_colours) {
            Some(look) => format!("\u{1b}[{}m{text}\u{1b}[0m", COLOURS[look % COLOURS.len()]),
            None => text.to_owned(),
        }
    }
}

fn sign_of(look: usize) -> char {
    SIGNS[look % SIGNS.len()]
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    dots: u8,
    sign: Option<char>,
    look: Option<usize>,
}

/// Characters to draw on.
#[derive(Debug)]
pub struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
    style: Style,
}

impl Canvas {
    /// An empty one.
    pub fn new(columns: usize, rows: usize, style: Style) -> Self {
        Self { columns, rows, cells: vec![Cell::default(); columns * rows], style }
    }

    /// Draws a dot at shares of width and height, from the lower left.
    pub fn dot(&mut self, at: (f64, f64), look: usize) {
        let (x, y) = self.fine(at);
        self.fine_dot(x, y, look);
    }

    /// Draws a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), look: usize) {
        let (from, to) = (self.fine(from), self.fine(to));
        let (width, height) = (to.0 as f64 - from.0 as f64, to.1 as f64 - from.1 as f64);
        let steps = whole(width.abs().max(height.abs()).max(1.0));
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let (x, y) = (from.0 as f64 + width * share, from.1 as f64 + height * share);
            self.fine_dot(whole(x.round()), whole(y.round()), look);
        }
    }

    /// Puts the series' sign on some points of its line, where there is more than one to tell apart: on all if they are few.
    pub fn signs(&mut self, points: &[(f64, f64)], look: usize) {
        if !self.style.has_several || self.style.is_of_signs() {
            return;
        }
        let columns: Vec<usize> = points.iter().map(|at| self.fine(*at).0 / ACROSS).collect();
        let wide = columns.last().zip(columns.first()).map_or(0, |(last, first)| last.saturating_sub(*first));
        let are_few = points.len() <= 1 + wide / (BETWEEN_SIGNS / 2);
        // Lines that lie on each other have their signs beside each other.
        let stretch = |column: usize| (column + look * 3) / BETWEEN_SIGNS;
        let begins = |index: &usize| *index > 0 && stretch(columns[*index - 1]) != stretch(columns[*index]);
        let mut chosen: Vec<usize> = (0..points.len()).filter(|index| are_few || begins(index)).collect();
        if chosen.is_empty() {
            chosen.extend((!points.is_empty()).then_some(points.len() / 2));
        }
        for index in chosen {
            self.sign(points[index], sign_of(look), look);
        }
    }

    /// Puts a character over what is there.
    pub fn sign(&mut self, at: (f64, f64), sign: char, look: usize) {
        let (x, y) = self.fine(at);
        if let Some(cell) = self.cells.get_mut(y / DOWN * self.columns + x / ACROSS) {
            (cell.sign, cell.look) = (Some(sign), Some(look));
        }
    }

    fn fine(&self, (right, up): (f64, f64)) -> (usize, usize) {
        let (width, height) = (self.columns * ACROSS, self.rows * DOWN);
        let place = |share: f64, length: usize| whole(share * length as f64).min(length.saturating_sub(1));
        (place(right, width), place(1.0 - up, height))
    }

    fn fine_dot(&mut self, x: usize, y: usize, look: usize) {
        let Some(cell) = self.cells.get_mut(y / DOWN * self.columns + x / ACROSS) else { return };
        if self.style.is_of_signs() {
            cell.sign = Some(sign_of(look));
        }
        cell.dots |= DOTS[y % DOWN][x % ACROSS];
        cell.look = Some(look);
    }

    /// The rows as text, from the top.
    pub fn rows(&self) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns.max(1)).map(|row| {
            let letter = |cell: &Cell| {
                let braille = char::from_u32(0x2800 + u32::from(cell.dots)).filter(|_| cell.dots > 0);
                cell.sign.or(braille).unwrap_or(' ')
            };
            let alike = row.chunk_by(|one, next| one.look == next.look);
            let painted =
                alike.map(|cells| self.style.painted(&cells.iter().map(letter).collect::<String>(), cells[0].look));
            painted.collect::<String>().trim_end().to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { is_ascii: false, has_colours: false, has_several: false };

    fn drawn(style: Style) -> Vec<String> {
        let mut canvas = Canvas::new(4, 2, style);
        canvas.line((0.0, 0.0), (1.0, 1.0), 0);
        canvas.dot((1.0, 0.0), 1);
        canvas.rows().collect()
    }

    #[test]
    fn a_line_goes_from_corner_to_corner() {
        assert_eq!(drawn(PLAIN), ["⠀⠀⡠⠊".replace('⠀', " "), "⡠⠊ ⢀".into()]);
    }

    #[test]
    fn without_colours_series_have_signs() {
        assert_eq!(drawn(Style { has_several: true, ..PLAIN }), ["  **", "** o"]);
        assert_eq!(drawn(Style { is_ascii: true, ..PLAIN })[0], "  **");
        assert!(drawn(Style { has_several: true, has_colours: true, ..PLAIN })[0].contains("\u{1b}[34m"));
    }

    #[test]
    fn lines_with_colours_have_signs_too() {
        let style = Style { has_several: true, has_colours: true, ..PLAIN };
        let signs = |points: &[(f64, f64)], look| {
            let mut canvas = Canvas::new(60, 1, style);
            canvas.signs(points, look);
            canvas.rows().next().unwrap()
        };
        let of = |row: &str| row.chars().filter(|c| SIGNS.contains(c)).collect::<String>();
        let dense: Vec<_> = (0..120).map(|step| (f64::from(step) / 120.0, 0.5)).collect();
        assert_eq!(of(&signs(&dense, 1)), "oooooo");
        assert_ne!(signs(&dense, 0).find('*'), signs(&dense, 1).find('o'), "side by side");
        assert_eq!(of(&signs(&[(0.1, 0.5), (0.5, 0.5), (0.9, 0.5)], 2)), "+++", "few points have one each");
        assert_eq!(SIGNS.iter().collect::<std::collections::BTreeSet<_>>().len(), SIGNS.len());
    }

    #[test]
    fn nothing_is_drawn_outside() {
        let mut canvas = Canvas::new(2, 1, PLAIN);
        for at in [(-1.0, -1.0), (2.0, 2.0), (f64::NAN, 0.5)] {
            canvas.dot(at, 0);
            canvas.signs(&[at, at], 0);
            canvas.line(at, (0.0, 0.0), 0);
        }
        assert_eq!(canvas.rows().count(), 1);
        Canvas::new(0, 0, PLAIN).dot((0.5, 0.5), 0);
    }
}
