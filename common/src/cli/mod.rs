//! The frame of every tool: its `main`, the shared arguments, `--columns` and `--generate`, messages and exit statuses.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches, ValueEnum};

use crate::console::{self, Console};
use crate::measure::repeat::{Repeat, Runs};
use crate::output::{self, Header, RecordWriter};
use crate::schema::Schema;
use crate::stop::{Reason, Stop};
use crate::units;

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

/// Runs a tool: parses `A`, calls `run`, prints the one line of an error, and picks the exit status
/// (0 measured, 1 failed, 2 usage; see [`Ending`]).
pub fn main<A>(schema: &Schema, run: impl FnOnce(A) -> anyhow::Result<Ending>) -> ExitCode
where
    A: CommandFactory + FromArgMatches,
{
    let command = with_shared_verbs(A::command());
    let tool = command.get_name().to_owned();
    let ending = match parse::<A>(command, std::env::args_os(), schema) {
        Ok(Some(args)) => run(args),
        Ok(None) => Ok(Ending::Measured),
        Err(error) => Err(error),
    };
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
            console::say(&tool, &message(&error));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

/// An error and its causes as one sentence, without std's errno: what [`main`] says of an error that ends the tool, for
/// errors that do not.
pub fn message(error: &anyhow::Error) -> String {
    without_errno(&format!("{error:#}"))
}

/// Adds what every tool answers without measuring.
fn with_shared_verbs(command: Command) -> Command {
    let generate = Arg::new("generate")
        .long("generate")
        .value_name("WHAT")
        .value_parser(clap::value_parser!(Generate))
        .exclusive(true)
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
    args: impl IntoIterator<Item = OsString>,
    schema: &Schema,
) -> anyhow::Result<Option<A>> {
    let parsed = command.try_get_matches_from_mut(args).and_then(|matches: ArgMatches| {
        let text = if matches.get_flag("columns") {
            Some(columns_text(schema))
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
        Err(error) => Err(Usage(one_line(&error)).into()),
    }
}

/// What a command line without anything could have had.
fn nothing_to_do(command: &Command) -> String {
    let paths = command.get_positionals().filter_map(Arg::get_value_names).flatten().map(ToString::to_string);
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned()).filter(|verb| verb != "help");
    format!(
        "nothing to do: expected one of {} (--help explains them)",
        paths.chain(verbs).collect::<Vec<_>>().join(", ")
    )
}

/// Prints text that is not a measurement. A reader that goes away is no failure.
fn print(text: &[u8]) -> anyhow::Result<()> {
    match io::stdout().write_all(text).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("cannot write to stdout"))
        }
        _ => Ok(()),
    }
}

fn columns_text(schema: &Schema) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for column in schema.columns() {
        writer.serialize(column)?;
    }
    Ok(writer.into_inner()?)
}

/// clap's message without its layout: what is wrong, and its tip.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut line = String::new();
    for part in text.lines().map(str::trim).take_while(|part| !part.starts_with("Usage:")) {
        if let Some(tip) = part.strip_prefix("tip: ") {
            let _ = write!(line, " ({tip})");
        } else if !part.is_empty() && !part.starts_with("For more information") {
            let gap = if line.is_empty() { "" } else { " " };
            let _ = write!(line, "{gap}{}", part.strip_prefix("error: ").unwrap_or(part));
        }
    }
    line
}

/// Takes std's ` (os error 111)` out of a message.
fn without_errno(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    clean.extend(parts.map(|part| part.split_once(')').map_or("", |(_, rest)| rest)));
    clean
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Generate {
    Man,
    Bash,
    Zsh,
    Fish,
}

impl Generate {
    fn text(self, command: &mut Command) -> anyhow::Result<Vec<u8>> {
        let name = command.get_name().to_owned();
        let mut text = Vec::new();
        let shell = match self {
            Self::Man => return man_page(command),
            Self::Bash => clap_complete::Shell::Bash,
            Self::Zsh => clap_complete::Shell::Zsh,
            Self::Fish => clap_complete::Shell::Fish,
        };
        clap_complete::generate(shell, command, name, &mut text);
        Ok(text)
    }
}

/// One page for the tool and all its verbs.
fn man_page(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let mut section = Vec::new();
        let man = clap_mangen::Man::new(verb.clone());
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        let section = String::from_utf8(section)?.replace(".SH ", ".SS ");
        writeln!(page, ".SH \"{} {}\"\n{section}", command.get_name(), verb.get_name())?;
    }
    Ok(page)
}

/// Longest label, bytes. A line must stay well below 4096, which is what a pipe takes in one piece (`PIPE_BUF`, pipe(7)).
pub const MAX_LABEL: usize = 1024;

fn label(text: &str) -> Result<String, String> {
    if text.len() > MAX_LABEL { Err(format!("is longer than {MAX_LABEL} bytes")) } else { Ok(text.to_owned()) }
}

/// Words about the lines, which every verb of every tool understands.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Lines")]
pub struct OutputArgs {
    /// Put TEXT into the label column: which set-up this was
    #[arg(long, value_name = "TEXT", value_parser = label)]
    pub label: Option<String>,
    /// When to print the header
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub header: Header,
    /// Print nothing but errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the closing sentence to stderr even when it is no terminal
    #[arg(long, conflicts_with = "quiet")]
    pub summary: bool,
}

/// Where a tool's words go, and what ends it.
#[derive(Debug)]
pub struct Session {
    /// Set by signals and by the end of stdout's reader.
    pub stop: Stop,
    /// stderr.
    pub console: Arc<Console>,
    /// stdout.
    pub lines: RecordWriter,
}

impl OutputArgs {
    /// Takes over signals, stdout and stderr.
    pub fn open(&self, tool: &'static str, schema: &Schema) -> anyhow::Result<Session> {
        let stop = Stop::on_signals(output::stdout_pipe())?;
        let console = Arc::new(Console::new(tool, self.quiet, self.summary));
        let lines = RecordWriter::to_stdout(schema, self.header, stop.clone(), Arc::clone(&console))?;
        Ok(Session { stop, console, lines })
    }
}

/// `--interval`, for what measures.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub struct IntervalArgs {
    /// Add a line for every interval of this length
    #[arg(long, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
}

/// Words about how long and how often, for what measures by itself.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub struct ScheduleArgs {
    /// Measure for this long [default: 10s]
    #[arg(long, short, value_name = "DUR", value_parser = units::positive_duration, allow_hyphen_values = true)]
    pub time: Option<Duration>,
    /// The lines between.
    #[command(flatten)]
    pub interval: IntervalArgs,
    /// Run this long first, not counted
    #[arg(long, value_name = "DUR", value_parser = units::duration, allow_hyphen_values = true)]
    pub warmup: Option<Duration>,
    /// How often.
    #[command(flatten)]
    pub repeat: RepeatArgs,
}

/// How often, for what measures by itself.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub struct RepeatArgs {
    /// Measure N times, or MIN..MAX times: until the mean rate is known within --within
    #[arg(long, value_name = "N|MIN..MAX", default_value = "1", allow_hyphen_values = true)]
    pub runs: Runs,
    /// With --runs MIN..MAX: half width of the 95 % confidence interval, in percent of the mean
    #[arg(long, value_name = "PCT", value_parser = units::percent, allow_hyphen_values = true)]
    pub within: Option<f64>,
}

/// How long one run is when nobody says.
const DEFAULT_TIME: Duration = Duration::from_secs(10);

impl ScheduleArgs {
    /// The length of a run.
    pub fn run_time(&self) -> Duration {
        self.time.unwrap_or(DEFAULT_TIME)
    }

    /// The time that is not counted.
    pub fn warm_up(&self) -> Duration {
        self.warmup.unwrap_or_default()
    }

    /// Checks what belongs together; `timed` says whether the time, not an amount, ends a run.
    pub fn repeat(&self, timed: bool) -> Result<Repeat, Usage> {
        if let Some(interval) = self.interval.interval.filter(|interval| timed && *interval > self.run_time()) {
            let [interval, time] = [interval, self.run_time()].map(units::duration_text);
            return Err(Usage(format!("--interval {interval} is longer than the measurement (--time {time})")));
        }
        self.repeat.repeat()
    }
}

impl RepeatArgs {
    /// Checks what belongs together.
    pub fn repeat(&self) -> Result<Repeat, Usage> {
        match (self.runs, self.within) {
            (Runs::Until { .. }, None) => Err(Usage("--runs MIN..MAX needs --within PCT".into())),
            (Runs::Fixed(_), Some(_)) => Err(Usage("--within PCT needs --runs MIN..MAX".into())),
            (runs, within) => Ok(Repeat::new(runs, within.unwrap_or_default())),
        }
    }
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

    fn usage(args: &[&str]) -> String {
        let args = ["probe"].iter().chain(args).map(OsString::from);
        parse::<Args>(with_shared_verbs(Args::command()), args, &SCHEMA).unwrap_err().to_string()
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
    fn what_does_not_belong_together_is_refused() {
        let repeat = |args: &[&str], timed| {
            let args = ["probe", "p"].iter().chain(args).map(OsString::from);
            let args = parse::<Args>(with_shared_verbs(Args::command()), args, &SCHEMA).unwrap().unwrap();
            args.schedule.repeat(timed).map(|repeat| repeat.number())
        };
        assert!(repeat(&["--interval", "5s", "--time", "1s"], true).is_err());
        assert!(repeat(&["--interval", "20s"], true).is_err(), "longer than the default time");
        assert!(repeat(&["--interval", "20s"], false).is_ok());
        assert!(repeat(&["--runs", "2..4"], true).is_err());
        assert!(repeat(&["--within", "5"], true).is_err());
        assert_eq!(repeat(&["--runs", "2..4", "--within", "5%"], true).unwrap(), 1);
    }

    #[test]
    fn who_types_nothing_is_told_what_there_is() {
        let command = Command::new("probe").arg(Arg::new("path").value_name("PATH")).subcommand(Command::new("facts"));
        assert_eq!(nothing_to_do(&command), "nothing to do: expected one of PATH, facts (--help explains them)");
    }

    #[test]
    fn error_numbers_are_for_programmers() {
        assert_eq!(without_errno("a: Connection refused (os error 111) (hint)"), "a: Connection refused (hint)");
        assert_eq!(without_errno("plain"), "plain");
    }
}
