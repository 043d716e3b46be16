//! One letter and one word mean one thing in all tools: the recorded help texts against each other, and against the
//! tables of CONTRIBUTING.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Long options with two kinds of value: a number of threads is a list where a sweep over it is offered, and a
/// picture's size has two sides.
const TWO_VALUES: [(&str, [&str; 2]); 2] = [("--threads", ["<LIST>", "<N>"]), ("--size", ["<SIZE>", "<WxH>"])];

/// A short option with two long ones: what one call hands over is a message of a stream, or a datagram of a size.
const TWO_WORDS: (&str, [&str; 2]) = ("-l", ["--message", "--size"]);

/// What each short option is short for, and what value each long one has.
#[derive(Default)]
struct Options {
    short: BTreeMap<String, BTreeSet<String>>,
    long: BTreeMap<String, BTreeSet<String>>,
    tools: BTreeMap<String, BTreeSet<String>>,
    /// Long options that stand somewhere without a letter.
    bare: BTreeSet<String>,
}

impl Options {
    fn recorded() -> Self {
        let mut options = Self::default();
        for (file, text) in helps() {
            let tool = file.split('-').next().expect("a name");
            text.lines().filter(|line| is_option(line)).for_each(|line| options.add(tool, line));
        }
        assert!(options.long.len() > 50, "nothing was read");
        options
    }

    fn add(&mut self, tool: &str, line: &str) {
        let words: Vec<_> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let (short, rest) = if words[0].starts_with("--") { (None, &words[..]) } else { (Some(words[0]), &words[1..]) };
        let long = rest[0].to_owned();
        let value = rest.get(1).map_or("", |value| value.trim_end_matches('.')).to_owned();
        match short {
            Some(short) => drop(self.short.entry(short.to_owned()).or_default().insert(long.clone())),
            None => drop(self.bare.insert(long.clone())),
        }
        self.tools.entry(long.clone()).or_default().insert(tool.to_owned());
        self.long.entry(long).or_default().insert(value);
    }
}

fn is_option(line: &str) -> bool {
    line.starts_with("  -") || line.starts_with("      --")
}

/// The help texts that are recorded, by the name of their file.
fn helps() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots");
    let names = crate::disk::names(&folder).into_iter().filter(|file| file.ends_with("-help.txt"));
    names.map(|file| (file.clone(), fs::read_to_string(folder.join(file)).expect("a recorded help"))).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The options that a table of CONTRIBUTING.md lists: the first cell of rows that begin with one.
fn listed() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md");
    let text = fs::read_to_string(path).expect("CONTRIBUTING.md");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `-")?.split_once('`'));
    cells.map(|(option, _)| format!("-{option}").replace("\\|", "|")).collect()
}

#[test]
fn a_letter_is_short_for_one_word_in_all_tools() {
    let options = Options::recorded();
    for (short, words) in &options.short {
        let is_exception = *short == TWO_WORDS.0 && *words == set(&TWO_WORDS.1);
        assert!(words.len() == 1 || is_exception, "{short} is short for {words:?}");
        for word in words.iter().filter(|_| !is_exception) {
            assert!(!options.bare.contains(word), "{word} has {short} in some tools only");
        }
    }
}

#[test]
fn a_word_has_one_kind_of_value_in_all_tools() {
    for (long, values) in &Options::recorded().long {
        let exception = TWO_VALUES.iter().find(|(word, _)| word == long).map(|(_, two)| set(two));
        assert!(values.len() == 1 || Some(values) == exception.as_ref(), "{long} takes {values:?}");
    }
}

#[test]
fn the_tables_list_every_letter_and_every_word_of_several_tools() {
    let options = Options::recorded();
    let letters =
        options.short.iter().flat_map(|(short, words)| words.iter().map(move |word| format!("{short} {word}")));
    let has_letter: BTreeSet<_> = options.short.values().flatten().collect();
    let is_by_itself = |long: &String| !has_letter.contains(long) || options.long[long].len() > 1;
    let several = options.tools.iter().filter(|(long, tools)| tools.len() > 1 && is_by_itself(long));
    let words = several.flat_map(|(long, _)| {
        options.long[long].iter().map(move |value| format!("{long} {value}").trim().replace(['<', '>'], ""))
    });
    let wanted: BTreeSet<String> = letters.chain(words).collect();
    let listed = listed();
    let missing: Vec<_> = wanted.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&wanted).collect();
    assert!(missing.is_empty() && stale.is_empty(), "not in CONTRIBUTING.md: {missing:?}; only there: {stale:?}");
}

#[test]
fn no_group_of_options_is_longer_than_ten() {
    for (file, text) in helps() {
        let mut group = ("", 0);
        for line in text.lines() {
            if line.ends_with(':') && !line.starts_with(' ') {
                group = (line, 0);
            }
            group.1 += usize::from(is_option(line));
            assert!(group.1 <= 10, "{file}: {} has more than ten", group.0);
        }
    }
}

#[test]
fn every_help_begins_with_an_example_of_its_own() {
    for (file, text) in helps() {
        let words = file.trim_end_matches("-help.txt").replace('-', " ");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("Examples:"), "{file}");
        assert!(lines.take_while(|line| !line.is_empty()).any(|line| line.contains(&words)), "{file}");
    }
}
