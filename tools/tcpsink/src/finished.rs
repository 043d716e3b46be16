//! What came of one direction of a test.

use std::time::Duration;

use common::measure::spans::Cut;
use common::net::peer_line::PeerLine;
use common::schema::line::Flag;

use crate::engine::Stream;
use crate::flow::Emit;
use crate::plan::Plan;
use crate::record::{self, Record, StreamState};
use crate::role::Role;
use crate::tcp_state::TcpState;

/// How a flow ended.
#[derive(Debug)]
pub struct Finished {
    /// The line of the whole run; with `per_stream`, those of the streams before it.
    pub totals: Vec<Record>,
    /// Bytes moved, the warm-up's and those after the time asked for included.
    pub all_bytes: u64,
    /// It did not run to its planned end.
    pub is_cut: bool,
    /// A receiver did not wait for all that was still on its way when the time asked for was over.
    pub has_left: bool,
    /// Why, unless it was told to stop.
    pub failure: Option<anyhow::Error>,
    pub(crate) plan: Plan,
    pub(crate) total: Cut<Vec<StreamState>>,
    pub(crate) last_interval: Option<Cut<Vec<StreamState>>>,
    pub(crate) fell_back: bool,
}

impl Finished {
    /// This end sent the payload.
    pub fn sends(&self) -> bool {
        self.plan.role.sends()
    }

    /// What was sent at one end has to arrive at the other.
    pub fn moves_payload(&self) -> bool {
        !matches!(self.plan.role, Role::Ping(..) | Role::Pong(_) | Role::Connect(_))
    }

    /// Looks again at what a sender's kernel had to send again: it goes on until the last byte is acknowledged. To be called
    /// before flags are raised.
    pub fn look_again(&mut self, streams: &[Stream]) {
        if !self.sends() {
            return;
        }
        for (index, stream) in streams.iter().enumerate() {
            let now = TcpState::of(stream, true);
            let ends = [Some(&mut self.total), self.last_interval.as_mut()].into_iter().flatten();
            for state in ends.filter_map(|cut| cut.to.state.get_mut(index)) {
                state.tcp.retransmits = now.retransmits.or(state.tcp.retransmits);
                state.tcp.retransmitted_bytes = now.retransmitted_bytes.or(state.tcp.retransmitted_bytes);
                state.tcp.reorderings = now.reorderings.or(state.tcp.reorderings);
            }
        }
        self.totals = record::all(&self.plan, &self.total, self.fell_back);
    }

    /// Prints the interval that was kept until all of it was known.
    pub fn tell_last_interval(&mut self, emit: &Emit<'_>) -> anyhow::Result<()> {
        let Some(interval) = self.last_interval.take() else { return Ok(()) };
        record::all(&self.plan, &interval, self.fell_back).iter().try_for_each(emit)
    }

    /// How long it was counted.
    pub fn length(&self) -> Duration {
        self.total.sample().length
    }

    /// What arrived has at least the time in which it was sent: a receiver may begin to look when much is there already. Where
    /// intervals were told, or a warm-up, the time is known. To be called before flags are raised.
    pub fn last_at_least(&mut self, length: Duration) {
        let is_free = self.plan.warmup.is_zero() && self.plan.interval.is_none() && self.plan.begins_at_once;
        let missing = length.saturating_sub(self.length());
        let has_none = self.all_bytes == 0 || !self.moves_payload();
        if self.sends() || !is_free || missing.is_zero() || has_none {
            return;
        }
        if let Some(at) = self.total.from.snapshot.at.checked_sub(missing) {
            self.total.from.snapshot.at = at;
            self.totals = record::all(&self.plan, &self.total, self.fell_back);
        }
    }

    /// What is wrong in this end's total or the other end's, if no more than one of them can be right, or in that there is none
    /// of the other end.
    pub fn contradicted_by(&self, totals: &[PeerLine]) -> Option<String> {
        let test = self.plan.role.counterpart()?;
        let is_its = |total: &&PeerLine| {
            total.cell("test") == test && ["", self.plan.way.name()].contains(&total.cell("direction"))
        };
        let mut its = totals.iter().filter(is_its);
        let there = match (its.next(), its.next()) {
            (Some(there), None) => there,
            (Some(_), Some(_)) => return Some(format!("there are two totals of {test}")),
            (None, _) => return (!self.is_cut).then(|| format!("there is no total of {test}")),
        };
        let count = |column: &str| there.cell(column).parse::<u64>().ok();
        // The other end's line leaves out the warm-up.
        let has_warmup = !self.plan.warmup.is_zero();
        if !self.moves_payload() {
            let (here, there) = (self.total.sample().counts.ops, count("ops")?);
            let is_wrong = !has_warmup && matches!(self.plan.role, Role::Ping(..)) && here > there;
            return is_wrong.then(|| format!("{here} responses were received of {there} that were sent"));
        }
        let (sent, received) =
            if self.sends() { (self.all_bytes, count("bytes")?) } else { (count("bytes")?, self.all_bytes) };
        let is_too_much = received > sent && (self.sends() || !has_warmup);
        // Of an amount nothing is left behind, unless the line says so.
        let is_all = self.plan.time.is_none() && !self.is_cut && !there.has(Flag::Short) && !there.has(Flag::Partial);
        (is_too_much || is_all && received < sent)
            .then(|| format!("{received} bytes were received of {sent} that were sent"))
    }

    /// Raises a flag on all totals if `holds`.
    pub fn raise_if(&mut self, holds: bool, flag: Flag) {
        for total in &mut self.totals {
            total.raise_if(holds, flag);
        }
    }

    /// Gives a stored file its name.
    pub fn complete(self) -> anyhow::Result<()> {
        if let Role::Store(output) = self.plan.role { output.complete() } else { Ok(()) }
    }
}
