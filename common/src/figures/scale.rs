//! Units for people: which ones there are for a column's base unit, and what they are called on a command line.

use std::str::FromStr;

/// A unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// What it is called.
    pub name: &'static str,
    /// The base unit of the columns that it is for.
    pub base: &'static str,
    /// Base units in one of it.
    pub size: f64,
}

const fn unit(name: &'static str, base: &'static str, size: f64) -> Unit {
    Unit { name, base, size }
}

/// The units that are chosen from, growing.
const CHOSEN: &[Unit] = &[
    unit("B/s", "B/s", 1.0),
    unit("kB/s", "B/s", 1e3),
    unit("MB/s", "B/s", 1e6),
    unit("GB/s", "B/s", 1e9),
    unit("us", "us", 1.0),
    unit("ms", "us", 1e3),
    unit("s", "us", 1e6),
    unit("us", "s", 1e-6),
    unit("ms", "s", 1e-3),
    unit("s", "s", 1.0),
    unit("min", "s", 60.0),
    unit("h", "s", 3600.0),
    unit("B", "B", 1.0),
    unit("kB", "B", 1e3),
    unit("MB", "B", 1e6),
    unit("GB", "B", 1e9),
    unit("bit/s", "bit/s", 1.0),
    unit("kbit/s", "bit/s", 1e3),
    unit("Mbit/s", "bit/s", 1e6),
    unit("Gbit/s", "bit/s", 1e9),
];

/// The units that have to be asked for.
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
];

impl FromStr for Unit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = if text == "µs" { "us" } else { text };
        let found = CHOSEN.iter().chain(ASKED).find(|unit| unit.name.eq_ignore_ascii_case(text));
        found.copied().ok_or("expected a unit such as Mbit/s, kB/s, MiB/s, ms or us")
    }
}

impl Unit {
    /// The base unit itself.
    pub fn base(base: &'static str) -> Self {
        unit(base, base, 1.0)
    }

    /// The unit of this name for columns in `base`, if there is one: `ms` is one for seconds and for microseconds.
    #[must_use]
    pub fn for_base(self, base: &str) -> Option<Self> {
        CHOSEN.iter().chain(ASKED).find(|unit| unit.name == self.name && unit.base == base).copied()
    }

    /// The units for `base` that need not be asked for, growing.
    pub fn growing(base: &str) -> impl DoubleEndedIterator<Item = Self> {
        CHOSEN.iter().copied().filter(move |unit| unit.base == base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_unit_wherever_it_fits() {
        let named = |name: &str, base| name.parse::<Unit>().unwrap().for_base(base).map(|unit| unit.size);
        assert_eq!((named("ms", "us"), named("ms", "s"), named("ms", "B")), (Some(1e3), Some(1e-3), None));
        assert_eq!((named("mbit/s", "B/s"), named("Mbit/s", "bit/s")), (Some(125e3), Some(1e6)));
        assert_eq!((named("µs", "us"), named("us", "s")), (Some(1.0), Some(1e-6)));
        assert!("parsec".parse::<Unit>().is_err());
    }

    #[test]
    fn units_to_choose_from_grow() {
        for base in ["B/s", "us", "s", "B", "bit/s"] {
            assert!(Unit::growing(base).map(|unit| unit.size).is_sorted() && Unit::growing(base).count() > 2, "{base}");
        }
    }
}
