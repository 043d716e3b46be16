//! Runs far from all others. They are named, never dropped: an outlier is a fact about the machine.

use super::median::median;

/// Distance from which a value is an outlier, in robust standard deviations (Iglewicz and Hoaglin 1993).
const FAR: f64 = 3.5;

/// Fewest values among which one can be called far from the others.
const FEWEST: usize = 6;

/// Limits beyond which values are outliers; `None` where nothing can be said.
pub fn fences(sorted: &[f64]) -> Option<(f64, f64)> {
    if sorted.len() < FEWEST {
        return None;
    }
    let center = median(sorted)?;
    let mut distances: Vec<f64> = sorted.iter().map(|value| (value - center).abs()).collect();
    distances.sort_by(f64::total_cmp);
    // Both estimate the standard deviation of a normal distribution. The first is zero when half of the values are equal.
    let spread = match median(&distances)? {
        0.0 => 1.253_314 * distances.iter().sum::<f64>() / distances.len() as f64,
        deviation => 1.482_602 * deviation,
    };
    Some((center - FAR * spread, center + FAR * spread))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outliers(values: &[f64]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = fences(&sorted).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        values.iter().copied().filter(|value| *value < low || *value > high).collect()
    }

    #[test]
    fn what_is_far_from_all_others_is_named() {
        assert_eq!(outliers(&[115.0, 114.0, 115.2, 114.8, 78.8, 115.1]), [78.8]);
        assert_eq!(outliers(&[115.0, 115.0, 115.0, 115.0, 115.0, 78.8, 115.0]), [78.8], "most are equal");
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [0.0; 0]);
        assert_eq!(outliers(&[7.0; 9]), [0.0; 0], "all are equal");
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 99.0]), [0.0; 0], "too few");
    }
}
