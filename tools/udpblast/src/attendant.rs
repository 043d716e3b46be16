//! Who listens while this end is busy sending.

use std::time::Duration;

use anyhow::{anyhow, bail};
use common::stop::Stop;

use crate::session::Talk;

/// Does `work`, which is busy sending, while another thread listens: it says that this end is there, and sets `stop` when
/// the other end is gone; the reason comes back beside the result. `each` is called after every datagram.
pub fn with_attendant<T>(
    talk: &Talk,
    stop: &Stop,
    idle_timeout: Duration,
    each: impl FnMut() -> anyhow::Result<()> + Send,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(T, Option<anyhow::Error>)> {
    let until = stop.child()?;
    std::thread::scope(|scope| {
        let attendant = std::thread::Builder::new().name("attendant".into()).spawn_scoped(scope, || {
            let outcome = attend(talk, &until, idle_timeout, each);
            if outcome.is_err() {
                stop.set();
            }
            outcome
        })?;
        let result = work();
        until.set();
        let attended = attendant.join().unwrap_or_else(|_| Err(anyhow!("a worker thread panicked")));
        Ok((result?, attended.err()))
    })
}

fn attend(
    talk: &Talk,
    until: &Stop,
    idle_timeout: Duration,
    mut each: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    while !until.is_set() {
        if talk.hear().is_err() {
            bail!("nobody listens there any more (ICMP port unreachable)");
        }
        each()?;
        if let Some(why) = talk.failed() {
            bail!("the other end gave up: {why}");
        }
        if talk.is_over() || talk.has_left() {
            bail!("the other end has left");
        }
        if talk.silence() >= idle_timeout {
            bail!("the other end fell silent (--idle-timeout)");
        }
        talk.beat_beside_data();
    }
    Ok(())
}
