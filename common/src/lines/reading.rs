//! The files of a reader, one after the other, line by line.

use std::path::PathBuf;

use anyhow::Context;

use super::files::{file_name, open};
use super::objects::Objects;
use super::source::{Beside, Source};
use super::{Line, Lines, Wanted};
use crate::console::Console;
use crate::stop::Stop;

/// What is read, and what ends it.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The files in their order; `-` is stdin.
    pub files: &'a [PathBuf],
    /// The columns that will be asked for.
    pub wanted: &'a Wanted,
    /// Ends the reading; what a pipe's writer says in its last second is still read.
    pub stop: &'a Stop,
    /// Hears what was skipped.
    pub console: &'a Console,
}

impl Reading<'_> {
    /// Shows every line of every file to `visit`, with the file's index, until all are read or `beside` wants no more.
    pub fn each(
        &self,
        beside: &impl Beside,
        mut visit: impl FnMut(usize, &Line<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for (index, path) in self.files.iter().enumerate() {
            let name = file_name(path);
            let mut source = Source::new(open(path)?, self.stop, beside);
            let mut lines = Lines::new(Objects::new(&mut source), self.wanted.clone());
            while let Some(line) = lines.next_line().with_context(|| format!("cannot read {name}"))? {
                visit(index, &line).with_context(|| name.clone())?;
            }
            let skipped = lines.skipped().clone();
            if source.is_unwanted() {
                return Ok(());
            }
            for sentence in skipped.sentences() {
                self.console.notice(&format!("{name}: {sentence}"));
            }
        }
        Ok(())
    }
}
