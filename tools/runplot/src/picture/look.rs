//! How series are told apart: by colours that colour-blind people can tell, and in grey by markers and dashes.

use plotters::style::RGBColor;

/// The palette of Okabe and Ito (Color Universal Design, 2008) without its yellow, which is too faint on white.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xe6, 0x9f, 0x00),
];

/// Lengths of ink and gap in pixels; none is a solid line.
const DASHES: [&[f64]; 4] = [&[], &[8.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0]];

/// The form of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Wedge,
}

const MARKERS: [Marker; 5] = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Wedge];

/// Colour, marker and dash of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    pub colour: RGBColor,
    pub marker: Marker,
    pub dash: &'static [f64],
}

impl Look {
    /// The look of series `number`. The three lists are of lengths without a common factor, so that looks repeat late.
    pub fn of(number: usize) -> Self {
        Self {
            colour: COLOURS[number % COLOURS.len()],
            marker: MARKERS[number % MARKERS.len()],
            dash: DASHES[number % DASHES.len()],
        }
    }
}

impl Marker {
    /// Its corners around the origin, with a radius of 1; none for a circle.
    pub fn corners(self) -> &'static [(f64, f64)] {
        match self {
            Self::Circle => &[],
            Self::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Self::Triangle => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            Self::Diamond => &[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)],
            Self::Wedge => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
        }
    }
}

/// Cuts a line into its dashes.
pub fn dashes(line: &[(f64, f64)], pattern: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if pattern.is_empty() {
        return vec![line.to_vec()];
    }
    let mut pieces = Vec::new();
    let (mut step, mut left) = (0, pattern[0]);
    let mut piece: Vec<(f64, f64)> = line.first().copied().into_iter().collect();
    for pair in line.windows(2) {
        let ((mut x, mut y), (to_x, to_y)) = (pair[0], pair[1]);
        let mut length = (to_x - x).hypot(to_y - y);
        while length > left {
            let share = left / length;
            (x, y) = (x + (to_x - x) * share, y + (to_y - y) * share);
            length -= left;
            if step % 2 == 0 {
                piece.push((x, y));
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![(x, y)];
            }
            step += 1;
            left = pattern[step % pattern.len()];
        }
        left -= length;
        if step % 2 == 0 {
            piece.push((to_x, to_y));
        }
    }
    if step % 2 == 0 {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_sixteen_look_alike_even_in_grey() {
        let looks: Vec<Look> = (0..16).map(Look::of).collect();
        for (index, look) in looks.iter().enumerate() {
            let twin = looks[..index].iter().find(|other| other.marker == look.marker && other.dash == look.dash);
            assert_eq!(twin, None, "{index}");
        }
    }

    #[test]
    fn dashes_have_their_lengths_round_corners() {
        let pieces = dashes(&[(0.0, 0.0), (5.0, 0.0), (5.0, 10.0)], &[8.0, 4.0]);
        assert_eq!(pieces, [vec![(0.0, 0.0), (5.0, 0.0), (5.0, 3.0)], vec![(5.0, 7.0), (5.0, 10.0)]]);
        assert_eq!(dashes(&[(0.0, 0.0), (1.0, 0.0)], &[]).len(), 1);
    }
}
