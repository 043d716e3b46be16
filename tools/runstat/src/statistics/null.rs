//! What rank sums are when nothing but chance tells the two sides apart: counted, not approximated.

use statrs::distribution::{ContinuousCDF, Normal};

/// Most steps that counting may take, some tens of milliseconds: about fifty runs a side.
const MAX_STEPS: usize = 20_000_000;

/// The distribution of the sum of `chosen` out of `ranks`, each choice being as likely: probabilities by sum. `None` where
/// counting would take too long.
pub fn rank_sums(ranks: &[usize], chosen: usize) -> Option<Vec<f64>> {
    let mut descending = ranks.to_vec();
    descending.sort_unstable_by(|a, b| b.cmp(a));
    let largest: usize = descending.iter().take(chosen).sum();
    if ranks.len().checked_mul(chosen)?.checked_mul(largest)? > MAX_STEPS {
        return None;
    }
    // ways[k][s]: choices of k ranks with sum s, among the ranks taken so far.
    let mut ways = vec![vec![0.0_f64; largest + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for (taken, &rank) in ranks.iter().enumerate() {
        for count in (1..=chosen.min(taken + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            for (sum, without) in more[0][rank..].iter_mut().zip(&fewer[count - 1]) {
                *sum += without;
            }
        }
    }
    let sums = ways.swap_remove(chosen);
    let all: f64 = sums.iter().sum();
    Some(sums.into_iter().map(|ways| ways / all).collect())
}

/// How many of the sorted differences between two sides of `a` and `b` runs lie outside of the interval at each end, plus
/// one: the largest rank whose tail is at most `tail` (Hodges and Lehmann 1963). With ties the interval is, if anything,
/// too wide (Noether 1967).
pub fn critical_rank(a: usize, b: usize, tail: f64) -> (u64, f64) {
    let (fewer, all) = (a.min(b), a + b);
    let ranks: Vec<usize> = if all <= 10_000 { (0..all).collect() } else { Vec::new() };
    let Some(sums) = rank_sums(&ranks, fewer).filter(|_| !ranks.is_empty()) else {
        return (approximate_critical_rank(a as f64, b as f64, tail), tail);
    };
    let smallest = fewer * fewer.saturating_sub(1) / 2;
    let (mut below, mut rank) = (0.0, 0);
    for probability in &sums[smallest..] {
        if below + probability > tail {
            break;
        }
        below += probability;
        rank += 1;
    }
    (rank, below)
}

fn approximate_critical_rank(a: f64, b: f64, tail: f64) -> u64 {
    let spread = (a * b * (a + b + 1.0) / 12.0).sqrt();
    let rank = a * b / 2.0 + Normal::standard().inverse_cdf(tail) * spread + 0.5;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below zero, and a count")]
    let rank = rank.floor().max(0.0) as u64;
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_distributions_are_as_one_counts_them() {
        // Of 1, 2, 3 any two: 3, 4, 5.
        let sums = rank_sums(&[1, 2, 3], 2).unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(sums, [0.0, 0.0, 0.0, third, third, third]);
        // Two tied (ranks 1.5, 1.5, 3, doubled): 6 once, 9 twice.
        let sums = rank_sums(&[3, 3, 6], 2).unwrap();
        assert_eq!((sums[6], sums[9]), (third, 2.0 * third));
        assert_eq!(rank_sums(&[5], 0).unwrap(), [1.0]);
    }

    #[test]
    fn critical_ranks_are_those_of_the_tables() {
        // R: qwilcox(0.025, a, b), and 2 * pwilcox(. - 1, a, b) for the tail.
        for (a, b, rank) in [(3, 3, 0), (4, 4, 1), (5, 5, 3), (6, 6, 6), (10, 10, 24), (5, 8, 7), (20, 20, 128)] {
            assert_eq!(critical_rank(a, b, 0.025).0, rank, "{a}, {b}");
        }
        assert!((critical_rank(4, 4, 0.025).1 - 1.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn the_approximation_takes_over_smoothly() {
        let (exact, _) = critical_rank(48, 48, 0.025);
        let approximate = approximate_critical_rank(48.0, 48.0, 0.025);
        assert!(exact.abs_diff(approximate) <= 2, "{exact} {approximate}");
        assert!(critical_rank(100_000, 100_000, 0.025).0 > 4_000_000_000);
    }
}
