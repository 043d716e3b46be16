//! Where a tool's words go, and what ends it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::args::OutputArgs;
use crate::cli::errors::message;
use crate::cli::exit::Ending;
use crate::console::Console;
use crate::output::{self, Appearance, RecordWriter};
use crate::schema::Schema;
use crate::stop::Stop;

/// Signals, stderr and stdout of a tool at work.
#[derive(Debug)]
pub struct Session {
    /// Set by signals and by the end of stdout's reader.
    pub stop: Stop,
    /// stderr.
    pub console: Arc<Console>,
    /// stdout.
    pub lines: RecordWriter,
}

impl Session {
    /// How a run that only a signal ends has ended: all is well unless lines were lost.
    pub fn ending(&self) -> Ending {
        if self.lines.has_lost() { Ending::Failed } else { Ending::Measured }
    }
}

impl OutputArgs {
    /// Takes over signals, stdout and stderr.
    pub fn open(&self, tool: &'static str, schema: &'static Schema) -> anyhow::Result<Session> {
        self.open_with(tool, schema, &self.appearance())
    }

    /// The same, with lines that appear like this.
    pub fn open_with(
        &self,
        tool: &'static str,
        schema: &'static Schema,
        appearance: &Appearance,
    ) -> anyhow::Result<Session> {
        let stop = Stop::on_signals(output::stdout_pipe())?;
        let console = Arc::new(Console::new(tool, self.quiet, self.summary));
        let lines = RecordWriter::to_stdout(schema, appearance, stop.clone(), Arc::clone(&console))?;
        Ok(Session { stop, console, lines })
    }
}

/// Takes one path after the other. One that fails does not keep the others from their turn; alone it is the tool's failure.
pub fn in_turn(
    paths: &[PathBuf],
    session: &Session,
    mut visit: impl FnMut(&Path) -> anyhow::Result<Option<Ending>>,
) -> anyhow::Result<Ending> {
    let mut ending = Ending::Measured;
    for path in paths {
        match visit(path) {
            Ok(Some(early)) => return Ok(early),
            Ok(None) => {}
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                session.console.error(&message(&error));
                ending = Ending::Failed;
            }
        }
        if let Some(early) = Ending::of(&session.stop) {
            return Ok(early);
        }
    }
    Ok(ending)
}
