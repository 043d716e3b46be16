//! The files and stdin, one after the other, line by line.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use common::cli::Session;
use common::lines::{Line, Lines, Wanted};
use common::stop::{self, Reason, Stop};

use crate::plan::file_name;

/// After Ctrl-C the tool before us in the pipe prints the line so far: how long to wait for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows every line of every file to `visit`, with the file's index; says on stderr what was skipped.
pub fn lines(
    files: &[PathBuf],
    wanted: &Wanted,
    session: &Session,
    mut visit: impl FnMut(usize, &Line<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for (index, path) in files.iter().enumerate() {
        let name = file_name(path);
        let source = Source { file: open(path)?, stop: session.stop.clone(), deadline: None };
        let mut lines = Lines::new(source, wanted.clone());
        while let Some(line) = lines.next_line().with_context(|| format!("cannot read {name}"))? {
            visit(index, &line).with_context(|| name.clone())?;
        }
        for sentence in lines.skipped().sentences() {
            session.console.notice(&format!("{name}: {sentence}"));
        }
    }
    Ok(())
}

fn open(path: &Path) -> anyhow::Result<File> {
    let file = if path == Path::new("-") {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    file.with_context(|| format!("cannot open {}", file_name(path)))
}

/// A file that ends when the tool is told to.
struct Source {
    file: File,
    stop: Stop,
    deadline: Option<Instant>,
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.stop.is_set() {
            if self.stop.wait(&[self.file.as_fd()], None)?[0] {
                return self.file.read(buffer);
            }
        }
        if self.stop.reason() == Some(Reason::ReaderGone) {
            return Ok(0);
        }
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + PATIENCE);
        stop::wait_for(self.file.as_fd(), Some(deadline))?;
        if Instant::now() < deadline { self.file.read(buffer) } else { Ok(0) }
    }
}
