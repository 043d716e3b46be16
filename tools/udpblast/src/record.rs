//! From counts and a sample to one line: pure arithmetic.

use std::ops::Range;

use common::measure::counters::Counts;
use common::measure::latency::Latencies;
use common::measure::spans::Cut;
use common::schema::Fixed;
use common::schema::line::{Flag, Flags, Span};
use common::schema::udpblast::Udp;

use crate::engine::Offload;
use crate::plan::Plan;
use crate::role::Role;
use crate::tally::Arrived;

/// What is counted of a stream beside bytes and datagrams, by now.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// A receiver's account.
    pub arrived: Arrived,
    /// Jitter, microseconds.
    pub jitter_us: Option<f64>,
    /// Drops of the receiver's socket after the last datagram.
    pub tail_drops: u64,
    /// Refused by the sender's own host.
    pub sender_drops: u64,
    /// A pinging client's account.
    pub pings: Pinged,
    /// The best way that datagrams crossed the border of the kernel.
    pub offload: Offload,
}

/// What became of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pinged {
    /// Sent.
    pub sent: u64,
    /// Without a response in time.
    pub lost: u64,
    /// Responses that came later.
    pub late: u64,
    /// Responses that had come before.
    pub duplicated: u64,
    /// May still be answered.
    pub open: u64,
}

/// What this end knows of both, of one stream.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    /// Datagrams sent.
    pub sent: Option<u64>,
    /// The receiver's account of them.
    pub arrived: Option<Arrived>,
    /// Jitter, microseconds.
    pub jitter_us: Option<f64>,
    /// What was lost on the sender's own host is in its counts, and nowhere else.
    pub is_sure: bool,
}

impl Known {
    fn sum(all: &[Self]) -> Self {
        let jitters: Vec<f64> = all.iter().filter_map(|known| known.jitter_us).collect();
        let mean = jitters.iter().sum::<f64>() / jitters.len() as f64;
        Self {
            sent: all.iter().map(|known| known.sent).sum(),
            arrived: all.iter().map(|known| known.arrived).collect::<Option<Vec<_>>>().map(|all| all.into_iter().sum()),
            jitter_us: (!jitters.is_empty()).then_some(mean),
            is_sure: all.iter().all(|known| known.is_sure),
        }
    }
}

/// One line of `udpblast`.
pub type Record = common::measure::record::Record<Udp>;

/// The lines of a span: each stream's, if they are wanted, and the sum's.
pub fn all(plan: &Plan, cut: &Cut<Vec<Counted>>, known: &[Known]) -> Vec<Record> {
    let streams = if plan.per_stream { 0..known.len() } else { 0..0 };
    let one = |index: usize| of_stream(of(plan, cut, index..index + 1, known[index]), index as u64);
    let mut records: Vec<_> = streams.map(one).collect();
    records.push(of(plan, cut, 0..known.len(), Known::sum(known)));
    records
}

/// Makes it the line of one stream: such lines have a test name of their own, so that nobody adds them to the sum.
fn of_stream(mut record: Record, index: u64) -> Record {
    record.line.test = match record.line.test {
        "udp_send" => "udp_send_stream",
        "udp_recv" => "udp_recv_stream",
        other => other,
    };
    record.line.cpu_pct = None;
    record.own.stream = Some(index);
    record
}

/// Of requests: lost in all, and by direction where that is known.
#[derive(Default)]
struct Echo {
    sent: Option<u64>,
    received: Option<u64>,
    late: Option<u64>,
    duplicated: Option<u64>,
    forward: Option<u64>,
    reverse: Option<u64>,
}

impl Echo {
    /// A request came back, or was lost, or is on its way and no loss. The listener's count is of the whole run.
    fn of(plan: &Plan, cut: &Cut<Vec<Counted>>, answered: u64, arrived: Option<Arrived>) -> Self {
        let [from, to] =
            [&cut.from, &cut.to].map(|mark| mark.state.first().map(|counted| counted.pings).unwrap_or_default());
        let lost = to.lost - from.lost;
        let is_settled = cut.span == Span::Total && to.open == 0 && plan.warmup.is_zero();
        let forward = arrived.filter(|_| is_settled).map(|arrived| to.sent.saturating_sub(arrived.received));
        Self {
            sent: Some(answered + lost),
            received: Some(answered),
            late: Some(to.late - from.late),
            duplicated: Some(to.duplicated - from.duplicated),
            forward,
            reverse: forward.map(|forward| lost.saturating_sub(forward)),
        }
    }
}

/// The line of some of the streams, or of all.
fn of(plan: &Plan, cut: &Cut<Vec<Counted>>, streams: Range<usize>, known: Known) -> Record {
    let sample = cut.sample_of(streams.clone());
    let [from, to] = [&cut.from, &cut.to].map(|mark| mark.state.get(streams.clone()).unwrap_or_default());
    let Known { sent, arrived, jitter_us, is_sure } = known;
    let pings = matches!(plan.role, Role::Ping(_));
    let echo = if pings { Echo::of(plan, cut, sample.counts.ops, arrived) } else { Echo::default() };
    let arrived = arrived.filter(|_| !pings);
    let sent = echo.sent.or(sent);
    let received = echo.received.or(arrived.map(|arrived| arrived.received));
    let lost = sent.zip(received).map(|(sent, received)| sent.saturating_sub(received));
    // Where nothing was lost, that is known of every place.
    let drops =
        sent.zip(arrived).filter(|_| !plan.role.is_echo()).and_then(|(sent, arrived)| match arrived.losses(sent) {
            (0, _) => Some(0),
            (_, drops) => drops.filter(|_| is_sure),
        });
    let recorded = cut.latencies.get(streams.clone()).map(Latencies::sum).unwrap_or_default();
    let latency = recorded.percentiles();
    // A transaction is two datagrams.
    let datagrams = sample.counts.ops * if plan.role.is_echo() { 2 } else { 1 };
    let wire_bytes = sample.counts.bytes + datagrams * plan.route.header_bytes;
    let sender_drops = |counted: &[Counted]| counted.iter().map(|counted| counted.sender_drops).sum::<u64>();
    let own = Udp {
        streams: plan.streams,
        stream: None,
        direction: plan.direction,
        rate_bits_per_s: plan.rate,
        every_us: plan.every.and_then(|every| u64::try_from(every.as_micros()).ok()),
        datagram_bytes: datagram_bytes(plan, sample.counts),
        offload: to.iter().map(|counted| counted.offload).max().unwrap_or(Offload::None).name(),
        sent,
        received,
        lost,
        lost_pct: lost.zip(sent).and_then(|(lost, sent)| Fixed::ratio(100.0 * lost as f64, sent as f64)),
        duplicated: echo.duplicated.or(arrived.map(|arrived| arrived.duplicated)),
        reordered: arrived.map(|arrived| arrived.reordered),
        late: echo.late.or(arrived.map(|arrived| arrived.late)),
        network_lost: lost.zip(drops).map(|(lost, drops)| lost - drops),
        socket_drops: drops,
        sender_drops: plan.role.sends().then(|| sender_drops(to) - sender_drops(from)),
        forward_lost: echo.forward,
        reverse_lost: echo.reverse,
        strangers: arrived.map(|arrived| arrived.strangers),
        jitter_us: jitter_us.and_then(Fixed::new),
        wire_bytes_per_s: Fixed::ratio(wire_bytes as f64, sample.length.as_secs_f64()),
        mtu_bytes: plan.route.mtu,
        send_buffer_bytes: plan.route.buffers.0,
        recv_buffer_bytes: plan.route.buffers.1,
        p50_us: latency.p50,
        p90_us: latency.p90,
        p99_us: latency.p99,
        p999_us: latency.p999,
        max_us: latency.max,
    };
    let mut flags = flags(plan);
    let is_split = drops.is_some() || arrived.is_none() || lost.is_none() || plan.role.is_echo();
    flags.raise_if(!is_split, Flag::Unsplit);
    flags.raise_if(arrived.is_some_and(|arrived| arrived.steps > 0), Flag::Stepped);
    Record { line: cut.line(&sample, &plan.identity, lost, flags), own }
}

/// A receiver that did not ask for a size learns it from what arrives: all datagrams of a test are alike.
fn datagram_bytes(plan: &Plan, counts: Counts) -> Option<u64> {
    if plan.size > 0 { Some(plan.size) } else { counts.bytes.checked_div(counts.ops) }
}

fn flags(plan: &Plan) -> Flags {
    let mut flags = Flags::default();
    let too_large = plan.route.mtu.is_some_and(|mtu| plan.size + plan.route.header_bytes > mtu);
    flags.raise_if(too_large, Flag::Fragmented);
    let (send, recv) = plan.route.buffers;
    let granted = if plan.role.fills_send_buffer() { send } else { recv };
    // The kernel grants twice what was asked for, for its own overhead.
    let capped = plan.buffer.zip(granted).is_some_and(|(asked, got)| got < asked.saturating_mul(2));
    flags.raise_if(capped, Flag::Capped);
    flags
}
