//! What people type because another program wants it so, and how the same is said here.
//!
//! Looked at only after clap has refused a command line, so that a habit never changes what a right one means. An
//! answer is a whole command: what was typed is carried over, and what cannot be is named.

mod answer;
mod reading;
#[cfg(test)]
mod tests;

use clap::Command;

use Here::{OneOf, Target};
use answer::{Answer, quoted};
use reading::{Reader, Word, own};

/// What a tool knows of other programs' users.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Rows; of two with one spelling the first that fits counts.
    pub rows: &'static [&'static [Habit]],
    /// The verb that is meant when none is typed, by the number of targets less one.
    pub verbs: &'static [&'static str],
}

/// One habit.
#[derive(Debug)]
pub struct Habit {
    /// The program that taught it.
    whose: &'static str,
    /// Its spellings, and a word for the value if it has one: `-O --omit DUR`, `-R`, `if=FILE`, or bare words.
    typed: &'static str,
    /// What it is here.
    here: Here,
}

/// A row of a tool's table.
pub const fn habit(whose: &'static str, typed: &'static str, here: Here) -> Habit {
    Habit { whose, typed, here }
}

/// What a habit is here.
#[derive(Debug)]
pub enum Here {
    /// Another verb.
    Verb(&'static str),
    /// Another tool, and which options and verbs of this one it does not have.
    Tool(&'static str, &'static [&'static str]),
    /// The value is what is measured.
    Target,
    /// The value is the other path of two; its directory, where a directory is measured.
    Second,
    /// The first target is the value of this option.
    First(&'static str),
    /// This option with the same value.
    Opt(&'static str),
    /// These words; none, if it happens anyway.
    Words(&'static str),
    /// This option, with the value as a number of blocks.
    Blocks(&'static str),
    /// Nothing to type: what to know instead.
    Note(&'static str),
    /// What the value says, in whatever case; other values are no habit.
    OneOf(&'static [(&'static str, Here)]),
    /// Several.
    All(&'static [Here]),
}

impl Habit {
    fn takes_value(&self) -> bool {
        self.typed.contains('=') || self.typed.starts_with('-') && !self.last_word().starts_with('-')
    }

    /// Whether it stands where a verb does.
    fn is_verb(&self) -> bool {
        !self.typed.starts_with('-') && !self.typed.contains('=')
    }

    fn last_word(&self) -> &str {
        self.typed.rsplit(' ').next().unwrap_or_default()
    }

    fn is_spelled(&self, name: &str) -> bool {
        let value_word = |word: &str| self.typed.starts_with('-') && !word.starts_with('-');
        let mut spellings = self.typed.split(' ').filter(|word| !value_word(word));
        spellings.any(|word| word.split_inclusive('=').next() == Some(name))
    }

    fn fits(&self, value: Option<&str>) -> bool {
        match value {
            None => !self.takes_value() || matches!(self.here, Target),
            Some(value) => self.takes_value() && self.here.fits(value),
        }
    }
}

impl Here {
    fn fits(&self, value: &str) -> bool {
        match self {
            OneOf(list) => list.iter().any(|(word, _)| word.eq_ignore_ascii_case(value)),
            Target => !value.bytes().all(|byte| byte.is_ascii_digit()),
            _ => true,
        }
    }
}

/// What clap did not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused<'a> {
    /// An option that is not there, or not before the verb.
    Option(&'a str),
    /// The value of an option that is there.
    Value(&'a str),
    /// A word where a verb stands, and that resembles none.
    Verb(&'a str),
    /// Something else.
    Other,
}

/// A habit's answer in one line, if the command line has one.
pub(super) fn answer(command: &Command, habits: &Habits, args: &[String], refused: Refused) -> Option<String> {
    let mut reader = Reader { command, verb: None, habits: habits.rows, refused, whose: None };
    let taught = reader.words(args).into_iter().find_map(|word| match word {
        Word::Habit(habit, spelled, _) => Some((habit.whose, spelled)),
        _ => None,
    });
    let why = match (&taught, refused) {
        (Some((whose, spelled)), _) => format!("{spelled} is {whose}'s"),
        (None, Refused::Verb(word)) if !habits.verbs.is_empty() => format!("{} is no verb", quoted(word)),
        (None, Refused::Option(option)) if !habits.verbs.is_empty() && reader.verb.is_none() => {
            own(command, option).is_none().then(|| reader.own(option)).flatten()?;
            format!("{option} stands behind a verb")
        }
        _ => return None,
    };
    reader.whose = taught.map(|(whose, _)| whose);
    let mut answer = Answer::new(command, habits.verbs);
    reader.words(args).into_iter().for_each(|word| answer.add(word));
    Some(format!("{why}; here: {}", answer.text()))
}
