//! What every measurement must do, whatever it measures; one call for each way of measuring.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::screen::{Shown, Terminal};
use crate::{Ended, Record, Running, Tool};

/// A check that is left out, by name, and the reason.
pub type Exception<'a> = (&'a str, &'a str);

/// One way of measuring, as in `tcpsink send`.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// What every run of it begins with, as in `send 127.0.0.1 --port 5201`. It must be a way without warnings.
    pub args: &'a [&'a str],
    /// What makes a run of about half a second.
    pub brief: &'a [&'a str],
    /// What makes a run that takes a minute or longer, of one test only.
    pub long: &'a [&'a str],
    /// An interval that a brief run has several of.
    pub interval: &'a str,
    /// Whether it has `--warmup`, and `--time` with it.
    pub warms_up: bool,
    /// Whether it has `--runs` and `--within`.
    pub repeats: bool,
    /// Whether its runs disturb each other.
    pub alone: bool,
    /// Checks that are left out.
    pub except: &'a [Exception<'a>],
}

impl<'a> Way<'a> {
    /// One that takes all words of `--time`, `--warmup`, `--interval` and `--runs`.
    pub fn timed(args: &'a [&'a str]) -> Self {
        Self {
            args,
            brief: &["--time", "500ms"],
            long: &["--time", "2m"],
            interval: "100ms",
            warms_up: true,
            repeats: true,
            alone: false,
            except: &[],
        }
    }

    fn brief(&self, more: &[&'a str]) -> Vec<&'a str> {
        [self.args, self.brief, more].concat()
    }

    fn long(&self, more: &[&'a str]) -> Vec<&'a str> {
        [self.args, self.long, more].concat()
    }
}

type Check = fn(&Tool, &Way);

const CHECKS: [(&str, Check); 14] = [
    ("full disk", a_full_disk_is_a_failure),
    ("closed stdout", a_closed_stdout_is_a_failure),
    ("reader gone", a_reader_that_is_gone_ends_it_quietly),
    ("reader stopped", a_reader_that_stopped_does_not_hold_it),
    ("summary", a_summary_is_one_sentence),
    ("mean", several_runs_have_a_mean),
    ("warm-up", a_warm_up_is_not_counted),
    ("unsettled", what_is_not_settled_is_flagged),
    ("contiguous", intervals_follow_each_other),
    ("amounts", amounts_add_up),
    ("seconds", seconds_add_up),
    ("signals", a_signal_prints_the_line_so_far),
    ("terminal", a_terminal_gets_a_table_that_fits),
    ("objects", objects_say_what_lines_say),
];

/// Checks all that any measurement must do, side by side: most of it is waiting.
///
/// # Panics
/// If the tool breaks the contract, or if an exception is none of the checks.
pub fn measures(tool: &Tool, way: &Way) {
    for (name, reason) in way.except {
        assert!(CHECKS.iter().any(|(check, _)| check == name), "no check is called {name} ({reason})");
    }
    let turn = Mutex::new(());
    std::thread::scope(|scope| {
        let due = CHECKS.iter().filter(|(name, _)| !way.except.iter().any(|(left_out, _)| left_out == name));
        let checks: Vec<_> = due
            .map(|(name, check)| {
                let thread = std::thread::Builder::new().name(format!("{name} of {:?}", way.args));
                let turn = way.alone.then_some(&turn);
                let check = move || {
                    let _turn = turn.map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
                    check(tool, way);
                };
                (name, thread.spawn_scoped(scope, check).expect("a thread"))
            })
            .collect();
        let failed: Vec<_> = checks.into_iter().filter_map(|(name, check)| check.join().err().map(|_| *name)).collect();
        assert!(failed.is_empty(), "{:?} fails: {}", way.args, failed.join(", "));
    });
}

fn a_full_disk_is_a_failure(tool: &Tool, way: &Way) {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let _ = tool.run_into(&way.brief(&[]), full).failure(1, &["stdout", "No space left"]);
}

fn a_closed_stdout_is_a_failure(tool: &Tool, way: &Way) {
    let closed = tool.within(&["sh", "-c", "exec \"$0\" \"$@\" >&-"]);
    let _ = closed.run(&way.brief(&[])).failure(1, &["stdout"]);
}

fn a_reader_that_is_gone_ends_it_quietly(tool: &Tool, way: &Way) {
    for interval in [&[][..], &["--interval", way.interval]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = tool.run_into(&way.long(interval), writer).success();
        assert_eq!(ended.stderr, "", "{ended:?}");
    }
}

/// On a busy machine a program may take its time to begin: before it heeds a signal, one just ends it (`SigCgt` in proc(5)).
fn until_it_heeds_signals(running: &Running) {
    crate::eventually("a handler of SIGINT", Duration::from_secs(20), || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
    });
}

fn a_reader_that_stopped_does_not_hold_it(tool: &Tool, way: &Way) {
    for format in ["csv", "table", "json"] {
        let (_reader, writer) = crate::full_pipe();
        let running = tool.start_into(&way.long(&["--interval", way.interval, "--format", format]), writer);
        until_it_heeds_signals(&running);
        std::thread::sleep(Duration::from_millis(700));
        let signalled = Instant::now();
        running.signal(Signal::SIGINT);
        let ended = running.end().killed_by(Signal::SIGINT);
        assert!(signalled.elapsed() < Duration::from_secs(10), "{format}: {ended:?}");
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains("stdout"), "{format}: {ended:?}");
    }
    // Nor one who reads both: there is nobody left to tell.
    let (_reader, writer) = crate::full_pipe();
    let running = tool.within(&["sh", "-c", "exec \"$0\" \"$@\" 2>&1"]).start_into(&way.long(&[]), writer);
    until_it_heeds_signals(&running);
    std::thread::sleep(Duration::from_millis(700));
    running.signal(Signal::SIGTERM);
    let ended = running.end().killed_by(Signal::SIGTERM);
    assert!(ended.took < Duration::from_secs(10), "{ended:?}");
}

fn a_summary_is_one_sentence(tool: &Tool, way: &Way) {
    let ended = tool.run(&way.brief(&["--summary"])).success();
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    let Some((_, sentence)) = ended.stderr.split_once(": ") else { panic!("who says that? {ended:?}") };
    assert!(sentence.contains(|c: char| c.is_ascii_digit()), "{ended:?}");
    assert!(!["NaN", "inf", "-0", "\r", "\u{1b}"].iter().any(|word| sentence.contains(word)), "{ended:?}");
}

fn several_runs_have_a_mean(tool: &Tool, way: &Way) {
    if !way.repeats {
        return;
    }
    let ended = tool.run(&way.brief(&["--summary", "--runs", "2"])).success();
    let with_mean: Vec<_> = ended.stderr.lines().filter(|line| line.contains('±')).collect();
    assert_eq!(with_mean.len(), 1, "{ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(with_mean[0]), "{ended:?}");
    let Some((_, mean)) = with_mean[0].rsplit_once("mean") else { panic!("of what? {ended:?}") };
    let Some((mean, half_width)) = mean.split_once('±') else { panic!("no mean: {ended:?}") };
    assert!(mean.contains("/s"), "{ended:?}");
    let half_width = half_width.trim().trim_end_matches(" %").parse::<f64>();
    assert!(half_width.is_ok_and(|pct| pct >= 0.0), "{ended:?}");
}

fn a_warm_up_is_not_counted(tool: &Tool, way: &Way) {
    if !way.warms_up {
        return;
    }
    let ended = tool.run(&way.brief(&["--warmup", "700ms"])).success();
    let rest = ended.took.saturating_sub(Duration::from_millis(700));
    for total in totals(&ended) {
        let seconds = total.number("seconds");
        assert!(seconds > 0.0 && seconds <= rest.as_secs_f64(), "{rest:?}: {ended:?}");
    }
}

fn what_is_not_settled_is_flagged(tool: &Tool, way: &Way) {
    if !way.repeats {
        return;
    }
    let more = ["--runs", "2..2", "--within", "0.000001%", "--interval", way.interval];
    let ended = tool.run(&way.brief(&more)).success();
    // Two runs that are paced to the microsecond may be alike, and then the mean is known.
    let rates = |run: &str| -> Vec<_> {
        let of_run: Vec<_> = totals(&ended).into_iter().filter(|total| total.text("run") == run).collect();
        of_run.iter().map(|total| (total.text("bytes_per_s").to_owned(), total.text("ops_per_s").to_owned())).collect()
    };
    let is_settled = rates("1").iter().any(|rate| rates("2").contains(rate));
    for record in ended.records() {
        let is_last = record.text("span") == "total" && record.text("run") == "2";
        assert!(is_settled || record.has_flag("unsettled") == is_last, "{record:?}");
        assert!(is_last || !record.has_flag("unsettled"), "{record:?}");
    }
    assert!(totals(&ended).iter().any(|total| total.text("run") == "2"), "{ended:?}");
}

fn intervals_follow_each_other(tool: &Tool, way: &Way) {
    let ended = tool.run(&way.brief(&["--interval", way.interval])).success();
    for Series { intervals, total } in series(&ended) {
        assert_eq!(intervals[0].text("time"), total.text("time"), "{total:?}");
        for pair in intervals.windows(2) {
            let end = began(&pair[0]) + pair[0].number("seconds");
            // The column has milliseconds.
            assert!((end - began(&pair[1])).abs() <= 0.001_002, "{pair:?}");
        }
    }
}

fn amounts_add_up(tool: &Tool, way: &Way) {
    let ended = tool.run(&way.brief(&["--interval", way.interval])).success();
    series(&ended).iter().for_each(assert_amounts_add_up);
}

fn seconds_add_up(tool: &Tool, way: &Way) {
    let ended = tool.run(&way.brief(&["--interval", way.interval])).success();
    for Series { intervals, total } in series(&ended) {
        let sum: f64 = intervals.iter().map(|line| line.number("seconds")).sum();
        // A line is rounded to a microsecond.
        let room = 1e-6 * (intervals.len() + 1) as f64;
        assert!((sum - total.number("seconds")).abs() <= room, "{sum}: {total:?} {intervals:?}");
    }
}

fn a_signal_prints_the_line_so_far(tool: &Tool, way: &Way) {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let running = tool.start(&way.long(&["--interval", way.interval]));
        running.wait_for_records(2);
        running.signal(signal);
        let ended = running.end().killed_by(signal);
        assert_eq!(ended.stderr, "", "{ended:?}");
        series(&ended).iter().for_each(assert_amounts_add_up);
        for total in totals(&ended) {
            assert!(total.has_flag("partial"), "{signal}: {total:?}");
        }
    }
}

/// The lines of one test in one run.
struct Series {
    intervals: Vec<Record>,
    total: Record,
}

/// What tells series apart, where a tool has it.
const KEYS: [&str; 6] = ["test", "target", "run", "direction", "stream", "threads"];

/// All series that have intervals.
fn series(ended: &Ended) -> Vec<Series> {
    let mut groups = BTreeMap::<Vec<String>, (Vec<Record>, Vec<Record>)>::new();
    for record in ended.records() {
        let key = KEYS.iter().filter_map(|column| record.get(column)).map(str::to_owned).collect();
        let (intervals, totals) = groups.entry(key).or_default();
        if record.text("span") == "total" { totals } else { intervals }.push(record);
    }
    let series: Vec<_> = groups
        .into_values()
        .filter(|(intervals, _)| !intervals.is_empty())
        .map(|(intervals, mut totals)| {
            assert_eq!(totals.len(), 1, "one total for {intervals:?}: {ended:?}");
            Series { intervals, total: totals.remove(0) }
        })
        .collect();
    assert!(series.iter().any(|series| series.intervals.len() > 1), "no intervals to look at: {ended:?}");
    series
}

/// All totals; there are some.
fn totals(ended: &Ended) -> Vec<Record> {
    let totals: Vec<_> = ended.records().into_iter().filter(|record| record.text("span") == "total").collect();
    assert!(!totals.is_empty(), "no total: {ended:?}");
    totals
}

fn assert_amounts_add_up(Series { intervals, total }: &Series) {
    for column in ["bytes", "ops", "errors"] {
        // What nobody knows of an interval is empty there, and known at the end only.
        if total.text(column).is_empty() || intervals.iter().any(|line| line.text(column).is_empty()) {
            assert_eq!(column, "errors", "{total:?} {intervals:?}");
            continue;
        }
        let sum: u64 = intervals.iter().map(|line| line.count(column)).sum();
        assert_eq!(sum, total.count(column), "{column}: {total:?} {intervals:?}");
    }
}

/// When the line's span began, in seconds.
fn began(record: &Record) -> f64 {
    let time = humantime::parse_rfc3339(record.text("time")).expect("RFC 3339");
    time.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs_f64()
}

/// A header, rows of one line each, no bar left behind, and the sentence at the end.
fn a_terminal_gets_a_table_that_fits(tool: &Tool, way: &Way) {
    for width in [40, 80, 120] {
        let Shown { status, rows, raw } =
            Terminal::of_width(width).run(tool, &way.brief(&["--interval", way.interval]));
        let text = rows.join("\n");
        // What stands side by side needs no word for what it is.
        let is_titled = text.contains("test") || (text.contains(" rx ") && text.contains(" tx "));
        let has_header = rows[0].contains("seconds") && is_titled;
        assert!(status.success() && has_header, "{width}: {status} {text}");
        assert!(rows.iter().any(|row| row.starts_with("----")), "the totals are set off: {text}");
        let sentence =
            rows.iter().rposition(|row| row.starts_with(|c: char| c.is_ascii_lowercase())).expect("a sentence");
        assert!(rows[sentence..].len() <= 8, "it is the end: {text}");
        assert!(!text.contains('[') && !text.contains("0/0"), "a bar stays: {text}");
        assert!(raw.windows(4).any(|code| code == b"\x1b[1m"), "totals have weight");
    }
    let plain = Terminal::of_width(80).run(tool, &way.brief(&["--quiet", "--color", "never"]));
    assert!(!plain.raw.contains(&0x1b), "nothing but the table: {:?}", plain.rows);
}

/// The same columns, with the same kinds of cells.
fn objects_say_what_lines_say(tool: &Tool, way: &Way) {
    let text = tool.run(&["--columns"]).success().stdout;
    let rows = csv::Reader::from_reader(text.as_bytes()).into_records().map(|row| row.expect("valid CSV"));
    let kinds: BTreeMap<String, String> = rows.map(|row| (row[0].to_owned(), row[1].to_owned())).collect();
    let ended = tool.run(&way.brief(&["--format", "json"])).success();
    let mut last = serde_json::Map::new();
    for line in ended.stdout.lines() {
        let object: serde_json::Map<_, _> =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for (name, value) in &object {
            let is_number = ["integer", "decimal"].contains(&kinds[name].as_str());
            assert_eq!(value.is_number(), is_number, "{name}: {value}");
            assert!(value.is_number() || value.as_str().is_some_and(|text| !text.is_empty()), "{name}: {value}");
        }
        last = object;
    }
    assert!(last["seconds"].as_f64() > Some(0.0) && last["span"] == "total", "{last:?}");
}
