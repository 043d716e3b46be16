//! `--tee`: what is read goes on to stdout, whatever it is.

use std::cell::RefCell;
use std::io::{self, Write};

use common::stop::Stop;

/// Passes all bytes on to stdout.
#[derive(Debug, Default)]
pub struct Tee {
    failure: RefCell<Option<io::Error>>,
}

impl Tee {
    /// Passes these on: whether all went well so far. A reader that goes away ends the tool.
    pub fn write(&self, bytes: &[u8], stop: &Stop) -> bool {
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
