//! What the workers of a flow do: the table of what differs between the verbs.

use std::time::Duration;

use crate::engine::connect::Knock;
use crate::engine::file::{CHUNK, Input, Output};
use crate::engine::ping::Sizes;
use crate::engine::receive::Intake;
use crate::engine::send::Sending;
use crate::engine::{Own, Stages};

/// What the workers of a flow do.
#[derive(Debug)]
pub enum Role {
    /// Random bytes, until the planned time or the quota.
    Send(Sending),
    /// A file, to its end or so many bytes.
    SendFile(Input, Option<u64>),
    /// To the end of the streams.
    Receive(Intake),
    /// To the end of the stream, into a file.
    Store(Output),
    /// Requests, until the planned time, one every so often or as fast as they are answered.
    Ping(Sizes, Option<Duration>),
    /// Responses.
    Pong(Sizes),
    /// Connections, until the planned time.
    Connect(Knock),
}

impl Role {
    /// This end decides when the flow ends.
    pub fn leads(&self) -> bool {
        matches!(self, Self::Send(_) | Self::SendFile(..) | Self::Ping(..) | Self::Connect(_))
    }

    /// This end sends the payload.
    pub fn sends(&self) -> bool {
        matches!(self, Self::Send(_) | Self::SendFile(..))
    }

    /// Many small messages, one at a time.
    pub fn is_ping(&self) -> bool {
        matches!(self, Self::Ping(..) | Self::Pong(_))
    }

    /// Each operation is timed.
    pub fn measures_latency(&self) -> bool {
        matches!(self, Self::Ping(..) | Self::Connect(_))
    }

    /// The word in the test column.
    pub fn test(&self) -> &'static str {
        match self {
            Self::Send(_) | Self::SendFile(..) => "tcp_send",
            Self::Receive(_) | Self::Store(_) => "tcp_recv",
            Self::Ping(..) => "tcp_ping",
            Self::Pong(_) => "tcp_pong",
            Self::Connect(_) => "tcp_connect",
        }
    }

    /// The word in the test column of the other end's line, which has one for each of these.
    pub fn counterpart(&self) -> Option<&'static str> {
        match self {
            Self::Send(_) | Self::SendFile(..) => Some("tcp_recv"),
            Self::Receive(_) | Self::Store(_) => Some("tcp_send"),
            Self::Ping(..) => Some("tcp_pong"),
            Self::Pong(_) => Some("tcp_ping"),
            Self::Connect(_) => None,
        }
    }

    /// The word in the method column.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Send(sending) => sending.method.name(),
            Self::Receive(intake) => intake.name(),
            Self::SendFile(..) | Self::Store(_) => "file",
            Self::Ping(..) | Self::Pong(_) => "copy",
            Self::Connect(_) => "connect",
        }
    }

    /// Most bytes that one call moves, or those of a request.
    pub fn message_bytes(&self) -> u64 {
        match self {
            Self::Send(sending) => sending.message,
            Self::Receive(intake) => intake.message_bytes(),
            Self::SendFile(..) | Self::Store(_) => CHUNK as u64,
            Self::Ping(sizes, _) | Self::Pong(sizes) => sizes.request,
            Self::Connect(_) => 1,
        }
    }

    /// Bytes of a response.
    pub fn response_bytes(&self) -> Option<u64> {
        match self {
            Self::Ping(sizes, _) | Self::Pong(sizes) => Some(sizes.response),
            _ => None,
        }
    }

    /// Requests of a stream that are under way at a time.
    pub fn depth(&self) -> Option<u64> {
        match self {
            Self::Ping(sizes, _) | Self::Pong(sizes) => Some(sizes.depth),
            _ => None,
        }
    }

    /// A rate is kept.
    pub fn is_paced(&self) -> bool {
        matches!(self, Self::Send(sending) if sending.rate.is_some())
    }

    /// What the lane of one worker has of its own.
    pub fn own(&self) -> Own {
        let times_files = matches!(self, Self::SendFile(..) | Self::Store(_));
        Own { stages: times_files.then(Stages::default), ..Own::default() }
    }
}
