//! The same command in this tool's words.

use clap::{Arg, Command};

use super::Here::{self, All, Blocks, First, Note, OneOf, Opt, Second, Target, Tool, Verb, Words};
use super::reading::{Word, own};

/// A command in this tool's words, as it grows.
pub(super) struct Answer<'a> {
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
    pub(super) fn new(command: &'a Command, verbs: &'static [&'static str]) -> Self {
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

    pub(super) fn add(&mut self, word: Word) {
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

    pub(super) fn text(mut self) -> String {
        let targets = self.targets.len() + usize::from(self.second.is_some());
        let verb = self.verbs.get(targets.saturating_sub(1)).or(self.verbs.last());
        self.verb = self.verb.or_else(|| verb.map(ToString::to_string));
        let first = self.first.filter(|_| !self.targets.is_empty()).map(|option| (option, self.targets.remove(0)));
        self.count_blocks();
        self.name_the_usual_verb();
        let verb = self.verb.as_deref().and_then(|verb| self.command.find_subcommand(verb));
        let at = verb.unwrap_or(self.command);
        self.leave_out_options(at);
        self.fit_targets(at);
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

    /// Options and verbs that the other tool does not have.
    fn lacks(&self) -> &'static [&'static str] {
        self.tool.map_or(&[], |(_, lacks)| lacks)
    }

    /// Instead of one that the other tool does not have.
    fn name_the_usual_verb(&mut self) {
        let lacks = self.lacks();
        if let Some(verb) = self.verb.as_mut().filter(|verb| lacks.contains(&verb.as_str())) {
            let usual = self.verbs.first().copied().unwrap_or_default();
            self.without.push(std::mem::replace(verb, usual.to_owned()));
        }
    }

    /// Names the options that the verb or the other tool does not have, or not together.
    fn leave_out_options(&mut self, at: &Command) {
        let (lacks, is_ours) = (self.lacks(), self.tool.is_none());
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
    }

    /// As many targets as there can be; who named too few sees what is missing.
    fn fit_targets(&mut self, at: &Command) {
        let wanted: Vec<&Arg> = at.get_positionals().filter(|arg| !arg.is_last_set()).collect();
        if self.tool.is_none()
            && let (Some(second), [only]) = (&mut self.second, wanted.as_slice())
        {
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

fn conflict(command: &Command, one: &Arg, other: &Arg) -> bool {
    let refuses =
        |one, other: &Arg| command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id());
    refuses(one, other) || refuses(other, one)
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_[]".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
