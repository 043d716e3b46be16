//! `runplot` as a shell uses it: pictures are read back as text and as bytes, charts as what a terminal would get.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "runplot/terminal.rs"]
mod terminal;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use common::schema::line::doubtful_words;
use tempfile::TempDir;
use testkit::{Ended, Tool, contract};

fn runplot() -> Tool {
    Tool::new(env!("CARGO_BIN_EXE_runplot"))
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
fn help_and_columns_are_as_recorded() {
    for (args, snapshot) in [
        ("--help", include_str!("snapshots/runplot-help.txt")),
        ("--columns", include_str!("snapshots/runplot-columns.csv")),
    ] {
        assert_eq!(runplot().run(&[args]).success().stdout, snapshot, "{args}; `make snapshots` records it anew");
    }
}

#[test]
fn a_sweep_has_a_panel_for_each_test_and_a_curve_for_each_label() {
    let scratch = Scratch::new();
    let svg = scratch.svg(&[REPORT_D]);
    assert_sound(&svg);
    let texts = texts(&svg);
    assert_eq!(texts[0], "throughput by threads: /mnt/nfs");
    for words in ["eepro100 both, bonded", "e100 client, dedicated", "eepro100 both, dedicated"] {
        assert_eq!(texts.iter().filter(|text| *text == words).count(), 1, "{words}: one legend for all panels");
    }
    for words in ["read", "rand_read", "write", "rand_write"] {
        assert_eq!(texts.iter().filter(|text| *text == words).count(), 1, "{words}");
    }
    assert_eq!(texts.iter().filter(|text| *text == "threads").count(), 4, "each panel names its axis");
    let units: Vec<_> = texts.iter().filter(|text| text.starts_with("throughput, ")).collect();
    assert_eq!(units, ["throughput, MB/s", "throughput, kB/s", "throughput, MB/s", "throughput, MB/s"]);
    for colour in ["#0072B2", "#D55E00", "#009E73"] {
        assert!(svg.contains(colour), "{colour}");
    }
}

#[test]
fn runs_have_a_dot_each_and_a_row_for_each_label() {
    let scratch = Scratch::new();
    let mut lines: Vec<String> = (1..=6).map(|run| total("before", run, &format!("{}e6", 90 + run))).collect();
    lines.extend((1..=6).map(|run| total("after", run, &format!("{}e6", 110 + run))));
    let svg = scratch.svg(&[&scratch.log(&lines)]);
    assert_sound(&svg);
    let texts = texts(&svg);
    assert!(
        ["before", "after", "throughput, MB/s"].iter().all(|words| texts.iter().any(|text| text == words)),
        "{texts:?}"
    );
    assert!(texts.last().unwrap().contains("median") || texts.iter().any(|text| text.contains("median")));
    assert_eq!(svg.matches("<circle").count(), 6, "the first label's marker");
    assert_eq!(svg.matches("<polygon").count(), 6, "the second label's");
    // Background, then the interval and the median of either.
    assert_eq!(svg.matches("<rect").count(), 1 + 2 * 2);

    let five: Vec<String> = (1..=5).map(|run| total("before", run, "1e6")).collect();
    assert_eq!(scratch.svg(&[&scratch.log(&five)]).matches("<rect").count(), 1 + 1, "five runs give no interval");
}

#[test]
fn a_flagged_run_is_hollow_and_not_counted() {
    let scratch = Scratch::new();
    let lines = [total("a", 1, "100e6"), total("a", 2, "900e6") + "cached"];
    let log = scratch.log(&lines);
    let svg = scratch.svg(&[&log]);
    assert!(texts(&svg).iter().any(|text| text.ends_with("hollow: flagged as doubtful, not counted")));
    assert_eq!(svg.matches("<circle").count(), 3, "one full, one with a hole");
    assert!(!texts(&scratch.svg(&[&log, "--keep-flagged"])).iter().any(|text| text.contains("not counted")));
}

#[test]
fn intervals_become_a_series_with_what_went_wrong_below() {
    let scratch = Scratch::new();
    let log = scratch.log(&intervals(30, |second| usize::from(second == 12) * 7));
    let svg = scratch.svg(&[&log]);
    assert_sound(&svg);
    let titles = texts(&svg);
    for words in ["throughput over time: a, tcp_recv, nas", "throughput, MB/s", "errors"] {
        assert!(titles.iter().any(|text| text == words), "{words} in {titles:?}");
    }
    assert!(titles.iter().any(|text| text == "seconds since 2026-11-30 12:00:00 UTC"));
    assert_eq!(svg.matches("<circle").count(), 60, "each interval in both panels");
    let clean = scratch.svg(&[&scratch.log(&intervals(30, |_| 0))]);
    assert!(!texts(&clean).iter().any(|text| text == "errors"), "a line along zero tells nothing");

    let bits = scratch.svg(&[&log, "--unit", "Mbit/s", "--y", "bytes_per_s", "--title", "copy & <paste>"]);
    let titles = texts(&bits);
    assert!(titles.iter().any(|text| text == "throughput, Mbit/s"), "{titles:?}");
    assert_eq!(titles[0], "copy &amp; &lt;paste&gt;");
}

#[test]
fn a_million_points_make_a_small_picture_that_keeps_the_peak() {
    let scratch = Scratch::new();
    let mut log = format!("{HEADER}\n");
    for index in 0..200_000_usize {
        let (hour, minute, second, millis) = (index / 36_000, index / 600 % 60, index / 10 % 60, index % 10 * 100);
        let rate = if index == 123_456 { "900e6" } else { "100e6" };
        writeln!(log, "probe/1,2026-11-30T{hour:02}:{minute:02}:{second:02}.{millis:03}Z,h,a,tcp_recv,nas,1,interval,0.1,,,,{rate},,,,").unwrap();
    }
    let path = scratch.path("long.csv");
    fs::write(&path, log).unwrap();
    let svg = scratch.svg(&[path.to_str().unwrap()]);
    assert_sound(&svg);
    assert!(svg.len() < 200_000, "{} bytes", svg.len());
    let titles = texts(&svg);
    assert!(titles.iter().any(|text| text == "800"), "the axis reaches the peak: {titles:?}");
    let curve = svg.lines().filter(|line| line.starts_with("<polyline")).max_by_key(|line| line.len()).unwrap();
    let heights: Vec<f64> = curve
        .split("points=\"")
        .nth(1)
        .unwrap()
        .split_once('"')
        .unwrap()
        .0
        .split_whitespace()
        .map(|point| point.split_once(',').unwrap().1.parse().unwrap())
        .collect();
    let extremes = heights.iter().fold((f64::MAX, f64::MIN), |(min, max), height| (min.min(*height), max.max(*height)));
    assert!(extremes.1 - extremes.0 > 1000.0, "the curve goes up to it: {extremes:?}");
}

#[test]
fn a_png_has_the_size_that_was_asked_for_and_needs_no_fonts() {
    let scratch = Scratch::new();
    let picture = scratch.picture("out.png", &[REPORT_D, "--size", "640x480"]);
    assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(picture[12..16], *b"IHDR");
    let side = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (640, 480));
    assert!(picture.ends_with(b"IEND\xaeB`\x82"));
    // Fonts of the machine change nothing: there are none to be found here.
    let path = scratch.path("bare.png");
    let output = runplot()
        .command(&[REPORT_D, "--size", "640x480", "-o", path.to_str().unwrap()])
        .env("FONTCONFIG_FILE", "/dev/null")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(fs::read(path).unwrap(), picture, "the same lines make the same picture");
}

#[test]
fn a_picture_without_room_for_its_panels_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("small.svg");
    let log = scratch
        .log(&["read", "write", "create", "delete", "stat"].map(|test| total("a", 1, "5e6").replace("tcp_recv", test)));
    let _ =
        runplot().run(&[&log, "-o", path.to_str().unwrap(), "--size", "320x200"]).failure(2, &["--size", "5 panels"]);
    assert!(!path.exists());
}

#[test]
fn a_picture_is_complete_or_not_there() {
    let scratch = Scratch::new();
    let log = scratch.log(&[total("a", 1, "1e6")]);
    let missing = scratch.path("no/such/x.svg");
    let _ = runplot().run(&[&log, "-o", missing.to_str().unwrap()]).failure(1, &["cannot write", "No such file"]);
    let before = scratch.files();
    let out = scratch.path("out.svg");
    fs::write(&out, "what was there").unwrap();
    let empty = scratch.path("empty.csv");
    fs::write(&empty, "").unwrap();
    let _ = runplot().run(&[empty.to_str().unwrap(), "-o", out.to_str().unwrap()]).failure(1, &["no lines"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "what was there");
    let _ = runplot().run(&[&log, "-o", out.to_str().unwrap()]).success();
    assert!(fs::read_to_string(&out).unwrap().ends_with("</svg>\n"));
    assert_eq!(scratch.files(), before + 2, "no temporary file is left");
    let mode = fs::metadata(&out).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    assert_eq!(mode & 0o077, fs::metadata(&log).unwrap().permissions().mode() & 0o077, "as the umask wants it");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let header = format!("{HEADER}\n");
    let one = header.clone() + &total("a", 1, "1e6") + "\n";
    let empty_cells = header.clone()
        + &total("a", 1, "").replace(",10,", ",,")
        + "\n"
        + &total("a", 2, "nan").replace(",10,", ",,")
        + "\n";
    for (args, input, words) in [
        (&["-"][..], "", "no lines of measurements in stdin"),
        (&[], &header, "no lines of measurements in stdin"),
        (&["--where", "label=b"], &one, "that --where lets through"),
        (&["--y", "rtt_us"], &one, "no line has a number in rtt_us (--y)"),
        (&["--y", "colour"], &one, "no line has a number in colour (--y)"),
        (&["--kind", "percentiles"], &one, "no line has percentiles"),
        (&["--kind", "sweep"], &one, "no setting varies"),
        (&["--x", "threads", "--kind", "sweep"], &one, "no line has a column threads (--x)"),
        (&[], &empty_cells, "no line has a number in bytes_per_s, ops_per_s, p50_us, seconds (--y)"),
    ] {
        let ended = piped(args, input.as_bytes()).failure(1, &["runplot: ", words]);
        assert_eq!(ended.stdout, "");
    }
    let only_intervals = header + &intervals(3, |_| 0).join("\n");
    let _ = piped(&["--kind", "runs"], only_intervals.as_bytes()).failure(1, &["--kind time"]);
    let _ = runplot().run(&["/nonexistent.csv"]).failure(1, &["cannot open /nonexistent.csv"]);
}

#[test]
fn garbage_is_skipped_and_named_and_the_rest_is_drawn() {
    let input = format!("{HEADER}\n\u{0}\u{1}garbage\n{}\nhalf a li", total("a", 1, "5e6"));
    let ended = piped(&[], input.as_bytes()).success();
    assert!(ended.stdout.contains("throughput, MB/s"), "{}", ended.stdout);
    assert!(ended.stderr.contains("stdin: skipped 2 lines, not a line of these tools: 2, 4"), "{}", ended.stderr);
    let quiet = piped(&["--quiet"], input.as_bytes()).success();
    assert_eq!((quiet.stdout, quiet.stderr), (ended.stdout, String::new()));
}

#[test]
fn odd_values_are_drawn_without_panic() {
    let scratch = Scratch::new();
    let values = ["0", "1e300", "-5e6", "1e-300", "5e6", "nan", ""];
    for first in values {
        for second in values {
            let log = scratch.log(&[total("a", 1, first), total("b", 1, second), total("b", 2, second)]);
            for options in [&[][..], &["--log"], &["--zoom"], &["--kind", "time"], &["--ascii"]] {
                let args: Vec<&str> = [log.as_str(), "--y", "bytes_per_s"].iter().chain(options).copied().collect();
                let ended = runplot().run(&args);
                assert!(matches!(ended.status.code(), Some(0 | 1)), "{first} {second} {options:?} {ended:?}");
            }
            if first.parse::<f64>().is_ok_and(f64::is_finite) {
                assert_sound(&scratch.svg(&[&log, "--y", "bytes_per_s"]));
            }
        }
    }
}

#[test]
fn a_label_cannot_break_the_picture_or_the_terminal() {
    let scratch = Scratch::new();
    let label = "\"<b>&\u{1b}[2Jµ, 'x' \u{7}\"";
    let log = scratch.log(&[total(label, 1, "5e6"), total("b", 1, "6e6")]);
    let svg = scratch.svg(&[&log]);
    assert_sound(&svg);
    assert!(svg.contains("&lt;b&gt;&amp;\u{fffd}[2Jµ, "), "{:?}", texts(&svg));
    assert!(!svg.contains(|c: char| c.is_control() && c != '\n'));
    let chart = runplot().run(&[&log]).success().stdout;
    assert!(!chart.contains(|c: char| c.is_control() && c != '\n'), "{chart:?}");
}

#[test]
fn pictures_in_the_readme_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let shown: Vec<&str> = readme
        .split("](tests/pictures/")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(name, _)| name)
        .collect();
    assert!(shown.len() >= 3, "{shown:?}");
    for name in shown {
        let svg = fs::read_to_string(root.join("tests/pictures").join(name)).unwrap();
        assert_sound(&svg);
    }
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

#[test]
fn a_column_that_no_line_has_is_no_chart() {
    let scratch = Scratch::new();
    let log = scratch.log(&[total("a", 1, "5"), total("b", 2, "6")]);
    let _ = runplot().run(&[&log, "--x", "thread"]).failure(1, &["no line has a column thread (--x)"]);
    let _ = runplot().run(&[&log, "--by", "label,lable"]).failure(1, &["no line has a column lable (--by)"]);
    let _ = runplot().run(&[&log, "--x", "label", "--by", "label,test"]).success();
}

#[test]
fn totals_beside_the_intervals_of_others_are_not_left_out_silently() {
    let scratch = Scratch::new();
    let mut lines = intervals(5, |_| 0);
    lines.push(total("a", 1, "5"));
    let its_own = runplot().run(&[&scratch.log(&lines)]).success();
    assert!(its_own.stderr.is_empty(), "the total of the intervals: {}", its_own.stderr);
    lines.extend([total("b", 1, "5"), total("c", 1, "5")]);
    let mixed = runplot().run(&[&scratch.log(&lines)]).success();
    assert!(mixed.stderr.contains("2 totals without intervals are not drawn (--kind runs"), "{}", mixed.stderr);
}
