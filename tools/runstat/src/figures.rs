//! Numbers for people: in a unit that suits them, with as many digits as can mean something.

pub use common::figures::scale::Unit;

/// The unit for figures whose base unit is `base`: the one asked for if it fits, else one in which none of them is very
/// small. Seconds stay seconds.
pub fn suiting(base: &'static str, asked: Option<Unit>, figures: impl Iterator<Item = f64>) -> Unit {
    if let Some(unit) = asked.and_then(|asked| asked.for_base(base)) {
        return unit;
    }
    let (smallest, largest) = figures
        .map(f64::abs)
        .filter(|figure| *figure > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(smallest, largest), figure| (smallest.min(figure), largest.max(figure)));
    // None very small, unless others would be very large.
    let suits = |size: f64| smallest * 10.0 >= size || largest >= 100.0 * size;
    let fits = |unit: &Unit| base != "s" && largest >= unit.size && suits(unit.size);
    Unit::growing(base).rev().find(fits).unwrap_or(Unit::base(base))
}

/// The figure in this unit.
pub fn text_in(unit: Unit, value: f64) -> String {
    if unit.base == "%" { format!("{value:.2}") } else { digits(value / unit.size) }
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
            suiting("B/s", asked.map(|text| text.parse().unwrap()), figures.iter().copied()).name
        };
        assert_eq!(name(&[10.39e6, 0.412e6], None), "MB/s");
        assert_eq!(name(&[10.39e6, 4.1e3], None), "kB/s");
        assert_eq!(name(&[115e6, 116e6], None), "MB/s");
        assert_eq!(name(&[4.5e9, 59e3], None), "MB/s");
        assert_eq!(name(&[], None), "B/s");
        assert_eq!(name(&[1e6], Some("mbit/s")), "Mbit/s");
        assert_eq!(name(&[1e6], Some("ms")), "MB/s", "no unit of a rate");
        let megabits: Unit = "Mbit/s".parse().unwrap();
        assert_eq!(text_in(suiting("B/s", Some(megabits), std::iter::empty()), 2.5e6), "20.00");
        assert!("furlongs".parse::<Unit>().is_err());
    }
}
