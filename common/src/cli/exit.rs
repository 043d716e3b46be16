//! How a tool ends, and what its exit status says.

use std::process::ExitCode;

use crate::cli::errors::message;
use crate::console;
use crate::stop::{Reason, Stop};

/// How a tool ended, if not with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Status 0.
    Measured,
    /// Status 1; the reason has been said.
    Failed,
    /// Death by this signal.
    Interrupted(i32),
    /// The status of a command that the tool ran, or why it could not (125, 126, 127 as in env(1)).
    OfCommand(u8),
}

impl Ending {
    /// How a bounded measurement ends after `stop`, if it was set: by the signal, or quietly when nobody reads.
    pub fn of(stop: &Stop) -> Option<Self> {
        match stop.reason()? {
            Reason::Signal(signal) => Some(Self::Interrupted(signal)),
            Reason::ReaderGone => Some(Self::Measured),
            Reason::Requested => None,
        }
    }
}

/// A request that makes no sense: status 2. The text names the option.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The exit status of an end, or death by a signal; an error is said first, in one line.
pub(super) fn status(tool: &str, ending: anyhow::Result<Ending>) -> ExitCode {
    match ending {
        Ok(Ending::Measured) => ExitCode::SUCCESS,
        Ok(Ending::Failed) => ExitCode::FAILURE,
        Ok(Ending::OfCommand(status)) => ExitCode::from(status),
        Ok(Ending::Interrupted(signal)) => {
            // Does not return unless the signal is blocked or ignored.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            ExitCode::FAILURE
        }
        Err(error) => {
            console::say(tool, &message(&error));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}
