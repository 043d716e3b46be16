//! `-h`: what is needed first, a row each, on one screen. `--help` has the rest.

use clap::{Arg, Command};
use unicode_width::UnicodeWidthStr;

/// Columns that are left for a text beside its option, on a terminal of 80.
const ROOM: usize = 53;
/// The same beside a verb.
const VERB_ROOM: usize = 66;

/// The command whose help is brief: no groups, and of each text the first clauses only.
pub fn brief(command: Command) -> Command {
    let command = command.disable_help_subcommand(true).disable_version_flag(true).mut_args(brief_option);
    command.mut_subcommands(|verb| {
        let about = verb.get_about().map(|about| first_clauses(&about.to_string(), VERB_ROOM)).unwrap_or_default();
        brief(verb).about(about)
    })
}

fn brief_option(option: Arg) -> Arg {
    let defaults: usize = option.get_default_values().iter().map(|value| " [default: ]".len() + value.len()).sum();
    let text = option.get_help().map(|text| first_clauses(&text.to_string(), ROOM.saturating_sub(defaults)));
    let takes_values = option.get_action().takes_values();
    let option = option.help_heading(None::<&str>).help(text.unwrap_or_default());
    if takes_values { option.hide_possible_values(true) } else { option }
}

/// As many whole clauses of `text` as there is room for; where none fits, all of it. An item of a list is none.
fn first_clauses(text: &str, room: usize) -> String {
    let parts = || text.char_indices().map(|(place, _)| &text[..place]).filter(|part| is_whole(part)).chain([text]);
    let longest_before = |ends: &'static [&str]| {
        let ends_there = move |part: &&str| ends.iter().any(|end| text[part.len()..].starts_with(end));
        parts()
            .filter(move |part| part.len() == text.len() || ends_there(part))
            .take_while(|part| part.width() <= room)
            .last()
    };
    let cut = longest_before(&["; ", ": ", " [", " ("]).or_else(|| longest_before(&[", "]));
    cut.unwrap_or(text).to_owned()
}

/// Every bracket in it is closed.
fn is_whole(part: &str) -> bool {
    let count = |wanted: char| part.chars().filter(|c| *c == wanted).count();
    count('(') == count(')') && count('[') == count(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_clauses_as_fit() {
        for (text, room, cut) in [
            ("Bytes per read [default: 1M, at random 4K]", 50, "Bytes per read [default: 1M, at random 4K]"),
            ("Bytes per read [default: 1M, at random 4K]", 40, "Bytes per read"),
            ("Name, also as HOST:PORT; fe80::1%eth0 names the link", 30, "Name, also as HOST:PORT"),
            ("Move exactly this much (each way) instead of for --time", 25, "Move exactly this much"),
            ("a word that is longer", 5, "a word that is longer"),
        ] {
            assert_eq!(first_clauses(text, room), cut);
        }
    }
}
