//! `udpblast search`: the highest rate with (almost) no loss, by bisection with a settling time (RFC 2544, 26.1).

use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use common::cli::Ending;
use common::measure::series;
use common::net::turn;
use common::schema::Fixed;
use common::schema::udpblast::SCHEMA;
use common::units;

use crate::args::SearchArgs;
use crate::client::Client;
use crate::exchange::Exchange;
use crate::request::{Request, TestKind};

/// Most trials: each halves what is not known.
const MAX_TRIALS: u64 = 40;

/// A trial that loses none of so many datagrams has, with 95 % confidence, a loss below 3 / n (the rule of three).
const RULE_OF_THREE: f64 = 3.0;

/// Datagrams that tell whether any are lost.
const ENOUGH: f64 = 1000.0;

/// A trial is made longer to have enough datagrams, but not longer than this.
const LONGEST: Duration = Duration::from_mins(1);

/// The limits of loss that are suggested, percent.
const SUGGESTED: [f64; 9] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];

/// So many trials in a row lose at rates that the path carries: then the rate is not why.
const UNRELATED: usize = 2;

/// What a trial came to.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// Bits of payload per second.
    rate: f64,
    lost_pct: f64,
}

impl Trial {
    fn received(self) -> f64 {
        self.rate * (1.0 - self.lost_pct / 100.0)
    }
}

/// Runs the verb.
pub fn search(args: &SearchArgs) -> anyhow::Result<Ending> {
    let session = args.lines.open("udpblast", &SCHEMA)?;
    let client = Client::new(&args.route, &args.lines, &session)?;
    if turn::splay(args.route.peer.splay, &session.stop).is_err() {
        return Ok(Ending::of(&session.stop).unwrap_or(Ending::Measured));
    }
    let visit = rand::random();
    let (mut low, mut high, mut rate) = (0, None, args.rate);
    let mut size = args.datagram.size;
    let mut best: Option<Exchange> = None;
    let mut trials: Vec<Trial> = Vec::new();
    for run in 1..=MAX_TRIALS {
        let request = Request { run, visit, ..trial(args, rate, size) };
        let Some(mut exchange) = client.measure(&request)? else { break };
        if let Some(ending) = series::publish(&session, &mut exchange)? {
            return Ok(ending);
        }
        size = exchange.total().own.datagram_bytes.or(size);
        trials.extend(outcome(&exchange));
        if exchange.keeps(rate, args.loss) {
            low = rate;
            best = Some(exchange);
        } else {
            high = Some(rate);
            if let Some(why) = unrelated(&trials, args.loss) {
                return Err(anyhow!("{}: {why}", args.route.peer.context()));
            }
        }
        // The first trial is the highest rate: if that passes, there is nothing to search.
        let Some(high) = high else { break };
        if (high - low) as f64 <= high as f64 * args.resolution / 100.0 {
            break;
        }
        rate = low + (high - low) / 2;
        session.stop.wait(&[], Some(Instant::now() + args.settle))?;
    }
    if let Some(ending) = Ending::of(&session.stop) {
        return Ok(ending);
    }
    let Some(mut best) = best else {
        bail!(
            "{}: even {} lost more than {} %",
            args.route.peer.context(),
            units::bit_rate_text(rate as f64),
            args.loss
        );
    };
    if let Some(mut answer) = best.own.pop() {
        answer.line.test = "udp_search";
        session.lines.write_line(&answer.text()?)?;
    }
    session.console.summary(&format!(
        "highest rate with at most {} % lost: {}",
        args.loss,
        units::rate_text(low as f64 / 8.0)
    ));
    Ok(Ending::Measured)
}

fn outcome(exchange: &Exchange) -> Option<Trial> {
    let rate = exchange.total().line.bytes_per_s.map(Fixed::value)? * 8.0;
    Some(Trial { rate, lost_pct: exchange.lost_pct()? })
}

/// Why lower rates will not help, if they will not: the latest trials lost more than is allowed at rates that the path is
/// known to carry.
fn unrelated(trials: &[Trial], most_lost_pct: f64) -> Option<String> {
    let most = trials.iter().map(|trial| trial.received()).fold(0.0, f64::max);
    let lost_in_vain = |trial: &&Trial| trial.lost_pct > most_lost_pct && trial.rate <= 0.9 * most;
    if trials.iter().rev().take_while(lost_in_vain).count() < UNRELATED {
        return None;
    }
    let last = trials.last()?;
    let at = units::bit_rate_text(last.rate);
    let word = format!("{:.2} % were lost even at {at}, which the path carries: the rate is not why", last.lost_pct);
    let help = SUGGESTED.iter().filter(|limit| **limit > most_lost_pct).find_map(|limit| {
        let passed = trials.iter().filter(|trial| trial.lost_pct <= *limit).map(|trial| trial.rate).fold(0.0, f64::max);
        (passed > 0.0).then(|| format!("; --loss {limit}% allows at least {}", units::bit_rate_text(passed)))
    });
    Some(word + &help.unwrap_or_default())
}

/// Long enough to tell the loss that is asked for from none, at this rate and with datagrams of this size.
fn length(time: Duration, most_lost_pct: f64, rate: u64, size: Option<u64>) -> Duration {
    let enough = if most_lost_pct > 0.0 { (RULE_OF_THREE * 100.0 / most_lost_pct).min(ENOUGH * 10.0) } else { ENOUGH };
    let needed = enough * size.unwrap_or(1472) as f64 * 8.0 / rate.max(1) as f64;
    time.max(Duration::from_secs_f64(needed.min(LONGEST.as_secs_f64())))
}

fn trial(args: &SearchArgs, rate: u64, size: Option<u64>) -> Request {
    Request {
        kind: TestKind::Send,
        run: 1,
        visit: 0,
        // A trial may be the last one, which only its outcome says.
        next_within: args.settle.saturating_add(args.route.peer.connect_timeout),
        streams: 1,
        per_stream: false,
        rate: Some(rate),
        size: args.datagram.size,
        burst: args.datagram.burst,
        time: Some(length(args.time, args.loss, rate, size)),
        bytes: None,
        warmup: Duration::ZERO,
        interval: None,
        every: None,
        idle_timeout: args.route.peer.idle_timeout,
        fragment: args.datagram.fragment,
        offload: !args.datagram.no_offload,
        buffer: args.datagram.buffer,
        dscp: args.route.dscp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(all: &[(f64, f64)]) -> Vec<Trial> {
        all.iter().map(|(mbit, lost_pct)| Trial { rate: mbit * 1e6, lost_pct: *lost_pct }).collect()
    }

    #[test]
    fn loss_that_does_not_fall_with_the_rate_ends_the_search() {
        let falling = trials(&[(200.0, 90.0), (100.0, 80.0), (50.0, 60.0), (25.0, 20.0)]);
        assert_eq!(unrelated(&falling, 0.1), None, "a path of 20 Mbit/s");
        let mut random = falling;
        random.extend(trials(&[(12.5, 0.5)]));
        assert_eq!(unrelated(&random, 0.1), None, "once may be chance");
        random.extend(trials(&[(6.25, 0.45)]));
        let word = unrelated(&random, 0.1).unwrap();
        assert!(word.contains("0.45 %") && word.contains("--loss 0.5% allows at least 12.5"), "{word}");
        assert_eq!(unrelated(&random, 1.0), None);
    }

    #[test]
    fn a_trial_has_enough_datagrams_for_the_limit() {
        let second = Duration::from_secs(1);
        assert_eq!(length(3 * second, 0.1, 1_000_000_000, Some(1472)), 3 * second);
        // 3000 datagrams of 1000 bytes at 4 Mbit/s.
        assert_eq!(length(3 * second, 0.1, 4_000_000, Some(1000)), 6 * second);
        assert_eq!(length(second, 0.0, 1_000_000, Some(1000)), 8 * second);
        assert_eq!(length(second, 0.001, 8, None), LONGEST);
    }
}
