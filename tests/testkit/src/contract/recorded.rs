//! Help texts and columns against those in `tests/snapshots/`, which `make snapshots` records.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Tool;

/// Checks `--columns` and every help text. A verb without a recorded help fails, and so does a recorded help without
/// its verb.
///
/// # Panics
/// If something differs.
pub fn is_as_recorded(tool: &Tool, name: &str) {
    let help = tool.run(&["--help"]).success().stdout;
    let verbs = verbs(&help);
    assert_eq!(verbs, recorded_verbs(name), "verbs, and those with a recorded help; {REMEDY}");
    let helps = verbs.iter().map(|verb| (vec![verb.as_str(), "--help"], format!("{name}-{verb}-help.txt")));
    let all = [(vec!["--columns"], format!("{name}-columns.csv")), (vec!["--help"], format!("{name}-help.txt"))];
    for (args, file) in all.into_iter().chain(helps) {
        let recorded = fs::read_to_string(folder().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(tool.run(&args).success().stdout, recorded, "{file}; {REMEDY}");
    }
}

const REMEDY: &str = "`make snapshots` records them anew";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots")
}

/// The verbs that a help text lists, sorted.
fn verbs(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verb =
        |line: &str| line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty()).map(str::to_owned);
    let mut verbs: Vec<_> = list.filter_map(verb).filter(|verb| verb != "help").collect();
    verbs.sort();
    verbs
}

/// The verbs whose help is recorded, sorted.
fn recorded_verbs(name: &str) -> Vec<String> {
    let verb = |file: &str| Some(file.strip_prefix(name)?.strip_prefix('-')?.strip_suffix("-help.txt")?.to_owned());
    crate::disk::names(&folder()).iter().filter_map(|file| verb(file)).collect()
}
