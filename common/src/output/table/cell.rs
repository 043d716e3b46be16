//! One cell of a table: its unit, its digits, its width.

use std::fmt;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A unit of figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// As people write it.
    pub name: &'static str,
    /// Of the base unit.
    pub size: f64,
}

/// Units, the smallest first.
pub type Units = &'static [Unit];

const fn unit(name: &'static str, size: f64) -> Unit {
    Unit { name, size }
}

/// Of bytes per second.
pub const BYTE_RATES: Units = &[unit("kB/s", 1e3), unit("MB/s", 1e6), unit("GB/s", 1e9)];
/// Of the same in bits.
pub const BIT_RATES: Units = &[unit("kbit/s", 125.0), unit("Mbit/s", 125e3), unit("Gbit/s", 125e6)];
/// Of microseconds.
pub const TIMES: Units = &[unit("us", 1.0), unit("ms", 1e3), unit("s", 1e6)];
/// Of bytes.
pub const SIZES: Units = &[unit("kB", 1e3), unit("MB", 1e6), unit("GB", 1e9), unit("TB", 1e12)];

impl Unit {
    /// The one in which the figure has one to three digits before the point, as far as there is one.
    pub fn suiting(units: Units, value: f64) -> Self {
        let fits = units.iter().rev().find(|unit| value.abs() >= unit.size);
        *fits.or(units.first()).unwrap_or(&unit("", 1.0))
    }

    /// Whether a figure is still read easily in it: another unit would have to be a new header.
    pub fn suits(self, value: f64) -> bool {
        let scaled = value.abs() / self.size;
        scaled == 0.0 || (0.01..100_000.0).contains(&scaled)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A percentage: what is not nothing is not shown as nothing.
pub fn percent(value: f64) -> String {
    let decimals = match value.abs() {
        10.0.. => 1,
        0.0 | 0.01.. => 2,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// From when to when, in seconds.
pub fn stretch(from: f64, to: f64) -> String {
    let decimals = if to < 10.0 || to - from < 0.5 { 2 } else { 1 };
    format!("{from:.decimals$}-{to:.decimals$}")
}

/// How a text stands in its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Filled up at its end.
    Left,
    /// Filled up before its beginning.
    Right,
}

/// The text in exactly so many places: what is longer ends in `~`. Wide characters take two.
pub fn fitted(text: &str, width: usize, align: Align) -> String {
    let length = text.width();
    if length <= width {
        let fill = " ".repeat(width - length);
        return match align {
            Align::Left => text.to_owned() + &fill,
            Align::Right => fill + text,
        };
    }
    let mut cut = String::new();
    let mut used = 0;
    for c in text.chars() {
        let more = c.width().unwrap_or(0);
        if used + more + 1 > width {
            break;
        }
        used += more;
        cut.push(c);
    }
    if width > 0 {
        cut.push('~');
        cut += &" ".repeat(width.saturating_sub(used + 1));
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_suits_its_figure() {
        assert_eq!(Unit::suiting(TIMES, 24_068.0).name, "ms");
        assert_eq!(Unit::suiting(BIT_RATES, 50_000.0).name, "kbit/s");
        assert_eq!(Unit::suiting(BYTE_RATES, 27_193.7e6).name, "GB/s");
        assert!(Unit::suiting(TIMES, 900.0).suits(0.0) && !Unit::suiting(TIMES, 900.0).suits(250_000.0));
    }

    #[test]
    fn what_is_too_wide_is_cut_and_marked() {
        assert_eq!(fitted("eth0", 6, Align::Left), "eth0  ");
        assert_eq!(fitted("7", 3, Align::Right), "  7");
        assert_eq!(fitted("a-very-long-name", 6, Align::Left), "a-ver~");
        assert_eq!(fitted("漢字漢字", 6, Align::Left), "漢字~ ");
        assert_eq!(fitted("abc", 0, Align::Left), "");
    }
}
