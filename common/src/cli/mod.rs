//! The frame of every tool: its `main`, the shared arguments, `--columns` and `--generate`, messages and exit statuses.

mod args;
mod brief;
mod errors;
mod exit;
mod generate;
pub mod habits;
mod session;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};

use crate::output;
use crate::schema::{Schema, line};

pub use args::{IntervalArgs, MAX_LABEL, OutputArgs, RepeatArgs, ScheduleArgs};
pub use errors::message;
pub use exit::{Ending, Usage};
pub use session::{Session, in_turn};

use brief::brief;
use errors::{nothing_to_do, one_line, refused};
use generate::Generate;
use habits::Habits;

/// What a tool's frame has to know of it.
#[derive(Debug)]
pub struct Tool {
    /// What `--columns` lists.
    pub schema: &'static Schema,
    /// What is answered to users of other programs.
    pub habits: Habits,
}

/// Runs a tool: parses `A`, calls `run`, prints the one line of an error, and picks the exit status
/// (0 measured, 1 failed, 2 usage; see [`Ending`]).
pub fn main<A>(tool: &Tool, run: impl FnOnce(A) -> anyhow::Result<Ending>) -> ExitCode
where
    A: CommandFactory + FromArgMatches,
{
    let args: Vec<_> = std::env::args_os().collect();
    let command = with_shared_verbs(A::command());
    let name = command.get_name().to_owned();
    let wants_brief_help = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "-h");
    let command = if wants_brief_help { brief(command) } else { command };
    let ending = match parse::<A>(command, &args, tool) {
        Ok(Some(args)) => run(args),
        Ok(None) => Ok(Ending::Measured),
        Err(error) => Err(error),
    };
    exit::status(&name, ending)
}

/// Adds what every tool answers without measuring.
fn with_shared_verbs(command: Command) -> Command {
    let generate = Arg::new("generate")
        .long("generate")
        .value_name("WHAT")
        .value_parser(clap::value_parser!(Generate))
        .exclusive(true)
        .hide_short_help(true)
        .help("Print a man page or shell completions");
    let columns = Arg::new("columns")
        .long("columns")
        .action(ArgAction::SetTrue)
        .exclusive(true)
        .help("Print this tool's columns as CSV: name, kind, unit, meaning");
    command.subcommand_required(false).next_help_heading(None::<&str>).arg(columns).arg(generate)
}

/// Parses, or does what `--columns`, `--generate`, `--help` or `--version` ask for and returns `None`.
fn parse<A: CommandFactory + FromArgMatches>(
    mut command: Command,
    args: &[OsString],
    tool: &Tool,
) -> anyhow::Result<Option<A>> {
    let parsed = command.try_get_matches_from_mut(args).and_then(|matches: ArgMatches| {
        let text = if matches.get_flag("columns") {
            Some(columns_text(tool.schema))
        } else {
            matches.get_one::<Generate>("generate").map(|what| what.text(&mut command))
        };
        match text {
            Some(text) => Ok(Err(text)),
            None => A::from_arg_matches(&matches).map(Ok),
        }
    });
    match parsed {
        Ok(Ok(args)) => Ok(Some(args)),
        Ok(Err(text)) => print(&text?).map(|()| None),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Usage(nothing_to_do(&command)).into())
        }
        Err(error) if !error.use_stderr() => print(error.render().to_string().as_bytes()).map(|()| None),
        Err(error) => {
            let args: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
            let habit = habits::answer(&command, &tool.habits, &args, refused(&error));
            Err(Usage(habit.unwrap_or_else(|| one_line(&error))).into())
        }
    }
}

/// Prints text that is not a measurement. A reader that goes away is no failure.
fn print(text: &[u8]) -> anyhow::Result<()> {
    output::refuse_closed()?;
    match io::stdout().write_all(text).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("cannot write to stdout"))
        }
        _ => Ok(()),
    }
}

fn columns_text(schema: &Schema) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["name", "kind", "unit", "meaning"])?;
    for column in schema.columns() {
        let mut meaning = column.meaning.to_owned();
        if column.name == "flags" {
            line::glossary().for_each(|(word, says)| meaning.extend([" ", word, ": ", says]));
        }
        writer.write_record([column.name, column.kind, column.unit, &meaning])?;
    }
    Ok(writer.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tcpsink::SCHEMA;

    #[derive(Debug, clap::Parser)]
    #[command(name = "probe")]
    struct Args {
        #[command(flatten)]
        schedule: ScheduleArgs,
        /// Needed
        path: String,
    }

    const PROBE: Tool = Tool { schema: &SCHEMA, habits: Habits { rows: &[], verbs: &[] } };

    fn usage(args: &[&str]) -> String {
        let args = ["probe"].iter().chain(args).map(OsString::from).collect::<Vec<_>>();
        parse::<Args>(with_shared_verbs(Args::command()), &args, &PROBE).unwrap_err().to_string()
    }

    #[test]
    fn usage_errors_are_one_line_that_names_the_option() {
        for (args, words) in [
            (&["p", "--time", "0"][..], ["--time", "more than zero"]),
            (&["p", "--time", "-1s"], ["--time", "negative"]),
            (&["p", "--interval", "x"], ["--interval", "duration"]),
            (&["p", "--runs", "5..2"], ["--runs", "MAX"]),
            (&["p", "--tiem", "1"], ["--tiem", "--time"]),
            (&[], ["required", "PATH"]),
        ] {
            let message = usage(args);
            assert!(words.iter().all(|word| message.contains(word)) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn nobody_is_told_to_pass_an_option_as_a_value() {
        let message = usage(&["p", "-R"]);
        assert!(message.contains("-R") && !message.contains("-- "), "{message}");
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let repeat = |args: &[&str], timed| {
            let args = ["probe", "p"].iter().chain(args).map(OsString::from).collect::<Vec<_>>();
            let args = parse::<Args>(with_shared_verbs(Args::command()), &args, &PROBE).unwrap().unwrap();
            args.schedule.repeat(timed).map(|repeat| repeat.number())
        };
        assert!(repeat(&["--interval", "5s", "--time", "1s"], true).is_err());
        assert!(repeat(&["--interval", "20s"], true).is_err(), "longer than the default time");
        assert!(repeat(&["--interval", "20s"], false).is_ok());
        assert!(repeat(&["--runs", "2..4"], true).is_err());
        assert!(repeat(&["--within", "5"], true).is_err());
        assert_eq!(repeat(&["--runs", "2..4", "--within", "5%"], true).unwrap(), 1);
    }
}
