//! The hot loops, and what they share with whoever watches.

pub mod ping;
pub mod receive;
pub mod send;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::protocol::Sent;
use crate::tally::Tally;

/// How datagrams cross the border of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Offload {
    /// One per call.
    None,
    /// Several per call.
    Mmsg,
    /// Cut from one buffer by kernel or card (`UDP_SEGMENT`, udp(7)).
    Gso,
    /// Joined into one buffer (`UDP_GRO`, udp(7)).
    Gro,
}

impl Offload {
    /// The word in the `offload` column.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Mmsg => "mmsg",
            Self::Gso => "gso",
            Self::Gro => "gro",
        }
    }
}

/// What a worker shares beside what it counts; a receiver counts distinct datagrams.
#[derive(Debug, Default)]
pub struct Own {
    /// Datagrams that this host refused to send.
    pub sender_drops: AtomicU64,
    /// A receiver's account. The lock is taken once per call, and contended only when a sample is taken.
    pub tally: Mutex<Tally>,
    /// A pinging client's account.
    pub pings: Pings,
    /// Nothing is waited for any more.
    pub is_cut: AtomicBool,
    offload: AtomicU8,
}

/// What became of requests. Only the worker adds.
#[derive(Debug, Default)]
pub struct Pings {
    /// Sent.
    pub sent: AtomicU64,
    /// Without a response in time.
    pub lost: AtomicU64,
    /// Responses that came when nobody waited for them any more.
    pub late: AtomicU64,
    /// Responses that had come before.
    pub duplicated: AtomicU64,
    /// Requests whose response may still come.
    pub open: AtomicU64,
}

/// A worker's lane.
pub type Lane = common::measure::lane::Lane<Own>;

impl Own {
    fn saw(&self, offload: Offload) {
        self.offload.fetch_max(offload as u8, Ordering::Relaxed);
    }

    /// The best way that was used.
    pub fn offload(&self) -> Offload {
        match self.offload.load(Ordering::Relaxed) {
            3 => Offload::Gro,
            2 => Offload::Gso,
            1 => Offload::Mmsg,
            _ => Offload::None,
        }
    }

    /// Works on the account.
    pub fn with_tally<T>(&self, work: impl FnOnce(&mut Tally) -> T) -> T {
        work(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What comes from the other end beside data, and how it is told that this end is there.
pub trait Inbox: Sync {
    /// Takes a control datagram; false if it is a stranger's.
    fn take(&self, datagram: &[u8]) -> bool;

    /// The sender said that it sent all, or somebody left.
    fn has_ended(&self) -> bool;

    /// What the sender said of a stream.
    fn sent(&self, stream: usize) -> Option<Sent>;

    /// Says that this end is there, if it is time to.
    fn beat(&self);
}

/// How long after the sender's last word its stragglers are waited for.
pub const LINGER: Duration = Duration::from_millis(100);
