//! Intervals, runs, facts, and what stdout and stderr get.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use testkit::Record;
use testkit::disk::{Loop, Scratch};

use super::{MIB, diskread, line};

#[test]
fn time_intervals_warm_up_and_runs_are_heeded() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let args =
        [&file, "--method", "cached", "--time", "600ms", "--interval", "200ms", "--warmup", "100ms", "--runs", "2"];
    let ended = diskread().run(&args).success();
    assert_eq!(ended.stderr, "", "nothing to say off a terminal");
    let totals = ended.some("seq_read", "total");
    assert_eq!(totals.iter().map(|line| line.count("run")).collect::<Vec<_>>(), [1, 2]);
    for total in &totals {
        assert!((0.5..1.5).contains(&total.number("seconds")), "{total:?}");
        assert!(total.count("bytes") > 2 * MIB, "goes round: {total:?}");
        let of_run = |line: &&Record| line.text("run") == total.text("run");
        let intervals = ended.some("seq_read", "interval");
        let sum: u64 = intervals.iter().filter(of_run).map(|line| line.count("bytes")).sum();
        assert_eq!(sum, total.count("bytes"));
    }
    let used_up = line(&[&file, "--warmup", "20s"]);
    assert!(used_up.has_flag("short") && used_up.text("bytes_per_s").is_empty(), "{used_up:?}");
    let once = line(&[&file, "--method", "buffered", "--time", "30s"]);
    assert_eq!(once.count("bytes"), MIB, "a second round would read memory");
}

#[test]
fn a_file_that_is_at_its_end_before_the_time_asked_for_is_short_of_it() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    for method in ["buffered", "mmap"] {
        let ended = diskread().run(&[&file, "--time", "30s", "--interval", "5ms", "--method", method]).success();
        assert!(ended.total("seq_read").has_flag("short"), "{ended:?}");
        assert!(ended.some("seq_read", "interval").iter().all(|line| !line.has_flag("short")), "{ended:?}");
        assert!(ended.stderr.contains("30s") && ended.stderr.contains("--method direct"), "{}", ended.stderr);
    }
    for asked in [&[][..], &["--time", "30s", "--bytes", "64K"], &["--time", "50ms", "--method", "cached"]] {
        let whole = line(&[&[file.as_str()], asked].concat());
        assert_eq!(whole.text("flags").replace("cached", ""), "", "{whole:?}");
    }
    for program in ["hdparm", "bonnie"] {
        let ended = diskread().run(&[&file, "--like", program, "--time", "300ms", "--quiet"]).success();
        let is_short = |line: &Record| line.has_flag("short") && line.text("test") != "bonnie_seeks";
        assert!(!ended.records().iter().any(is_short), "no time of the user's own: {ended:?}");
    }
}

#[test]
fn a_full_disk_is_a_failure_and_a_reader_that_leaves_is_none() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = diskread().command(&[&file]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout"), "{output:?}");
    let script = format!(
        "{} {file} --method cached --time 50s --interval 50ms | head -1; exit ${{PIPESTATUS[0]}}",
        diskread().path()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(output.stdout.starts_with(b"schema,"), "{output:?}");
}

#[test]
fn facts_are_read_and_nothing_is_changed() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let Some(device) = Loop::new(&file, &[]) else { return };
    let facts = diskread().run(&["facts", &device.0, &file, "--label", "x"]).success().records();
    let value = |target: &str, key: &str| {
        facts
            .iter()
            .find(|fact| fact.text("target") == target && fact.text("key") == key)
            .map(|fact| fact.text("value"))
    };
    assert!(facts.iter().all(|fact| fact.text("schema") == "diskread-facts/1" && fact.text("label") == "x"));
    assert_eq!(value(&device.0, "kind"), Some("block device"));
    assert_eq!(value(&device.0, "size"), Some("1048576"));
    assert_eq!(value(&device.0, "queue.logical_block_size"), Some("512"));
    assert_eq!(value(&device.0, "loop.backing_file"), Some(file.as_str()));
    for key in ["queue.rotational", "queue.scheduler", "queue.read_ahead_kb", "queue.nr_requests", "queue.io_poll"] {
        assert!(value(&device.0, key).is_some(), "{key}: {facts:?}");
    }
    assert_eq!(value(&file, "kind"), Some("file"));
    assert!(value(&file, "mount.type").is_some() && value(&file, "mount.option.rw").is_some(), "{facts:?}");
    assert!(diskread().run(&["facts", "/dev/nosuch"]).failure(1, &["/dev/nosuch"]).stdout.is_empty());
}

#[test]
fn quiet_and_summary_are_heeded() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let stderr = |word: &str| diskread().run(&[&file, word]).success().stderr;
    assert_eq!(stderr("--quiet"), "");
    let summary = stderr("--summary");
    assert!(summary.contains("MB/s") && summary.contains("from the device"), "{summary}");
    assert_eq!(summary.lines().count(), 1, "{summary}");
}
