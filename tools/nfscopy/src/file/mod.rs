//! `nfscopy file`: large files, one for each thread, in phases.

mod blocks;
mod bytes;
mod familiar;
mod like;
mod plan;
mod set;

use common::cli::Ending;
use common::files::shuffle::share;
use common::schema::nfscopy::SCHEMA;

use crate::args::{FileArgs, Like, PhaseName};
use crate::bench::Bench;
use crate::file::plan::{FilePhase, FilePlan, Sweep};
use crate::file::set::FileSet;
use crate::fresh::Fresh;
use crate::measure::{Phase, Site, Work};
use crate::mounted::Mounted;
use crate::record::Setup;
use crate::shown::shown;
use crate::tree::{self, TreePlan};
use crate::workspace::{self, Workspace};

/// bonnie++'s seekers.
const SEEKERS: u32 = 5;

/// Runs the verb.
pub fn run(args: &FileArgs) -> anyhow::Result<Ending> {
    let plan = match args.like {
        Some(program) => like::plan(program, args)?,
        None => FilePlan::own(args),
    };
    let plan = plan.check()?;
    let repeat = args.repeat.repeat()?;
    workspace::check_directory(&args.directory)?;
    let session = args.output.open("nfscopy", &SCHEMA)?;
    let mounted = Mounted::holding(&args.directory);
    let site = Site { session: &session, mounted: &mounted, interval: args.interval.interval };
    let mut bench = Bench::new(site, args.output.label.as_ref(), shown(&args.directory), repeat);
    let ending = all_runs(&mut bench, args, &plan);
    let closed = close(&bench, args, &plan);
    ending.and_then(|ending| closed.map(|()| ending))
}

/// Ends with the tables of the program, however the measurements ended.
fn close(bench: &Bench<'_>, args: &FileArgs, plan: &FilePlan) -> anyhow::Result<()> {
    let is_shown = !args.output.quiet && !bench.figures().is_empty();
    let Some(program) = plan.like.filter(|_| is_shown) else { return Ok(()) };
    let tables = familiar::tables(program, plan, &shown(&args.directory), bench.figures());
    tables.into_iter().try_for_each(|table| bench.session().lines.close_with(table))
}

/// All phases with every number of threads, as often as is wanted.
fn all_runs(bench: &mut Bench<'_>, args: &FileArgs, plan: &FilePlan) -> anyhow::Result<Ending> {
    loop {
        for sweep in &plan.sweeps {
            let outcome = bench.within(&args.directory, |bench, workspace| large(bench, workspace, plan, sweep))?;
            if let Some(ending) = outcome {
                return Ok(ending);
            }
            if plan.like == Some(Like::Bonnie)
                && let Some(ending) = tree::measure(bench, &args.directory, &TreePlan::like_bonnie(sweep.threads))?
            {
                return Ok(ending);
            }
        }
        if !bench.again() {
            return Ok(Ending::Measured);
        }
    }
}

/// All phases with one number of threads.
fn large(
    bench: &mut Bench<'_>,
    workspace: &Workspace,
    plan: &FilePlan,
    sweep: &Sweep,
) -> anyhow::Result<Option<Ending>> {
    let mut files = FileSet::new(workspace, plan, sweep.threads);
    for phase in &sweep.phases {
        if phase.name == PhaseName::Write {
            files.clear()?;
        } else if phase.name != PhaseName::StdioWrite {
            files.fill(&bench.session().stop)?;
        }
        if let Some(ending) = Ending::of(&bench.session().stop) {
            return Ok(Some(ending));
        }
        if phase.evicts {
            files.evict()?;
        }
        let measured = measured(plan, phase, &files)?;
        if let Some(ending) = bench.measure(measured)? {
            return Ok(Some(ending));
        }
        files.refresh(phase.name == PhaseName::Write && plan.time.is_some())?;
    }
    Ok(None)
}

/// The phase with its workers.
fn measured<'a>(plan: &'a FilePlan, phase: &'a FilePhase, files: &'a FileSet) -> anyhow::Result<Phase<'a>> {
    let reads = !matches!(phase.name, PhaseName::Write | PhaseName::RandWrite | PhaseName::StdioWrite);
    let writes = !matches!(phase.name, PhaseName::Read | PhaseName::RandRead | PhaseName::StdioRead);
    let is_bytewise = matches!(phase.name, PhaseName::StdioWrite | PhaseName::StdioRead);
    let is_random = matches!(phase.name, PhaseName::RandRead | PhaseName::RandWrite | PhaseName::Seek);
    // All seekers work on the first file.
    let (threads, used) = if phase.name == PhaseName::Seek { (SEEKERS, 1) } else { (files.threads(), files.threads()) };
    let setup = Setup {
        mechanism: match (is_bytewise, plan.is_direct) {
            (true, _) => "stdio",
            (false, true) => "direct",
            (false, false) => "buffered",
        },
        sync: match (writes, plan.is_sync) {
            (false, _) => "",
            (true, true) => "osync",
            (true, false) => "fsync",
        },
        threads: threads.into(),
        block: Some(phase.block),
        file_bytes: files.largest(used),
        cached_pct: if reads && !plan.is_direct { files.cached_pct(used)? } else { None },
        expected_ops: phase.ops.filter(|_| is_random && plan.time.is_none()),
        ..Setup::default()
    };
    let seed = rand::random();
    let works =
        (0..threads).map(|index| work(plan, phase, files, threads, index, seed)).collect::<anyhow::Result<_>>()?;
    Ok(Phase { test: phase.test, setup, works, time: plan.time })
}

/// What worker `index` does. All memory is there before the clock starts.
fn work<'a>(
    plan: &'a FilePlan,
    phase: &'a FilePhase,
    files: &'a FileSet,
    threads: u32,
    index: u32,
    seed: u64,
) -> anyhow::Result<Work<'a>> {
    let block = phase.block;
    let file = files.file(if phase.name == PhaseName::Seek { 0 } else { index });
    let (_, ops) = share(phase.ops.unwrap_or(u64::MAX), threads.into(), index.into());
    let target = blocks::Target {
        file,
        block,
        is_sync: plan.is_sync,
        is_direct: plan.is_direct,
        // A program that evicts nothing does not care.
        may_repeat: !phase.evicts,
    };
    let own_seed = seed ^ u64::from(index);
    let blank = || common::files::buffer::blank(usize::try_from(block).unwrap_or(usize::MAX));
    Ok(match phase.name {
        PhaseName::Write => {
            let mut fresh = Fresh::new(block)?;
            Box::new(move |worker| blocks::write(worker, target, &mut fresh, plan.like == Some(Like::Tiobench)))
        }
        PhaseName::Rewrite => {
            let mut buffer = blank()?;
            Box::new(move |worker| blocks::rewrite(worker, target, &mut buffer))
        }
        PhaseName::Read => {
            let mut buffer = blank()?;
            Box::new(move |worker| blocks::read(worker, target, &mut buffer))
        }
        PhaseName::RandRead => {
            let mut buffer = blank()?;
            Box::new(move |worker| blocks::read_at_random(worker, target, &mut buffer, ops, own_seed))
        }
        PhaseName::RandWrite => {
            let mut fresh = Fresh::new(block)?;
            Box::new(move |worker| blocks::write_at_random(worker, target, &mut fresh, ops, own_seed))
        }
        PhaseName::Seek => {
            let mut buffer = blank()?;
            // All seekers share one order, so that none visits another's block.
            let turns = blocks::Turns { first: index.into(), stride: threads.into(), ops, seed };
            Box::new(move |worker| blocks::seek(worker, target, &mut buffer, turns))
        }
        PhaseName::StdioWrite => {
            let mut fresh = Fresh::new(bytes::CHUNK)?;
            Box::new(move |worker| bytes::write(worker, target, &mut fresh))
        }
        PhaseName::StdioRead => Box::new(move |worker| bytes::read(worker, target)),
    })
}
