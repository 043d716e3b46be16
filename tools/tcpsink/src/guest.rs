//! A connection that is not being served: it has not said what it wants, has to show that it knows the secret, or has
//! been refused and reads why.

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::net::listener::Refusal;
use common::units;

use crate::engine::Stream;
use crate::protocol::{FromClient, Opening};
use crate::request::Request;

/// Such a connection. It costs a descriptor, and the bytes of one line.
pub struct Guest {
    pub socket: TcpStream,
    bytes: Vec<u8>,
    /// When the first of them came.
    since: Option<Instant>,
    /// When it has to go.
    pub until: Instant,
    stage: Stage,
}

enum Stage {
    /// It is to say what it wants.
    Opening,
    /// It is to show that it knows the secret.
    Proving(Box<Pending>),
    /// It waits for the place of somebody who did not begin.
    Standing(Box<Request>),
    /// It has got its answer, and has a moment to read it.
    Leaving,
}

/// A test that waits for the proof.
pub struct Pending {
    /// What was asked for.
    pub request: Request,
    /// The line that asked.
    pub question: String,
    /// What the proof has to be made of, too.
    pub nonce: String,
}

/// What becomes of a guest that is ready.
pub enum Verdict {
    Stay(Guest),
    Leave,
    /// It closed its side without a byte: a plain client with nothing to send, or somebody who tries ports.
    Nothing(TcpStream),
    Plain(Stream),
    /// A line of ours, so many bytes long.
    Line(FromClient, Guest, usize),
    Proof(Box<Pending>, String, Guest),
    /// It may get a place by now, or never.
    Again(Box<Request>, Guest),
    Refuse(TcpStream, Refusal),
}

impl Guest {
    /// One that has just come, and is to say what it wants.
    pub fn arriving(socket: TcpStream, until: Instant) -> Self {
        Self { socket, bytes: Vec::new(), since: None, until, stage: Stage::Opening }
    }

    /// One that was refused.
    pub fn leaving(socket: TcpStream, until: Instant) -> Self {
        Self { stage: Stage::Leaving, ..Self::arriving(socket, until) }
    }

    /// The same, which is to show that it knows the secret before it gets what it asked for.
    pub fn proving(self, pending: Pending, until: Instant) -> Self {
        Self { stage: Stage::Proving(Box::new(pending)), until, ..self }
    }

    /// The same, which waits for a place until then.
    pub fn standing(self, request: Request, until: Instant) -> Self {
        Self { stage: Stage::Standing(Box::new(request)), until, ..self }
    }

    /// A place may be free: it is tried again by who waits for one.
    pub fn try_again(mut self) -> Verdict {
        match std::mem::replace(&mut self.stage, Stage::Opening) {
            Stage::Standing(request) => Verdict::Again(request, self),
            stage => Verdict::Stay(Self { stage, ..self }),
        }
    }

    /// Takes the first `length` bytes away; what they say.
    pub fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.bytes.split_off(length.min(self.bytes.len()));
        std::mem::replace(&mut self.bytes, rest)
    }

    /// The connection, and what came on it and was not taken.
    pub fn into_parts(self) -> (TcpStream, Vec<u8>) {
        (self.socket, self.bytes)
    }

    /// What follows the first `length` bytes is payload.
    pub fn into_stream(mut self, length: usize) -> Stream {
        self.take(length);
        let since = self.since.filter(|_| !self.bytes.is_empty());
        Stream { socket: self.socket, early: since.map(|at| (self.bytes, at)) }
    }

    /// Takes what has arrived, and judges it.
    pub fn hear(mut self, now: Instant) -> Verdict {
        let mut chunk = [0; 4096];
        match self.socket.read(&mut chunk) {
            Ok(0) => match self.stage {
                Stage::Opening if self.bytes.is_empty() => Verdict::Nothing(self.socket),
                Stage::Opening => Verdict::Plain(self.into_stream(0)),
                Stage::Proving(_) => Verdict::Refuse(self.socket, Refusal::NoProof),
                Stage::Leaving | Stage::Standing(_) => Verdict::Leave,
            },
            Ok(_) if matches!(self.stage, Stage::Leaving) => Verdict::Stay(self),
            // It was to wait for an answer.
            Ok(_) if matches!(self.stage, Stage::Standing(_)) => Verdict::Leave,
            Ok(length) => {
                self.since.get_or_insert(now);
                self.bytes.extend_from_slice(&chunk[..length]);
                self.judge()
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Verdict::Stay(self)
            }
            Err(_) => Verdict::Leave,
        }
    }

    fn judge(mut self) -> Verdict {
        let is_proving = matches!(self.stage, Stage::Proving(_));
        match Opening::of(&self.bytes) {
            Opening::Incomplete => Verdict::Stay(self),
            Opening::Plain | Opening::TooLong if is_proving => Verdict::Refuse(self.socket, Refusal::NoProof),
            Opening::Plain => Verdict::Plain(self.into_stream(0)),
            Opening::TooLong => Verdict::Refuse(self.socket, useless("a first line without an end")),
            Opening::Line(length) => {
                let word = FromClient::parse(&self.bytes[..length - 1]);
                match (std::mem::replace(&mut self.stage, Stage::Opening), word) {
                    (Stage::Proving(pending), Ok(FromClient::Proof { mac })) => {
                        self.take(length);
                        Verdict::Proof(pending, mac, self)
                    }
                    (Stage::Proving(_), _) => Verdict::Refuse(self.socket, Refusal::NoProof),
                    (_, Ok(word)) => Verdict::Line(word, self, length),
                    (_, Err(error)) => Verdict::Refuse(self.socket, Refusal::NotUnderstood(error.to_string())),
                }
            }
        }
    }

    /// Its time is over. `limit` is what it had.
    pub fn time_out(self, limit: Duration) -> Verdict {
        match self.stage {
            Stage::Leaving => Verdict::Leave,
            Stage::Standing(_) => self.try_again(),
            Stage::Proving(_) => Verdict::Refuse(self.socket, Refusal::NoProof),
            Stage::Opening if self.bytes.is_empty() => {
                let why = format!("no byte in {} (--idle-timeout)", units::duration_text(limit));
                Verdict::Refuse(self.socket, Refusal::Useless(why))
            }
            Stage::Opening => Verdict::Refuse(self.socket, useless("an unfinished first line")),
        }
    }
}

fn useless(why: &str) -> Refusal {
    Refusal::Useless(why.into())
}
