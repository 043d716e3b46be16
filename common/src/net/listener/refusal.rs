//! Why a client is not served: one wording for all listeners, which clients pass on to people.

use std::fmt;
use std::time::Duration;

use crate::units;

/// Why a client is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Its address is in none of the ranges.
    NotAllowed,
    /// There is one client, and it is another. The options that say so.
    OneOnly(&'static str),
    /// So many are being served, and no more may be.
    Full(usize),
    /// It asked for longer than is allowed.
    TooLong {
        /// What it asked for.
        asked: Duration,
        /// What is allowed.
        most: Duration,
    },
    /// It asked for more bytes than are allowed.
    TooMuch {
        /// What it asked for.
        asked: u64,
        /// What is allowed.
        most: u64,
    },
    /// It asked for more bits per second than are allowed, which are so many.
    TooFast(u64),
    /// It asked for more memory than is left, or than one client may have.
    TooLarge {
        /// What it asked for, bytes.
        asked: u64,
        /// What it may have, bytes.
        most: u64,
    },
    /// The system has nothing left to serve it with.
    Exhausted(String),
    /// What it asked for makes no sense here.
    NotUnderstood(String),
    /// It did something that has no use here.
    Useless(String),
    /// It did not show that it knows the secret.
    NoProof,
    /// It knows another secret.
    WrongProof,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed => f.write_str("this address is not served (--allow)"),
            Self::OneOnly(options) => write!(f, "one client only is served here ({options})"),
            Self::Full(most) => write!(f, "{most} clients are being served already (--max-clients)"),
            Self::TooLong { asked, most } => {
                let [asked, most] = [asked, most].map(|time| units::duration_text(*time));
                write!(f, "{asked} were asked for, {most} are allowed (--max-time)")
            }
            Self::TooMuch { asked, most } => {
                write!(f, "{asked} bytes were asked for, {most} are allowed (--max-bytes)")
            }
            Self::TooFast(most) => write!(f, "at most {most} bit/s are allowed (--max-rate)"),
            Self::TooLarge { asked, most } => {
                write!(f, "{asked} bytes of memory are needed for that, it may have {most} (--max-memory)")
            }
            Self::Exhausted(why) => write!(f, "nothing is left to serve it with: {why}"),
            Self::NotUnderstood(why) => write!(f, "the request is not understood: {why}"),
            Self::Useless(why) => f.write_str(why),
            Self::NoProof => f.write_str(
                "only who knows the secret is served here (--secret-file; --require-secret at the listener)",
            ),
            Self::WrongProof => f.write_str("the client does not know the secret (--secret-file)"),
        }
    }
}
