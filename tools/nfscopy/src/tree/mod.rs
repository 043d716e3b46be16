//! `nfscopy tree`: many small files, in phases, in order and at random.

mod name;
mod patch;
mod work;

use std::path::Path;

use common::cli::Ending;
use common::schema::nfscopy::SCHEMA;

use crate::args::{Order, TreeArgs};
use crate::measure::{Phase, Place, Work};
use crate::mounted::Mounted;
use crate::record::Setup;
use crate::run::{Bench, check_directory};
use crate::shown::shown;
use crate::tree::patch::Patch;
use crate::workspace::Workspace;

/// Files of a tree when nobody says, and their size.
const DEFAULT_FILES: u64 = 10_000;
const DEFAULT_SIZE: u64 = 4096;

/// bonnie++'s `-n 16`, and its files are empty.
const BONNIE_FILES: u64 = 16 * 1024;

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

impl Deed {
    /// All of them, in their order, with the words in the test column: in order and at random.
    const ALL: &[(Self, [&'static str; 2])] = &[
        (Self::Create, ["create", "rand_create"]),
        (Self::Stat, ["stat", "rand_stat"]),
        (Self::StatServer, ["stat_server", "rand_stat_server"]),
        (Self::Read, ["read_files", "rand_read_files"]),
        (Self::Rename, ["rename", "rand_rename"]),
        (Self::Delete, ["delete", "rand_delete"]),
    ];

    /// bonnie++'s.
    const BONNIE: &[(Self, [&'static str; 2])] = &[
        (Self::Create, ["bonnie_create", "bonnie_rand_create"]),
        (Self::Stat, ["bonnie_stat", "bonnie_rand_stat"]),
        (Self::Delete, ["bonnie_delete", "bonnie_rand_delete"]),
    ];

    /// Whether it ends when the file system is synced.
    fn changes(self) -> bool {
        matches!(self, Self::Create | Self::Rename | Self::Delete)
    }
}

/// Runs the verb.
pub fn run(args: &TreeArgs) -> anyhow::Result<Ending> {
    let repeat = args.repeat.repeat()?;
    check_directory(&args.directory)?;
    let session = args.output.open("nfscopy", &SCHEMA)?;
    let mounted = Mounted::holding(&args.directory);
    let place = Place { session: &session, mounted: &mounted, interval: args.interval.interval };
    let mut bench = Bench::new(place, args.output.label.as_ref(), shown(&args.directory), repeat);
    let threads = if args.threads.is_empty() { &[1][..] } else { &args.threads };
    let orders = match args.order {
        Order::Seq => &[false][..],
        Order::Rand => &[true],
        Order::Both => &[false, true],
    };
    loop {
        for (threads, is_random) in threads.iter().flat_map(|threads| orders.iter().map(move |order| (threads, order)))
        {
            let tree = Tree {
                files: args.files.unwrap_or(DEFAULT_FILES),
                size: args.size.unwrap_or(DEFAULT_SIZE),
                threads: *threads,
                is_shared: args.shared_dir,
                is_sync: args.sync,
                is_random: *is_random,
            };
            if let Some(ending) = measure(&mut bench, &args.directory, tree, Deed::ALL)? {
                return Ok(ending);
            }
        }
        if !bench.again() {
            return Ok(Ending::Measured);
        }
    }
}

/// What bonnie++ does after its large file.
pub fn like_bonnie(bench: &mut Bench<'_>, directory: &Path, threads: u32) -> anyhow::Result<Option<Ending>> {
    for is_random in [false, true] {
        let tree = Tree { files: BONNIE_FILES, size: 0, threads, is_shared: true, is_sync: false, is_random };
        if let Some(ending) = measure(bench, directory, tree, Deed::BONNIE)? {
            return Ok(Some(ending));
        }
    }
    Ok(None)
}

fn measure(
    bench: &mut Bench<'_>,
    directory: &Path,
    tree: Tree,
    deeds: &[(Deed, [&'static str; 2])],
) -> anyhow::Result<Option<Ending>> {
    bench.within(directory, |bench, workspace| {
        let mut patches = patches(workspace, tree)?;
        for (deed, tests) in deeds {
            let mut cached_pct = None;
            if *deed == Deed::Read && tree.size > 0 {
                cached_pct = patch::evict(&patches, &bench.session().stop)?;
            }
            let setup = setup(tree, *deed, cached_pct);
            let works = works(tree, *deed, &patches)?;
            let phase = Phase { test: tests[usize::from(tree.is_random)], setup, works, time: None };
            if let Some(ending) = bench.measure(phase)? {
                return Ok(Some(ending));
            }
            if *deed == Deed::Rename {
                patches.iter_mut().for_each(Patch::take_new_names);
            }
        }
        Ok(None)
    })
}

fn patches(workspace: &Workspace, tree: Tree) -> anyhow::Result<Vec<Patch>> {
    let seed = rand::random();
    (0..tree.threads).map(|index| Patch::create(workspace, tree, index, seed)).collect()
}

fn setup(tree: Tree, deed: Deed, cached_pct: Option<f64>) -> Setup {
    let moves = tree.size > 0 && matches!(deed, Deed::Create | Deed::Read);
    Setup {
        mechanism: if moves { "buffered" } else { "" },
        sync: match (deed.changes(), tree.is_sync && deed == Deed::Create) {
            (false, _) => "",
            (true, true) => "osync",
            (true, false) => "syncfs",
        },
        threads: tree.threads.into(),
        block: moves.then(|| tree.size.min(work::LARGEST_BLOCK)),
        file_bytes: Some(tree.size),
        cached_pct,
        ..Setup::default()
    }
}

fn works(tree: Tree, deed: Deed, patches: &[Patch]) -> anyhow::Result<Vec<Work<'_>>> {
    patches.iter().map(|patch| work::of(tree, deed, patch)).collect()
}
