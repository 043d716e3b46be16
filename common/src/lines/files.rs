//! The files that a reader is given: their names, `-` among them, and what is read when none is named.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::Usage;

/// What stands for stdin on a command line.
const STDIN: &str = "-";

/// What a file is called in messages and columns.
pub fn file_name(path: &Path) -> String {
    if path == Path::new(STDIN) { "stdin".into() } else { path.display().to_string() }
}

/// The files, or stdin unless a person sits there.
pub fn or_stdin(files: Vec<PathBuf>) -> Result<Vec<PathBuf>, Usage> {
    if !files.is_empty() {
        return Ok(files);
    }
    if io::stdin().is_terminal() {
        return Err(Usage("no FILE, and stdin is a terminal (- reads from it all the same)".into()));
    }
    Ok(vec![STDIN.into()])
}

/// Opens a file for reading.
pub(super) fn open(path: &Path) -> anyhow::Result<File> {
    let file = if path == Path::new(STDIN) {
        io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    file.with_context(|| format!("cannot open {}", file_name(path)))
}
