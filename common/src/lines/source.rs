//! The bytes of one file or pipe, until it ends, the tool is told to end, or nobody wants more.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::stop::{self, Reason, Stop};

/// After Ctrl-C the tool before us in the pipe prints the line so far: how long to wait for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// What goes on beside the reading. `()` is nothing.
pub trait Beside {
    /// When there will be something to do, if nothing is read before.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// It is that time.
    fn wake(&self) {}

    /// These bytes were read: whether to read on.
    fn pass(&self, _bytes: &[u8]) -> bool {
        true
    }
}

impl Beside for () {}

/// A file that ends when nobody wants more of it.
pub struct Source<'a, B> {
    file: File,
    stop: &'a Stop,
    beside: &'a B,
    deadline: Option<Instant>,
    is_unwanted: bool,
}

impl<'a, B: Beside> Source<'a, B> {
    pub fn new(file: File, stop: &'a Stop, beside: &'a B) -> Self {
        Self { file, stop, beside, deadline: None, is_unwanted: false }
    }

    /// Whether it ended because nobody wants more, of this file or another.
    pub fn is_unwanted(&self) -> bool {
        self.is_unwanted
    }

    /// Whether there is something to read, or the end.
    fn wait(&mut self) -> io::Result<bool> {
        while !self.stop.is_set() {
            let due = self.beside.due();
            if self.stop.wait(&[self.file.as_fd()], due)?[0] {
                return Ok(true);
            }
            if due.is_some_and(|due| Instant::now() >= due) {
                self.beside.wake();
            }
        }
        if self.stop.reason() == Some(Reason::ReaderGone) {
            self.is_unwanted = true;
            return Ok(false);
        }
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + PATIENCE);
        stop::wait_for(self.file.as_fd(), Some(deadline))?;
        Ok(Instant::now() < deadline)
    }
}

impl<B: Beside> Read for Source<'_, B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_unwanted || !self.wait()? {
            return Ok(0);
        }
        let length = self.file.read(buffer)?;
        self.is_unwanted = !self.beside.pass(&buffer[..length]);
        Ok(if self.is_unwanted { 0 } else { length })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{Seek, Write};

    use super::*;

    struct Enough(Cell<usize>);

    impl Beside for Enough {
        fn pass(&self, bytes: &[u8]) -> bool {
            self.0.set(self.0.get() + bytes.len());
            self.0.get() < 4
        }
    }

    #[test]
    fn reading_ends_when_nobody_wants_more() {
        let stop = Stop::on_signals(None).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"12345").unwrap();
        file.rewind().unwrap();
        let enough = Enough(Cell::default());
        let mut source = Source::new(file, &stop, &enough);
        let mut buffer = [0; 3];
        assert_eq!((source.read(&mut buffer).unwrap(), source.is_unwanted()), (3, false));
        assert_eq!((source.read(&mut buffer).unwrap(), source.is_unwanted()), (0, true));
        assert_eq!((source.read(&mut buffer).unwrap(), enough.0.get()), (0, 5), "it is not even asked for more");
    }
}
