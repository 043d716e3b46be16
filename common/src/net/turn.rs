//! A client's patience before its test: for a free place at a busy listener, and for a moment of its own.

use std::time::{Duration, Instant};

use crate::stop::{Stop, Stopped};

/// Between two questions to a busy listener, the first ones; each is up to twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest one.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A wait for a free place.
#[derive(Debug)]
pub struct Turn {
    until: Instant,
    pause: Duration,
    has_waited: bool,
}

impl Turn {
    /// For so long at most; not at all without it.
    pub fn new(patience: Option<Duration>) -> Self {
        Self { until: Instant::now() + patience.unwrap_or_default(), pause: FIRST_PAUSE, has_waited: false }
    }

    /// Whether nobody has waited yet.
    pub fn is_first(&self) -> bool {
        !self.has_waited
    }

    /// Waits before the listener is asked again; false once that is over. The error is [`Stopped`] if `stop` came first.
    pub fn wait(&mut self, stop: &Stop) -> anyhow::Result<bool> {
        self.has_waited = true;
        let now = Instant::now();
        if now >= self.until {
            return Ok(false);
        }
        rest(stop, self.until.min(now + self.pause.mul_f64(rand::random_range(0.5..1.0))))?;
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        Ok(true)
    }
}

/// Waits for a random part of `most`, so that many who were told at once do not begin at once.
pub fn splay(most: Option<Duration>, stop: &Stop) -> anyhow::Result<()> {
    most.map_or(Ok(()), |most| rest(stop, Instant::now() + most.mul_f64(rand::random())))
}

fn rest(stop: &Stop, until: Instant) -> anyhow::Result<()> {
    while Instant::now() < until && !stop.is_set() {
        stop.wait(&[], Some(until))?;
    }
    if stop.is_set() { Err(Stopped.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_has_an_end_and_a_stop_ends_it_at_once() {
        let stop = Stop::on_request().unwrap();
        assert!(!Turn::new(None).wait(&stop).unwrap(), "no patience was asked for");
        let mut turn = Turn::new(Some(Duration::from_millis(120)));
        let asked = std::iter::from_fn(|| turn.wait(&stop).unwrap().then_some(())).count();
        assert!((2..=4).contains(&asked), "{asked}");
        let soon = Instant::now();
        splay(Some(Duration::from_millis(20)), &stop).unwrap();
        splay(None, &stop).unwrap();
        stop.set();
        let minute = Some(Duration::from_mins(1));
        assert!(Turn::new(minute).wait(&stop).unwrap_err().is::<Stopped>());
        assert!(splay(minute, &stop).unwrap_err().is::<Stopped>());
        assert!(soon.elapsed() < Duration::from_secs(30));
    }
}
