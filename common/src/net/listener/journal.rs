//! What the clients' threads of a listener print, and how it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cli::{Ending, OutputArgs, Session};
use crate::measure::sample;
use crate::output::Appearance;
use crate::schema::Schema;

/// stdout and stderr of a listener, for all clients' threads.
#[derive(Debug)]
pub struct Journal {
    /// stdout, stderr, and what ends the listener.
    pub session: Session,
    /// Node name.
    pub host: String,
    failure: Mutex<Option<anyhow::Error>>,
    was_partial: AtomicBool,
}

impl Journal {
    /// Takes over signals, stdout and stderr; nobody has been served. A table says who the clients were.
    pub fn open(lines: &OutputArgs, tool: &'static str, schema: &'static Schema) -> anyhow::Result<Self> {
        let session = lines.open_with(tool, schema, &Appearance { has_targets: true, ..lines.appearance() })?;
        Ok(Self { session, host: sample::host_name(), failure: Mutex::default(), was_partial: AtomicBool::new(false) })
    }

    /// Prints a line of any client. A listener that cannot print has to end.
    pub fn print(&self, line: &str) {
        if let Err(error) = self.session.lines.write_line(line) {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.session.stop.set();
        }
    }

    /// Says why a client was not served to its end.
    pub fn complain(&self, peer: &str, error: &anyhow::Error) {
        self.note_partial();
        self.session.console.notice(&format!("client {peer}: {error:#}"));
    }

    /// Takes note that a client was not served to its end.
    pub fn note_partial(&self) {
        self.was_partial.store(true, Ordering::Relaxed);
    }

    /// How the listener ends; one that serves a single client fails with it.
    pub fn ending(&self, serves_once: bool) -> anyhow::Result<Ending> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None if serves_once && self.was_partial.load(Ordering::Relaxed) => Ok(Ending::Failed),
            None => Ok(self.session.ending()),
        }
    }
}
