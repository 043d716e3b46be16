//! The files and stdin, one after the other: what `--tee` passes on, and what ends the reading.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use common::stop::{self, Reason, Stop};

use crate::plan::file_name;

/// After Ctrl-C the tool before us in the pipe prints the line so far: how long to wait for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Who has something to do while no line comes.
pub trait Idle {
    /// When there will be something to do, if lines do not come before.
    fn due(&self) -> Option<Instant>;
    /// It is that time.
    fn wake(&self);
}

/// Passes all bytes on to stdout, whatever they are.
#[derive(Debug, Default)]
pub struct Tee {
    failure: RefCell<Option<io::Error>>,
}

impl Tee {
    /// Whether all went well so far.
    fn write(&self, bytes: &[u8], stop: &Stop) -> bool {
        let written = io::stdout().write_all(bytes).and_then(|()| io::stdout().flush());
        let is_written = written.is_ok();
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => stop.set_reader_gone(),
            Err(error) => *self.failure.borrow_mut() = Some(error),
            Ok(()) => {}
        }
        is_written
    }

    /// Why it could not go on, if that is so.
    pub fn failure(&self) -> Option<io::Error> {
        self.failure.borrow_mut().take()
    }
}

/// A file or pipe that ends when the tool is told to, or when nobody takes what it passes on.
pub struct Source<'a, I> {
    file: File,
    stop: &'a Stop,
    tee: Option<&'a Tee>,
    idle: &'a I,
    deadline: Option<Instant>,
}

impl<'a, I: Idle> Source<'a, I> {
    /// Opens `path`, or stdin for `-`.
    pub fn open(path: &Path, stop: &'a Stop, tee: Option<&'a Tee>, idle: &'a I) -> anyhow::Result<Self> {
        let file = if path == Path::new("-") {
            io::stdin().as_fd().try_clone_to_owned().map(File::from)
        } else {
            File::open(path)
        };
        let file = file.with_context(|| format!("cannot open {}", file_name(path)))?;
        Ok(Self { file, stop, tee, idle, deadline: None })
    }

    fn wait(&mut self) -> io::Result<bool> {
        while !self.stop.is_set() {
            let due = self.idle.due();
            if self.stop.wait(&[self.file.as_fd()], due)?[0] {
                return Ok(true);
            }
            if due.is_some_and(|due| Instant::now() >= due) {
                self.idle.wake();
            }
        }
        if self.stop.reason() == Some(Reason::ReaderGone) {
            return Ok(false);
        }
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + PATIENCE);
        stop::wait_for(self.file.as_fd(), Some(deadline))?;
        Ok(Instant::now() < deadline)
    }
}

impl<I: Idle> Read for Source<'_, I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.wait()? {
            return Ok(0);
        }
        let length = self.file.read(buffer)?;
        if self.tee.is_some_and(|tee| !tee.write(&buffer[..length], self.stop)) {
            return Ok(0);
        }
        Ok(length)
    }
}
