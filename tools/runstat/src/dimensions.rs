//! Settings that differ inside a group without being part of its name: figures of different things under one heading.

use common::lines::{Line, Place, Wanted};

/// Columns that say what was done, not what came of it.
const SETTINGS: &[&str] = &[
    "label",
    "test",
    "target",
    "host",
    "streams",
    "stream",
    "direction",
    "method",
    "pattern",
    "engine",
    "mechanism",
    "sync",
    "threads",
    "depth",
    "block_bytes",
    "file_bytes",
    "message_bytes",
    "response_bytes",
    "datagram_bytes",
    "rate_bits_per_s",
    "offload",
    "congestion",
    "vers",
    "proto",
    "rsize_bytes",
    "wsize_bytes",
    "nconnect",
    "driver",
    "mtu",
    "speed_mbit",
    "duplex",
    "counter",
];

/// The settings that are watched.
#[derive(Debug)]
pub struct Watch {
    columns: Vec<(&'static str, Place)>,
    has_varied: Vec<bool>,
}

/// The settings of a group's first runs.
#[derive(Debug, Default)]
pub struct Seen(Vec<Option<Box<[u8]>>>);

impl Watch {
    /// Watches all settings but those in `by`.
    pub fn new(by: &[String], wanted: &mut Wanted) -> Self {
        let hidden = SETTINGS.iter().filter(|name| !by.iter().any(|column| column == *name));
        let columns: Vec<_> = hidden.map(|&name| (name, wanted.column(name))).collect();
        Self { has_varied: vec![false; columns.len()], columns }
    }

    /// Compares a line with the group's first.
    pub fn look(&mut self, line: &Line<'_>, seen: &mut Seen) {
        seen.0.resize(self.columns.len(), None);
        for (((_, place), has_varied), first) in self.columns.iter().zip(&mut self.has_varied).zip(&mut seen.0) {
            let cell = line.cell(*place);
            if *has_varied || cell.is_empty() {
                continue;
            }
            match first {
                Some(first) => *has_varied = **first != *cell,
                None => *first = Some(cell.into()),
            }
        }
    }

    /// The settings that differed inside a group.
    pub fn varied(&self) -> Vec<&'static str> {
        let pairs = self.columns.iter().zip(&self.has_varied);
        pairs.filter(|(_, has_varied)| **has_varied).map(|((name, _), _)| *name).collect()
    }
}
