//! Request and response: the client measures, the sink answers. One transaction is under way at a time, or as many as
//! [`super::pipeline`] keeps.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::files::buffer;

use super::{Lane, Stream, idle};

/// Sizes of the two messages, bytes, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Client to sink.
    pub request: u64,
    /// Sink to client.
    pub response: u64,
    /// Requests of a stream that are under way at a time.
    pub depth: u64,
}

impl Sizes {
    fn both(self) -> anyhow::Result<(usize, usize)> {
        Ok((usize::try_from(self.request)?, usize::try_from(self.response)?))
    }
}

/// Sends requests until the halt: one after the other, or one every so often.
pub fn ping(mut socket: &TcpStream, sizes: Sizes, every: Option<Duration>, lane: &Lane) -> anyhow::Result<()> {
    let (request, response) = sizes.both()?;
    let request = buffer::incompressible(request)?;
    let mut response = buffer::blank(response)?;
    let mut before = Instant::now();
    let mut last = before;
    lane.begin(before);
    while !lane.is_halted() {
        let exchange = socket.write_all(&request).and_then(|()| socket.read_exact(&mut response));
        let now = Instant::now();
        match exchange {
            Ok(()) => {
                lane.counters.add(sizes.request + sizes.response);
                match every {
                    Some(period) => lane.record_periodic(now - before, period),
                    None => lane.record(now - before),
                }
            }
            Err(_) if lane.is_halted() => break,
            Err(error) => {
                lane.finish(last);
                return Err(idle(error, "ping"));
            }
        }
        last = now;
        before = every.map_or(now, |period| lane.rest_until(next_beat(before, period, now)));
    }
    lane.finish(last);
    Ok(())
}

/// The next beat after `now`; beats that have passed are left out.
fn next_beat(before: Instant, period: Duration, now: Instant) -> Instant {
    let missed = now.duration_since(before).as_nanos() / period.as_nanos();
    before + period * u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1)
}

/// Most bytes of a request that are held at a time by who answers.
pub const HELD: u64 = 128 * 1024;

/// Answers requests to the end of the stream, in little memory however large they are: a client says how large.
pub fn pong(stream: &Stream, sizes: Sizes, lane: &Lane) -> anyhow::Result<()> {
    let (request, response) = sizes.both()?;
    let mut held = buffer::blank(usize::try_from(sizes.request.min(HELD))?)?;
    let payload = buffer::shared()?;
    let mut socket = &stream.socket;
    let early = stream.early.as_ref().map_or(&[][..], |(bytes, _)| bytes);
    let mut source = early.chain(socket);
    let mut last = None;
    let outcome = loop {
        let exchange = skip(&mut source, request, &mut held).and_then(|()| fill(&mut socket, response, payload));
        match exchange {
            Ok(()) => {
                lane.counters.add(sizes.request + sizes.response);
                // The time of the latest is taken at the end: a clock read costs as much as a tenth of an answer.
                if last.is_none() {
                    last = Some(Instant::now());
                    lane.begin(Instant::now());
                }
            }
            // Whatever is left of a request then is none.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break Ok(()),
            // Nor does a client take a response that comes too late for it. Whether it has what it wants, it says elsewhere.
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                break Ok(());
            }
            Err(_) if lane.is_halted() => break Ok(()),
            Err(error) => break Err(idle(error, "answer")),
        }
    };
    if last.is_some() {
        lane.finish(Instant::now());
    }
    outcome
}

/// Reads `bytes`, and keeps none.
fn skip(source: &mut impl Read, mut bytes: usize, held: &mut [u8]) -> io::Result<()> {
    while bytes > 0 {
        let portion = bytes.min(held.len());
        source.read_exact(&mut held[..portion])?;
        bytes -= portion;
    }
    Ok(())
}

/// Writes `bytes` of `payload`, again and again.
fn fill(socket: &mut impl Write, mut bytes: usize, payload: &[u8]) -> io::Result<()> {
    while bytes > 0 {
        let portion = bytes.min(payload.len());
        socket.write_all(&payload[..portion])?;
        bytes -= portion;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_larger_than_what_is_held_are_whole() {
        let mut held = [0; 100];
        let mut source = io::repeat(7).take(1000);
        for bytes in [1, 100, 250, 649] {
            skip(&mut source, bytes, &mut held).unwrap();
        }
        assert_eq!(skip(&mut source, 1, &mut held).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let mut sent = Vec::new();
        fill(&mut sent, 7, b"abc").unwrap();
        assert_eq!(sent, b"abcabca");
    }
}
