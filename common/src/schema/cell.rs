//! What a cell may hold, and how numbers look in a line: `.` decimals, no exponents, unknown is empty.

use serde::{Serialize, Serializer};

/// A type that can stand in a column.
pub trait Cell {
    /// The kind that `--columns` names.
    const KIND: &'static str;
}

impl Cell for u64 {
    const KIND: &'static str = "integer";
}

impl Cell for String {
    const KIND: &'static str = "text";
}

impl<C: Cell> Cell for Option<C> {
    const KIND: &'static str = C::KIND;
}

/// A finite number printed with `DECIMALS` places.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Fixed<const DECIMALS: usize>(f64);

impl<const DECIMALS: usize> Fixed<DECIMALS> {
    /// `None`, hence an empty field, where there is no finite figure.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value))
    }

    /// `amount / base`, empty when the base is zero.
    pub fn ratio(amount: f64, base: f64) -> Option<Self> {
        if base > 0.0 { Self::new(amount / base) } else { None }
    }

    /// The smaller of it and `most`.
    #[must_use]
    pub fn min(self, most: f64) -> Self {
        Self(self.0.min(most))
    }

    /// The number itself.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl<const DECIMALS: usize> Cell for Fixed<DECIMALS> {
    const KIND: &'static str = "decimal";
}

impl<const DECIMALS: usize> Serialize for Fixed<DECIMALS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.*}", DECIMALS, self.0))
    }
}

/// A finite number with as many decimals as it needs: ten significant digits, and no exponent.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Decimal(f64);

impl Decimal {
    /// `None`, hence an empty field, where there is no finite figure.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value))
    }

    /// The number itself.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Cell for Decimal {
    const KIND: &'static str = "decimal";
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Rust prints the shortest text that reads back as the same number; rounding first takes off what arithmetic left.
        let rounded: f64 = format!("{:.9e}", self.0).parse().unwrap_or(self.0);
        serializer.collect_str(&(rounded + 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_rate_over_no_time() {
        assert_eq!(Fixed::<1>::ratio(5.0, 0.0), None);
        assert_eq!(Fixed::<1>::new(f64::NAN), None);
    }

    #[test]
    fn small_numbers_have_no_exponent() {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.serialize((Fixed::<6>::new(1e-9), Fixed::<1>::new(2.5e12), None::<Fixed<1>>)).unwrap();
        assert_eq!(String::from_utf8(writer.into_inner().unwrap()).unwrap(), "0.000000,2500000000000.0,\n");
    }

    #[test]
    fn decimals_are_as_long_as_they_need() {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let cells = [0.1 + 0.2, 1e-10, 2_500_000_000.0, 1.0 / 3.0, -0.0, f64::NAN].map(Decimal::new);
        writer.serialize(cells).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        assert_eq!(text, "0.3,0.0000000001,2500000000,0.3333333333,0,\n");
    }
}
