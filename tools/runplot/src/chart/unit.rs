//! Units for people: one that suits all values of an axis.

use std::str::FromStr;

/// A unit of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    /// The base unit of the columns that it is for.
    base: &'static str,
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
    unit("µs", "us", 1.0),
    unit("ms", "us", 1e3),
    unit("s", "us", 1e6),
    unit("µs", "s", 1e-6),
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
        let text = if text == "us" { "µs" } else { text };
        let found = CHOSEN.iter().chain(ASKED).find(|unit| unit.name.eq_ignore_ascii_case(text));
        found.copied().ok_or("expected a unit such as Mbit/s, kB/s, MiB/s, ms or us")
    }
}

impl Unit {
    /// The unit for values up to `largest` of a column whose base unit is `base`: the one asked for if it fits, else the
    /// largest of which there is at least one.
    pub fn suiting(base: &'static str, asked: Option<Self>, largest: f64) -> Self {
        let named = |unit: &&Self| asked.is_some_and(|asked| asked.name == unit.name && unit.base == base);
        if let Some(unit) = CHOSEN.iter().chain(ASKED).find(named) {
            return *unit;
        }
        // Two minutes are better read as 120 s.
        let fits = |unit: &&Self| {
            unit.base == base && largest >= unit.size * if unit.size >= 60.0 && base == "s" { 5.0 } else { 1.0 }
        };
        let of_nothing = CHOSEN.iter().find(|unit| unit.base == base && unit.name == base && largest == 0.0);
        of_nothing
            .or_else(|| CHOSEN.iter().rev().find(fits))
            .or_else(|| CHOSEN.iter().find(|unit| unit.base == base))
            .copied()
            .unwrap_or(unit(base, base, 1.0))
    }

    /// The value with the unit that suits it alone: for ticks of logarithmic axes and values of settings.
    pub fn text_of(base: &'static str, asked: Option<Self>, value: f64) -> String {
        let unit = Self::suiting(base, asked, value.abs());
        let number = number(value / unit.size);
        if unit.name.is_empty() { number } else { format!("{number} {}", unit.name) }
    }
}

/// A number without the noise of its binary form: six significant digits at most, thousands not marked, and an exponent
/// where nobody would count the zeros.
pub fn number(value: f64) -> String {
    /// What has more digits before or after the point is shorter with an exponent.
    const PLAIN: std::ops::Range<f64> = 1e-6..1e12;
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if rounded == 0.0 || PLAIN.contains(&rounded.abs()) { format!("{}", rounded + 0.0) } else { format!("{rounded:e}") }
}

/// A size of a setting: powers of two in their own units (4 KiB), others as they are.
pub fn size_text(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    let whole = |size: f64| bytes >= size && bytes % size == 0.0;
    match [(KIB * KIB * KIB, "GiB"), (KIB * KIB, "MiB"), (KIB, "KiB")].into_iter().find(|(size, _)| whole(*size)) {
        Some((size, name)) => format!("{} {name}", bytes / size),
        None => format!("{} B", number(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_chooses_the_unit() {
        for (base, largest, name, size) in [
            ("B/s", 117.7e6, "MB/s", 1e6),
            ("B/s", 999.0, "B/s", 1.0),
            ("B/s", 0.0, "B/s", 1.0),
            ("us", 1500.0, "ms", 1e3),
            ("us", 0.25, "µs", 1.0),
            ("s", 120.0, "s", 1.0),
            ("s", 600.0, "min", 60.0),
            ("", 5.0, "", 1.0),
            ("%", 5.0, "%", 1.0),
        ] {
            let unit = Unit::suiting(base, None, largest);
            assert_eq!((unit.name, unit.size), (name, size), "{base} {largest}");
        }
    }

    #[test]
    fn a_unit_that_is_asked_for_holds_where_it_fits() {
        let asked = "mbit/s".parse().ok();
        assert_eq!(Unit::suiting("B/s", asked, 1e6).name, "Mbit/s");
        assert_eq!(Unit::suiting("us", asked, 10.0).name, "µs");
        assert!("furlong".parse::<Unit>().is_err());
        assert_eq!("us".parse::<Unit>().map(|unit| unit.name), Ok("µs"));
    }

    #[test]
    fn numbers_have_no_noise() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(-0.0), "0");
        assert_eq!(number(2_500_000.0), "2500000");
        assert_eq!(number(2.5e300), "2.5e300");
        assert_eq!(Unit::text_of("us", None, 2500.0), "2.5 ms");
        assert_eq!(Unit::text_of("", None, 4.0), "4");
        assert_eq!(size_text(4096.0), "4 KiB");
        assert_eq!(size_text(1472.0), "1472 B");
        assert_eq!(size_text(1024.0 * 1024.0), "1 MiB");
    }
}
