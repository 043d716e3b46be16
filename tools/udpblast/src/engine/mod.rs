//! The hot loops, and what they share with whoever watches.

pub mod ping;
pub mod receive;
pub mod send;

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::protocol::Word;
use crate::tally::Tally;

/// How datagrams cross the border of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Datagrams that the sender's own queue refused.
    pub sender_drops: AtomicU64,
    /// Requests whose response did not come in time.
    pub lost_pings: AtomicU64,
    /// A receiver's account. The lock is taken once per call, and contended only when a sample is taken.
    pub tally: Mutex<Tally>,
    offload: AtomicU8,
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

/// What came from the other end beside data.
pub trait Inbox: Sync {
    /// Takes a control datagram.
    fn take(&self, word: Word);

    /// The sender said that it sent all.
    fn has_ended(&self) -> bool;
}

/// How long after the sender's last word its stragglers are waited for.
pub const LINGER: Duration = Duration::from_millis(100);

/// How often an end that receives says that it is there.
pub const ALIVE: Duration = Duration::from_secs(1);
