//! The work of each stream of a plan.

use std::time::Instant;

use anyhow::anyhow;
use common::measure::crew::Work;

use crate::engine::receive::Bounds;
use crate::engine::send::{Sender, Sending};
use crate::engine::{Lane, Stream, ping, pipeline, receive};
use crate::plan::Plan;
use crate::role::Role;
use crate::socket;

/// The work of stream number `index`; amounts are for all streams together.
pub fn work<'a>(plan: &'a Plan, streams: &'a [Stream], index: usize, lane: &'a Lane) -> anyhow::Result<Work<'a>> {
    let share = |all: Option<u64>| {
        let (index, of) = (index as u64, plan.streams);
        all.map(|all| all / of + u64::from(index < all % of))
    };
    if let Role::Connect(knock) = &plan.role {
        return Ok(Box::new(move || knock.run(lane)));
    }
    let stream = streams.get(index).ok_or_else(|| anyhow!("stream {index} is missing"))?;
    let limit = share(plan.max_bytes);
    let bounds = Bounds {
        since: plan.begins_at_once.then(Instant::now),
        time: plan.time.map(|time| time.saturating_add(plan.warmup)),
        limit,
    };
    // A timeout would start and stop a kernel timer in every call: too much for a ping. Its flow looks for silence itself.
    if !plan.role.is_ping() {
        socket::set_timeouts(&stream.socket, plan.idle_timeout)?;
    }
    Ok(match &plan.role {
        Role::Send(sending) => {
            let quota = share(sending.quota).or(limit);
            let sender = Sender::new(&stream.socket, &Sending { quota, rate: share(sending.rate), ..*sending })?;
            Box::new(move || sender.run(lane))
        }
        Role::SendFile(input, quota) => {
            stream.socket.set_nonblocking(true)?;
            Box::new(move || input.send(&stream.socket, *quota, lane))
        }
        Role::Receive(intake) => Box::new(move || receive::run(stream, *intake, bounds, lane)),
        Role::Store(output) => Box::new(move || output.store(stream, limit, lane)),
        Role::Ping(sizes, None) if sizes.depth > 1 => Box::new(move || pipeline::ping(&stream.socket, *sizes, lane)),
        Role::Ping(sizes, every) => Box::new(move || ping::ping(&stream.socket, *sizes, *every, lane)),
        Role::Pong(sizes) => Box::new(move || ping::pong(stream, *sizes, lane)),
        Role::Connect(_) => return Err(anyhow!("connecting needs no stream")),
    })
}
