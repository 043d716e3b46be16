//! Geometric means of ratios: many groups in one figure.

use crate::comparison::Findings;
use crate::distinct::distinct;
use crate::plan::Plan;

/// A geometric mean of ratios.
#[derive(Debug)]
pub struct GeometricMean {
    pub metric: usize,
    pub side: String,
    /// Empty for all tests together.
    pub test: String,
    pub ratio: f64,
    pub groups: u64,
}

/// Geometric means of the ratios of each side: of each test if there are several with several groups, and of all.
pub fn of(findings: &Findings, plan: &Plan) -> Vec<GeometricMean> {
    let Some(against) = &plan.against else { return Vec::new() };
    let test = plan.by_index("test").filter(|test| *test != against.along);
    let rows: Vec<_> = findings
        .comparisons
        .iter()
        .filter_map(|comparison| {
            let summary = &findings.summaries[comparison.of];
            let key = &findings.groups[summary.group].key;
            let test = test.map_or("", |test| key[test].as_str());
            Some((summary.metric, key[against.along].as_str(), test, comparison.ratio?.estimate))
        })
        .collect();
    let mut means = Vec::new();
    for (metric, side) in distinct(rows.iter().map(|row| (row.0, row.1))) {
        let of_side: Vec<_> = rows.iter().filter(|row| (row.0, row.1) == (metric, side)).collect();
        let tests = distinct(of_side.iter().map(|row| row.2));
        let mut add = |test: &str, ratios: &[f64]| {
            if let Some((ratio, groups)) = geometric_mean(ratios.iter().copied()).filter(|_| ratios.len() > 1) {
                means.push(GeometricMean { metric, side: side.to_owned(), test: test.to_owned(), ratio, groups });
            }
        };
        if tests.len() > 1 {
            for test in tests {
                let ratios: Vec<f64> = of_side.iter().filter(|row| row.2 == test).map(|row| row.3).collect();
                add(test, &ratios);
            }
        }
        add("", &of_side.iter().map(|row| row.3).collect::<Vec<_>>());
    }
    means
}

/// The geometric mean of ratios; `None` of none.
fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<(f64, u64)> {
    let (mut sum, mut count) = (0.0, 0);
    for ratio in ratios {
        sum += ratio.ln();
        count += 1;
    }
    (count > 0).then(|| ((sum / count as f64).exp(), count))
}
