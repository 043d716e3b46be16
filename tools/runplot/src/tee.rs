//! `--tee`: what is read goes on to stdout, whatever it is.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use common::console::Console;
use common::output::Stdout;
use common::stop::Stop;

/// Passes all bytes on to stdout.
#[derive(Debug)]
pub struct Tee {
    stdout: RefCell<Stdout>,
    failure: RefCell<Option<io::Error>>,
}

impl Tee {
    /// On to stdout, until `stop`.
    pub fn open(stop: &Stop, console: &Arc<Console>) -> anyhow::Result<Self> {
        let stdout = Stdout::open(stop.clone(), Arc::clone(console))?;
        Ok(Self { stdout: RefCell::new(stdout), failure: RefCell::default() })
    }

    /// Passes these on: whether all went well so far. A reader that goes away ends the tool.
    pub fn write(&self, bytes: &[u8], stop: &Stop) -> bool {
        let written = self.stdout.borrow_mut().write_all(bytes);
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
