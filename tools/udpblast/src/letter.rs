//! What is said before two ends know each other: single datagrams, to and from the listening socket.
//!
//! Nothing is sent at a rate to an address that has not agreed, and until a client has shown that it receives at the
//! address it writes from, the listener answers with fewer bytes than it was sent, and keeps nothing in mind:
//!
//! ```text
//! client: udpblast/2 hello nonce=... pad=xxx...          listener: udpblast/2 challenge nonce=... cookie=... can=...
//! client: udpblast/2 start nonce=... cookie=... kind=send rate=... proof=...
//!                                           listener: udpblast/2 ok nonce=... key=... tag=... idle=...
//! ```
//!
//! Each further stream says hello from its own address and then, with the secret number of the test,
//!
//! ```text
//! client: udpblast/2 join nonce=... cookie=... key=... stream=...          listener: udpblast/2 ok ...
//! ```
//!
//! From there on it is [`crate::protocol`]'s words, in [`crate::pieces`]. Any datagram may be lost or doubled: whoever waits
//! for an answer asks again.

use std::time::Duration;

use common::net::access::Secret;
use common::net::wire::{self, Values, WireError, Words, micros};

use crate::protocol::TAG;
use crate::request::Request;

/// A hello is at least this long, and its answer shorter: a forged source address gains nothing.
pub const HELLO_BYTES: usize = 256;

/// What a listener of this version can do that an earlier one of this protocol might not; a client asks for no more than it
/// was told.
pub const ABILITIES: &str = "streams,count";

/// The protocol before this one, whose ends are told to be replaced.
const BEFORE: &str = "udpblast/1";

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Letter {
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
        /// What may be asked for, as [`ABILITIES`].
        can: String,
    },
    /// Client: begin.
    Start {
        /// As in the hello.
        nonce: String,
        /// As in the challenge.
        cookie: String,
        /// What.
        request: Box<Request>,
        /// That it knows the secret: over all that stands before it.
        proof: Option<String>,
    },
    /// Client: this address is one more stream of a test that has begun.
    Join {
        /// As in the hello.
        nonce: String,
        /// As in the challenge.
        cookie: String,
        /// The test's secret number.
        key: u64,
        /// From 1.
        stream: u64,
    },
    /// Listener: it begins.
    Ok {
        /// The client's.
        nonce: String,
        /// The test's secret number.
        key: u64,
        /// For the data's headers.
        tag: u32,
        /// How long either end may be silent.
        idle: Duration,
    },
    /// Listener: it does not.
    Refused {
        /// The client's.
        nonce: String,
        /// Another time it might: all places are taken.
        is_full: bool,
        /// For people.
        why: String,
    },
}

/// Where the proof stands.
const PROOF: &str = " proof=";

impl Letter {
    /// The datagram.
    pub fn text(&self) -> String {
        match self {
            Self::Hello { nonce } => {
                let bare = Words::new(TAG, "hello").with("nonce", nonce);
                let length = Words::new(TAG, "hello").with("nonce", nonce).with("pad", "").end().len();
                bare.with("pad", "x".repeat(HELLO_BYTES.saturating_sub(length))).end()
            }
            Self::Challenge { nonce, cookie, can } => {
                Words::new(TAG, "challenge").with("nonce", nonce).with("cookie", cookie).with("can", can).end()
            }
            Self::Start { nonce, cookie, request, proof } => {
                let words = Words::new(TAG, "start").with("nonce", nonce).with("cookie", cookie);
                request.add_to(words).with_some("proof", proof.as_ref()).end()
            }
            Self::Join { nonce, cookie, key, stream } => Words::new(TAG, "join")
                .with("nonce", nonce)
                .with("cookie", cookie)
                .with("key", format_args!("{key:016x}"))
                .with("stream", stream)
                .end(),
            Self::Ok { nonce, key, tag, idle } => Words::new(TAG, "ok")
                .with("nonce", nonce)
                .with("key", format_args!("{key:016x}"))
                .with("tag", tag)
                .with("idle", micros(*idle))
                .end(),
            Self::Refused { nonce, is_full, why } => {
                Words::new(TAG, "refused").with("nonce", nonce).with("full", u8::from(*is_full)).with("why", why).end()
            }
        }
    }

    /// A start with its proof, if there is a secret.
    pub fn start(nonce: String, cookie: String, request: Request, secret: Option<&Secret>) -> Self {
        let bare =
            Self::Start { nonce: nonce.clone(), cookie: cookie.clone(), request: request.clone().into(), proof: None };
        let proof = secret.map(|secret| secret.proof(&cookie, bare.text().trim_end()));
        Self::Start { nonce, cookie, request: Box::new(request), proof }
    }

    /// Reads a datagram.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (word, values) = wire::split(TAG, datagram.strip_suffix(b"\n").unwrap_or(datagram))?;
        match word.as_str() {
            "hello" => Ok(Self::Hello { nonce: nonce(&values)? }),
            "challenge" => Ok(Self::Challenge {
                nonce: nonce(&values)?,
                cookie: values.text("cookie")?,
                can: values.optional("can").unwrap_or_default(),
            }),
            "start" => Ok(Self::Start {
                nonce: nonce(&values)?,
                cookie: values.text("cookie")?,
                request: Box::new(Request::read(&values)?),
                proof: values.optional("proof"),
            }),
            "join" => Ok(Self::Join {
                nonce: nonce(&values)?,
                cookie: values.text("cookie")?,
                key: key(&values)?,
                stream: values.within("stream", crate::request::MAX_STREAMS)?,
            }),
            "ok" => Ok(Self::Ok {
                nonce: nonce(&values)?,
                key: key(&values)?,
                tag: u32::try_from(values.number("tag")?).map_err(|_| WireError::BadValue("tag"))?,
                idle: values.positive_time("idle")?,
            }),
            "refused" => {
                Ok(Self::Refused { nonce: nonce(&values)?, is_full: values.flag("full")?, why: values.text("why")? })
            }
            _ => Err(WireError::UnknownWord(word)),
        }
    }
}

/// What of a start is proved, as it came: all that stands before the proof.
pub fn proved(datagram: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(datagram).ok()?;
    text.rsplit_once(PROOF).map(|(before, _)| before)
}

/// Nonce and cookie of a start or a join that is otherwise not understood.
pub fn opening_of(datagram: &[u8]) -> Option<(String, String)> {
    let (word, values) = wire::split(TAG, datagram.strip_suffix(b"\n").unwrap_or(datagram)).ok()?;
    let is_opening = word == "start" || word == "join";
    is_opening.then_some((nonce(&values).ok()?, values.text("cookie").ok()?))
}

/// The answer to a hello of the protocol before this one: `None` if it is none.
pub fn answer_to_former(datagram: &[u8]) -> Option<String> {
    let hello = datagram.strip_prefix(BEFORE.as_bytes()).filter(|rest| rest.starts_with(b" hello "));
    // One of this protocol that asks whether there is one of the former.
    let is_former = hello.is_some_and(|rest| !rest.starts_with(b" hello nonce=0 "));
    is_former.then(|| wire::prose(BEFORE, "refused", &format!("{TAG} is spoken here: bring the client up to date")))
}

/// A hello of the protocol before this one.
pub fn former_hello() -> String {
    let bare = Words::new(BEFORE, "hello").with("nonce", "0");
    bare.with("pad", "x".repeat(HELLO_BYTES)).end()
}

/// Whether a listener of the protocol before this one said that.
pub fn is_of_former(datagram: &[u8]) -> bool {
    datagram.strip_prefix(BEFORE.as_bytes()).is_some_and(|rest| rest.starts_with(b" "))
}

fn nonce(values: &Values) -> Result<String, WireError> {
    let is_one = |text: &String| text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    values.optional("nonce").filter(is_one).ok_or(WireError::BadValue("nonce"))
}

fn key(values: &Values) -> Result<u64, WireError> {
    u64::from_str_radix(&values.text("key")?, 16).map_err(|_| WireError::BadValue("key"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::request;
    use proptest::prelude::*;

    #[test]
    fn every_letter_survives_the_wire() {
        let nonce = "00ff".to_owned();
        let cookie = "ff00".to_owned();
        let start =
            |proof| Letter::Start { nonce: nonce.clone(), cookie: cookie.clone(), request: Box::new(request()), proof };
        for letter in [
            Letter::Hello { nonce: nonce.clone() },
            Letter::Challenge { nonce: nonce.clone(), cookie: cookie.clone(), can: ABILITIES.into() },
            start(Some("p".into())),
            start(None),
            Letter::Join { nonce: nonce.clone(), cookie: cookie.clone(), key: 5, stream: 1 },
            Letter::Ok { nonce: nonce.clone(), key: u64::MAX, tag: u32::MAX, idle: Duration::from_secs(5) },
            Letter::Refused { nonce: nonce.clone(), is_full: true, why: "too many (--max-clients)".into() },
        ] {
            assert_eq!(Letter::parse(letter.text().as_bytes()), Ok(letter));
        }
    }

    #[test]
    fn an_answer_is_shorter_than_the_hello() {
        let nonce = "f".repeat(32);
        let hello = Letter::Hello { nonce: nonce.clone() }.text();
        let challenge = Letter::Challenge { nonce, cookie: "f".repeat(64), can: ABILITIES.into() }.text();
        assert!(hello.len() >= HELLO_BYTES && challenge.len() < hello.len());
        let former = format!("udpblast/1 hello nonce={} pad={}\n", "f".repeat(32), "x".repeat(256));
        assert!(answer_to_former(former.as_bytes()).unwrap().len() < HELLO_BYTES);
    }

    #[test]
    fn the_proof_is_over_all_that_is_asked_for() {
        let secret = Secret::random();
        let text = Letter::start("1".into(), "c".into(), request(), Some(&secret)).text();
        let Ok(Letter::Start { cookie, proof: Some(proof), .. }) = Letter::parse(text.as_bytes()) else {
            panic!("{text}")
        };
        assert!(secret.verifies(&cookie, proved(text.as_bytes()).unwrap(), &proof));
        let forged = text.replace("rate=50000000", "rate=90000000");
        assert!(forged != text && !secret.verifies(&cookie, proved(forged.as_bytes()).unwrap(), &proof));
    }

    #[test]
    fn ends_of_the_protocol_before_are_told_so() {
        assert_eq!(answer_to_former(former_hello().as_bytes()), None, "who asks so knows this protocol");
        let answer = answer_to_former(b"udpblast/1 hello nonce=0f pad=xx").unwrap();
        assert!(answer.starts_with("udpblast/1 refused udpblast/2 is spoken here"), "{answer}");
        assert!(is_of_former(answer.as_bytes()) && !is_of_former(b"udpblast/2 ok"));
        assert_eq!(answer_to_former(b"udpblast/2 hello nonce=1"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_datagrams_do_nothing(bytes: Vec<u8>) {
            let _ = Letter::parse(&bytes);
            proved(&bytes);
            answer_to_former(&bytes);
        }

        #[test]
        fn arbitrary_letters_are_refused_or_mean_themselves(
            text in "(hello|challenge|start|join|ok|refused)( (nonce|cookie|key|kind|rate|size|burst|time|idle|streams)=[ -~]{0,20}){0,16}",
        ) {
            if let Ok(letter) = Letter::parse(format!("{TAG} {text}\n").as_bytes()) {
                prop_assert_eq!(Letter::parse(letter.text().as_bytes()), Ok(letter));
            }
        }
    }
}
