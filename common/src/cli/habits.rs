//! What people type because another program wants it so, and how the same is said here.
//!
//! Looked at only after clap has refused a command line, so that a habit never changes what a right one means. An answer
//! is a whole command: what was typed is carried over, and what cannot be is named.

use clap::{Arg, Command};

use Here::{All, Blocks, First, Note, OneOf, Opt, Second, Target, Tool, Verb, Words};

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

/// One or two words of a command line, understood.
enum Word<'a> {
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

struct Reader<'a> {
    command: &'a Command,
    verb: Option<&'a Command>,
    habits: &'a [&'a [Habit]],
    refused: Refused<'a>,
    /// The program whose habits these are: its letters come before this tool's.
    whose: Option<&'static str>,
}

impl<'a> Reader<'a> {
    fn words(&mut self, args: &[String]) -> Vec<Word<'a>> {
        self.verb = None;
        let runs_commands = self.command.get_positionals().any(Arg::is_last_set);
        let mut queue: std::collections::VecDeque<String> = args.iter().cloned().collect();
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
        matches!(row.here, OneOf(_)) || self.own(name).is_none_or(|arg| self.is_refused(name, arg))
    }

    fn own(&self, name: &str) -> Option<&'a Arg> {
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

fn own<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let long = name.strip_prefix("--");
    let short =
        name.strip_prefix('-').filter(|letter| letter.chars().count() == 1).and_then(|name| name.chars().next());
    command.get_arguments().find(|arg| match long {
        Some(long) => arg.get_long() == Some(long),
        None => short.is_some() && arg.get_short() == short,
    })
}

fn conflict(command: &Command, one: &Arg, other: &Arg) -> bool {
    let refuses =
        |one, other: &Arg| command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id());
    refuses(one, other) || refuses(other, one)
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

/// A command in this tool's words, as it grows.
struct Answer<'a> {
    command: &'a Command,
    verbs: &'static [&'static str],
    tool: Option<(&'static str, &'static [&'static str])>,
    verb: Option<String>,
    targets: Vec<String>,
    second: Option<String>,
    first: Option<&'static str>,
    options: Vec<(String, Option<String>)>,
    blocks: Option<(&'static str, String)>,
    without: Vec<String>,
    notes: Vec<&'static str>,
    rest: Vec<String>,
}

impl<'a> Answer<'a> {
    fn new(command: &'a Command, verbs: &'static [&'static str]) -> Self {
        Self {
            command,
            verbs,
            tool: None,
            verb: None,
            targets: Vec::new(),
            second: None,
            first: None,
            options: Vec::new(),
            blocks: None,
            without: Vec::new(),
            notes: Vec::new(),
            rest: Vec::new(),
        }
    }

    fn add(&mut self, word: Word) {
        match word {
            Word::Habit(habit, _, value) => self.take(&habit.here, value.as_deref()),
            Word::Own(name, value) => self.options.push((name, value)),
            Word::Verb(verb) => self.verb = self.verb.take().or(Some(verb)),
            Word::Bare(word) => self.targets.push(word),
            Word::Unknown(word) => self.without.push(word),
            Word::Rest(rest) => self.rest = rest,
        }
    }

    fn take(&mut self, here: &Here, value: Option<&str>) {
        let value = value.map(str::to_owned);
        match here {
            Verb(verb) => self.verb = Some((*verb).to_owned()),
            Tool(tool, lacks) => self.tool = Some((tool, lacks)),
            Target => self.targets.extend(value),
            Second => self.second = value,
            First(option) => self.first = Some(option),
            Opt(option) => self.option((*option).to_owned(), value),
            Words("") => {}
            Words(words) => self.option((*words).to_owned(), None),
            Blocks(option) => self.blocks = value.map(|number| (*option, number)),
            Note(note) if self.notes.contains(note) => {}
            Note(note) => self.notes.push(note),
            OneOf(list) => {
                let said = list.iter().find(|(word, _)| value.as_ref().is_some_and(|v| word.eq_ignore_ascii_case(v)));
                if let Some((_, here)) = said {
                    self.take(here, value.as_deref());
                }
            }
            All(several) => several.iter().for_each(|here| self.take(here, value.as_deref())),
        }
    }

    fn option(&mut self, name: String, value: Option<String>) {
        if !self.options.iter().any(|(known, _)| *known == name) {
            self.options.push((name, value));
        }
    }

    fn text(mut self) -> String {
        let targets = self.targets.len() + usize::from(self.second.is_some());
        let verb = self.verbs.get(targets.saturating_sub(1)).or(self.verbs.last());
        self.verb = self.verb.or_else(|| verb.map(ToString::to_string));
        let first = self.first.filter(|_| !self.targets.is_empty()).map(|option| (option, self.targets.remove(0)));
        self.count_blocks();
        self.leave_out();
        let mut words = vec![self.tool.map_or(self.command.get_name(), |(tool, _)| tool).to_owned()];
        words.extend(self.verb.take());
        words.extend(first.into_iter().flat_map(|(option, target)| [option.to_owned(), quoted(&target)]));
        words.extend(self.targets.iter().map(|target| quoted(target)));
        for (name, value) in &self.options {
            words.push(name.clone());
            words.extend(value.as_deref().map(quoted));
        }
        if !self.rest.is_empty() {
            words.push("--".into());
            words.extend(self.rest.iter().map(|word| quoted(word)));
        }
        let mut notes: Vec<_> = self.notes.iter().map(ToString::to_string).collect();
        if !self.without.is_empty() {
            notes.insert(0, format!("without {}", self.without.join(", ")));
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        format!("{}{notes}", words.join(" "))
    }

    /// Names what the verb or the other tool does not have, and adds what it needs.
    fn leave_out(&mut self) {
        let lacks = self.tool.map_or(&[][..], |(_, lacks)| lacks);
        if let Some(verb) = self.verb.as_mut().filter(|verb| lacks.contains(&verb.as_str())) {
            let usual = self.verbs.first().copied().unwrap_or_default();
            self.without.push(std::mem::replace(verb, usual.to_owned()));
        }
        let verb = self.verb.as_deref().and_then(|verb| self.command.find_subcommand(verb));
        let at = verb.unwrap_or(self.command);
        let is_ours = self.tool.is_none();
        let without = &mut self.without;
        let mut there: Vec<&Arg> = Vec::new();
        self.options.retain(|(name, _)| {
            let first = name.split(' ').next().unwrap_or_default();
            let is_elsewhere = |verb: &Command| own(verb, first).is_some();
            let is_there = match own(at, first).filter(|_| is_ours) {
                Some(arg) => !there.iter().any(|other| conflict(at, arg, other)),
                None if is_ours => !self.command.get_subcommands().any(is_elsewhere),
                None => !lacks.contains(&first),
            };
            there.extend(own(at, first).filter(|_| is_there));
            if !is_there {
                without.push(first.to_owned());
            }
            is_there
        });
        let wanted: Vec<&Arg> = at.get_positionals().filter(|arg| !arg.is_last_set()).collect();
        if is_ours && let (Some(second), [only]) = (&mut self.second, wanted.as_slice()) {
            // A directory is measured, a file was named.
            if only.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == "DIR"))
                && let Some((folder, _)) = second.rsplit_once('/')
            {
                *second = if folder.is_empty() { "/".into() } else { folder.to_owned() };
            }
        }
        if self.second.is_some() && wanted.len() > 1 && self.targets.is_empty() {
            self.targets.push("SRC".into());
        }
        self.targets.extend(self.second.take());
        let takes_many = wanted.iter().any(|arg| arg.get_num_args().is_some_and(|number| number.max_values() > 1));
        if !takes_many && self.targets.len() > wanted.len() {
            self.without.extend(self.targets.drain(wanted.len()..));
        }
        for arg in wanted.iter().skip(self.targets.len()).filter(|arg| arg.is_required_set()) {
            let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
            self.targets.extend(name);
        }
    }

    /// `bs=1M count=100` are 100M.
    fn count_blocks(&mut self) {
        let Some((option, number)) = self.blocks.take() else { return };
        let block = self.options.iter().find(|(name, _)| name == "--block").and_then(|(_, value)| value.as_deref());
        let block = block.unwrap_or("512");
        let digits = block.find(|c: char| !c.is_ascii_digit()).unwrap_or(block.len());
        let (size, unit) = block.split_at(digits);
        let bytes =
            size.parse::<u64>().ok().zip(number.parse().ok()).and_then(|(size, number)| size.checked_mul(number));
        match bytes {
            Some(bytes) => self.option(option.to_owned(), Some(format!("{bytes}{unit}"))),
            None => self.without.push(format!("count={number}")),
        }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_[]".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, value_parser};

    use super::*;

    const ROWS: &[Habit] = &[
        habit("iperf3", "-c --client HOST", Target),
        habit("iperf3", "-s --server", Verb("listen")),
        habit("iperf3", "-R", Verb("recv")),
        habit("iperf3", "-u", Tool("udpblast", &["--streams", "-P"])),
        habit("iperf3", "-f FORMAT", OneOf(&[("m", Note("base units"))])),
        habit("netperf", "-t TEST", OneOf(&[("TCP_RR", Verb("recv"))])),
        habit("netperf", "-l SECONDS", Opt("--time")),
        habit("netperf", "-H HOST", Target),
        habit("dd", "bs=SIZE ibs=SIZE", Opt("--block")),
        habit("dd", "count=N", Blocks("--bytes")),
        habit("benchstat", "--alpha LEVEL", First("--base")),
    ];

    fn probe() -> Command {
        let option = |name: &'static str, letter: char| Arg::new(name).long(name).short(letter).action(ArgAction::Set);
        let transfer = |name: &'static str| {
            let host = Arg::new("host").value_name("HOST").required(true);
            let time = option("time", 't').value_parser(value_parser!(u32));
            Command::new(name).args([host, time, option("streams", 'P'), option("length", 'l')])
        };
        Command::new("probe").subcommand(Command::new("listen")).subcommands([transfer("send"), transfer("recv")])
    }

    /// What a command line that clap refuses is answered.
    fn answered(line: &str) -> Option<String> {
        let mut command = probe();
        let args: Vec<_> = line.split(' ').map(str::to_owned).collect();
        let error = command.try_get_matches_from_mut(std::iter::once("probe").chain(line.split(' '))).unwrap_err();
        answer(&command, &Habits { rows: &[ROWS], verbs: &["send"] }, &args, crate::cli::errors::refused(&error))
    }

    #[test]
    fn what_was_typed_is_carried_over() {
        for (typed, here) in [
            ("-c nas", "-c is iperf3's; here: probe send nas"),
            ("--client=nas", "--client is iperf3's; here: probe send nas"),
            ("-cnas -P4 -t 5", "-c is iperf3's; here: probe send nas -P 4 -t 5"),
            ("send nas -R --streams=4", "-R is iperf3's; here: probe recv nas --streams 4"),
            ("-Rt5 nas", "-R is iperf3's; here: probe recv nas -t 5"),
            ("-R", "-R is iperf3's; here: probe recv HOST"),
            ("nas -P 4", "nas is no verb; here: probe send nas -P 4"),
            ("-P 4 nas", "-P stands behind a verb; here: probe send nas -P 4"),
            ("-c it's", r"-c is iperf3's; here: probe send 'it'\''s'"),
            ("bs=1M count=100", "bs= is dd's; here: probe send HOST --block 1M --bytes 100M"),
            ("-alpha 0.1 old new", "-alpha is benchstat's; here: probe send --base old new"),
        ] {
            assert_eq!(answered(typed).as_deref(), Some(here), "{typed}");
        }
    }

    #[test]
    fn what_cannot_be_carried_over_is_named() {
        for (typed, here) in [
            ("-s -t 5", "-s is iperf3's; here: probe listen (without -t)"),
            ("-c nas -u -P 4", "-c is iperf3's; here: udpblast send nas (without -P)"),
            ("-c nas --odd", "-c is iperf3's; here: probe send nas (without --odd)"),
            ("-c nas -f m", "-c is iperf3's; here: probe send nas (base units)"),
        ] {
            assert_eq!(answered(typed).as_deref(), Some(here), "{typed}");
        }
    }

    #[test]
    fn a_letter_means_what_it_means_to_the_program_that_was_meant() {
        assert_eq!(answered("-H nas -l 30").as_deref(), Some("-H is netperf's; here: probe send nas --time 30"));
        assert_eq!(answered("-c nas -l 30").as_deref(), Some("-c is iperf3's; here: probe send nas -l 30"));
        assert_eq!(answered("-t TCP_RR -H nas").as_deref(), Some("-t is netperf's; here: probe recv nas"));
    }

    #[test]
    fn what_is_no_habit_is_left_to_clap() {
        for typed in ["send nas --odd", "send nas -t x", "send", "sned nas"] {
            assert_eq!(answered(typed), None, "{typed}");
        }
    }
}
