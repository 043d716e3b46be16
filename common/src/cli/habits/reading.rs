//! A command line read with the habits of other programs in mind.

use std::collections::VecDeque;

use clap::{Arg, Command};

use super::{Habit, Here, Refused};

/// One or two words of a command line, understood.
pub(super) enum Word<'a> {
    /// With its spelling and value.
    Habit(&'a Habit, String, Option<String>),
    /// An option of this tool as it stands there, and its value.
    Own(String, Option<String>),
    Verb(String),
    Bare(String),
    Unknown(String),
    /// Everything from `--` on, where a command is run.
    Rest(Vec<String>),
}

pub(super) struct Reader<'a> {
    pub(super) command: &'a Command,
    pub(super) verb: Option<&'a Command>,
    pub(super) habits: &'a [&'a [Habit]],
    pub(super) refused: Refused<'a>,
    /// The program whose habits these are: its letters come before this tool's.
    pub(super) whose: Option<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn words(&mut self, args: &[String]) -> Vec<Word<'a>> {
        self.verb = None;
        let runs_commands = self.command.get_positionals().any(Arg::is_last_set);
        let mut queue: VecDeque<String> = args.iter().cloned().collect();
        let mut words = Vec::new();
        while let Some(word) = queue.pop_front() {
            if word == "--" {
                if runs_commands {
                    words.push(Word::Rest(queue.drain(..).collect()));
                }
                continue;
            }
            let next = queue.front().filter(|next| !next.starts_with('-') || next.len() == 1).cloned();
            let (word, takes_next, rest) = self.word(&word, next.as_deref());
            if takes_next {
                queue.pop_front();
            }
            if let Some(rest) = rest {
                queue.push_front(rest);
            }
            words.push(word);
        }
        words
    }

    /// What a word is, whether the next is its value, and what of a cluster of letters is left.
    fn word(&mut self, word: &str, next: Option<&str>) -> (Word<'a>, bool, Option<String>) {
        for (name, attached, rest) in readings(word) {
            let value = attached.as_deref().or(next.filter(|_| rest.is_none() && name.starts_with('-')));
            let mine = self.find(&name, attached.as_deref(), value, self.whose);
            let own = self.own(&name).filter(|arg| attached.is_none() || takes_value(arg));
            let own = own.filter(|arg| !self.is_refused(&name, arg));
            let other = || self.find(&name, attached.as_deref(), value, None);
            if let Some(habit) = mine.or_else(|| if own.is_some() { None } else { other() }) {
                let value = value.filter(|_| habit.takes_value()).map(str::to_owned);
                let takes_next = value.is_some() && attached.is_none();
                // As typed: `-alpha`, not the `--alpha` that it is read as.
                let spelled =
                    if word.starts_with(&name) { name } else { word.split('=').next().unwrap_or(word).into() };
                return (Word::Habit(habit, spelled, value), takes_next, rest);
            }
            if let Some(arg) = own {
                let value = value.filter(|_| takes_value(arg)).map(str::to_owned);
                let takes_next = value.is_some() && attached.is_none();
                return (Word::Own(name, value), takes_next, rest);
            }
        }
        if word.starts_with('-') && word.len() > 1 {
            return (Word::Unknown(word.to_owned()), false, None);
        }
        match self.command.find_subcommand(word).filter(|_| self.verb.is_none()) {
            Some(verb) => {
                self.verb = Some(verb);
                (Word::Verb(word.to_owned()), false, None)
            }
            None => (Word::Bare(word.to_owned()), false, None),
        }
    }

    fn find(&self, name: &str, attached: Option<&str>, value: Option<&str>, whose: Option<&str>) -> Option<&'a Habit> {
        let mut rows = self.habits.iter().copied().flatten();
        rows.find(|row| {
            let value = if row.takes_value() { value } else { attached };
            whose.is_none_or(|whose| row.whose == whose)
                && row.is_spelled(name)
                && (self.verb.is_none() || !row.is_verb())
                && row.fits(value)
                && (whose.is_some() || self.whose.is_some() || self.own_is_free(name, row))
        })
    }

    /// A habit with this tool's own letter counts only where clap refused it, or with a value that nothing here has.
    fn own_is_free(&self, name: &str, row: &Habit) -> bool {
        matches!(row.here, Here::OneOf(_)) || self.own(name).is_none_or(|arg| self.is_refused(name, arg))
    }

    pub(super) fn own(&self, name: &str) -> Option<&'a Arg> {
        let verbs =
            self.command.get_subcommands().filter(|verb| self.verb.is_none_or(|own| own.get_name() == verb.get_name()));
        std::iter::once(self.command).chain(verbs).find_map(|command| own(command, name))
    }

    fn is_refused(&self, name: &str, arg: &Arg) -> bool {
        let Refused::Value(refused) = self.refused else { return false };
        // clap says `--time <DUR>` for a value of `-t`, too.
        let refused = refused.split([' ', '=']).next().unwrap_or_default();
        refused == name || arg.get_long().is_some_and(|long| refused.strip_prefix("--") == Some(long))
    }
}

/// An option of a command by its spelling.
pub(super) fn own<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let long = name.strip_prefix("--");
    let short =
        name.strip_prefix('-').filter(|letter| letter.chars().count() == 1).and_then(|name| name.chars().next());
    command.get_arguments().find(|arg| match long {
        Some(long) => arg.get_long() == Some(long),
        None => short.is_some() && arg.get_short() == short,
    })
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// The ways to read a word, best first: its name, the value that is part of it, and what is left of letters in a row.
fn readings(word: &str) -> Vec<(String, Option<String>, Option<String>)> {
    let whole = |word: &str| match word.split_once('=') {
        Some((name, value)) if word.starts_with('-') => (name.to_owned(), Some(value.to_owned()), None),
        Some((name, value)) => (format!("{name}="), Some(value.to_owned()), None),
        None => (word.to_owned(), None, None),
    };
    let mut readings = vec![whole(word)];
    let mut letters = word.chars();
    if let (Some('-'), Some(first)) = (letters.next(), letters.next())
        && first != '-'
        && !letters.as_str().is_empty()
    {
        let (name, rest) = (format!("-{first}"), letters.as_str());
        readings.push(whole(&format!("-{word}")));
        readings.push((name.clone(), Some(rest.to_owned()), None));
        readings.push((name, None, Some(format!("-{rest}"))));
    }
    readings
}
