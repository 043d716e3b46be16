//! The files of a sweep, one for each thread, and what of them lies in memory.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use anyhow::Context;
use common::files::page_cache;
use common::files::shuffle::share;
use common::stop::Stop;

use crate::file::plan::FilePlan;
use crate::fresh::Fresh;
use crate::shown::shown;
use crate::workspace::Workspace;

/// Bytes per call while files are made ready, not measured.
const FILL_BLOCK: u64 = 1 << 20;

/// One file.
#[derive(Debug, Clone)]
pub struct FileOf {
    pub path: PathBuf,
    /// What it should hold.
    pub size: u64,
    /// What it holds.
    pub there: u64,
}

/// The files of all threads.
#[derive(Debug)]
pub struct FileSet(Vec<FileOf>);

impl FileSet {
    /// Names and sizes; nothing exists.
    pub fn new(workspace: &Workspace, plan: &FilePlan, threads: u32) -> Self {
        let file = |index: u32| {
            let (_, size) = share(plan.size, threads.into(), index.into());
            FileOf { path: workspace.join(&format!("file-{index}")), size, there: 0 }
        };
        Self((0..threads).map(file).collect())
    }

    /// Files, and threads.
    pub fn threads(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// The file of a thread.
    pub fn file(&self, index: u32) -> &FileOf {
        &self.0[index as usize]
    }

    /// The size of the largest of the first `used`.
    pub fn largest(&self, used: u32) -> Option<u64> {
        self.0.iter().take(used as usize).map(|file| file.size).max()
    }

    /// Removes them, so that writing begins anew.
    pub fn clear(&mut self) -> anyhow::Result<()> {
        for file in &mut self.0 {
            match fs::remove_file(&file.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove {}", shown(&file.path)));
                }
                _ => file.there = 0,
            }
        }
        Ok(())
    }

    /// Writes what is missing, for phases that need whole files and did not write them.
    pub fn fill(&mut self, stop: &Stop) -> anyhow::Result<()> {
        let missing: Vec<_> = self.0.iter_mut().filter(|file| file.there < file.size).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut fresh = Fresh::new(FILL_BLOCK)?;
        for file in missing {
            fill(file, &mut fresh, stop).with_context(|| format!("{}: cannot write", shown(&file.path)))?;
        }
        Ok(())
    }

    /// Looks at what a phase has left. What ended before its time leaves files to work on that are smaller.
    pub fn refresh(&mut self, ended_early: bool) -> anyhow::Result<()> {
        for file in &mut self.0 {
            let metadata = file.path.metadata().with_context(|| format!("cannot look at {}", shown(&file.path)))?;
            file.there = metadata.len();
            if ended_early && file.there > 0 {
                file.size = file.size.min(file.there);
            }
        }
        Ok(())
    }

    /// Drops them from the page cache.
    pub fn evict(&self) -> anyhow::Result<()> {
        self.0.iter().filter(|file| file.there > 0).try_for_each(|file| {
            page_cache::evict(&open(file)?);
            Ok(())
        })
    }

    /// Share of the first `used` in the page cache, in percent; `None` if the kernel does not say.
    pub fn cached_pct(&self, used: u32) -> anyhow::Result<Option<f64>> {
        let (mut cached, mut whole) = (0, 0);
        for file in self.0.iter().take(used as usize).filter(|file| file.there > 0) {
            let Some(resident) = page_cache::resident_bytes(&open(file)?, 0, file.there) else { return Ok(None) };
            cached += resident;
            whole += file.there;
        }
        Ok((whole > 0).then(|| 100.0 * cached as f64 / whole as f64))
    }
}

fn open(file: &FileOf) -> anyhow::Result<File> {
    File::open(&file.path).with_context(|| format!("cannot open {}", shown(&file.path)))
}

fn fill(file: &mut FileOf, fresh: &mut Fresh, stop: &Stop) -> anyhow::Result<()> {
    let opened = File::options().write(true).create(true).truncate(false).open(&file.path)?;
    let mut at = file.there;
    while at < file.size && !stop.is_set() {
        let length = usize::try_from((file.size - at).min(FILL_BLOCK))?;
        opened.write_all_at(&fresh.next()[..length], at)?;
        at += length as u64;
    }
    opened.sync_all()?;
    file.there = at;
    Ok(())
}
