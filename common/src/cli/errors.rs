//! What people read when something is wrong: one sentence, in lower case, without the layout of others.

use std::fmt::Write;
use std::io;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::cli::habits::Refused;

/// An error and its causes as one sentence, without std's errno: what [`main`](super::main) says of an error that ends the tool, for
/// errors that do not.
pub fn message(error: &anyhow::Error) -> String {
    let is_full = |cause: &(dyn std::error::Error + 'static)| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        matches!(kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    };
    let hint = if error.chain().any(is_full) { " (make room there, or write elsewhere)" } else { "" };
    format!("{}{hint}", without_errno(&format!("{error:#}")))
}

/// What a command line without anything could have had, with the examples that `--help` begins with.
pub(super) fn nothing_to_do(command: &Command) -> String {
    let paths = command.get_positionals().filter_map(Arg::get_value_names).flatten().map(ToString::to_string);
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned()).filter(|verb| verb != "help");
    let words = paths.chain(verbs).collect::<Vec<_>>().join("|");
    let text = command.get_before_long_help().map(ToString::to_string).unwrap_or_default();
    let examples = text.lines().skip(1).map(|line| line.split("  #").next().unwrap_or(line).trim());
    let examples = examples.collect::<Vec<_>>().join(", ");
    format!("usage: {} {words}, as in: {examples} (--help explains them)", command.get_name())
}

/// What clap did not take, of an error that a habit may explain.
pub(super) fn refused(error: &clap::Error) -> Refused<'_> {
    let text = |context| match error.get(context) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand if error.get(ContextKind::SuggestedSubcommand).is_none() => {
            text(ContextKind::InvalidSubcommand).map_or(Refused::Other, Refused::Verb)
        }
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg).map_or(Refused::Other, Refused::Option),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            text(ContextKind::InvalidArg).map_or(Refused::Other, Refused::Value)
        }
        _ => Refused::Other,
    }
}

/// clap's message without its layout: what is wrong, and its tip, unless that is to write `-- -R`, which helps nobody.
pub(super) fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut line = String::new();
    for part in text.lines().map(str::trim).take_while(|part| !part.starts_with("Usage:")) {
        if let Some(tip) = part.strip_prefix("tip: ") {
            if tip.starts_with("to pass") {
                continue;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_types_nothing_is_shown_what_to_type() {
        let command = Command::new("probe").arg(Arg::new("path").value_name("PATH")).subcommand(Command::new("facts"));
        let command = command.before_long_help("Examples:\n  probe /dev/sda  # all of it\n  probe facts /dev/sda");
        let line = "usage: probe PATH|facts, as in: probe /dev/sda, probe facts /dev/sda (--help explains them)";
        assert_eq!(nothing_to_do(&command), line);
    }

    #[test]
    fn who_has_no_room_is_told_what_to_do() {
        let full = anyhow::Error::from(io::Error::from_raw_os_error(28)).context("cannot write a");
        let line = "cannot write a: No space left on device (make room there, or write elsewhere)";
        assert_eq!(message(&full), line);
    }

    #[test]
    fn error_numbers_are_for_programmers() {
        assert_eq!(without_errno("a: Connection refused (os error 111) (hint)"), "a: Connection refused (hint)");
        assert_eq!(without_errno("plain"), "plain");
    }
}
