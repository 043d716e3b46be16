//! When a span began.

use std::time::UNIX_EPOCH;

/// The seconds since 1970 of a cell that holds RFC 3339 in UTC; `None` of anything else, and of what was before.
pub fn seconds_since_1970(cell: &[u8]) -> Option<f64> {
    let time = humantime::parse_rfc3339(std::str::from_utf8(cell).ok()?).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_rfc_3339_or_unknown() {
        assert_eq!(seconds_since_1970(b"2026-11-30T12:00:00.500Z"), Some(1_796_040_000.5));
        for unknown in ["", "noon", "2026-11-30", "1969-12-31T23:59:59Z", "2026-11-30T12:00:00+02:00"] {
            assert_eq!(seconds_since_1970(unknown.as_bytes()), None, "{unknown}");
        }
    }
}
