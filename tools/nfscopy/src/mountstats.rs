//! What an NFS mount counts: `/proc/self/mountstats` (fs/nfs/super.c, net/sunrpc/stats.c), read with tolerance.
//!
//! Kernels differ: an operation has 8 fields or, since 5.3, 9; there is an `xprt` line for each connection, with other
//! fields for RDMA and UDP; a counter may be printed as a negative number; and all of them wrap. What is missing is
//! `None`, and a line that nobody knows is passed over.

use std::collections::BTreeMap;

/// Counters of one mount at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// One for each connection.
    pub transports: Vec<Transport>,
    /// Bytes by kind, in the kernel's order (`enum nfs_stat_bytecounters`).
    pub bytes: Option<Bytes>,
    /// By operation, as in `READ`.
    pub operations: BTreeMap<String, Operation>,
}

/// One connection to the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transport {
    /// `tcp`, `udp`, `rdma`.
    pub protocol: String,
    /// How often it was connected; nothing for UDP.
    pub connects: Option<u64>,
    /// Requests sent.
    pub sends: Option<u64>,
    /// Answers received.
    pub receives: Option<u64>,
    /// Answers to nothing that was asked.
    pub bad_xids: Option<u64>,
}

/// Bytes by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bytes {
    pub normal_read: u64,
    pub normal_write: u64,
    pub direct_read: u64,
    pub direct_write: u64,
    pub server_read: u64,
    pub server_write: u64,
}

/// One kind of call (`struct rpc_iostats`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operation {
    pub calls: u64,
    /// How often they were sent: more than `calls` if some were sent again.
    pub transmissions: u64,
    pub timeouts: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Milliseconds of all calls together: waiting for a slot, on the way to the answer, and from beginning to end.
    pub queue_ms: u64,
    pub rtt_ms: u64,
    pub execute_ms: u64,
    /// Calls that ended with an error; since Linux 5.3.
    pub errors: Option<u64>,
}

impl Stats {
    /// The counters of the mount at `point` (as the kernel writes it, with `\040` for a space); `None` if it has none.
    pub fn of(text: &str, point: &str) -> Option<Self> {
        let mut stats = None;
        let mut is_wanted = false;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("device ") {
                is_wanted = counts(rest, point);
                if is_wanted {
                    // Of two at the same place the later one hides the earlier.
                    stats = Some(Self::default());
                }
            } else if is_wanted && let Some(stats) = &mut stats {
                stats.take(line.trim());
            }
        }
        stats
    }

    fn take(&mut self, line: &str) {
        let Some((name, rest)) = line.split_once(':') else { return };
        let mut words = rest.split_whitespace();
        match name {
            "xprt" => self.transports.extend(words.next().map(|protocol| transport(protocol, &numbers(words)))),
            "bytes" => {
                if let [normal_read, normal_write, direct_read, direct_write, server_read, server_write, ..] =
                    numbers(words)[..]
                {
                    self.bytes =
                        Some(Bytes { normal_read, normal_write, direct_read, direct_write, server_read, server_write });
                }
            }
            // The other sections have names in lower case.
            _ if name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_') => {
                if let Some(operation) = operation(&numbers(words)) {
                    self.operations.insert(name.to_owned(), operation);
                }
            }
            _ => {}
        }
    }

    /// What was counted since `earlier`. A counter that went through zero is no matter; a mount that was made anew is
    /// not told from that.
    pub fn since(&self, earlier: &Self) -> Calls {
        let mut calls = Calls::default();
        for (name, to) in &self.operations {
            let from = earlier.operations.get(name).copied().unwrap_or_default();
            let of = |field: fn(&Operation) -> u64| field(to).wrapping_sub(field(&from));
            let count = of(|operation| operation.calls);
            calls.count += count;
            calls.again += of(|operation| operation.transmissions).saturating_sub(count);
            calls.timeouts += of(|operation| operation.timeouts);
            calls.rtt_ms += of(|operation| operation.rtt_ms);
            calls.execute_ms += of(|operation| operation.execute_ms);
            match name.as_str() {
                "READ" => calls.reads = count,
                "WRITE" => calls.writes = count,
                _ => {}
            }
        }
        calls.bytes = self.bytes.zip(earlier.bytes).map(|(to, from)| Bytes {
            normal_read: to.normal_read.wrapping_sub(from.normal_read),
            normal_write: to.normal_write.wrapping_sub(from.normal_write),
            direct_read: to.direct_read.wrapping_sub(from.direct_read),
            direct_write: to.direct_write.wrapping_sub(from.direct_write),
            server_read: to.server_read.wrapping_sub(from.server_read),
            server_write: to.server_write.wrapping_sub(from.server_write),
        });
        calls
    }
}

/// What a mount did in a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    pub count: u64,
    pub reads: u64,
    pub writes: u64,
    /// Sent again.
    pub again: u64,
    pub timeouts: u64,
    pub rtt_ms: u64,
    pub execute_ms: u64,
    pub bytes: Option<Bytes>,
}

/// Whether the line after `device ` opens the section of an NFS mount at `point`.
fn counts(rest: &str, point: &str) -> bool {
    let Some((_, rest)) = rest.split_once(" mounted on ") else { return false };
    let Some((at, rest)) = rest.split_once(" with fstype ") else { return false };
    at == point && rest.contains("statvers=")
}

/// Numbers as far as they go. Some kernels print an unsigned counter as signed.
fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Vec<u64> {
    words.map_while(|word| word.parse().ok().or_else(|| word.parse::<i64>().ok().map(i64::cast_unsigned))).collect()
}

/// The fields after `tcp` and `rdma` are: port, binds, connects, connect time, idle time, sends, receives, bad xids; UDP
/// has no connections (net/sunrpc/xprtsock.c).
fn transport(protocol: &str, fields: &[u64]) -> Transport {
    let (connects, first) = if protocol == "udp" { (None, 2) } else { (fields.get(2).copied(), 5) };
    let field = |index: usize| fields.get(first + index).copied();
    Transport { protocol: protocol.to_owned(), connects, sends: field(0), receives: field(1), bad_xids: field(2) }
}

fn operation(fields: &[u64]) -> Option<Operation> {
    let [calls, transmissions, timeouts, bytes_sent, bytes_received, queue_ms, rtt_ms, execute_ms, ref rest @ ..] =
        *fields
    else {
        return None;
    };
    let errors = rest.first().copied();
    Some(Operation { calls, transmissions, timeouts, bytes_sent, bytes_received, queue_ms, rtt_ms, execute_ms, errors })
}

#[cfg(test)]
mod tests;
