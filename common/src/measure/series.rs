//! Runs of one measurement, one after the other: when they are enough, what is printed of each, and how it all ends.

use std::fmt;

use crate::cli::{self, Ending, Session};
use crate::console::Console;
use crate::measure::repeat::{Next, Repeat};
use crate::output::RecordWriter;
use crate::schema::line::Flag;
use crate::units;

/// What came out of a run.
pub trait Outcome {
    /// The result, by which runs are compared; `None` where there was no time to measure.
    fn rate(&self) -> Option<Rate>;

    /// Raises a flag on its totals.
    fn raise(&mut self, flag: Flag);

    /// Prints its totals.
    fn print(&self, lines: &RecordWriter) -> anyhow::Result<()>;

    /// Why it did not run to its end, unless it was told to stop.
    fn take_failure(&mut self) -> Option<anyhow::Error>;

    /// Says what is doubtful about a figure, and what to do about it.
    fn advise(&self, _console: &Console) {}

    /// The result in words, for people who watch.
    fn sentence(&self) -> String;
}

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Bytes per second.
    Bytes(f64),
    /// Operations per second.
    Ops(f64),
}

impl Rate {
    fn value(self) -> f64 {
        match self {
            Self::Bytes(value) | Self::Ops(value) => value,
        }
    }

    /// The same kind of rate.
    fn of(self, value: f64) -> Self {
        match self {
            Self::Bytes(_) => Self::Bytes(value),
            Self::Ops(_) => Self::Ops(value),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bytes(value) => f.write_str(&units::rate_text(value)),
            Self::Ops(value) => write!(f, "{value:.0}/s"),
        }
    }
}

/// What comes after a run.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Another run.
    Again,
    /// Nothing: that was enough, and all went well.
    Enough,
    /// The end of the tool.
    End(Ending),
}

/// Runs `measure`, which is told the number of the run, as often as `repeat` wants; it has no outcome if it was told to stop
/// before it began. `None` when all went well, and something else may follow.
pub fn run<O: Outcome>(
    session: &Session,
    mut repeat: Repeat,
    mut measure: impl FnMut(u64) -> anyhow::Result<Option<O>>,
) -> anyhow::Result<Option<Ending>> {
    loop {
        let Some(mut outcome) = measure(repeat.number())? else { return Ok(Ending::of(&session.stop)) };
        match conclude(session, &mut repeat, &mut outcome)? {
            Step::Again => {}
            Step::Enough => return Ok(None),
            Step::End(ending) => return Ok(Some(ending)),
        }
    }
}

/// Prints a run, says what there is to say of it, and decides what comes after it.
pub fn conclude(session: &Session, repeat: &mut Repeat, outcome: &mut impl Outcome) -> anyhow::Result<Step> {
    let rate = outcome.rate();
    let next = repeat.finish(rate.map(Rate::value));
    if next == Next::Unsettled {
        outcome.raise(Flag::Unsettled);
    }
    if let Some(ending) = publish(session, outcome)? {
        return Ok(Step::End(ending));
    }
    let confidence = repeat.confidence().zip(rate);
    let mean = confidence.map(|((mean, half_width), rate)| mean_text(repeat.done(), rate.of(mean), half_width));
    session.console.summary(&[Some(outcome.sentence()), mean].into_iter().flatten().collect::<Vec<_>>().join("; "));
    Ok(if next == Next::Again { Step::Again } else { Step::Enough })
}

/// Prints a run and says what is doubtful about it; an ending only if there is nothing to do after it. A failure ends the
/// tool; so does a signal, and if both came, the tool ends by the signal, as whoever sent it expects, and the failure is
/// said.
pub fn publish(session: &Session, outcome: &mut impl Outcome) -> anyhow::Result<Option<Ending>> {
    outcome.print(&session.lines)?;
    match (Ending::of(&session.stop), outcome.take_failure()) {
        (Some(ending @ Ending::Interrupted(_)), Some(failure)) => {
            session.console.error(&cli::message(&failure));
            Ok(Some(ending))
        }
        (_, Some(failure)) => Err(failure),
        (Some(ending), None) => Ok(Some(ending)),
        (None, None) => {
            outcome.advise(&session.console);
            Ok(None)
        }
    }
}

fn mean_text(runs: u64, mean: Rate, half_width: f64) -> String {
    let share = 100.0 * half_width / mean.value().max(f64::MIN_POSITIVE);
    format!("mean of {runs} runs {mean} ± {share:.1} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_said_in_the_unit_of_its_runs() {
        assert_eq!(mean_text(3, Rate::Bytes(11e6), 1.1e6), "mean of 3 runs 11.00 MB/s (88.00 Mbit/s) ± 10.0 %");
        assert_eq!(mean_text(2, Rate::Ops(17_000.0), 170.0), "mean of 2 runs 17000/s ± 1.0 %");
    }
}
