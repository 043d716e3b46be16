//! Numbers for people: in a unit that suits them, with as many digits as can mean something.

use std::str::FromStr;

/// A unit for tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    /// The base unit of the columns that it is for.
    base: &'static str,
    /// Base units in one of it.
    size: f64,
}

const fn unit(name: &'static str, base: &'static str, size: f64) -> Unit {
    Unit { name, base, size }
}

/// The units that are chosen from, growing; others have to be asked for.
const CHOSEN: &[Unit] = &[
    unit("B/s", "B/s", 1.0),
    unit("kB/s", "B/s", 1e3),
    unit("MB/s", "B/s", 1e6),
    unit("GB/s", "B/s", 1e9),
    unit("us", "us", 1.0),
    unit("ms", "us", 1e3),
    unit("s", "us", 1e6),
    unit("B", "B", 1.0),
    unit("kB", "B", 1e3),
    unit("MB", "B", 1e6),
    unit("GB", "B", 1e9),
    unit("bit/s", "bit/s", 1.0),
    unit("kbit/s", "bit/s", 1e3),
    unit("Mbit/s", "bit/s", 1e6),
    unit("Gbit/s", "bit/s", 1e9),
];

const ASKED: &[Unit] = &[
    unit("bit/s", "B/s", 0.125),
    unit("kbit/s", "B/s", 125.0),
    unit("Mbit/s", "B/s", 125e3),
    unit("Gbit/s", "B/s", 125e6),
    unit("KiB/s", "B/s", 1024.0),
    unit("MiB/s", "B/s", 1_048_576.0),
    unit("GiB/s", "B/s", 1_073_741_824.0),
    unit("KiB", "B", 1024.0),
    unit("MiB", "B", 1_048_576.0),
    unit("GiB", "B", 1_073_741_824.0),
    unit("ms", "s", 1e-3),
    unit("us", "s", 1e-6),
    unit("s", "s", 1.0),
];

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = CHOSEN.iter().chain(ASKED).find(|unit| unit.name.eq_ignore_ascii_case(text));
        found.copied().ok_or_else(|| "expected a unit such as Mbit/s, kB/s, MiB/s, ms or us".into())
    }
}

impl Unit {
    /// The unit for figures whose base unit is `base`: the one asked for if it fits, else one in which none of them is
    /// very small.
    pub fn suiting(base: &'static str, asked: Option<Self>, figures: impl Iterator<Item = f64>) -> Self {
        let named = |unit: &&Self| asked.is_some_and(|asked| asked.name == unit.name && unit.base == base);
        if let Some(unit) = CHOSEN.iter().chain(ASKED).find(named) {
            return *unit;
        }
        let (smallest, largest) = figures
            .map(f64::abs)
            .filter(|figure| *figure > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(smallest, largest), figure| (smallest.min(figure), largest.max(figure)));
        // None very small, unless others would be very large.
        let suits = |size: f64| smallest * 10.0 >= size || largest >= 100.0 * size;
        let fits = |unit: &&Self| unit.base == base && largest >= unit.size && suits(unit.size);
        CHOSEN.iter().rev().find(fits).copied().unwrap_or(unit(base, base, 1.0))
    }

    /// The figure in this unit.
    pub fn text(&self, value: f64) -> String {
        if self.base == "%" { format!("{value:.2}") } else { digits(value / self.size) }
    }
}

/// Four significant digits, but two decimals at least and six at most; what is whole and large has none.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        return format!("{value:.0}");
    }
    let decimals = match size {
        0.0 | 10.0.. => 2,
        1.0.. => 3,
        0.1.. => 4,
        0.01.. => 5,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    if size >= 1000.0 && value.fract() == 0.0 { format!("{value:.0}") } else { text }
}

/// A ratio in percent.
pub fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    if value.abs() < 100_000.0 { format!("{value:.1} %") } else { format!("{ratio:.0} x") }
}

/// A p-value.
pub fn probability(p: f64) -> String {
    if p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_digits_that_people_print() {
        for (value, text) in [
            (10.39, "10.39"),
            (9.53, "9.530"),
            (0.412, "0.4120"),
            (1098.153, "1098.15"),
            (2441.48, "2441.48"),
            (0.0, "0.00"),
            (1479.0, "1479"),
            (5e6, "5000000"),
            (0.000_001_2, "0.000001"),
            (-3.5, "-3.500"),
        ] {
            assert_eq!(digits(value), text);
        }
        assert_eq!(percent(2.223_29), "222.3 %");
        assert_eq!(percent(1e9), "1000000000 x");
        assert_eq!(probability(0.007_94), "0.0079");
        assert_eq!(probability(1e-9), "<0.0001");
    }

    #[test]
    fn the_unit_suits_the_smallest_figure_or_is_as_asked() {
        let name = |figures: &[f64], asked: Option<&str>| {
            Unit::suiting("B/s", asked.map(|text| text.parse().unwrap()), figures.iter().copied()).name
        };
        assert_eq!(name(&[10.39e6, 0.412e6], None), "MB/s");
        assert_eq!(name(&[10.39e6, 4.1e3], None), "kB/s");
        assert_eq!(name(&[115e6, 116e6], None), "MB/s");
        assert_eq!(name(&[4.5e9, 59e3], None), "MB/s");
        assert_eq!(name(&[], None), "B/s");
        assert_eq!(name(&[1e6], Some("mbit/s")), "Mbit/s");
        assert_eq!(name(&[1e6], Some("ms")), "MB/s", "no unit of a rate");
        let megabits: Unit = "Mbit/s".parse().unwrap();
        assert_eq!(Unit::suiting("B/s", Some(megabits), std::iter::empty()).text(2.5e6), "20.00");
        assert!("furlongs".parse::<Unit>().is_err());
    }
}
