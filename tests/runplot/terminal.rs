//! Charts in the terminal and in pipes, live ones among them.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::screen::Terminal;
use testkit::{Tool, eventually, full_pipe};

use super::{HEADER, Scratch, intervals, piped, runplot, total};

#[test]
fn a_chart_that_goes_to_a_pipe_has_no_escape_codes() {
    let log = format!("{HEADER}\n{}\n", intervals(20, |_| 0).join("\n"));
    for args in [&[][..], &["--live"], &["--ascii"]] {
        let ended = piped(args, log.as_bytes()).success();
        assert!(!ended.stdout.contains('\u{1b}'), "{args:?}");
        assert_eq!(ended.stdout.matches("throughput over time").count(), 1, "{args:?}: drawn once");
        assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{args:?}");
        assert!(ended.stdout.lines().count() <= 24, "{args:?}");
    }
}

#[test]
fn tee_passes_every_byte_on_and_draws_elsewhere() {
    let input = format!("\u{feff}{HEADER}\r\n# a comment\n{}\r\nno end", total("a", 1, "5e6"));
    let ended = piped(&["--tee", "--live"], input.as_bytes()).success();
    assert_eq!(ended.stdout, input);
    assert!(ended.stderr.contains("throughput, MB/s") && !ended.stderr.contains('\u{1b}'), "{}", ended.stderr);
}

#[test]
fn tee_passes_lines_on_while_they_come() {
    let mut child = runplot()
        .command(&["--live", "--tee", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::from(tempfile::tempfile().unwrap()))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let header = format!("{HEADER}\n");
    stdin.write_all(header.as_bytes()).unwrap();
    let line = total("a", 1, "5e6") + "\n";
    let written = PathBuf::from(format!("/proc/{}/fd/1", child.id()));
    for count in 1..=3 {
        stdin.write_all(line.as_bytes()).unwrap();
        eventually("the line to come out", Duration::from_secs(20), || {
            fs::read_to_string(&written).is_ok_and(|text| text == header.clone() + &line.repeat(count))
        });
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_behind_tee_that_stopped_does_not_hold_it() {
    let scratch = Scratch::new();
    let log = scratch.log(&intervals(20, |_| 0));
    let (_reader, writer) = full_pipe();
    let running = runplot().start_into(&[&log, "--tee"], writer);
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::SIGINT);
    let ended = running.end().killed_by(Signal::SIGINT);
    assert!(ended.took < Duration::from_secs(10) && ended.stderr.lines().count() == 1, "{ended:?}");
    assert!(ended.stderr.contains("cannot write to stdout"), "{ended:?}");
}

#[test]
fn a_full_disk_behind_tee_or_chart_is_a_failure() {
    let scratch = Scratch::new();
    let log = scratch.log(&[total("a", 1, "5e6")]);
    for (args, words) in [(&[log.as_str(), "--tee"][..], "cannot write to stdout"), (&[&log], "cannot write the chart")]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = runplot().command(args).stdout(Stdio::from(full)).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(&format!("runplot: {words}: No space left")), "{stderr}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let script = format!(
        "(echo {HEADER}; while :; do echo '{}'; done) | {} --tee | head -n 1",
        total("a", 1, "5e6"),
        runplot().path()
    );
    let ended =
        Tool::new("timeout").run(&["20", "bash", "-c", &format!("set -o pipefail; {script}; echo ${{PIPESTATUS[1]}}")]);
    let ended = ended.success();
    assert_eq!((ended.stdout.lines().last(), ended.stderr.as_str()), (Some("0"), ""), "{ended:?}");
}

#[test]
fn a_warning_on_a_terminal_is_followed_by_the_chart_alone() {
    let scratch = Scratch::new();
    let log = scratch.log(&["notes of mine".into(), total("a", 1, "5e6")]);
    let shown = Terminal::of_width(200).run(&runplot(), &[&log]);
    assert!(shown.rows[0].ends_with("not a line of these tools: 2"), "{}", shown.text());
    assert!(shown.rows[1].starts_with("throughput of runs") && !shown.text().contains("0/0"), "{}", shown.text());
    let raw = String::from_utf8(shown.raw).unwrap().replace("\r\n", "");
    assert!(!raw.contains('\r') && !raw.contains("\u{1b}[K"), "nothing is drawn over: {raw:?}");
}

#[test]
fn what_the_measuring_tool_says_at_its_end_stays_above_the_last_chart() {
    let scratch = Scratch::new();
    let lines = intervals(6, |_| 0);
    let (first, last) = (scratch.log(&lines[..4]), scratch.path("last.csv"));
    fs::write(&last, lines[4..].join("\n") + "\n" + &total("a", 1, "5e6") + "\n").unwrap();
    let feed =
        "cat $1; sleep 0.5; cat $2; echo 'probe: 5 MB/s, said at the end' >&2; echo 'on two lines' >&2; sleep 0.5";
    let script = format!("({feed}) | {} --live", runplot().path());
    let shown =
        Terminal::of_width(80).run(&Tool::new("sh"), &["-c", &script, "sh", &first, last.to_str().unwrap()]).text();
    assert!(shown.contains("said at the end\non two lines\nthroughput over time"), "{shown}");
    // No title without its chart.
    assert_eq!(shown.matches("throughput over time").count(), shown.matches("seconds since").count(), "{shown}");
}

#[test]
fn a_live_chart_on_a_terminal_is_drawn_over_itself() {
    if !testkit::has_program("script", "bsdutils") {
        return;
    }
    let scratch = Scratch::new();
    let log = scratch.log(&intervals(5, |_| 0));
    let typed = scratch.path("typed");
    let feed = format!("(head -n -1 {log}; sleep 0.6; tail -n 1 {log}) | {} --live", runplot().path());
    let ended = Tool::new("script").run(&["-qec", &feed, typed.to_str().unwrap()]).success();
    assert!(ended.stdout.matches("throughput over time").count() >= 2, "{}", ended.stdout);
    assert!(ended.stdout.contains("\u{1b}[J"), "{}", ended.stdout);
}
