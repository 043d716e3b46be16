//! Numbers for people: in a unit that suits them, with as many digits as can mean something.

use std::str::FromStr;

pub use common::figures::scale::Unit;

/// What people think in where it is about a network, the largest first.
const OF_NETWORKS: [&str; 4] = ["Gbit/s", "Mbit/s", "kbit/s", "bit/s"];

/// Figures further apart than this cannot be read in one unit.
const FAR_APART: f64 = 1e4;

/// What a unit is chosen for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// The base unit of the figures.
    pub base: &'static str,
    /// The one that the user wants.
    pub asked: Option<Unit>,
    /// Bytes of a network are bits.
    pub in_bits: bool,
}

/// The unit for these figures: the one asked for if it fits, else one in which none of them is very small. Seconds stay
/// seconds.
pub fn suiting(wanted: Wanted, figures: impl Iterator<Item = f64>) -> Unit {
    let Wanted { base, asked, in_bits } = wanted;
    if let Some(unit) = asked.and_then(|asked| asked.for_base(base)) {
        return unit;
    }
    let (smallest, largest) = span(figures);
    // None very small, unless others would be very large.
    let suits = |size: f64| smallest * 10.0 >= size || largest >= 100.0 * size;
    let fits = |unit: &Unit| base != "s" && largest >= unit.size && suits(unit.size);
    let bits = OF_NETWORKS.iter().filter_map(|name| Unit::from_str(name).ok()?.for_base(base)).filter(|_| in_bits);
    bits.chain(Unit::growing(base).rev()).find(fits).unwrap_or(Unit::base(base))
}

/// Whether figures are too far apart to be read in one unit.
pub fn are_far_apart(figures: impl Iterator<Item = f64>) -> bool {
    let (smallest, largest) = span(figures);
    largest > smallest * FAR_APART
}

/// The smallest and the largest, but for zeros.
fn span(figures: impl Iterator<Item = f64>) -> (f64, f64) {
    let figures = figures.map(f64::abs).filter(|figure| *figure > 0.0);
    figures.fold((f64::INFINITY, 0.0_f64), |(smallest, largest), figure| (smallest.min(figure), largest.max(figure)))
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
        let wanted = |asked: Option<&str>| Wanted {
            base: "B/s",
            asked: asked.map(|text| text.parse().unwrap()),
            in_bits: false,
        };
        let name = |figures: &[f64], asked: Option<&str>| suiting(wanted(asked), figures.iter().copied()).name;
        assert_eq!(name(&[10.39e6, 0.412e6], None), "MB/s");
        assert_eq!(name(&[10.39e6, 4.1e3], None), "kB/s");
        assert_eq!(name(&[115e6, 116e6], None), "MB/s");
        assert_eq!(name(&[4.5e9, 59e3], None), "MB/s");
        assert_eq!(name(&[], None), "B/s");
        assert_eq!(name(&[1e6], Some("mbit/s")), "Mbit/s");
        assert_eq!(name(&[1e6], Some("ms")), "MB/s", "no unit of a rate");
        assert_eq!(text_in(suiting(wanted(Some("Mbit/s")), std::iter::empty()), 2.5e6), "20.00");
        let bits = |rate| suiting(Wanted { in_bits: true, ..wanted(None) }, [rate, 0.0].into_iter()).name;
        assert_eq!([117e6, 1e9, 4e3, 0.1].map(bits), ["Mbit/s", "Gbit/s", "kbit/s", "B/s"]);
        assert!(are_far_apart([2.4e7, 160.0].into_iter()) && !are_far_apart([0.0, 7.0].into_iter()));
        assert!("furlongs".parse::<Unit>().is_err());
    }
}
