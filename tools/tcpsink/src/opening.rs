//! How a test with a sink begins: ask for it, show the secret, wait for a free place, and open the streams.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use common::console::Console;
use common::net::turn::Turn;
use common::net::wire::WireError;
use common::stop::{Stop, Stopped};

use crate::control::{self, Control};
use crate::engine::Stream;
use crate::peer::Peer;
use crate::protocol::{FromClient, FromSink};
use crate::request::{Request, Way};
use crate::socket;

/// A test that the sink agreed to.
pub struct Opened {
    /// Where both ends report.
    pub control: Control,
    /// Where the sink is.
    pub address: SocketAddr,
    /// The test's name, for more connections.
    pub token: String,
    /// Its streams, by their ways.
    pub streams: Vec<(Way, Vec<Stream>)>,
}

/// What a sink says to a request.
enum Answer {
    Accepted(Control, String),
    /// Not now.
    Busy(String),
}

/// Asks for a test, until there is a place or the patience for that is over, and opens its streams.
pub fn open(peer: &Peer, request: &Request, console: &Console, stop: &Stop) -> anyhow::Result<Opened> {
    let mut turn = Turn::new(peer.args.queue);
    loop {
        let deadline = Instant::now() + peer.args.connect_timeout;
        match ask(peer, request, deadline, stop)? {
            Answer::Accepted(control, token) => {
                let address = control.stream().peer_addr().context("the sink went away")?;
                let streams = open_streams(peer, request, address, &token, deadline, stop)?;
                return Ok(Opened { control, address, token, streams });
            }
            Answer::Busy(why) => {
                if turn.is_first() {
                    console.notice(&format!("waiting for a free place (--queue): {why}"));
                }
                if !turn.wait(stop)? {
                    bail!("no place became free in time (--queue): {why}");
                }
            }
        }
    }
}

/// Opens the control connection and asks for the test.
fn ask(peer: &Peer, request: &Request, deadline: Instant, stop: &Stop) -> anyhow::Result<Answer> {
    let args = &peer.args;
    let mut addresses = args.addresses(deadline, stop)?;
    if let Some(local) = peer.options.bind {
        addresses = local.reaching(&args.host.name, &addresses)?;
    }
    let stream = socket::connect(&addresses, &peer.options, deadline, stop).map_err(|error| {
        let is_refused =
            error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        if is_refused { anyhow!("{error:#} (nobody listens there: {})", args.remedy("tcpsink")) } else { error }
    })?;
    socket::keep_in_touch(&stream, args.idle_timeout)?;
    let mut control = Control::new(stream, Vec::new())?;
    let question = FromClient::Test(Box::new(request.clone())).text();
    control::write_line(control.stream(), &question).context("cannot ask the sink")?;
    let mut answer = hear(&mut control, deadline, stop)?;
    if let FromSink::Challenge { nonce } = &answer {
        let Some(secret) = &peer.secret else {
            bail!("the sink wants to see that this end knows its secret (--secret-file)");
        };
        let proof = FromClient::Proof { mac: secret.proof(nonce, question.trim_end()) };
        control::write_line(control.stream(), &proof.text()).context("cannot answer the sink")?;
        answer = hear(&mut control, deadline, stop)?;
    }
    match answer {
        FromSink::Accepted { token } => Ok(Answer::Accepted(control, token)),
        FromSink::Busy { why } if request.queues => Ok(Answer::Busy(why)),
        FromSink::Refused { why } | FromSink::Failed { why } | FromSink::Busy { why } => {
            bail!("the sink refused: {why}")
        }
        _ => bail!("the sink does not keep to the protocol: it reports before the test"),
    }
}

fn open_streams(
    peer: &Peer,
    request: &Request,
    address: SocketAddr,
    token: &str,
    deadline: Instant,
    stop: &Stop,
) -> anyhow::Result<Vec<(Way, Vec<Stream>)>> {
    let open = |way: Way, stream: u64| {
        let socket = socket::connect(&[address], &peer.options, deadline, stop)?;
        socket::keep_in_touch(&socket, request.idle_timeout)?;
        if request.nodelay {
            socket.set_nodelay(true)?;
        }
        let line = FromClient::Data { token: token.to_owned(), way, stream }.text();
        control::write_line(&socket, &line).context("cannot open a stream")?;
        anyhow::Ok(Stream { socket, early: None })
    };
    let ways = request.kind.ways().iter();
    ways.map(|way| Ok((*way, (0..request.streams).map(|index| open(*way, index)).collect::<Result<_, _>>()?))).collect()
}

/// The next word of a sink that is about to accept or refuse.
fn hear(control: &mut Control, deadline: Instant, stop: &Stop) -> anyhow::Result<FromSink> {
    let line = match control.read_line_unless(stop, deadline) {
        Ok(Some(line)) => line,
        Ok(None) => bail!("it closed the connection without a word: is a tcpsink listening there?"),
        Err(error) if error.kind() == ErrorKind::Interrupted => return Err(Stopped.into()),
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            bail!("it accepts but does not answer (--connect-timeout): is a tcpsink listening there?")
        }
        Err(error) => return Err(error).context("no answer from the sink"),
    };
    match FromSink::parse(&line) {
        Err(WireError::Foreign) => {
            let text: String = String::from_utf8_lossy(&line).chars().take(60).collect();
            bail!("no tcpsink is listening there: it answered '{}'", text.trim())
        }
        word => Ok(word?),
    }
}
