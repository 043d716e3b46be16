//! What every tool must do: without a measurement ([`holds`], [`is_as_recorded`]) and with one ([`measures()`]).

mod measures;
#[cfg(test)]
mod options;
mod recorded;

use std::fs::OpenOptions;

use crate::Tool;

pub use measures::{Way, measures};
pub use recorded::is_as_recorded;

/// The shared columns (see the README).
const SHARED: &str = "schema,time,host,label,test,target,run,span,seconds,bytes,ops,errors,bytes_per_s,ops_per_s,\
                      cpu_pct,host_cpu_pct,flags";

/// Checks what can be checked without a measurement. `bad` are arguments that make no sense, each with a word that the
/// message must have.
///
/// # Panics
/// If the tool breaks the contract.
pub fn holds(tool: &Tool, name: &str, bad: &[(&[&str], &str)]) {
    let columns = tool.run(&["--columns"]).success().stdout;
    let mut reader = csv::Reader::from_reader(columns.as_bytes());
    assert_eq!(reader.headers().expect("a header"), &["name", "kind", "unit", "meaning"][..]);
    let rows: Vec<_> = reader.records().map(|row| row.expect("valid CSV")).collect();
    let names: Vec<_> = rows.iter().map(|row| row[0].to_owned()).collect();
    assert!(names.join(",").starts_with(SHARED), "{names:?}");
    assert!(rows.iter().all(|row| !row[3].is_empty()), "every column says what it means");
    let flags = rows.iter().find(|row| row[0] == *"flags").expect("a shared column");
    assert!(flags[3].contains("partial: ") && flags[3].contains("unsettled: "), "{flags:?}");

    let man = tool.run(&["--generate", "man"]).success().stdout;
    assert!(man.contains(".TH") && man.contains(name), "{man}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(tool.run(&["--generate", shell]).success().stdout.contains(name), "{shell}");
    }
    let help = tool.run(&["--help"]).success().stdout;
    let examples: Vec<_> = help.lines().take_while(|line| !line.is_empty()).collect();
    assert!(examples.len() == 4 && examples[0] == "Examples:", "three examples first: {help}");
    assert!(examples[1..].iter().all(|line| line.contains(name)), "{help}");
    assert!(man.contains("EXAMPLES") && help.contains("Usage:"), "{man}");
    for verb in verbs(&help) {
        let mut short = tool.command(&[&verb[..], &["-h"]].concat());
        let shown = short.env("COLUMNS", "80").output().expect("can start").stdout;
        let shown = String::from_utf8(shown).expect("UTF-8");
        assert!(shown.lines().count() <= 24, "-h fits one screen: {shown}");
        assert!(shown.contains("--help") && shown.lines().all(|row| row.len() <= 80), "{shown}");
    }
    assert!(tool.run(&["--version"]).success().stdout.starts_with(name));

    for (args, word) in bad {
        let ended = tool.run(args).failure(2, &[word]);
        assert_eq!(ended.stdout, "", "{args:?}");
        assert!(ended.stderr.starts_with(&format!("{name}: ")), "{args:?}: {}", ended.stderr);
    }

    let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let _ = tool.run_into(&["--columns"], full).failure(1, &["stdout", "No space left"]);
}

/// No verb, and each that the help lists.
fn verbs(help: &str) -> Vec<Vec<&str>> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    [vec![]].into_iter().chain(names.filter(|name| *name != "help").map(|name| vec![name])).collect()
}

/// Checks what a tool says to those who type what another program wants: a line of words, and the whole answer.
///
/// # Panics
/// If it says anything else.
pub fn answers(tool: &Tool, habits: &[(&str, &str)]) {
    for (typed, answer) in habits {
        let ended = tool.run(&typed.split(' ').collect::<Vec<_>>()).failure(2, &[]);
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", format!("{answer}\n").as_str()), "{typed}");
    }
}
