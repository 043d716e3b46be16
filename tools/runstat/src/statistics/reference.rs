//! The same samples under R and scipy: what they say is kept beside the commands that made them say it.

use super::CONFIDENCE;
use super::rank::{Method, mann_whitney};
use super::shift::ratio;

const SAMPLES: &str = include_str!("../../../../tests/fixtures/runstat/samples.csv");
const R: &str = include_str!("../../../../tests/fixtures/runstat/reference-R.csv");
const SCIPY: &str = include_str!("../../../../tests/fixtures/runstat/reference-scipy.csv");

/// The cells of the row of `name`, as numbers.
fn row(table: &str, name: &str) -> Option<Vec<f64>> {
    let line = table.lines().find(|line| line.split(',').next() == Some(name))?;
    Some(line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect())
}

fn samples() -> Vec<(&'static str, Vec<f64>, Vec<f64>)> {
    let side = |text: &str| {
        let mut values: Vec<f64> = text.split(' ').map(|value| value.parse().unwrap()).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let rows = SAMPLES.lines().skip(1).map(|line| {
        let cells: Vec<_> = line.split(',').collect();
        (cells[0], side(cells[1]), side(cells[2]))
    });
    rows.collect()
}

#[test]
fn p_values_are_those_of_scipy_with_and_without_ties() {
    assert_eq!(samples().len(), SCIPY.lines().count() - 1);
    for (name, a, b) in samples() {
        let expected = row(SCIPY, name).unwrap()[0];
        for (a, b) in [(&a, &b), (&b, &a)] {
            let test = mann_whitney(a, b);
            assert_eq!(test.method, Method::Exact);
            assert!((test.p - expected).abs() < 1e-9, "{name}: {} {expected}", test.p);
        }
    }
}

#[test]
fn the_approximation_is_that_of_scipy() {
    for (name, a, b) in samples() {
        let expected = row(SCIPY, name).unwrap()[1];
        let p = super::rank::approximate(&a, &b);
        assert!((p - expected).abs() < 1e-9, "{name}: {p} {expected}");
    }
}

#[test]
fn ratios_and_intervals_are_those_of_r() {
    let mut checked = 0;
    for (name, a, b) in samples() {
        let Some(expected) = row(R, name) else { continue };
        checked += 1;
        assert!((mann_whitney(&a, &b).p - expected[0]).abs() < 1e-9, "{name}");
        let ratio = ratio(&a, &b, CONFIDENCE).unwrap();
        let interval = ratio.interval.unwrap();
        for (found, expected) in
            [ratio.estimate, interval.low, interval.high, interval.confidence].iter().zip(&expected[1..])
        {
            assert!((found - expected).abs() < 1e-9, "{name}: {ratio:?} {expected}");
        }
    }
    assert_eq!(checked, R.lines().count() - 1);
}
