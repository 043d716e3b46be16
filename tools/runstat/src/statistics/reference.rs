//! The same samples under R, scipy and ministat: what they say is kept beside the commands that made them say it.

use super::CONFIDENCE;
use super::rank::{Method, mann_whitney};
use super::shift::ratio;
use crate::sample::{Sample, Spot};

const SAMPLES: &str = include_str!("../../../../tests/fixtures/runstat/samples.csv");
const R: &str = include_str!("../../../../tests/fixtures/runstat/reference-R.csv");
const SCIPY: &str = include_str!("../../../../tests/fixtures/runstat/reference-scipy.csv");
const MINISTAT: &str = include_str!("../../../../tests/fixtures/runstat/ministat.txt");

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

/// ministat's numbers for one side: n, min, max, median, mean, standard deviation.
fn ministat(name: &str, mark: &str) -> Vec<f64> {
    let part = MINISTAT.split("== ").find(|part| part.lines().next() == Some(name)).unwrap();
    let line = part.lines().find(|line| line.starts_with(mark)).unwrap();
    line.split_whitespace().skip(1).map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn means_and_spreads_are_those_of_ministat_and_medians_are_right() {
    let mut upper_medians = 0;
    for (name, a, b) in samples() {
        for (mark, side) in [("x ", a), ("+ ", b)] {
            let [n, min, max, median, mean, stddev] = ministat(name, mark)[..] else { panic!("{name}") };
            let mut sample = Sample::default();
            for value in &side {
                sample.push(*value, Spot::default(), 1);
            }
            assert!((sample.count() as f64 - n).abs() < 0.5);
            assert_eq!(sample.extremes(), Some((min, max)), "{name}");
            assert!((sample.mean().unwrap() / mean - 1.0).abs() < 1e-6, "{name}");
            // Of equal values ministat's is a root of rounding errors: not a number, or any small one.
            let found = sample.stddev().unwrap();
            assert!((found - stddev).abs() < 1e-6 || found == 0.0, "{name}: {found} {stddev}");
            // Of an even number ministat takes the upper of the two in the middle.
            let middle = super::median::median(&side).unwrap();
            assert!((side[side.len() / 2] - median).abs() < 1e-9, "{name}");
            upper_medians += u32::from(middle < median);
        }
    }
    assert!(upper_medians > 0);
}

#[test]
fn ministats_conclusions_differ_where_ranks_and_means_do() {
    let differ = samples().into_iter().filter(|(name, a, b)| {
        let part = MINISTAT.split("== ").find(|part| part.lines().next() == Some(name)).unwrap();
        part.contains("No difference proven") != (mann_whitney(a, b).p >= 0.05)
    });
    // 3 3 3 4 against 3 4 4 5 5 5 6: a t-test takes them for normal and says yes; the exact p-value is 0.079.
    assert_eq!(differ.map(|(name, ..)| name).collect::<Vec<_>>(), ["ties_uneven"]);
}
