//! What to do with small files, valid by construction, before any directory is looked at.

use crate::args::{Order, TreeArgs};

/// Files of a tree when nobody says, and their size.
const DEFAULT_FILES: u64 = 10_000;
const DEFAULT_SIZE: u64 = 4096;

/// bonnie++'s `-n 16`, and its files are empty.
const BONNIE_FILES: u64 = 16 * 1024;

/// Trees to go through, one after the other.
#[derive(Debug)]
pub struct TreePlan {
    pub trees: Vec<Tree>,
    /// What is done to each, with the words in the test column: in order and at random.
    pub deeds: &'static [(Deed, [&'static str; 2])],
}

/// A tree of small files.
#[derive(Debug, Clone, Copy)]
pub struct Tree {
    /// Of all threads together.
    pub files: u64,
    /// Bytes of each.
    pub size: u64,
    pub threads: u32,
    /// All threads in one directory.
    pub is_shared: bool,
    /// Every file reaches storage before the next.
    pub is_sync: bool,
    /// Names in no order, visited in no order.
    pub is_random: bool,
}

/// What is done to every file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Create,
    Stat,
    StatServer,
    Read,
    Rename,
    Delete,
}

/// All deeds, in their order.
const ALL: &[(Deed, [&str; 2])] = &[
    (Deed::Create, ["create", "rand_create"]),
    (Deed::Stat, ["stat", "rand_stat"]),
    (Deed::StatServer, ["stat_server", "rand_stat_server"]),
    (Deed::Read, ["read_files", "rand_read_files"]),
    (Deed::Rename, ["rename", "rand_rename"]),
    (Deed::Delete, ["delete", "rand_delete"]),
];

/// bonnie++'s.
const BONNIE: &[(Deed, [&str; 2])] = &[
    (Deed::Create, ["bonnie_create", "bonnie_rand_create"]),
    (Deed::Stat, ["bonnie_stat", "bonnie_rand_stat"]),
    (Deed::Delete, ["bonnie_delete", "bonnie_rand_delete"]),
];

impl Deed {
    /// Whether it ends when the file system is synced.
    pub fn changes(self) -> bool {
        matches!(self, Self::Create | Self::Rename | Self::Delete)
    }
}

impl TreePlan {
    /// What was asked for: every number of threads, in each order.
    pub fn of(args: &TreeArgs) -> Self {
        let threads = if args.threads.is_empty() { &[1][..] } else { &args.threads };
        let orders = match args.order {
            Order::Seq => &[false][..],
            Order::Rand => &[true],
            Order::Both => &[false, true],
        };
        let tree = |threads: u32, is_random: bool| Tree {
            files: args.files.unwrap_or(DEFAULT_FILES),
            size: args.size.unwrap_or(DEFAULT_SIZE),
            threads,
            is_shared: args.shared_dir,
            is_sync: args.sync,
            is_random,
        };
        let trees = threads.iter().flat_map(|threads| orders.iter().map(move |order| tree(*threads, *order)));
        Self { trees: trees.collect(), deeds: ALL }
    }

    /// What bonnie++ does after its large file.
    pub fn like_bonnie(threads: u32) -> Self {
        let tree =
            |is_random| Tree { files: BONNIE_FILES, size: 0, threads, is_shared: true, is_sync: false, is_random };
        Self { trees: [false, true].map(tree).into(), deeds: BONNIE }
    }
}
