//! `--max`: a limit on a column, for alerts.

use std::fmt;
use std::str::FromStr;

/// Which side of the limit is beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beyond {
    Above,
    AtOrAbove,
    Below,
    AtOrBelow,
}

/// Signs, the longer ones first.
const SIGNS: &[(&str, Beyond)] =
    &[(">=", Beyond::AtOrAbove), ("<=", Beyond::AtOrBelow), (">", Beyond::Above), ("<", Beyond::Below)];

/// A limit on a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub column: String,
    beyond: Beyond,
    value: f64,
}

impl Limit {
    /// Whether a value is beyond it.
    pub fn is_exceeded(&self, value: f64) -> bool {
        match self.beyond {
            Beyond::Above => value > self.value,
            Beyond::AtOrAbove => value >= self.value,
            Beyond::Below => value < self.value,
            Beyond::AtOrBelow => value <= self.value,
        }
    }
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "expected a limit such as lost_pct>1 or bytes_per_s<100e6";
        let found = SIGNS.iter().find_map(|(sign, beyond)| Some((text.split_once(sign)?, *beyond)));
        let ((column, value), beyond) = found.ok_or(FORM)?;
        let value: f64 = value.trim().trim_end_matches('%').parse().map_err(|_| FORM)?;
        let column = column.trim().to_owned();
        if column.is_empty() || !value.is_finite() { Err(FORM) } else { Ok(Self { column, beyond, value }) }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = SIGNS.iter().find(|(_, beyond)| *beyond == self.beyond).map_or("", |(sign, _)| sign);
        write!(f, "{} {sign} {}", self.column, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_typed_as_they_are_read() {
        let limit: Limit = "lost_pct>1".parse().unwrap();
        assert!(limit.is_exceeded(1.1) && !limit.is_exceeded(1.0));
        assert_eq!(limit.to_string(), "lost_pct > 1");
        let limit: Limit = " bytes_per_s <= 100e6".parse().unwrap();
        assert!(limit.is_exceeded(1e8) && !limit.is_exceeded(1e8 + 1.0));
        let limit: Limit = "lost_pct>=1%".parse().unwrap();
        assert!(limit.is_exceeded(1.0));
        for wrong in ["", "lost_pct", "lost_pct>", ">1", "lost_pct>x", "lost_pct>nan", "lost_pct=1"] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong}");
        }
    }
}
