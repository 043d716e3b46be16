//! From counts and a sample to one line: pure arithmetic.

use common::measure::counters::Counts;
use common::measure::spans::Cut;
use common::schema::Fixed;
use common::schema::line::{Flag, Flags};
use common::schema::udpblast::Udp;

use crate::engine::Offload;
use crate::plan::Plan;
use crate::role::Role;
use crate::tally::Arrived;

/// What is counted beside bytes and datagrams, by now.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// A receiver's account.
    pub arrived: Arrived,
    /// Jitter, microseconds.
    pub jitter_us: Option<f64>,
    /// Refused by the sender's own queue.
    pub sender_drops: u64,
    /// Requests whose response did not come in time.
    pub lost_pings: u64,
    /// The best way that datagrams crossed the border of the kernel.
    pub offload: Offload,
}

/// What this end knows of both.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    /// Datagrams sent.
    pub sent: Option<u64>,
    /// The receiver's account of them: nobody keeps one of pings.
    pub arrived: Option<Arrived>,
    /// Jitter, microseconds.
    pub jitter_us: Option<f64>,
}

/// What a client that pings knows: a request came back, or was lost, or is on its way and no loss.
pub fn known_of_pings(cut: &Cut<Counted>) -> Known {
    let lost = cut.to.state.lost_pings - cut.from.state.lost_pings;
    Known { sent: Some(cut.sample().counts.ops + lost), ..Known::default() }
}

/// One line of `udpblast`.
pub type Record = common::measure::record::Record<Udp>;

/// The line of a span.
pub fn of(plan: &Plan, cut: &Cut<Counted>, known: Known) -> Record {
    let sample = cut.sample();
    let (from, to) = (&cut.from.state, &cut.to.state);
    let Known { sent, arrived, jitter_us } = known;
    let came_back = matches!(plan.role, Role::Ping { .. }).then_some(sample.counts.ops);
    let received = arrived.map(|arrived| arrived.received).or(came_back);
    let losses = sent.zip(arrived).map(|(sent, arrived)| arrived.losses(sent));
    let lost = sent.zip(received).map(|(sent, received)| sent.saturating_sub(received));
    let latency = cut.latency().percentiles();
    // A transaction is two datagrams.
    let datagrams = sample.counts.ops * if plan.role.is_echo() { 2 } else { 1 };
    let wire_bytes = sample.counts.bytes + datagrams * plan.route.header_bytes;
    let own = Udp {
        direction: plan.direction,
        rate_bits_per_s: plan.rate,
        datagram_bytes: datagram_bytes(plan, sample.counts),
        offload: to.offload.name(),
        sent,
        received,
        lost,
        lost_pct: lost.zip(sent).and_then(|(lost, sent)| Fixed::ratio(100.0 * lost as f64, sent as f64)),
        duplicated: arrived.map(|arrived| arrived.duplicated),
        reordered: arrived.map(|arrived| arrived.reordered),
        late: arrived.map(|arrived| arrived.late),
        network_lost: losses.map(|(lost, drops)| lost - drops),
        socket_drops: losses.map(|(_, drops)| drops),
        sender_drops: plan.role.sends().then(|| to.sender_drops - from.sender_drops),
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
    Record { line: cut.line(&sample, &plan.identity, lost, flags(plan)), own }
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
