//! `--runs N` and `--runs MIN..MAX --within PCT`: how often to measure, and when the mean is known well enough.

use std::str::FromStr;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// `--runs` as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Exactly so many.
    Fixed(u64),
    /// At least `min`, then on until settled, at most `max`.
    Until {
        /// Runs before the first look at the interval.
        min: u64,
        /// Runs after which to give up.
        max: u64,
    },
}

impl FromStr for Runs {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| part.trim().parse().map_err(|_| "expected a number of runs, such as 5 or 3..10");
        match text.split_once("..") {
            None => match number(text)? {
                0 => Err("must be more than zero"),
                runs => Ok(Self::Fixed(runs)),
            },
            Some((min, max)) => match (number(min)?, number(max)?) {
                (min, _) if min < 2 => Err("MIN must be at least 2: one run has no confidence interval"),
                (min, max) if max < min => Err("MAX must not be less than MIN"),
                (min, max) => Ok(Self::Until { min, max }),
            },
        }
    }
}

/// Decides after each run whether another is needed.
#[derive(Debug, Clone)]
pub struct Repeat {
    runs: Runs,
    within_pct: f64,
    rates: Vec<f64>,
    done: u64,
}

/// What comes after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Another run.
    Again,
    /// That was the last one.
    Enough,
    /// That was the last one allowed, and the mean is not known within the percentage asked.
    Unsettled,
}

impl Repeat {
    /// `within_pct` is the half width of the 95 % confidence interval in percent of the mean; only `MIN..MAX` looks at it.
    pub fn new(runs: Runs, within_pct: f64) -> Self {
        Self { runs, within_pct, rates: Vec::new(), done: 0 }
    }

    /// The number of the run to do next, from 1.
    pub fn number(&self) -> u64 {
        self.done + 1
    }

    /// How many runs there will be at most.
    pub fn most(&self) -> u64 {
        match self.runs {
            Runs::Fixed(runs) | Runs::Until { max: runs, .. } => runs,
        }
    }

    /// How many runs are done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Takes the rate of a finished run, if it had one.
    pub fn finish(&mut self, rate: Option<f64>) -> Next {
        self.done += 1;
        self.rates.extend(rate);
        match self.runs {
            Runs::Fixed(runs) if self.done < runs => Next::Again,
            Runs::Fixed(_) => Next::Enough,
            Runs::Until { min, .. } if self.done < min => Next::Again,
            Runs::Until { .. } if self.is_settled() => Next::Enough,
            Runs::Until { max, .. } if self.done < max => Next::Again,
            Runs::Until { .. } => Next::Unsettled,
        }
    }

    fn is_settled(&self) -> bool {
        confidence(&self.rates).is_some_and(|(mean, half_width)| half_width <= mean * self.within_pct / 100.0)
    }

    /// Mean and half width of its 95 % confidence interval, for people; `None` before two runs.
    pub fn confidence(&self) -> Option<(f64, f64)> {
        confidence(&self.rates)
    }
}

/// Mean and half width of the two-sided 95 % Student-t confidence interval; `None` with fewer than two values.
fn confidence(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some((mean, t * (variance / n).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms() {
        assert_eq!("5".parse(), Ok(Runs::Fixed(5)));
        assert_eq!("3..10".parse(), Ok(Runs::Until { min: 3, max: 10 }));
        for wrong in ["0", "-1", "x", "1..5", "5..3", "3..", "..3"] {
            assert!(wrong.parse::<Runs>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_interval_is_students() {
        // R: t.test(c(10, 12, 11))$conf.int is 8.515862 to 13.484138.
        let (mean, half_width) = confidence(&[10.0, 12.0, 11.0]).unwrap();
        assert!((mean - 11.0).abs() < 1e-12);
        assert!((half_width - 2.484_138).abs() < 1e-6, "{half_width}");
        assert_eq!(confidence(&[1.0]), None);
        assert_eq!(confidence(&[]), None);
    }

    #[test]
    fn stops_as_soon_as_the_mean_is_known() {
        let mut steady = Repeat::new("2..9".parse().unwrap(), 5.0);
        assert_eq!(steady.finish(Some(100.0)), Next::Again);
        assert_eq!(steady.finish(Some(100.0)), Next::Enough);
    }

    #[test]
    fn says_so_when_it_gives_up() {
        let mut wild = Repeat::new("2..3".parse().unwrap(), 5.0);
        assert_eq!(wild.finish(Some(1.0)), Next::Again);
        assert_eq!(wild.finish(Some(100.0)), Next::Again);
        assert_eq!(wild.number(), 3);
        assert_eq!(wild.finish(Some(50.0)), Next::Unsettled);
    }

    #[test]
    fn runs_without_a_rate_never_settle() {
        let mut empty = Repeat::new("2..3".parse().unwrap(), 5.0);
        let nexts: Vec<_> = (0..3).map(|_| empty.finish(None)).collect();
        assert_eq!(nexts, [Next::Again, Next::Again, Next::Unsettled]);
    }
}
