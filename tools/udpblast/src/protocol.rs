//! The control datagrams of two udpblasts, in the form of [`common::net::wire`].
//!
//! Nothing is sent at a rate to an address that has not agreed, and until a client has shown that it receives at the
//! address it writes from, the listener answers with fewer bytes than it was sent, and keeps nothing in mind:
//!
//! ```text
//! client: udpblast/1 hello nonce=... pad=xxx...     listener: udpblast/1 challenge nonce=... cookie=...
//! client: udpblast/1 start nonce=... cookie=... proof=... kind=send rate=...      listener: udpblast/1 ok tag=...
//! data (packet.rs), one way; the listener's lines of the intervals: udpblast/1 line index=0 text=...
//! the sender: udpblast/1 end sent=N whole=1                 the receiver: udpblast/1 report received=... lost=...
//! client: udpblast/1 get index=I                    listener: udpblast/1 line index=I of=N text=...
//! client: udpblast/1 bye
//! ```
//!
//! Any of them may be lost or doubled. Whoever waits for an answer asks again, and every question may be asked twice.

use std::time::Duration;

use common::net::wire::{self, Values, WireError, Words};

use crate::request::Request;
use crate::tally::Arrived;

/// The number of the protocol, which is not that of the columns.
pub const TAG: &str = "udpblast/1";

/// A hello is at least this long, and its answer shorter: a forged source address gains nothing.
pub const HELLO_BYTES: usize = 256;

/// A control datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Client: may I?
    Hello {
        /// Chosen by the client, never twice.
        nonce: String,
    },
    /// Listener: show that you receive at your address.
    Challenge {
        /// The client's.
        nonce: String,
        /// To be shown.
        cookie: String,
    },
    /// Client: begin.
    Start {
        /// As in the hello.
        nonce: String,
        /// As in the challenge.
        cookie: String,
        /// That it knows the secret: over the cookie.
        proof: Option<String>,
        /// What.
        request: Box<Request>,
    },
    /// Listener: it begins.
    Ok {
        /// For the data's headers.
        tag: u32,
    },
    /// Listener: it does not.
    Refused {
        /// For people.
        why: String,
    },
    /// Either: it ended badly.
    Failed {
        /// For people.
        why: String,
    },
    /// Sender: that was all.
    End {
        /// Datagrams that its kernel accepted.
        sent: u64,
        /// False when it was interrupted or failed.
        whole: bool,
    },
    /// Receiver: what came of it.
    Report {
        /// Counts.
        arrived: Arrived,
        /// Jitter, nanoseconds.
        jitter_ns: Option<u64>,
    },
    /// Client: I lack this line.
    Get {
        /// From 0.
        index: u64,
    },
    /// Listener: a line.
    Line {
        /// From 0.
        index: u64,
        /// How many there are, once it is known.
        of: Option<u64>,
        /// Its cells ([`common::net::peer_line`]).
        text: String,
    },
    /// Either: still here.
    Alive,
    /// Client: I have all.
    Bye,
}

impl Word {
    /// A report; the jitter in microseconds.
    pub fn report(arrived: Arrived, jitter_us: Option<f64>) -> Self {
        let jitter = jitter_us.map(|us| Duration::from_secs_f64((us / 1e6).clamp(0.0, 1e9)));
        Self::Report { arrived, jitter_ns: jitter.and_then(|jitter| u64::try_from(jitter.as_nanos()).ok()) }
    }

    /// The datagram.
    pub fn text(&self) -> String {
        match self {
            Self::Hello { nonce } => {
                let bare = Words::new(TAG, "hello").with("nonce", nonce);
                let length = Words::new(TAG, "hello").with("nonce", nonce).with("pad", "").end().len();
                bare.with("pad", "x".repeat(HELLO_BYTES.saturating_sub(length))).end()
            }
            Self::Challenge { nonce, cookie } => {
                Words::new(TAG, "challenge").with("nonce", nonce).with("cookie", cookie).end()
            }
            Self::Start { nonce, cookie, proof, request } => {
                let words = Words::new(TAG, "start").with("nonce", nonce).with("cookie", cookie);
                request.add_to(words.with_some("proof", proof.as_ref())).end()
            }
            Self::Ok { tag } => Words::new(TAG, "ok").with("tag", tag).end(),
            Self::Refused { why } => wire::prose(TAG, "refused", why),
            Self::Failed { why } => wire::prose(TAG, "failed", why),
            Self::End { sent, whole } => {
                Words::new(TAG, "end").with("sent", sent).with("whole", u8::from(*whole)).end()
            }
            Self::Report { arrived, jitter_ns } => Words::new(TAG, "report")
                .with("expected", arrived.expected)
                .with("received", arrived.received)
                .with("duplicated", arrived.duplicated)
                .with("reordered", arrived.reordered)
                .with("late", arrived.late)
                .with("socket_drops", arrived.socket_drops)
                .with("strangers", arrived.strangers)
                .with_some("jitter", *jitter_ns)
                .end(),
            Self::Get { index } => Words::new(TAG, "get").with("index", index).end(),
            Self::Line { index, of, text } => {
                Words::new(TAG, "line").with("index", index).with_some("of", *of).with("text", text).end()
            }
            Self::Alive => Words::new(TAG, "alive").end(),
            Self::Bye => Words::new(TAG, "bye").end(),
        }
    }

    /// Reads a datagram.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (word, values) = wire::split(TAG, datagram.strip_suffix(b"\n").unwrap_or(datagram))?;
        match word.as_str() {
            "hello" => Ok(Self::Hello { nonce: values.text("nonce")? }),
            "challenge" => Ok(Self::Challenge { nonce: values.text("nonce")?, cookie: values.text("cookie")? }),
            "start" => Ok(Self::Start {
                nonce: values.text("nonce")?,
                cookie: values.text("cookie")?,
                proof: values.optional("proof"),
                request: Box::new(Request::read(&values)?),
            }),
            "ok" => {
                let tag = u32::try_from(values.number("tag")?).map_err(|_| WireError::BadValue("tag"))?;
                Ok(Self::Ok { tag })
            }
            "refused" => Ok(Self::Refused { why: values.prose() }),
            "failed" => Ok(Self::Failed { why: values.prose() }),
            "end" => Ok(Self::End { sent: values.number("sent")?, whole: values.flag("whole")? }),
            "report" => Ok(Self::Report {
                arrived: Arrived {
                    expected: values.number("expected")?,
                    received: values.number("received")?,
                    duplicated: values.number("duplicated")?,
                    reordered: values.number("reordered")?,
                    late: values.number("late")?,
                    socket_drops: values.number("socket_drops")?,
                    strangers: values.number("strangers")?,
                },
                jitter_ns: values.some("jitter", Values::number)?,
            }),
            "get" => Ok(Self::Get { index: values.number("index")? }),
            "line" => Ok(Self::Line {
                index: values.number("index")?,
                of: values.some("of", Values::number)?,
                text: values.text("text")?,
            }),
            "alive" => Ok(Self::Alive),
            "bye" => Ok(Self::Bye),
            _ => Err(WireError::UnknownWord(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::TestKind;

    fn request() -> Request {
        Request {
            kind: TestKind::Send,
            run: 1,
            label: Some("a b".into()),
            rate: Some(50_000_000),
            size: Some(1472),
            burst: Some(10),
            time: Some(Duration::from_secs(3)),
            bytes: Some(5_000_000),
            warmup: Duration::ZERO,
            interval: Some(Duration::from_secs(1)),
            idle_timeout: Duration::from_secs(5),
            fragment: true,
            offload: true,
            buffer: Some(8192),
        }
    }

    #[test]
    fn every_word_survives_the_wire() {
        let [nonce, cookie] = ["00ff", "ff00"].map(str::to_owned);
        let start =
            |proof, request| Word::Start { nonce: "1".into(), cookie: "2".into(), proof, request: Box::new(request) };
        let arrived = Arrived { expected: u64::MAX, received: 5, ..Arrived::default() };
        for word in [
            Word::Hello { nonce: nonce.clone() },
            Word::Challenge { nonce, cookie },
            start(Some("p".into()), request()),
            start(None, Request { kind: TestKind::Recv, rate: None, label: None, size: None, ..request() }),
            start(None, Request { kind: TestKind::Ping, time: None, bytes: None, burst: None, ..request() }),
            Word::Ok { tag: u32::MAX },
            Word::Refused { why: "too many (--max-clients)".into() },
            Word::Failed { why: "x".into() },
            Word::End { sent: 1 << 40, whole: false },
            Word::Report { arrived, jitter_ns: Some(5) },
            Word::Get { index: 3 },
            Word::Line { index: 3, of: Some(4), text: "a=b%0A c=\"%25".into() },
            Word::Alive,
            Word::Bye,
        ] {
            assert_eq!(Word::parse(word.text().as_bytes()), Ok(word));
        }
    }

    #[test]
    fn an_answer_is_shorter_than_the_hello() {
        let nonce = "f".repeat(32);
        let hello = Word::Hello { nonce: nonce.clone() }.text();
        let challenge = Word::Challenge { nonce, cookie: "f".repeat(64) }.text();
        assert!(hello.len() >= HELLO_BYTES && challenge.len() < hello.len());
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_datagrams_do_nothing(bytes: Vec<u8>) {
            let _ = Word::parse(&bytes);
        }

        #[test]
        fn arbitrary_words_do_nothing(text in "(hello|start|ok|end|report|line)( [a-z_]{1,9}=[ -~]{0,20}){0,16}") {
            let _ = Word::parse(format!("{TAG} {text}\n").as_bytes());
        }
    }
}
