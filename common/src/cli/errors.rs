//! What people read when something is wrong: one sentence, in lower case, without the layout of others.

use std::fmt::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::cli::habits::Refused;

/// An error and its causes as one sentence, without std's errno: what [`main`](super::main) says of an error that ends the tool, for
/// errors that do not.
pub fn message(error: &anyhow::Error) -> String {
    without_errno(&format!("{error:#}"))
}

/// What a command line without anything could have had.
pub(super) fn nothing_to_do(command: &Command) -> String {
    let paths = command.get_positionals().filter_map(Arg::get_value_names).flatten().map(ToString::to_string);
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned()).filter(|verb| verb != "help");
    format!(
        "nothing to do: expected one of {} (--help explains them)",
        paths.chain(verbs).collect::<Vec<_>>().join(", ")
    )
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
