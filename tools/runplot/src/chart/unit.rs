//! Units for people: one that suits all values of an axis.

pub use common::figures::scale::Unit;

/// The unit for values up to `largest` of a column whose base unit is `base`: the one asked for if it fits, else the largest
/// of which there is at least one.
pub fn suiting(base: &'static str, asked: Option<Unit>, largest: f64) -> Unit {
    if let Some(unit) = asked.and_then(|asked| asked.for_base(base)) {
        return unit;
    }
    if largest == 0.0 {
        return Unit::base(base);
    }
    // Two minutes are better read as 120 s.
    let fits = |unit: &Unit| largest >= unit.size * if unit.size >= 60.0 && base == "s" { 5.0 } else { 1.0 };
    let smallest = || Unit::growing(base).next();
    Unit::growing(base).rev().find(fits).or_else(smallest).unwrap_or(Unit::base(base))
}

/// What a unit is called in a picture.
pub fn sign(unit: Unit) -> &'static str {
    if unit.name == "us" { "µs" } else { unit.name }
}

/// The value with the unit that suits it alone: for ticks of logarithmic axes and values of settings.
pub fn text_of(base: &'static str, asked: Option<Unit>, value: f64) -> String {
    let unit = suiting(base, asked, value.abs());
    let number = number(value / unit.size);
    if unit.name.is_empty() { number } else { format!("{number} {}", sign(unit)) }
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
            let unit = suiting(base, None, largest);
            assert_eq!((sign(unit), unit.size), (name, size), "{base} {largest}");
        }
    }

    #[test]
    fn a_unit_that_is_asked_for_holds_where_it_fits() {
        let asked = "mbit/s".parse().ok();
        assert_eq!(suiting("B/s", asked, 1e6).name, "Mbit/s");
        assert_eq!(sign(suiting("us", asked, 10.0)), "µs");
        assert!("furlong".parse::<Unit>().is_err());
        assert_eq!("us".parse().map(sign), Ok("µs"));
    }

    #[test]
    fn numbers_have_no_noise() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(-0.0), "0");
        assert_eq!(number(2_500_000.0), "2500000");
        assert_eq!(number(2.5e300), "2.5e300");
        assert_eq!(text_of("us", None, 2500.0), "2.5 ms");
        assert_eq!(text_of("", None, 4.0), "4");
        assert_eq!(size_text(4096.0), "4 KiB");
        assert_eq!(size_text(1472.0), "1472 B");
        assert_eq!(size_text(1024.0 * 1024.0), "1 MiB");
    }
}
