//! stdout, written so that a reader who stopped cannot keep the tool from ending.

use std::fs::File;
use std::io::{self, IoSlice, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::io::{Errno, ReadWriteFlags, pwritev2};

use crate::console::Console;
use crate::stop::{self, Reason, Stop};

/// How long a reader may take nothing once a signal has ended the tool. It has often been sent the same (^C), and reads on.
pub const FAREWELL: Duration = Duration::from_millis(500);

/// What a pipe with room takes at once and in one piece (`PIPE_BUF`, pipe(7)).
pub const PIECE: usize = 4096;

/// What is lost because a signal came while nobody read.
#[derive(Debug, thiserror::Error)]
#[error("whoever reads it takes nothing: what was to be printed is lost")]
pub struct Unread;

/// How a write to stdout may block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blocking {
    /// Not for long: a file.
    Never,
    /// Not at all: a pipe that takes `RWF_NOWAIT`, which leaves it to its other users as it is.
    Refuses,
    /// Unless there is room, and nobody else takes that in the same moment: a terminal, a socket, a FIFO.
    Asks,
}

/// stdout.
#[derive(Debug)]
pub struct Stdout {
    file: File,
    blocking: Blocking,
    stop: Stop,
    console: Arc<Console>,
    is_given_up: bool,
}

impl Stdout {
    /// stdout; signals come to `stop`, and a bar of `console` makes way.
    pub fn open(stop: Stop, console: Arc<Console>) -> anyhow::Result<Self> {
        let file = File::from(io::stdout().as_fd().try_clone_to_owned().context("cannot use stdout")?);
        Ok(Self { blocking: Blocking::of(&file), file, stop, console, is_given_up: false })
    }

    /// Itself, to look at.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes all of it; at most 4096 bytes are in one piece for a pipe's reader. Waits for a reader for as long as no
    /// signal has come, and a moment after it; the error is one of which [`is_unread`] holds then, and in every later call.
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_terminal() {
            // The bar is on the same one: it waits until all of it stands there.
            let console = Arc::clone(&self.console);
            console.aside(|| self.write_pieces(bytes))
        } else {
            self.write_pieces(bytes)
        }
    }

    fn write_pieces(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.is_given_up {
                return Err(io::Error::other(Unread));
            }
            match self.write_some(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.await_room()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// Where a pipe is written, which has no places (writev(2)).
        const HERE: u64 = u64::MAX;
        if self.blocking == Blocking::Refuses {
            match pwritev2(&self.file, &[IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT) {
                // FIFOs, and kernels before 6.4.
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::PERM) => self.blocking = Blocking::Asks,
                written => return Ok(written?),
            }
        }
        let mut piece = bytes;
        if self.blocking == Blocking::Asks {
            self.await_room()?;
            piece = &bytes[..bytes.len().min(PIECE)];
        }
        self.file.write(piece)
    }

    /// Returns when there is room, or nobody who could make some.
    fn await_room(&mut self) -> io::Result<()> {
        loop {
            let is_there = match self.stop.reason() {
                None => self.stop.wait_to_write(&[self.file.as_fd()], None)?.first() == Some(&true),
                Some(reason) => {
                    let is_there = stop::wait_for_room(self.file.as_fd(), Instant::now() + FAREWELL)?;
                    self.is_given_up |= !is_there && matches!(reason, Reason::Signal(_));
                    is_there
                }
            };
            if is_there {
                return Ok(());
            }
            if self.is_given_up {
                return Err(io::Error::other(Unread));
            }
        }
    }
}

/// Whether an error of [`Stdout::write_all`] means that a signal came while nobody read.
pub fn is_unread(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Unread>()).is_some()
}

impl Blocking {
    fn of(file: &File) -> Self {
        match file.metadata().map(|metadata| metadata.file_type()) {
            Ok(kind) if kind.is_fifo() => Self::Refuses,
            Ok(kind) if kind.is_char_device() || kind.is_socket() => Self::Asks,
            _ => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// A pipe that is full, and what writes to it.
    fn full(stop: &Stop, blocking: Blocking) -> (File, Stdout) {
        let (reader, writer) = nix::unistd::pipe().unwrap();
        let mut file = File::from(writer);
        nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
        file.write_all(&[b'x'; PIECE]).unwrap();
        let console = Arc::new(Console::new("probe", true, false));
        (reader.into(), Stdout { file, blocking, stop: stop.clone(), console, is_given_up: false })
    }

    #[test]
    fn a_slow_reader_gets_all_of_it() {
        for blocking in [Blocking::Refuses, Blocking::Asks] {
            let stop = Stop::on_request().unwrap();
            let (mut reader, mut stdout) = full(&stop, blocking);
            let text = vec![b'y'; 3 * PIECE + 7];
            let mut read = Vec::<u8>::new();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(100));
                    // A part that failed does not cost the others their lines.
                    stop.set();
                    std::thread::sleep(2 * FAREWELL);
                    let mut piece = [0; PIECE];
                    while read.len() < 4 * PIECE + 7 {
                        let length = reader.read(&mut piece).unwrap();
                        read.extend(&piece[..length]);
                    }
                });
                stdout.write_all(&text).unwrap();
            });
            assert_eq!(read[PIECE..], text);
        }
    }

    #[test]
    fn a_reader_that_left_is_a_broken_pipe() {
        for blocking in [Blocking::Refuses, Blocking::Asks] {
            let (reader, mut stdout) = full(&Stop::on_request().unwrap(), blocking);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(100));
                    drop(reader);
                });
                let error = stdout.write_all(b"y\n").unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
            });
        }
    }
}
