//! `tcpsink listen`: accepts, and keeps a connection waiting here until its first bytes say what it is, and until it has
//! shown that it knows the secret where that is needed.
//!
//! One thread serves all who are not being served yet: such a connection costs a descriptor, no thread, and no place
//! among `--max-clients`. When there are too many of them, the one that has waited longest has to go.

mod admission;

use std::fs::File;
use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::cli::Ending;
use common::files::buffer;
use common::net::access;
use common::net::listener::{Places, Refusal, Stay, Visit};
use common::stop::Stopped;

use crate::args::ListenArgs;
use crate::engine::Stream;
use crate::guest::{Guest, Pending, Verdict};
use crate::ongoing::Ongoing;
use crate::protocol::{FromClient, FromSink};
use crate::serve::Joining;
use crate::sink::Sink;
use crate::{activation, control, socket};

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
    // What is sent is made before anybody waits for it: the first answer of the first ping would take that much longer.
    buffer::shared()?;
    let listener = match activation::listener()? {
        Some(given) => given,
        None => socket::listen(args.bind, args.port)?,
    };
    listener.set_nonblocking(true)?;
    // Whatever is accepted inherits that (tcp(7)).
    socket::keep_in_touch(&listener, args.idle_timeout)?;
    sink.journal.session.console.notice(&format!("listening on {}", listener.local_addr()?));
    let sink = Arc::new(sink);
    let mut lobby = Lobby {
        args,
        sink: Arc::clone(&sink),
        listener,
        waiting: Vec::new(),
        tests: Ongoing::new(args.max_memory),
        places: Places::new(args.guard.max_clients as usize)?,
        visit: None,
        spare: None,
        pause: None,
    };
    let outcome = lobby.serve();
    sink.tell_turned_away();
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
    /// Those that are being served.
    tests: Ongoing,
    places: Places,
    /// The one that is served, if there is to be only one.
    visit: Option<Visit>,
    /// A descriptor for one who has to be told that there is none left.
    spare: Option<File>,
    /// Do not accept before that.
    pause: Option<Instant>,
}

impl Lobby<'_> {
    fn serve(&mut self) -> anyhow::Result<()> {
        loop {
            if self.sink.journal.session.stop.is_set() {
                return Ok(());
            }
            let next = match self.visit.as_mut().filter(|_| self.places.is_idle()).map(|one| one.stay(Instant::now())) {
                Some(Stay::Over) => return Ok(()),
                Some(Stay::Until(next)) => Some(next),
                Some(Stay::Forfeited) => {
                    self.visit = None;
                    None
                }
                None => None,
            };
            if self.spare.is_none() {
                self.spare = File::open("/dev/null").ok();
            }
            self.wait_and_answer(next)?;
        }
    }

    /// Sleeps until there is something to do, and does it.
    fn wait_and_answer(&mut self, next: Option<Instant>) -> anyhow::Result<()> {
        let mut fds = vec![self.places.news()];
        fds.extend(self.waiting.iter().map(|guest| guest.socket.as_fd()));
        let accepts = self.pause.is_none_or(|until| Instant::now() >= until);
        if accepts {
            fds.push(self.listener.as_fd());
        }
        let times = self.waiting.iter().map(|guest| guest.until).chain(self.pause.filter(|_| !accepts)).chain(next);
        let ready = match self.sink.journal.session.stop.wait(&fds, times.min()) {
            // A limit that was lowered (poll(2), EINVAL), or no memory: fewer will do.
            Err(_) if !self.waiting.is_empty() => {
                self.waiting.remove(0);
                return Ok(());
            }
            ready => ready?,
        };
        let has_room = ready[0];
        if has_room {
            self.places.sweep();
        }
        self.tests.sweep();
        let now = Instant::now();
        let waiting = std::mem::take(&mut self.waiting);
        for (guest, is_ready) in waiting.into_iter().zip(&ready[1..]) {
            let verdict = match (is_ready, now >= guest.until) {
                (true, false) => guest.hear(now),
                (false, false) if has_room => guest.try_again(),
                (_, true) => guest.time_out(self.args.idle_timeout),
                (false, false) => Verdict::Stay(guest),
            };
            self.carry_out(verdict)?;
        }
        if accepts && ready.last() == Some(&true) {
            self.accept()?;
        }
        Ok(())
    }

    /// Takes one new connection; if more are waiting, the next sleep is short.
    fn accept(&mut self) -> anyhow::Result<()> {
        match self.listener.accept() {
            Ok((socket, peer)) => {
                socket.set_nonblocking(true)?;
                if access::is_allowed(&self.args.guard.allow, peer.ip()) {
                    self.seat(Guest::arriving(socket, Instant::now() + self.args.idle_timeout));
                } else {
                    self.refuse(socket, &Refusal::NotAllowed);
                }
            }
            // A client that gave up while it waited in the kernel (accept(2)).
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => self.turn_away(&error),
        }
        Ok(())
    }

    /// Tells one who came when nothing was left, on the descriptor that was spared, or on that of who waited longest.
    fn turn_away(&mut self, error: &io::Error) {
        if self.spare.take().is_none() && !self.waiting.is_empty() {
            self.waiting.remove(0);
        }
        let refusal = Refusal::Exhausted(error.to_string());
        match self.listener.accept() {
            Ok((socket, _)) if socket.set_nonblocking(true).is_ok() => self.refuse(socket, &refusal),
            _ => {
                self.sink.turn_away("a client", &refusal);
                self.pause = Some(Instant::now() + BREATH);
            }
        }
    }

    fn carry_out(&mut self, verdict: Verdict) -> anyhow::Result<()> {
        match verdict {
            Verdict::Leave => {}
            Verdict::Stay(guest) => self.waiting.push(guest),
            Verdict::Refuse(socket, why) => self.refuse(socket, &why),
            Verdict::Nothing(socket) if self.sink.one_only().is_some() => {
                self.refuse(socket, &Refusal::Useless("it sent nothing, and does not count".into()));
            }
            Verdict::Nothing(socket) => self.start_plain(Stream { socket, early: None })?,
            Verdict::Plain(stream) => self.start_plain(stream)?,
            Verdict::Line(FromClient::Data { token, way, stream }, guest, length) => {
                match self.tests.stream_of(&token) {
                    Ok(streams) => {
                        guest.socket.set_nonblocking(false)?;
                        // A test that is over needs no stream.
                        let _ = streams.send(Joining { way, index: stream, stream: guest.into_stream(length) });
                    }
                    Err(refusal) => self.refuse(guest.socket, &refusal),
                }
            }
            Verdict::Line(FromClient::Knock { token }, guest, _) => {
                if self.tests.knock(&token) {
                    // A client that is gone needs no answer; one that is there has said all it will.
                    let _ = (&guest.socket).write_all(b"!");
                } else {
                    self.refuse(guest.socket, &Refusal::Useless("no test is waiting for this connection".into()));
                }
            }
            Verdict::Line(FromClient::Test(request), guest, length) => self.ask_for_proof(*request, guest, length)?,
            Verdict::Line(FromClient::Done { .. } | FromClient::Proof { .. }, guest, _) => {
                self.refuse(guest.socket, &Refusal::Useless("nothing has begun".into()));
            }
            Verdict::Again(request, guest) => {
                let until = guest.until;
                self.start_test(*request, guest, Some(until))?;
            }
            Verdict::Proof(pending, mac, guest) => {
                let Pending { request, question, nonce } = *pending;
                if self.sink.secret.as_ref().is_some_and(|secret| secret.verifies(&nonce, &question, &mac)) {
                    self.start_test(request, guest, None)?;
                } else {
                    self.refuse(guest.socket, &Refusal::WrongProof);
                }
            }
        }
        Ok(())
    }

    fn refuse(&mut self, socket: TcpStream, refusal: &Refusal) {
        self.sink.turn_away(&socket::peer_address(&socket), refusal);
        self.say_farewell(socket, &FromSink::Refused { why: refusal.to_string() });
    }

    /// Says why, and lets the client read it for a moment: closing on unread bytes at once would reset the connection.
    fn say_farewell(&mut self, socket: TcpStream, word: &FromSink) {
        let told = control::write_at_once(&socket, &word.text());
        if told.and_then(|()| socket.shutdown(Shutdown::Write)).is_ok() {
            self.seat(Guest::leaving(socket, Instant::now() + FAREWELL));
        }
    }

    /// The one that has waited longest goes first.
    fn seat(&mut self, guest: Guest) {
        self.waiting.push(guest);
        if self.waiting.len() > SEATS {
            self.waiting.remove(0);
        }
    }
}
