//! `tcpsink listen`: accepts, and keeps a connection waiting here until its first bytes say what it is.
//!
//! One thread serves all who have said nothing yet: a silent connection costs a descriptor, no thread, and no place
//! among `--max-clients`. When there are too many of them, the one that has been silent longest has to go.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use common::cli::Ending;
use common::net::access;
use common::net::listener::{Places, Refusal};
use common::stop::Stopped;
use common::units;

use crate::args::ListenArgs;
use crate::engine::Stream;
use crate::protocol::{FromClient, FromSink, Opening};
use crate::request::Request;
use crate::serve::{self, Asked, Joining, Sink};
use crate::socket;
use crate::{activation, control};

/// Connections that may wait at once.
const SEATS: usize = 512;

/// How long a refused client has to read why.
const FAREWELL: Duration = Duration::from_secs(1);

/// Pause after `accept(2)` found no descriptor or memory, so that it is not asked in a busy loop.
const BREATH: Duration = Duration::from_millis(100);

/// Runs the verb until a signal, or with `--once` until one client has been served.
pub fn listen(args: &ListenArgs) -> anyhow::Result<Ending> {
    let sink = match Sink::new(args.clone()) {
        Err(error) if error.is::<Stopped>() => return Ok(Ending::Measured),
        sink => sink?,
    };
    let listener = match activation::listener()? {
        Some(given) => given,
        None => socket::listen(args.bind, args.port)?,
    };
    listener.set_nonblocking(true)?;
    sink.journal.session.console.notice(&format!("listening on {}", listener.local_addr()?));
    let sink = Arc::new(sink);
    let mut lobby = Lobby {
        args,
        sink: Arc::clone(&sink),
        listener,
        waiting: Vec::new(),
        tests: HashMap::new(),
        places: Places::new(args.guard.max_clients as usize, sink.one_only())?,
        pause: None,
    };
    let outcome = lobby.serve();
    if outcome.is_err() {
        sink.journal.session.stop.set();
    }
    lobby.places.join_all();
    outcome?;
    sink.journal.ending(sink.one_only().is_some())
}

struct Lobby<'a> {
    args: &'a ListenArgs,
    sink: Arc<Sink>,
    listener: TcpListener,
    waiting: Vec<Guest>,
    /// Tests that are being served, by token.
    tests: HashMap<String, Test>,
    places: Places,
    /// Do not accept before that.
    pause: Option<Instant>,
}

/// Where a test takes its streams; it is over when nobody holds it any more.
struct Test {
    streams: Sender<Joining>,
    held: Weak<()>,
}

/// A connection that is not being served.
struct Guest {
    socket: TcpStream,
    bytes: Vec<u8>,
    /// When the first of them came.
    since: Option<Instant>,
    until: Instant,
    /// It has got its answer, and has a moment to read it.
    is_leaving: bool,
}

/// What becomes of a guest that is ready.
enum Verdict {
    Stay(Guest),
    Leave,
    Plain(Stream),
    Line(FromClient, Guest, usize),
    Refuse(TcpStream, String),
}

impl Lobby<'_> {
    fn serve(&mut self) -> anyhow::Result<()> {
        loop {
            let stop = &self.sink.journal.session.stop;
            if stop.is_set() || self.places.is_over() {
                return Ok(());
            }
            let mut fds = vec![self.places.news()];
            fds.extend(self.waiting.iter().map(|guest| guest.socket.as_fd()));
            let accepts = self.pause.is_none_or(|until| Instant::now() >= until);
            if accepts {
                fds.push(self.listener.as_fd());
            }
            let wake = self.waiting.iter().map(|guest| guest.until).chain(self.pause.filter(|_| !accepts)).min();
            let ready = stop.wait(&fds, wake)?;
            if ready[0] {
                self.places.sweep();
            }
            self.tests.retain(|_, test| test.held.strong_count() > 0);
            let now = Instant::now();
            let waiting = std::mem::take(&mut self.waiting);
            for (guest, is_ready) in waiting.into_iter().zip(&ready[1..]) {
                let verdict = match (is_ready, now >= guest.until) {
                    (true, _) => guest.hear(now),
                    (false, true) => guest.time_out(self.args.idle_timeout),
                    (false, false) => Verdict::Stay(guest),
                };
                self.carry_out(verdict)?;
            }
            if accepts && ready.last() == Some(&true) {
                self.accept()?;
            }
        }
    }

    /// Takes one new connection; if more are waiting, the next sleep is short.
    fn accept(&mut self) -> anyhow::Result<()> {
        match self.listener.accept() {
            Ok((socket, peer)) => {
                socket.set_nonblocking(true)?;
                if access::is_allowed(&self.args.guard.allow, peer.ip()) {
                    let until = Instant::now() + self.args.idle_timeout;
                    self.waiting.push(Guest { socket, bytes: Vec::new(), since: None, until, is_leaving: false });
                    self.make_room();
                } else {
                    self.refuse(socket, &Refusal::NotAllowed.to_string());
                }
            }
            // A client that gave up while it waited in the kernel (accept(2)).
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => {
                self.sink.journal.session.console.notice(&format!("cannot accept a client: {error}"));
                self.pause = Some(Instant::now() + BREATH);
            }
        }
        Ok(())
    }

    /// The one that has been silent longest goes first.
    fn make_room(&mut self) {
        if self.waiting.len() > SEATS {
            self.waiting.remove(0);
        }
    }

    fn carry_out(&mut self, verdict: Verdict) -> anyhow::Result<()> {
        match verdict {
            Verdict::Leave => {}
            Verdict::Stay(guest) => self.waiting.push(guest),
            Verdict::Refuse(socket, why) => self.refuse(socket, &why),
            Verdict::Plain(stream) if self.args.guard.require_secret => {
                self.refuse(stream.socket, &Refusal::NoProof.to_string());
            }
            Verdict::Plain(Stream { socket, early }) => {
                let sink = Arc::clone(&self.sink);
                self.start(socket, move |socket| serve::plain(&sink, Stream { socket, early }))?;
            }
            Verdict::Line(FromClient::Data { token, way, stream }, guest, length) => match self.tests.get(&token) {
                Some(test) => {
                    guest.socket.set_nonblocking(false)?;
                    // A test that is over needs no stream.
                    let _ = test.streams.send(Joining { way, index: stream, stream: guest.into_stream(length) });
                }
                None => self.refuse(guest.socket, "no test is waiting for this stream"),
            },
            Verdict::Line(FromClient::Knock { token }, guest, _) => {
                if self.tests.contains_key(&token) {
                    // A client that is gone needs no answer; one that is there has said all it will.
                    let _ = (&guest.socket).write_all(b"!");
                } else {
                    self.refuse(guest.socket, "no test is waiting for this connection");
                }
            }
            Verdict::Line(FromClient::Test(request), guest, length) => self.start_test(*request, guest, length)?,
            Verdict::Line(FromClient::Done { .. } | FromClient::Proof { .. }, guest, _) => {
                self.refuse(guest.socket, "nothing has begun");
            }
        }
        Ok(())
    }

    fn start_test(&mut self, request: Request, guest: Guest, length: usize) -> anyhow::Result<()> {
        let token = format!("{:032x}", rand::random::<u128>());
        let (streams, joined) = mpsc::channel();
        let hold = Arc::new(());
        self.tests.insert(token.clone(), Test { streams, held: Arc::downgrade(&hold) });
        let (line, unread) = guest.bytes.split_at(length);
        let question = String::from_utf8_lossy(line).trim_end().to_owned();
        let unread = unread.to_vec();
        let sink = Arc::clone(&self.sink);
        self.start(guest.socket, move |socket| {
            serve::test(&sink, &Asked { request, question, token }, socket, unread, &joined);
            drop(hold);
        })
    }

    /// Serves a client in a thread of its own, if there is room.
    fn start(&mut self, socket: TcpStream, serve: impl FnOnce(TcpStream) + Send + 'static) -> anyhow::Result<()> {
        if let Some(refusal) = self.places.refusal() {
            self.refuse(socket, &refusal.to_string());
        } else {
            socket.set_nonblocking(false)?;
            let refused = socket.try_clone()?;
            if let Err(error) = self.places.spawn(move || serve(socket)) {
                refused.set_nonblocking(true)?;
                self.refuse(refused, &Refusal::Exhausted(error.to_string()).to_string());
            }
        }
        Ok(())
    }

    /// Says why, and lets the client read it: closing on unread bytes at once would reset the connection.
    fn refuse(&mut self, socket: TcpStream, why: &str) {
        self.sink.journal.session.console.notice(&format!("refused {}: {why}", socket::peer_address(&socket)));
        let told = control::write_line(&socket, &FromSink::Refused { why: why.to_owned() }.text());
        if told.and_then(|()| socket.shutdown(Shutdown::Write)).is_ok() {
            self.see_off(socket);
        }
    }

    /// Keeps a connection until its client has closed it, for a moment at most.
    fn see_off(&mut self, socket: TcpStream) {
        let until = Instant::now() + FAREWELL;
        self.waiting.push(Guest { socket, bytes: Vec::new(), since: None, until, is_leaving: true });
        self.make_room();
    }
}

impl Guest {
    /// Takes what has arrived, and judges it.
    fn hear(mut self, now: Instant) -> Verdict {
        let mut chunk = [0; 4096];
        match self.socket.read(&mut chunk) {
            Ok(0) if self.is_leaving => Verdict::Leave,
            Ok(0) => Verdict::Plain(self.into_stream(0)),
            Ok(_) if self.is_leaving => Verdict::Stay(self),
            Ok(length) => {
                self.since.get_or_insert(now);
                self.bytes.extend_from_slice(&chunk[..length]);
                match Opening::of(&self.bytes) {
                    Opening::Incomplete => Verdict::Stay(self),
                    Opening::Plain => Verdict::Plain(self.into_stream(0)),
                    Opening::TooLong => Verdict::Refuse(self.socket, "a first line without an end".into()),
                    Opening::Line(length) => match FromClient::parse(&self.bytes[..length - 1]) {
                        Ok(word) => Verdict::Line(word, self, length),
                        Err(error) => Verdict::Refuse(self.socket, error.to_string()),
                    },
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Verdict::Stay(self)
            }
            Err(_) => Verdict::Leave,
        }
    }

    fn time_out(self, limit: Duration) -> Verdict {
        if self.is_leaving {
            Verdict::Leave
        } else if self.bytes.is_empty() {
            Verdict::Refuse(self.socket, format!("no byte in {} (--idle-timeout)", units::duration_text(limit)))
        } else {
            Verdict::Refuse(self.socket, "an unfinished first line".into())
        }
    }

    /// What follows the first `length` bytes is payload.
    fn into_stream(self, length: usize) -> Stream {
        let early = self.bytes[length..].to_vec();
        let since = self.since.filter(|_| !early.is_empty());
        Stream { socket: self.socket, early: since.map(|at| (early, at)) }
    }
}
