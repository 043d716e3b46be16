//! Who is served: the proof first, then the limits, then a place, and a thread.

use std::net::TcpStream;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use common::net::listener::{Beginning, Refusal, Visit};

use super::Lobby;
use crate::engine::Stream;
use crate::guest::{Guest, Pending};
use crate::protocol::FromSink;
use crate::request::Request;
use crate::serve::{self, Asked};
use crate::{control, socket};

/// How long a client may take to show that it knows the secret.
const PROOF_TIME: Duration = Duration::from_secs(10);

/// How long a client waits for the place of one who did not begin, and was told to leave.
const ROOM_TIME: Duration = Duration::from_millis(500);

impl Lobby<'_> {
    /// Whoever has to know the secret learns nothing else before that is shown, and takes no place.
    pub(super) fn ask_for_proof(&mut self, request: Request, mut guest: Guest, length: usize) -> anyhow::Result<()> {
        let question = String::from_utf8_lossy(&guest.take(length)).trim_end().to_owned();
        if self.sink.secret.is_none() || !(self.args.guard.require_secret || request.makes_sink_send()) {
            return self.start_test(request, guest, None);
        }
        let nonce = format!("{:032x}", rand::random::<u128>());
        if control::write_at_once(&guest.socket, &FromSink::Challenge { nonce: nonce.clone() }.text()).is_ok() {
            let until = Instant::now() + PROOF_TIME.min(self.args.idle_timeout);
            self.waiting.push(guest.proving(Pending { request, question, nonce }, until));
        }
        Ok(())
    }

    /// `until` is how long it may wait for a place, if it waits already.
    pub(super) fn start_test(&mut self, request: Request, guest: Guest, until: Option<Instant>) -> anyhow::Result<()> {
        let (now, refusal) = (Instant::now(), self.refusal(&request));
        if matches!(refusal, Some(Refusal::Full(_)))
            && until.map_or_else(|| self.tests.make_room(now), |until| now < until)
        {
            self.waiting.push(guest.standing(request, until.unwrap_or(now + ROOM_TIME)));
            return Ok(());
        }
        let (socket, unread) = guest.into_parts();
        if let Some(refusal) = refusal {
            if request.queues && self.tests.is_worth_waiting(&refusal) {
                self.sink.turn_away(&socket::peer_address(&socket), &refusal);
                self.say_farewell(socket, &FromSink::Busy { why: refusal.to_string() });
            } else {
                self.refuse(socket, &refusal);
            }
            return Ok(());
        }
        let beginning = match self.args.output {
            Some(_) => self.begin(rand::random(), Duration::ZERO),
            None => self.begin(request.visit, request.next_within),
        };
        let (token, ticket) = self.tests.add(&request, self.args.output.is_some());
        let (sink, asked) = (Arc::clone(&self.sink), Asked { request, token, beginning });
        self.start(socket, move |socket| serve::test(&sink, &asked, socket, unread, &ticket))
    }

    /// Why a test is not served, if it is not. Who asks for it knows the secret where that is needed.
    fn refusal(&self, request: &Request) -> Option<Refusal> {
        let args = self.args;
        let is_other = self.visit.as_ref().is_some_and(|visit| !visit.has(request.visit));
        let too_much = || args.max_bytes.zip(request.bytes).filter(|(most, asked)| asked > most);
        let is_unfit = args.output.is_some() && !request.is_one_stream_up();
        args.guard
            .refusal(request.time.map(|time| time.saturating_add(request.warmup)))
            .or_else(|| too_much().map(|(most, asked)| Refusal::TooMuch { asked, most }))
            .or_else(|| is_unfit.then(|| Refusal::Useless("this sink stores one stream (--output)".into())))
            .or_else(|| self.sink.one_only().filter(|_| is_other).map(Refusal::OneOnly))
            .or_else(|| self.tests.refusal(request, args.output.is_some()))
            .or_else(|| self.places.refusal())
    }

    pub(super) fn start_plain(&mut self, stream: Stream) -> anyhow::Result<()> {
        let Stream { socket, early } = stream;
        let refusal = if self.args.guard.require_secret {
            Some(Refusal::NoProof)
        } else {
            let one_only = self.sink.one_only().filter(|_| self.visit.is_some());
            one_only.map(Refusal::OneOnly).or_else(|| self.places.refusal())
        };
        if let Some(refusal) = refusal {
            self.refuse(socket, &refusal);
            return Ok(());
        }
        let beginning = self.begin(rand::random(), Duration::ZERO);
        let sink = Arc::clone(&self.sink);
        self.start(socket, move |socket| serve::plain(&sink, &beginning, Stream { socket, early }))
    }

    /// One who was admitted: it is the visitor, if there is to be only one.
    fn begin(&mut self, number: u64, next_within: Duration) -> Beginning {
        if self.sink.one_only().is_none() {
            return Beginning::default();
        }
        let visit = self.visit.get_or_insert_with(|| Visit::new(number, next_within));
        visit.extend(next_within);
        visit.beginning()
    }

    /// Serves a client in a thread of its own, if the system has one.
    fn start(&mut self, socket: TcpStream, serve: impl FnOnce(TcpStream) + Send + 'static) -> anyhow::Result<()> {
        let (hand_over, handed) = mpsc::channel();
        let started = self.places.spawn(move || {
            if let Ok(socket) = handed.recv() {
                serve(socket);
            }
        });
        match started {
            Ok(()) => {
                socket.set_nonblocking(false)?;
                let _ = hand_over.send(socket);
            }
            Err(error) => self.refuse(socket, &Refusal::Exhausted(error.to_string())),
        }
        Ok(())
    }
}
