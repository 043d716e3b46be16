//! From two readings of the sockets and a sample to one line: pure arithmetic.

use std::ops::Range;

use common::measure::latency::Latencies;
use common::measure::spans::Cut;
use common::schema::Fixed;
use common::schema::line::{Flag, Flags};
use common::schema::tcpsink::Tcp;

use crate::engine::StageTimes;
use crate::plan::Plan;
use crate::role::Role;
use crate::tcp_state::TcpState;

/// One line of `tcpsink`.
pub type Record = common::measure::record::Record<Tcp>;

/// What is read of a stream beside what its worker counts.
#[derive(Debug, Clone, Default)]
pub struct StreamState {
    /// The kernel's state of it.
    pub tcp: TcpState,
    /// Where its worker's time went, where files are read or written.
    pub stages: Option<StageTimes>,
    /// Attempts that failed.
    pub failed: u64,
}

/// The lines of a span: each stream's, if they are wanted, and the sum's.
pub fn all(plan: &Plan, cut: &Cut<Vec<StreamState>>, fell_back: bool) -> Vec<Record> {
    let count = cut.to.state.len();
    let streams = if plan.per_stream { 0..count } else { 0..0 };
    let mut records: Vec<_> = streams.map(|index| of_stream(of(plan, cut, index..index + 1), index as u64)).collect();
    records.push(of(plan, cut, 0..count));
    for record in &mut records {
        record.raise_if(fell_back, Flag::Fallback);
    }
    records
}

/// Makes it the line of one stream: such lines have a test name of their own, so that nobody adds them to the sum.
fn of_stream(mut record: Record, index: u64) -> Record {
    record.line.test = match record.line.test {
        "tcp_send" => "tcp_send_stream",
        "tcp_recv" => "tcp_recv_stream",
        other => other,
    };
    record.line.cpu_pct = None;
    record.own.stream = Some(index);
    record
}

/// The line of some of the streams, or of all.
fn of(plan: &Plan, cut: &Cut<Vec<StreamState>>, streams: Range<usize>) -> Record {
    let sample = cut.sample_of(streams.clone());
    let [before, after] = [&cut.from, &cut.to].map(|mark| mark.state.get(streams.clone()).unwrap_or_default());
    let [from, to] = [before, after].map(|states| TcpState::sum(states.iter().map(|state| &state.tcp)));
    let since =
        |field: fn(&TcpState) -> Option<u64>| field(&to).zip(field(&from)).map(|(now, then)| now.saturating_sub(then));
    let share = |field: fn(&TcpState) -> Option<u64>| {
        let all_us = sample.length.as_secs_f64() * 1e6 * to.streams as f64;
        // The kernel accounts in jiffies: a share may end a little above the span.
        Fixed::ratio(100.0 * since(field)? as f64, all_us).map(|share| share.min(100.0))
    };
    let (sends, role) = (plan.role.sends(), &plan.role);
    let stages = stages(before, after).map(|times| times.map(|time| Fixed::new(time.as_secs_f64())));
    let step = |of_sender: bool, step: usize| stages.filter(|_| of_sender == sends).and_then(|steps| steps[step]);
    let recorded = cut.latencies.get(streams.clone()).map(Latencies::sum).unwrap_or_default();
    let latency = recorded.percentiles();
    let own = Tcp {
        streams: plan.streams,
        stream: None,
        direction: plan.way.name(),
        method: role.method(),
        pacing: role.is_paced().then_some(if to.pacing_rate.is_some() { "kernel" } else { "sender" }),
        message_bytes: role.message_bytes(),
        response_bytes: role.response_bytes(),
        depth: role.depth(),
        send_buffer_bytes: to.send_buffer,
        recv_buffer_bytes: to.recv_buffer,
        mss_bytes: to.mss,
        congestion: to.congestion.clone(),
        rtt_us: to.rtt_us.and_then(Fixed::new),
        rtt_var_us: to.rtt_var_us.and_then(Fixed::new),
        min_rtt_us: to.min_rtt_us.and_then(|us| Fixed::new(us as f64)),
        cwnd_bytes: to.cwnd_bytes,
        delivery_bytes_per_s: to.delivery_rate,
        pacing_bytes_per_s: to.pacing_rate,
        busy_pct: share(|state| state.busy_us),
        rwnd_limited_pct: share(|state| state.rwnd_limited_us),
        sndbuf_limited_pct: share(|state| state.sndbuf_limited_us),
        retransmitted_bytes: since(|state| state.retransmitted_bytes),
        reorderings: since(|state| state.reorderings),
        out_of_order_packets: since(|state| state.out_of_order),
        p50_us: latency.p50,
        p90_us: latency.p90,
        p99_us: latency.p99,
        p999_us: latency.p999,
        max_us: latency.max,
        read_s: step(true, 0),
        send_s: step(true, 1),
        write_s: step(false, 0),
        fsync_s: step(false, 1),
    };
    let failed = |states: &[StreamState]| states.iter().map(|state| state.failed).sum::<u64>();
    let errors = match role {
        Role::Connect(_) => Some(failed(after) - failed(before)),
        _ => since(|state| state.retransmits),
    };
    let mut flags = Flags::default();
    flags.raise_if(to.is_capped(plan.buffer, sends), Flag::Capped);
    Record { line: cut.line(&sample, &plan.identity, errors, flags), own }
}

/// Where the time between two readings went; files have one stream.
fn stages(before: &[StreamState], after: &[StreamState]) -> Option<StageTimes> {
    before.iter().zip(after).find_map(|(then, now)| {
        let (then, now) = then.stages.zip(now.stages)?;
        Some(std::array::from_fn(|step| now[step].saturating_sub(then[step])))
    })
}
