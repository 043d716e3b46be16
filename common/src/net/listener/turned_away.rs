//! Those whom a listener refuses: a stranger must not fill its log.

use std::fmt::Display;
use std::time::{Duration, Instant};

use super::refusal::Refusal;
use crate::console::Console;

/// How often a refusal is worth a line.
const NOTICE_EVERY: Duration = Duration::from_secs(1);

/// Those who were refused and cost no line each.
#[derive(Debug, Default)]
pub struct TurnedAway {
    without_proof: u64,
    /// Refused since the last notice.
    unsaid: u64,
    said_at: Option<Instant>,
}

impl TurnedAway {
    /// Takes note of a refusal, and says so unless it has said so just before. Who does not know the secret is only counted.
    pub fn note(&mut self, console: &Console, peer: impl Display, refusal: &Refusal) {
        if let Some(more) = self.count(Instant::now(), refusal) {
            let more = if more == 0 { String::new() } else { format!(" ({more} more before)") };
            console.notice(&format!("refused {peer}: {refusal}{more}"));
        }
    }

    /// How many more there were before this one, if it is worth a line.
    fn count(&mut self, now: Instant, refusal: &Refusal) -> Option<u64> {
        if matches!(refusal, Refusal::NoProof | Refusal::WrongProof) {
            self.without_proof += 1;
            None
        } else if self.said_at.is_some_and(|at| now < at + NOTICE_EVERY) {
            self.unsaid += 1;
            None
        } else {
            self.said_at = Some(now);
            Some(std::mem::take(&mut self.unsaid))
        }
    }

    /// Says how many there were of those who were only counted.
    pub fn tell(&self, console: &Console) {
        if self.without_proof > 0 {
            console.notice(&format!("refused {} requests without the secret (--secret-file)", self.without_proof));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_costs_a_line_a_second() {
        let (mut away, now) = (TurnedAway::default(), Instant::now());
        let lines = (0..5000_u64).filter_map(|ms| {
            away.count(now + Duration::from_millis(ms), &Refusal::NoProof);
            away.count(now + Duration::from_millis(ms), &Refusal::NotAllowed)
        });
        assert_eq!(lines.collect::<Vec<_>>(), [0, 999, 999, 999, 999]);
        assert_eq!(away.without_proof, 5000);
    }
}
