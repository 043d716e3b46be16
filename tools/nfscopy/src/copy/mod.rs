//! `nfscopy copy`: a file or a tree, complete under its name or not there at all.

mod content;
mod place;
mod plan;
mod scan;
mod work;

use std::path::Path;
use std::sync::OnceLock;

use anyhow::bail;
use common::cli::{Ending, Session};
use common::schema::nfscopy::SCHEMA;

use crate::args::CopyArgs;
use crate::bench::Bench;
use crate::copy::place::{Destination, Naming};
use crate::copy::plan::CopyPlan;
use crate::copy::scan::Source;
use crate::copy::work::Job;
use crate::measure::{Phase, Site};
use crate::mechanism::Mechanism;
use crate::mounted::Mounted;
use crate::record::Setup;
use crate::shown::shown;

/// Runs the verb.
pub fn run(args: &CopyArgs) -> anyhow::Result<Ending> {
    let plan = CopyPlan::of(args)?;
    let repeat = args.repeat.repeat()?;
    let session = args.output.open("nfscopy", &SCHEMA)?;
    let destination = &plan.destination;
    let mounted = mounted(&plan.source, destination);
    let site = Site { session: &session, mounted: &mounted, interval: args.interval.interval };
    let target = shown(destination.path().unwrap_or(&plan.source));
    let mut bench = Bench::new(site, args.output.label.as_ref(), target, repeat);
    let mut may_replace = plan.may_replace;
    loop {
        let source = Source::scan(&plan.source, &session.stop)?;
        if let Some(ending) = Ending::of(&session.stop) {
            return Ok(ending);
        }
        let copier = Copier { plan: &plan, session: &session, source: &source };
        let outcome = match destination {
            Destination::Nowhere => copier.measure(&mut bench, None)?,
            Destination::At { directory, path } => {
                let naming = Naming::new(directory, path, source.mode(), may_replace);
                let outcome = bench.within(directory, |bench, workspace| {
                    copier.measure(bench, Some((&workspace.join("copy"), &naming)))
                });
                let is_gone = naming.remove_replaced(&session.console);
                let ending = outcome?;
                if ending == Some(Ending::Measured) && !naming.is_done() {
                    bail!("{} is not written: the reader of stdout went away before all was copied", shown(path));
                }
                if is_gone { ending } else { ending.or(Some(Ending::Failed)) }
            }
        };
        if let Some(ending) = outcome {
            return Ok(ending);
        }
        // The next run replaces what this one made.
        may_replace = true;
        if !bench.again() {
            return Ok(Ending::Measured);
        }
    }
}

/// The mount whose facts the line carries: of two the one with a server, the target's if both have.
fn mounted(source: &Path, destination: &Destination) -> Mounted {
    let from = Mounted::holding(source);
    match destination {
        Destination::Nowhere => from,
        Destination::At { directory, .. } => {
            let to = Mounted::holding(directory);
            if from.is_nfs() && !to.is_nfs() { from } else { to }
        }
    }
}

/// One run.
struct Copier<'a> {
    plan: &'a CopyPlan,
    session: &'a Session,
    source: &'a Source,
}

impl Copier<'_> {
    /// Copies to a place that gets a name, or discards; verifies before if that was asked for.
    fn measure(&self, bench: &mut Bench<'_>, place: Option<(&Path, &Naming)>) -> anyhow::Result<Option<Ending>> {
        let source = self.source;
        let (copy, naming) = place.unzip();
        let hashes: Vec<OnceLock<u128>> = source.entries.iter().map(|_| OnceLock::new()).collect();
        let job = Job {
            source,
            copy,
            block: self.plan.block,
            may_offload: self.plan.may_offload,
            hashes: self.plan.verifies.then_some(&hashes[..]),
        };
        let setup = Setup {
            sync: match copy {
                None => "",
                Some(_) if source.is_tree => "syncfs",
                Some(_) => "fsync",
            },
            threads: 1,
            block: Some(self.plan.block),
            file_bytes: source.largest(),
            cached_pct: source.cached_pct,
            is_sparse: source.is_sparse,
            wanted: Some(if self.plan.may_offload { Mechanism::CopyFileRange } else { Mechanism::ReadWrite }),
            expected: Some(source.bytes()),
            ..Setup::default()
        };
        let works = vec![job.copying(naming.filter(|_| !self.plan.verifies))?];
        if let Some(ending) = bench.measure(Phase { test: "copy", setup, works, time: None })? {
            return Ok(Some(ending));
        }
        match place {
            Some(place) if self.plan.verifies => self.verify(bench, &job, place),
            _ => Ok(None),
        }
    }

    fn verify(
        &self,
        bench: &mut Bench<'_>,
        job: &Job<'_>,
        (copy, naming): (&Path, &Naming),
    ) -> anyhow::Result<Option<Ending>> {
        job.hash_what_nobody_read(&self.session.stop)?;
        let copied = Source::scan(copy, &self.session.stop)?;
        if let Some(ending) = Ending::of(&self.session.stop) {
            return Ok(Some(ending));
        }
        let setup = Setup {
            mechanism: "read_write",
            threads: 1,
            block: Some(self.plan.block),
            file_bytes: copied.largest(),
            cached_pct: copied.cached_pct,
            ..Setup::default()
        };
        let works = vec![job.verifying(copy, Some(naming))?];
        bench.measure(Phase { test: "verify", setup, works, time: None })
    }
}
