//! The queues of this host that a sender's datagrams pass, and whether its own counts tell what they dropped.

use std::net::UdpSocket;

use common::net::queue::Queues;

/// What is known of them before a test.
#[derive(Debug)]
pub struct LocalQueues {
    queues: Option<Queues>,
    dropped_before: Option<u64>,
}

impl LocalQueues {
    /// The queues on the way to the other end of a connected socket.
    pub fn towards(socket: &UdpSocket) -> Self {
        let ends = socket.local_addr().and_then(|local| Ok((local.ip(), socket.peer_addr()?)));
        let queues = ends.ok().and_then(|(local, peer)| Queues::towards(local, peer));
        Self { dropped_before: queues.as_ref().and_then(Queues::drops), queues }
    }

    /// One of them may take buffers of several datagrams apart and drop a part of them: then each is sent by itself, and each
    /// drop is one that the sender is told of.
    pub fn cut(&self) -> bool {
        self.queues.as_ref().is_none_or(Queues::cuts)
    }

    /// Whether they dropped no more since than the `refused` that the sender was told of: what they drop in silence looks
    /// like a loss of the network.
    pub fn are_accounted_for(&self, refused: u64) -> bool {
        let dropped = self.queues.as_ref().and_then(Queues::drops);
        dropped.zip(self.dropped_before).is_some_and(|(now, before)| now.saturating_sub(before) <= refused)
    }
}
