//! The hot loops: one system call, one add, and one look at the clock, since latency is a measure. The end of one read is
//! the beginning of the next.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use common::sys::ring::ReadRing;

use crate::offsets::{Offsets, Read};
use crate::source::{Failure, Source};

/// What a reader shares beside what it counts.
#[derive(Debug, Default)]
pub struct Own {
    /// The file ended before the range did.
    pub is_short: AtomicBool,
    /// Reads that failed.
    pub errors: AtomicU64,
}

/// A reader's lane.
pub type Lane = common::measure::lane::Lane<Own>;

fn fail(lane: &Lane, read: Read, failure: Failure) -> anyhow::Error {
    lane.own.errors.fetch_add(1, Ordering::Relaxed);
    let offset = read.offset + failure.done;
    anyhow!(failure.error).context(format!("cannot read at offset {offset}"))
}

fn note(lane: &Lane, bytes: u64, took: Duration) {
    if bytes > 0 {
        lane.counters.add(bytes);
        lane.record(took);
    }
}

/// Reads one block after the other.
pub fn read_in_turn(
    source: &mut impl Source,
    reads: Offsets,
    pause: Option<Duration>,
    lane: &Lane,
) -> anyhow::Result<()> {
    let mut began = Instant::now();
    lane.begin(began);
    let mut outcome = Ok(());
    let mut last = None;
    for read in reads {
        if let (Some(pause), Some(_)) = (pause, last) {
            began = lane.rest_until(Instant::now() + pause);
        }
        if lane.is_halted() {
            break;
        }
        let got = source.read(read.offset, read.length).unwrap_or_else(|failure| {
            let done = failure.done;
            outcome = Err(fail(lane, read, failure));
            done
        });
        let now = Instant::now();
        note(lane, got, now - began);
        last = Some(now);
        if got < read.length {
            lane.own.is_short.fetch_or(outcome.is_ok(), Ordering::Relaxed);
            break;
        }
        began = now;
    }
    if let Some(last) = last {
        lane.finish(last);
    }
    outcome
}

/// One read in flight.
#[derive(Debug, Clone, Copy)]
struct Flight {
    read: Read,
    done: u64,
    began: Instant,
}

/// Keeps `depth` reads in flight. The clock is read once per round: whatever a round finds ended, ended then.
pub fn read_queued(
    ring: &mut ReadRing,
    depth: u32,
    alignment: u64,
    mut reads: Offsets,
    lane: &Lane,
) -> anyhow::Result<()> {
    let mut now = Instant::now();
    lane.begin(now);
    let mut flights = vec![Flight { read: Read::default(), done: 0, began: now }; depth as usize];
    let mut idle: Vec<u32> = (0..depth).rev().collect();
    let mut failure = None;
    let mut is_over = false;
    let mut last = None;
    loop {
        is_over |= lane.is_halted();
        while !is_over && let Some(slot) = idle.pop() {
            match reads.next() {
                Some(read) => {
                    let flight = Flight { read, done: 0, began: now };
                    flights[slot as usize] = flight;
                    launch(ring, slot, flight, alignment)?;
                }
                None => is_over = true,
            }
        }
        if ring.in_flight() == 0 {
            break;
        }
        ring.submit_and_wait()?;
        now = Instant::now();
        while let Some((slot, outcome)) = ring.reap() {
            let flight = &mut flights[slot as usize];
            let is_whole = match outcome {
                Ok(more) => {
                    flight.done += more as u64;
                    let is_at_end = more == 0 || !flight.done.is_multiple_of(alignment);
                    if flight.done < flight.read.length && is_at_end {
                        lane.own.is_short.store(true, Ordering::Relaxed);
                        is_over = true;
                    }
                    flight.done >= flight.read.length || is_at_end
                }
                Err(error) if is_temporary(&error) => false,
                Err(error) => {
                    let done = flight.done;
                    let error = fail(lane, flight.read, Failure { done, error });
                    failure.get_or_insert(error);
                    is_over = true;
                    true
                }
            };
            if is_whole {
                note(lane, flight.done.min(flight.read.length), now - flight.began);
                last = Some(now);
                idle.push(slot);
            } else {
                let flight = *flight;
                launch(ring, slot, flight, alignment)?;
            }
        }
    }
    if let Some(last) = last {
        lane.finish(last);
    }
    failure.map_or(Ok(()), Err)
}

fn is_temporary(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN))
}

/// Asks for what is missing of a block.
fn launch(ring: &mut ReadRing, slot: u32, flight: Flight, alignment: u64) -> anyhow::Result<()> {
    let [done, wanted] = [flight.done, flight.read.length.next_multiple_of(alignment)]
        .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    ring.start(slot, done, flight.read.offset + flight.done, wanted - done)?;
    Ok(())
}
