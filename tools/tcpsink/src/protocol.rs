//! The words that two tcpsinks exchange, in the form of [`common::net::wire`].
//!
//! A test has one control connection, on which the client asks and the sink answers and reports, and one connection per
//! stream. Each connection of ours opens with a line; whatever opens otherwise is a plain client, and all its bytes are
//! payload.
//!
//! ```text
//! control  client: tcpsink/1 test kind=send run=1 time=3000000us ...
//! control  sink:   tcpsink/1 challenge nonce=9b02...           if it wants to see that the client knows the secret
//! control  client: tcpsink/1 proof mac=77aa...
//! control  sink:   tcpsink/1 ok token=4f1c...
//! streams  client: tcpsink/1 data token=4f1c... way=up stream=0     then payload only, either way
//! control  sink:   tcpsink/1 line text=...                     lines while the test runs, and the totals (net::peer_line)
//! control  client: tcpsink/1 done bytes=123 whole=1            after the last byte
//! control  sink:   tcpsink/1 end shared=0                      then it closes
//! ```
//!
//! In a test of kind connect the streams are replaced by any number of connections that open with
//! `tcpsink/1 knock token=4f1c...`, each of which is answered by one byte.

use std::time::Duration;

use common::net::wire::{self, Values, WireError, Words, micros};

use crate::request::{Request, TAG, Way};

/// How every line of every version begins.
const MARK: &str = "tcpsink/";

/// No line of ours is longer: labels have at most [`common::cli::MAX_LABEL`] bytes, thrice that when escaped.
pub const MAX_LINE: usize = 16 * 1024;

/// A client's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromClient {
    /// Opens a control connection.
    Test(Box<Request>),
    /// Answers a challenge.
    Proof {
        /// In hexadecimal.
        mac: String,
    },
    /// Opens a stream of the test with this token.
    Data {
        /// From the sink's answer.
        token: String,
        /// Which way it goes.
        way: Way,
        /// Which one, from 0.
        stream: u64,
    },
    /// A connection of a connect test.
    Knock {
        /// From the sink's answer.
        token: String,
    },
    /// The client's part is over.
    Done {
        /// Payload bytes sent upwards, warm-up included.
        sent: u64,
        /// Payload bytes that came down.
        received: u64,
        /// False when the client was interrupted or failed.
        whole: bool,
        /// It did not wait for all that was still on its way to it when the time was over.
        left: bool,
        /// How long it sent.
        span: Duration,
    },
}

/// A sink's line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromSink {
    /// The client has to show that it knows the secret.
    Challenge {
        /// Never used twice.
        nonce: String,
    },
    /// The test may begin.
    Accepted {
        /// Names the test in the streams' opening lines.
        token: String,
    },
    /// It may not.
    Refused {
        /// For people.
        why: String,
    },
    /// It may not now, and perhaps when another client has left; said to clients that would wait for that.
    Busy {
        /// For people.
        why: String,
    },
    /// It ended badly on the sink's side.
    Failed {
        /// For people.
        why: String,
    },
    /// A line of the sink's.
    Line {
        /// Its cells ([`common::net::peer_line`]).
        text: String,
    },
    /// All has been said.
    End {
        /// Another client was measured meanwhile.
        shared: bool,
    },
}

impl FromClient {
    /// The line, LF included.
    pub fn text(&self) -> String {
        match self {
            Self::Test(request) => request.text(),
            Self::Proof { mac } => Words::new(TAG, "proof").with("mac", mac).end(),
            Self::Data { token, way, stream } => {
                Words::new(TAG, "data").with("token", token).with("way", way.name()).with("stream", stream).end()
            }
            Self::Knock { token } => Words::new(TAG, "knock").with("token", token).end(),
            Self::Done { sent, received, whole, left, span } => Words::new(TAG, "done")
                .with("sent", sent)
                .with("received", received)
                .with("whole", u8::from(*whole))
                .with("left", u8::from(*left))
                .with("span", micros(*span))
                .end(),
        }
    }

    /// Reads a line without its LF.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let (word, values) = wire::split(TAG, line)?;
        match word.as_str() {
            "test" => Ok(Self::Test(Box::new(Request::read(&values)?))),
            "proof" => Ok(Self::Proof { mac: values.text("mac")? }),
            "data" => {
                let name = values.text("way")?;
                let way = [Way::Up, Way::Down, Way::Echo].into_iter().find(|way| way.name() == name);
                let way = way.ok_or(WireError::BadValue("way"))?;
                Ok(Self::Data { token: values.text("token")?, way, stream: values.number("stream")? })
            }
            "knock" => Ok(Self::Knock { token: values.text("token")? }),
            "done" => Ok(Self::Done {
                sent: values.number("sent")?,
                received: values.number("received")?,
                whole: values.flag("whole")?,
                left: values.some("left", Values::flag)?.unwrap_or_default(),
                span: values.some("span", Values::time)?.unwrap_or_default(),
            }),
            _ => Err(WireError::UnknownWord(word)),
        }
    }
}

impl FromSink {
    /// The line, LF included.
    pub fn text(&self) -> String {
        match self {
            Self::Challenge { nonce } => Words::new(TAG, "challenge").with("nonce", nonce).end(),
            Self::Accepted { token } => Words::new(TAG, "ok").with("token", token).end(),
            // A plain client's user may read these.
            Self::Refused { why } => wire::prose(TAG, "refused", why),
            Self::Busy { why } => wire::prose(TAG, "busy", why),
            Self::Failed { why } => wire::prose(TAG, "failed", why),
            Self::Line { text } => Words::new(TAG, "line").with("text", text).end(),
            Self::End { shared } => Words::new(TAG, "end").with("shared", u8::from(*shared)).end(),
        }
    }

    /// Reads a line without its LF.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let (word, values) = wire::split(TAG, line)?;
        match word.as_str() {
            "challenge" => Ok(Self::Challenge { nonce: values.text("nonce")? }),
            "ok" => Ok(Self::Accepted { token: values.text("token")? }),
            "refused" => Ok(Self::Refused { why: values.prose() }),
            "busy" => Ok(Self::Busy { why: values.prose() }),
            "failed" => Ok(Self::Failed { why: values.prose() }),
            "line" => Ok(Self::Line { text: values.text("text")? }),
            "end" => Ok(Self::End { shared: values.some("shared", Values::flag)?.unwrap_or_default() }),
            _ => Err(WireError::UnknownWord(word)),
        }
    }
}

/// How a connection opens.
#[derive(Debug, PartialEq, Eq)]
pub enum Opening {
    /// Too early to say.
    Incomplete,
    /// A line of ours so many bytes long, LF included.
    Line(usize),
    /// Payload.
    Plain,
    /// It began like a line of ours and has no end.
    TooLong,
}

impl Opening {
    /// Judges the first bytes of a connection.
    pub fn of(bytes: &[u8]) -> Self {
        let common = bytes.len().min(MARK.len());
        if bytes[..common] != MARK.as_bytes()[..common] {
            return Self::Plain;
        }
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => Self::Line(end + 1),
            None if bytes.len() < MAX_LINE => Self::Incomplete,
            None => Self::TooLong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::TestKind;
    use crate::request::tests::request;

    #[test]
    fn every_word_survives_the_wire() {
        let bare = Request {
            label: None,
            time: None,
            bytes: None,
            interval: None,
            message: None,
            rate: None,
            buffer: None,
            congestion: None,
            dscp: None,
            ..request()
        };
        let mut words = vec![
            FromClient::Test(Box::new(request())),
            FromClient::Test(Box::new(bare)),
            FromClient::Proof { mac: "00ff".into() },
            FromClient::Data { token: "4f1c".into(), way: Way::Down, stream: 255 },
            FromClient::Knock { token: "4f1c".into() },
            FromClient::Done { sent: u64::MAX, received: 0, whole: false, left: true, span: Duration::from_micros(7) },
        ];
        for kind in [TestKind::Send, TestKind::Recv, TestKind::Both, TestKind::Connect] {
            words.push(FromClient::Test(Box::new(Request { kind, ..request() })));
        }
        for word in words {
            let text = word.text();
            assert_eq!(FromClient::parse(text.strip_suffix('\n').unwrap().as_bytes()), Ok(word));
        }
        let words = [
            FromSink::Challenge { nonce: "9b02".into() },
            FromSink::Accepted { token: "4f1c".into() },
            FromSink::Refused { why: "64 clients (--max-clients)".into() },
            FromSink::Failed { why: String::new() },
            FromSink::Line { text: "a=b%0A c=%25".into() },
            FromSink::Busy { why: "64 clients (--max-clients)".into() },
            FromSink::End { shared: true },
            FromSink::End { shared: false },
        ];
        for word in words {
            let text = word.text();
            assert_eq!(FromSink::parse(text.strip_suffix('\n').unwrap().as_bytes()), Ok(word));
        }
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for (line, error) in [
            ("HTTP/1.1 400 Bad Request", WireError::Foreign),
            ("tcpsink/2 ok token=1", WireError::OtherVersion("tcpsink/2".into(), TAG)),
            ("tcpsink/1 dance", WireError::UnknownWord("dance".into())),
            ("tcpsink/1 line", WireError::BadValue("text")),
        ] {
            assert_eq!(FromSink::parse(line.as_bytes()), Err(error), "{line}");
        }
        let text = FromClient::Test(Box::new(request())).text();
        for (from, to, key) in [
            ("idle=10000000us", "idle=0us", "idle"),
            ("run=3", "run=-3", "run"),
            ("copy=1", "copy=2", "copy"),
            ("streams=4", "streams=0", "streams"),
            ("streams=4", "streams=257", "streams"),
            ("dscp=46", "dscp=64", "dscp"),
            ("response=1000", "response=9999999999", "response"),
            ("time=3000000us", "time=99999999999999999us", "time"),
        ] {
            let line = text.trim_end().replacen(from, to, 1);
            assert_eq!(FromClient::parse(line.as_bytes()), Err(WireError::BadValue(key)), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_do_nothing(bytes: Vec<u8>) {
            let _ = (FromClient::parse(&bytes), FromSink::parse(&bytes), Opening::of(&bytes));
        }

        #[test]
        fn arbitrary_words_do_nothing(text in "(test|data|proof|knock|done|challenge|ok|refused|busy|failed|line|end)( [a-z_]{1,8}=[ -~]{0,20}){0,20}") {
            let line = format!("{TAG} {text}");
            let _ = (FromClient::parse(line.as_bytes()), FromSink::parse(line.as_bytes()));
        }

        #[test]
        fn arbitrary_labels_survive(label in "\\PC{0,100}") {
            let label = Some(common::text::tamed(&label));
            let word = FromClient::Test(Box::new(Request { label, ..request() }));
            proptest::prop_assert_eq!(FromClient::parse(word.text().trim_end_matches('\n').as_bytes()), Ok(word));
        }
    }

    #[test]
    fn a_plain_client_is_known_by_its_first_wrong_byte() {
        assert_eq!(Opening::of(b""), Opening::Incomplete);
        assert_eq!(Opening::of(b"tcpsi"), Opening::Incomplete);
        assert_eq!(Opening::of(b"tcpsinX"), Opening::Plain);
        assert_eq!(Opening::of(b"tcpsink/1 data token=4\npayload"), Opening::Line(23));
        assert_eq!(Opening::of(b"tcpsink/1 data"), Opening::Incomplete);
        let mut endless = b"tcpsink/1 ".to_vec();
        endless.resize(MAX_LINE, b'x');
        assert_eq!(Opening::of(&endless), Opening::TooLong);
    }
}

#[cfg(test)]
mod properties;
