//! Lines that cannot be drawn, and values that are odd.

use super::{HEADER, Scratch, assert_sound, intervals, piped, runplot, total};

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
fn a_column_that_no_line_has_is_no_chart() {
    let scratch = Scratch::new();
    let log = scratch.log(&[total("a", 1, "5"), total("b", 2, "6")]);
    let _ = runplot().run(&[&log, "--x", "thread"]).failure(1, &["no line has a column thread (--x)"]);
    let _ = runplot().run(&[&log, "--by", "label,lable"]).failure(1, &["no line has a column lable (--by)"]);
    let _ = runplot().run(&[&log, "--x", "label", "--by", "label,test"]).success();
}
