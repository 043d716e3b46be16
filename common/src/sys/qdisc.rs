//! Queueing disciplines as rtnetlink lists them (tc(8), `linux/rtnetlink.h`, `linux/gen_stats.h`).

use std::io;

use super::netlink::{Dump, Netlink, Question, attribute, text_of, u32_of, u64_of};

/// Length of struct tcmsg.
const FIXED: usize = 20;

/// `TC_H_ROOT`.
const ROOT: u32 = 0xffff_ffff;

/// A queueing discipline at one moment. Counters are absolute, and `None` where the kernel has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qdisc {
    /// Number of its interface.
    pub index: u32,
    /// Its number at the interface; 0 for those that the kernel makes by itself.
    pub handle: u32,
    /// The class that it hangs on.
    pub parent: u32,
    /// `tbf`, `fq_codel`, `noqueue`, ...
    pub kind: String,
    /// Bytes and packets that left it.
    pub sent: [Option<u64>; 2],
    /// Packets and bytes in it.
    pub backlog: [Option<u64>; 2],
    /// Packets that it dropped. One that has others inside counts theirs, too.
    pub dropped: Option<u64>,
    /// Packets that were put back.
    pub requeues: Option<u64>,
    /// Packets that came too early.
    pub overlimits: Option<u64>,
}

impl Qdisc {
    /// A question for all of them, of all interfaces.
    pub fn all() -> Question {
        Question::new(libc::RTM_GETQDISC, &[0; FIXED])
    }

    /// All of them, of all interfaces of the socket's namespace; with what `question`, [`Qdisc::all`], asks.
    pub fn list(route: &mut Netlink, question: &mut Question) -> io::Result<(Vec<Self>, Dump)> {
        let mut found = Vec::new();
        let dump = route.dump(question, &mut found, Self::parse)?;
        Ok((found, dump))
    }

    /// Reads the payload of `RTM_NEWQDISC`: struct tcmsg, then kind and statistics.
    fn parse(payload: &[u8]) -> Option<Self> {
        const BASIC: u16 = 1;
        const QUEUE: u16 = 3;
        const PACKETS_64: u16 = 8;
        let field = |place: usize| payload.get(place..).and_then(u32_of);
        let (index, handle, parent) = (field(4)?, field(8)?, field(12)?);
        let attributes = payload.get(FIXED..)?;
        let kind = attribute(attributes, libc::TCA_KIND).map(text_of).unwrap_or_default();
        let statistics = attribute(attributes, libc::TCA_STATS2).unwrap_or_default();
        let basic = attribute(statistics, BASIC).unwrap_or_default();
        let queue = attribute(statistics, QUEUE).unwrap_or_default();
        let queue_field = |place: usize| queue.get(place * 4..).and_then(u32_of).map(u64::from);
        let packets = attribute(statistics, PACKETS_64).and_then(u64_of);
        let packets = packets.or_else(|| basic.get(8..).and_then(u32_of).map(u64::from));
        Some(Self {
            index,
            handle,
            parent,
            kind,
            sent: [u64_of(basic), packets],
            backlog: [queue_field(0), queue_field(1)],
            dropped: queue_field(2),
            requeues: queue_field(3),
            overlimits: queue_field(4),
        })
    }

    /// Whether it is the outermost of its interface, on the way out.
    pub fn is_root(&self) -> bool {
        self.parent == ROOT
    }

    /// Whether it is the same one at another moment, as far as the kernel tells: one that was deleted and made anew under
    /// the same number looks the same.
    pub fn is(&self, other: &Self) -> bool {
        (self.index, self.handle, self.parent, &self.kind) == (other.index, other.handle, other.parent, &other.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_short_is_no_qdisc_and_lacking_counters_are_unknown() {
        assert_eq!(Qdisc::parse(&[0; FIXED - 1]), None);
        let bare = Qdisc::parse(&[0; FIXED]).unwrap();
        assert_eq!((bare.sent, bare.dropped, bare.kind.as_str()), ([None, None], None, ""));
    }
}
