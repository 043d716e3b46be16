//! Durations, byte sizes, bit rates and percentages as people type them, with checked arithmetic.

use std::time::Duration;

/// Longer than any measurement; keeps `Instant + Duration` from overflowing.
const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);

/// Why a typed quantity was refused. The text completes "invalid value '5x' for '--time': ...".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a quantity of this kind at all.
    #[error("expected {0}")]
    Malformed(&'static str),
    /// A minus sign.
    #[error("must not be negative")]
    Negative,
    /// Zero where nothing would be measured.
    #[error("must be more than zero")]
    Zero,
    /// Less than what is told apart.
    #[error("is too small (at least {0})")]
    TooSmall(&'static str),
    /// More than the type or the tool can hold.
    #[error("is too large (at most {0})")]
    TooLarge(&'static str),
    /// A fraction of the smallest unit.
    #[error("is not a whole number of {0}")]
    Fraction(&'static str),
}

/// Parses `10s`, `1m 30s`, `500ms`; a bare number is seconds (`10`, `0.5`).
///
/// ```
/// use std::time::Duration;
/// assert_eq!(common::units::duration("1m 30s"), Ok(Duration::from_secs(90)));
/// assert_eq!(common::units::duration("0.5"), Ok(Duration::from_millis(500)));
/// ```
pub fn duration(text: &str) -> Result<Duration, UnitError> {
    const FORM: &str = "a duration such as 10s, 500ms or '1m 30s'";
    let text = text.trim();
    if text.starts_with('-') {
        return Err(UnitError::Negative);
    }
    let parsed = if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        let seconds: f64 = text.parse().map_err(|_| UnitError::Malformed(FORM))?;
        Duration::try_from_secs_f64(seconds).map_err(|_| UnitError::TooLarge("100 years"))?
    } else {
        humantime::parse_duration(text).map_err(|error| match error {
            humantime::DurationError::NumberOverflow => UnitError::TooLarge("100 years"),
            _ => UnitError::Malformed(FORM),
        })?
    };
    if parsed > LONGEST {
        return Err(UnitError::TooLarge("100 years"));
    }
    Ok(parsed)
}

/// As [`duration`], for options where zero makes no sense.
pub fn positive_duration(text: &str) -> Result<Duration, UnitError> {
    match duration(text)? {
        Duration::ZERO => Err(UnitError::Zero),
        some if some < Duration::from_micros(1) => Err(UnitError::TooSmall("1us")),
        some => Ok(some),
    }
}

/// Parses a size in bytes: `64K` = `64KiB` = 65536, `64KB` = 64000, up to `E`; `1.5G` is fine, half a byte is not.
pub fn byte_size(text: &str) -> Result<u64, UnitError> {
    const FORM: &str = "a size in bytes such as 1000, 64K (= 65536), 64KB (= 64000) or 1.5G";
    let (number, suffix) = split_number(text).ok_or(UnitError::Malformed(FORM))?;
    let suffix = suffix.to_ascii_uppercase();
    let (prefix, base) = match suffix.as_str() {
        "" | "B" => ("", 1),
        with_i if with_i.ends_with("IB") => (&with_i[..with_i.len() - 2], 1024),
        with_b if with_b.ends_with('B') => (&with_b[..with_b.len() - 1], 1000),
        bare => (bare, 1024),
    };
    scaled(number, base, prefix, UnitError::Malformed(FORM), "bytes")
}

/// As [`byte_size`], for options where zero makes no sense.
pub fn positive_byte_size(text: &str) -> Result<u64, UnitError> {
    match byte_size(text)? {
        0 => Err(UnitError::Zero),
        some => Ok(some),
    }
}

/// Parses a rate in bits per second, decimal: `100M` = `100Mbit` = `100Mbit/s` = 100 000 000 bit/s.
pub fn bit_rate(text: &str) -> Result<u64, UnitError> {
    const FORM: &str = "a rate in bit/s such as 8K, 100M or 2.5G (decimal)";
    let (number, suffix) = split_number(text).ok_or(UnitError::Malformed(FORM))?;
    let lower = suffix.to_ascii_lowercase();
    let prefix = ["bit/s", "bits/s", "bps", "bit", ""].iter().find_map(|unit| lower.strip_suffix(unit)).unwrap_or("");
    match scaled(number, 1000, &prefix.to_ascii_uppercase(), UnitError::Malformed(FORM), "bits per second")? {
        0 => Err(UnitError::Zero),
        some => Ok(some),
    }
}

/// Parses a percentage above 0: `5`, `2.5%`.
pub fn percent(text: &str) -> Result<f64, UnitError> {
    match percent_or_none(text)? {
        0.0 => Err(UnitError::Zero),
        some => Ok(some),
    }
}

/// Parses a percentage, perhaps 0.
pub fn percent_or_none(text: &str) -> Result<f64, UnitError> {
    let number: f64 = text
        .trim()
        .trim_end_matches('%')
        .trim_end()
        .parse()
        .map_err(|_| UnitError::Malformed("a percentage such as 5 or 2.5%"))?;
    if number.is_nan() || number < 0.0 {
        Err(UnitError::Negative)
    } else if number > 1000.0 {
        Err(UnitError::TooLarge("1000%"))
    } else {
        Ok(number)
    }
}

/// A rate for people, both ways round, in units that suit: `117.7 MB/s (941.5 Mbit/s)`, decimal.
pub fn rate_text(bytes_per_second: f64) -> String {
    format!("{} ({})", with_prefix(bytes_per_second, "B/s"), bit_rate_text(bytes_per_second * 8.0))
}

/// A rate of bits for people, decimal: `941.5 Mbit/s`.
pub fn bit_rate_text(bits_per_second: f64) -> String {
    with_prefix(bits_per_second, "bit/s")
}

/// A time for people, of microseconds: `57.0 us`, `24.07 ms`.
pub fn micros_text(micros: f64) -> String {
    let units = [("s", 1e6), ("ms", 1e3)];
    let (unit, size) = units.into_iter().find(|(_, size)| micros >= *size).unwrap_or(("us", 1.0));
    format!("{} {unit}", digits(micros / size))
}

/// A figure with one to three digits before its point, and its unit.
fn with_prefix(value: f64, unit: &str) -> String {
    let prefixes = [("G", 1e9), ("M", 1e6), ("k", 1e3)];
    let (prefix, size) = prefixes.into_iter().find(|(_, size)| value >= *size).unwrap_or(("", 1.0));
    format!("{} {prefix}{unit}", digits(value / size))
}

/// A figure for people: four digits, as many as mean something.
pub fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 | 1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// An amount of bytes for people, decimal: `1.21 GB`, `37 B`.
pub fn bytes_text(bytes: u64) -> String {
    let mut scaled = bytes as f64;
    for unit in ["B", "kB", "MB", "GB", "TB"] {
        if scaled < 1000.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{scaled:.2} {unit}") };
        }
        scaled /= 1000.0;
    }
    format!("{scaled:.2} PB")
}

/// A duration for people, as they would type it: `1m 30s`.
pub fn duration_text(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// Splits `1.5G` into `1.5` and `G`; `None` unless it starts with a digit (a minus is reported by the callers' form).
fn split_number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.starts_with(|c: char| c.is_ascii_digit()).then(|| (&text[..end], text[end..].trim_start()))
}

/// `number` (decimal digits, perhaps a fraction) times `base` to the power that `prefix` stands for, exactly.
fn scaled(number: &str, base: u128, prefix: &str, malformed: UnitError, unit: &'static str) -> Result<u64, UnitError> {
    let power = match prefix {
        "" => 0,
        one if one.len() == 1 => "KMGTPE".find(one).ok_or_else(|| malformed.clone())? + 1,
        _ => return Err(malformed),
    };
    // 1024^6 and 1000^6 fit into 61 bits.
    let factor = base.pow(u32::try_from(power).unwrap_or(0));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let too_large = || UnitError::TooLarge("2^64 - 1");
    if fraction.contains('.') || fraction.len() > 18 {
        return Err(malformed);
    }
    let whole: u128 = whole.parse().map_err(|_| too_large())?;
    let tenths = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| malformed)? };
    let part = fraction * factor;
    if !part.is_multiple_of(tenths) {
        return Err(UnitError::Fraction(unit));
    }
    let total = whole.checked_mul(factor).and_then(|w| w.checked_add(part / tenths)).ok_or_else(too_large)?;
    u64::try_from(total).map_err(|_| too_large())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_seconds() {
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
    }

    #[test]
    fn refuses_durations_that_mean_nothing() {
        assert_eq!(duration("-1s"), Err(UnitError::Negative));
        assert_eq!(positive_duration("0"), Err(UnitError::Zero));
        assert_eq!(positive_duration("500ns"), Err(UnitError::TooSmall("1us")));
        assert!(matches!(duration("soon"), Err(UnitError::Malformed(_))));
        assert!(matches!(duration(""), Err(UnitError::Malformed(_))));
        assert!(matches!(duration("1.2.3"), Err(UnitError::Malformed(_))));
        assert!(matches!(duration("99999999999999999999"), Err(UnitError::TooLarge(_))));
        assert!(matches!(duration("99999999999999999999s"), Err(UnitError::TooLarge(_))));
        assert!(matches!(duration("200y"), Err(UnitError::TooLarge(_))));
    }

    #[test]
    fn k_is_1024_and_kb_is_1000() {
        assert_eq!(byte_size("64K"), Ok(65_536));
        assert_eq!(byte_size("64KiB"), Ok(65_536));
        assert_eq!(byte_size("64KB"), Ok(64_000));
        assert_eq!(byte_size("1.5k"), Ok(1_536));
        assert_eq!(byte_size("15E"), Ok(15 << 60));
        assert_eq!(byte_size("12 MB"), Ok(12_000_000));
    }

    #[test]
    fn refuses_sizes_that_overflow_or_split_a_byte() {
        assert!(matches!(byte_size("99999999999999999999"), Err(UnitError::TooLarge(_))));
        assert!(matches!(byte_size("16E"), Err(UnitError::TooLarge(_))));
        assert!(matches!(byte_size("999999999999999999999999999999999999999999"), Err(UnitError::TooLarge(_))));
        assert_eq!(byte_size("0.5"), Err(UnitError::Fraction("bytes")));
        assert!(matches!(byte_size("-5"), Err(UnitError::Malformed(_))));
        assert!(matches!(byte_size("5X"), Err(UnitError::Malformed(_))));
        assert!(matches!(byte_size("KB"), Err(UnitError::Malformed(_))));
        assert_eq!(positive_byte_size("0"), Err(UnitError::Zero));
    }

    #[test]
    fn rates_are_decimal_bits() {
        assert_eq!(bit_rate("100M"), Ok(100_000_000));
        assert_eq!(bit_rate("2.5Gbit/s"), Ok(2_500_000_000));
        assert_eq!(bit_rate("40G"), Ok(40_000_000_000));
        assert_eq!(bit_rate("0"), Err(UnitError::Zero));
    }

    #[test]
    fn percentages_are_above_zero() {
        assert_eq!(percent("2.5%"), Ok(2.5));
        assert_eq!(percent("0"), Err(UnitError::Zero));
        assert_eq!(percent("-1"), Err(UnitError::Negative));
        assert_eq!((percent_or_none("0%"), percent_or_none("-1")), (Ok(0.0), Err(UnitError::Negative)));
        assert_eq!(percent("nan"), Err(UnitError::Negative));
    }

    #[test]
    fn amounts_read_well() {
        assert_eq!(bytes_text(37), "37 B");
        assert_eq!(bytes_text(1_210_000_000), "1.21 GB");
        assert_eq!(rate_text(117_700_000.0), "117.7 MB/s (941.6 Mbit/s)");
        assert_eq!((micros_text(57.0), micros_text(24_068.0)), ("57.00 us".into(), "24.07 ms".into()));
        assert_eq!(rate_text(50_000.0), "50.00 kB/s (400.0 kbit/s)");
        assert_eq!(rate_text(27_193_700_000.0), "27.19 GB/s (217.5 Gbit/s)");
        for (value, text) in [(0.0, "0"), (0.5, "0.500"), (12.345, "12.35"), (117.66, "117.7"), (27_193.7, "27194")] {
            assert_eq!(digits(value), text);
        }
    }
}
