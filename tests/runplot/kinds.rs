//! What the lines contain decides what is drawn.

use std::fmt::Write as _;
use std::fs;

use super::{HEADER, REPORT_D, Scratch, assert_sound, intervals, runplot, texts, total};

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
