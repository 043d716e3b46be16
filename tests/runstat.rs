//! `runstat` as a shell uses it.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "runstat/bottleneck.rs"]
mod bottleneck;
#[path = "runstat/comparison.rs"]
mod comparison;
#[path = "runstat/input.rs"]
mod input;
#[path = "runstat/intervals.rs"]
mod intervals;
#[path = "runstat/log.rs"]
mod log;
#[path = "runstat/output.rs"]
mod output;
#[path = "runstat/rules.rs"]
mod rules;
#[path = "runstat/screens.rs"]
mod screens;

use std::collections::BTreeSet;

use common::schema::line::doubtful_words;
use testkit::screen::Terminal;
use testkit::{Tool, contract};

fn runstat() -> Tool {
    Tool::built(env!("CARGO_BIN_EXE_runstat"))
}

/// A file beside this one.
fn fixture(name: &str) -> String {
    format!("{}/../../tests/fixtures/runstat/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &runstat(),
        "runstat",
        &[
            (&["f", "--threshold", "0"], "--threshold"),
            (&["f", "--threshold", "-1"], "--threshold"),
            (&["f", "--max", "lost_pct"], "--max"),
            (&["f", "--max", "lost_pct>nan"], "--max"),
            (&["f", "--where", "test"], "--where"),
            (&["f", "--fail-on", "worse"], "--fail-on"),
            (&["f", "--fail-on", "magic", "--baseline", "x"], "--fail-on"),
            (&["f", "--along", "threads"], "--baseline"),
            (&["f", "--baseline", "a", "--baseline-file", "b"], "--baseline"),
            (&["f", "--cell", "mean"], "--pivot"),
            (&["f", "--cell", "verdict", "--pivot", "test"], "--cell"),
            (&["f", "--metric", ","], "--metric"),
            (&["f", "--by", "label,"], "--by"),
            (&["f", "--unit", "furlongs"], "--unit"),
            (&["f", "--format", "xml"], "--format"),
            (&["f", "--format", "json", "--pivot", "test"], "--pivot"),
            (&["bottleneck", "f", "--format", "xml"], "--format"),
        ],
    );
}

#[test]
fn habits_of_other_programs_are_answered() {
    contract::answers(
        &runstat(),
        &[
            ("-b x log.csv", "runstat: -b is udpblast's; here: runstat log.csv --baseline x"),
            (
                "-m cpu_pct -f csv log.csv",
                "runstat: -m is diskread's; here: runstat log.csv --metric cpu_pct --format csv",
            ),
            ("-c 95 -w 74 old.csv new.csv", "runstat: -c is ministat's; here: runstat --baseline-file old.csv new.csv"),
            (
                "-alpha 0.01 old.csv new.csv",
                "runstat: -alpha is benchstat's; here: runstat --baseline-file old.csv new.csv",
            ),
            ("-q -w 74 old.txt new.txt", "runstat: -w is ministat's; here: runstat --baseline-file old.txt new.txt -q"),
            ("-s old.txt new.txt", "runstat: -s is ministat's; here: runstat --baseline-file old.txt new.txt"),
            (
                "-sort delta log.csv",
                "runstat: -sort is benchstat's; here: runstat log.csv (groups stand in the order of their first line)",
            ),
            (
                "-ignore host log.csv",
                "runstat: -ignore is benchstat's; here: runstat log.csv (--by names the columns that tell groups apart)",
            ),
            ("-filter test=rx log.csv", "runstat: -filter is benchstat's; here: runstat log.csv --where test=rx"),
        ],
    );
}

#[test]
fn short_help_fits_one_screen() {
    for args in [&["-h"][..], &["bottleneck", "-h"]] {
        let shown = Terminal::of_width(80).run(&runstat(), args);
        assert!(shown.rows.len() < 24, "{args:?}: {}", shown.text());
    }
}

#[test]
fn help_and_columns_are_as_recorded() {
    contract::is_as_recorded(&runstat(), "runstat");
}

#[test]
fn help_names_the_flags_that_make_a_line_doubtful() {
    for verb in [&["--help"][..], &["bottleneck", "--help"]] {
        let help = runstat().run(verb).success().stdout;
        let words: Vec<&str> = help.split_whitespace().skip_while(|word| *word != "doubtful").collect();
        let count = doubtful_words().count();
        let named = words[3..3 + count].iter().map(|word| word.trim_end_matches(','));
        assert_eq!(named.collect::<BTreeSet<_>>(), doubtful_words().collect(), "{words:?}");
    }
}
