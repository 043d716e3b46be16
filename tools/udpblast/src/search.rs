//! `udpblast search`: the highest rate with (almost) no loss, by bisection with a settling time (RFC 2544, 26.1).

use anyhow::bail;
use common::cli::Ending;
use common::measure::series;
use common::schema::udpblast::SCHEMA;
use common::units;

use crate::args::SearchArgs;
use crate::client::Client;
use crate::exchange::Exchange;
use crate::request::{Request, TestKind};

/// Most trials: each halves what is not known.
const MAX_TRIALS: u64 = 40;

/// Runs the verb.
pub fn search(args: &SearchArgs) -> anyhow::Result<Ending> {
    let session = args.lines.open("udpblast", &SCHEMA)?;
    let client = Client::new(&args.peer, &args.lines, &session)?;
    let (mut low, mut high, mut rate) = (0, None, args.rate);
    let mut best: Option<Exchange> = None;
    for run in 1..=MAX_TRIALS {
        let Some(mut exchange) = client.measure(&trial(args, run, rate))? else { break };
        if let Some(ending) = series::publish(&session, &mut exchange)? {
            return Ok(ending);
        }
        if exchange.keeps(rate, args.loss) {
            low = rate;
            best = Some(exchange);
        } else {
            high = Some(rate);
        }
        // The first trial is the highest rate: if that passes, there is nothing to search.
        let Some(high) = high else { break };
        if (high - low) as f64 <= high as f64 * args.resolution / 100.0 {
            break;
        }
        rate = low + (high - low) / 2;
        session.stop.wait(&[], Some(std::time::Instant::now() + args.settle))?;
    }
    if let Some(ending) = Ending::of(&session.stop) {
        return Ok(ending);
    }
    let Some(best) = best else {
        bail!("{}: even {} bit/s lost more than {} %", args.peer.context(), rate, args.loss);
    };
    let mut answer = best.own;
    answer.line.test = "udp_search";
    session.lines.write_line(&answer.text()?)?;
    session.console.summary(&format!(
        "highest rate with at most {} % lost: {}",
        args.loss,
        units::rate_text(low as f64 / 8.0)
    ));
    Ok(Ending::Measured)
}

fn trial(args: &SearchArgs, run: u64, rate: u64) -> Request {
    Request {
        kind: TestKind::Send,
        run,
        label: args.lines.label.clone(),
        rate: Some(rate),
        size: args.datagram.size,
        burst: args.datagram.burst,
        time: Some(args.time),
        bytes: None,
        warmup: std::time::Duration::ZERO,
        interval: None,
        idle_timeout: args.peer.idle_timeout,
        fragment: args.datagram.fragment,
        offload: !args.datagram.no_offload,
        buffer: args.datagram.buffer,
    }
}
