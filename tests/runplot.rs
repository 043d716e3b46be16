//! `runplot` as a shell uses it: pictures are read back as text and as bytes, charts as what a terminal would get.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "runplot/input.rs"]
mod input;
#[path = "runplot/kinds.rs"]
mod kinds;
#[path = "runplot/pictures.rs"]
mod pictures;
#[path = "runplot/screens.rs"]
mod screens;
#[path = "runplot/terminal.rs"]
mod terminal;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use common::schema::line::doubtful_words;
use tempfile::TempDir;
use testkit::screen::Terminal;
use testkit::{Ended, Tool, contract};

fn runplot() -> Tool {
    Tool::built(env!("CARGO_BIN_EXE_runplot"))
}

/// Report D's figures as the tools' lines: three set-ups, four tests, 1, 2 and 4 threads.
const REPORT_D: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/runstat/report-d.csv");

const HEADER: &str = "schema,time,host,label,test,target,run,span,seconds,bytes,ops,errors,bytes_per_s,ops_per_s,cpu_pct,\
                      host_cpu_pct,flags";

/// A total of 10 s.
fn total(label: &str, run: usize, bytes_per_s: &str) -> String {
    format!("probe/1,2026-11-30T12:00:{run:02}.000Z,h,{label},tcp_recv,nas,{run},total,10,,,,{bytes_per_s},,,,")
}

/// Intervals of a second.
fn intervals(count: usize, errors: impl Fn(usize) -> usize) -> Vec<String> {
    (0..count)
        .map(|second| {
            let (minute, second, errors) = (second / 60, second % 60, errors(second));
            format!(
                "probe/1,2026-11-30T12:{minute:02}:{second:02}.000Z,h,a,tcp_recv,nas,1,interval,1,,,{errors},{}e6,,,,",
                100 + second
            )
        })
        .collect()
}

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A log with these lines.
    fn log(&self, lines: &[String]) -> String {
        let path = self.path("log.csv");
        fs::write(&path, format!("{HEADER}\n{}\n", lines.join("\n"))).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// What the picture of `args` holds.
    fn picture(&self, name: &str, args: &[&str]) -> Vec<u8> {
        let path = self.path(name);
        let args: Vec<&str> = args.iter().copied().chain(["-o", path.to_str().unwrap()]).collect();
        let ended = runplot().run(&args).success();
        assert_eq!(ended.stdout, "", "the picture is all there is");
        fs::read(path).unwrap()
    }

    fn svg(&self, args: &[&str]) -> String {
        String::from_utf8(self.picture("out.svg", args)).unwrap()
    }

    fn files(&self) -> usize {
        fs::read_dir(self.0.path()).unwrap().count()
    }
}

/// All texts of an SVG, in order.
fn texts(svg: &str) -> Vec<String> {
    let between = |part: &str| {
        part.split_once(">\n").and_then(|(_, text)| text.split_once("\n</text>")).map(|(text, _)| text.to_owned())
    };
    svg.split("<text").skip(1).filter_map(between).collect()
}

/// Asserts that it is XML as far as it matters, and that no coordinate is missing.
fn assert_sound(svg: &str) {
    assert!(svg.starts_with("<svg width=\"") && svg.trim_end().ends_with("</svg>"), "{svg}");
    for word in ["NaN", "inf", "-2147483648", "2147483647"] {
        assert!(!svg.contains(word), "{word}");
    }
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
}

/// Feeds stdin.
fn piped(args: &[&str], input: &[u8]) -> Ended {
    let mut child =
        runplot().command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    Ended { status: output.status, stdout, stderr, took: Duration::ZERO }
}

#[test]
fn keeps_the_contract_of_all_tools() {
    let bad: &[(&[&str], &str)] = &[
        (&["-", "-o", "x.gif"], ".png"),
        (&["-", "-o", "picture"], ".svg"),
        (&["-", "--size", "7x7"], "--size"),
        (&["-", "-o", "x.svg", "--size", "100x90"], "--size"),
        (&["-", "--size", "wide"], "--size"),
        (&["-", "--kind", "pie"], "--kind"),
        (&["-", "--unit", "furlong"], "--unit"),
        (&["-", "--where", "test"], "--where"),
        (&["-", "--by", ""], "--by"),
        (&["-", "--kind", "time", "--x", "threads"], "--x"),
        (&["-", "--kind", "runs", "--x", "time"], "--x"),
        (&["-", "--log", "--zoom"], "--log"),
        (&["-", "--last", "0"], "--last"),
    ];
    contract::holds(&runplot(), "runplot", bad);
}

#[test]
fn habits_of_other_programs_are_answered() {
    contract::answers(
        &runplot(),
        &[
            ("log.csv -t Speed", "runplot: -t is tcpsink's; here: runplot log.csv --title Speed"),
            ("--metric errors log.csv", "runplot: --metric is runstat's; here: runplot log.csv --y errors"),
        ],
    );
}

#[test]
fn short_help_fits_one_screen() {
    let shown = Terminal::of_width(80).run(&runplot(), &["-h"]);
    assert!(shown.rows.len() < 24, "{}", shown.text());
}

#[test]
fn help_and_columns_are_as_recorded() {
    contract::is_as_recorded(&runplot(), "runplot");
}

#[test]
fn help_names_the_flags_that_make_a_line_doubtful() {
    let help = runplot().run(&["--help"]).success().stdout;
    let words: Vec<&str> = help.split_whitespace().skip_while(|word| *word != "doubtful").collect();
    let count = doubtful_words().count();
    let named = words[5..5 + count].iter().map(|word| word.trim_end_matches([',', ';']));
    assert_eq!(named.collect::<BTreeSet<_>>(), doubtful_words().collect(), "{words:?}");
}

#[test]
fn every_setting_that_differs_makes_series_of_its_own() {
    let scratch = Scratch::new();
    for (setting, values) in [("pacing", ["", "sender"]), ("scheduler", ["none", "bfq"]), ("mtu", ["1500", "9000"])] {
        let lines: Vec<String> = intervals(4, |_| 0)
            .into_iter()
            .zip(values.repeat(2))
            .map(|(line, value)| format!("{line},{value}"))
            .collect();
        let path = scratch.path("settings.csv");
        fs::write(&path, format!("{HEADER},{setting}\n{}\n", lines.join("\n"))).unwrap();
        let legend = texts(&scratch.svg(&[path.to_str().unwrap()]));
        let name = |value: &str| legend.iter().any(|text| text.starts_with(setting) && text.contains(value));
        assert!(name(values[1]), "{setting}: {legend:?}");
    }
}
