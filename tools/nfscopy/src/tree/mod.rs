//! `nfscopy tree`: many small files, in phases, in order and at random.

mod name;
mod patch;
mod plan;
mod work;

use std::path::Path;

use common::cli::Ending;
use common::schema::nfscopy::SCHEMA;

use crate::args::TreeArgs;
use crate::bench::Bench;
use crate::measure::{Phase, Site, Work};
use crate::mounted::Mounted;
use crate::record::Setup;
use crate::shown::shown;
use crate::tree::patch::Patch;
use crate::tree::plan::{Deed, Tree};
use crate::workspace;

pub use plan::TreePlan;

/// Runs the verb.
pub fn run(args: &TreeArgs) -> anyhow::Result<Ending> {
    let plan = TreePlan::of(args);
    let repeat = args.repeat.repeat()?;
    workspace::check_directory(&args.directory)?;
    let session = args.output.open("nfscopy", &SCHEMA)?;
    let mounted = Mounted::holding(&args.directory);
    let site = Site { session: &session, mounted: &mounted, interval: args.interval.interval };
    let mut bench = Bench::new(site, args.output.label.as_ref(), shown(&args.directory), repeat);
    loop {
        if let Some(ending) = measure(&mut bench, &args.directory, &plan)? {
            return Ok(ending);
        }
        if !bench.again() {
            return Ok(Ending::Measured);
        }
    }
}

/// One run of all trees of the plan.
pub fn measure(bench: &mut Bench<'_>, directory: &Path, plan: &TreePlan) -> anyhow::Result<Option<Ending>> {
    for tree in &plan.trees {
        if let Some(ending) = go_through(bench, directory, *tree, plan.deeds)? {
            return Ok(Some(ending));
        }
    }
    Ok(None)
}

fn go_through(
    bench: &mut Bench<'_>,
    directory: &Path,
    tree: Tree,
    deeds: &[(Deed, [&'static str; 2])],
) -> anyhow::Result<Option<Ending>> {
    bench.within(directory, |bench, workspace| {
        let seed = rand::random();
        let mut patches = (0..tree.threads)
            .map(|index| Patch::create(workspace, tree, index, seed))
            .collect::<anyhow::Result<Vec<_>>>()?;
        for (deed, tests) in deeds {
            let mut cached_pct = None;
            if *deed == Deed::Read && tree.size > 0 {
                cached_pct = patch::evict(&patches, &bench.session().stop)?;
            }
            let setup = setup(tree, *deed, cached_pct);
            let works: Vec<Work<'_>> =
                patches.iter().map(|patch| work::of(tree, *deed, patch)).collect::<anyhow::Result<_>>()?;
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
