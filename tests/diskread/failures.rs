//! What goes wrong or is cut short: an honest line and the reason.

use std::fs::OpenOptions;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::disk::{Loop, Scratch};
use testkit::has_program;

use super::{MIB, assert_percentiles_are_ordered, diskread, partial};

#[test]
fn a_device_that_fails_in_the_middle_leaves_a_partial_line_and_the_offset() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 8 * MIB);
    let Some(device) = Loop::new(&file, &[]) else { return };
    OpenOptions::new().write(true).open(&file).unwrap().set_len(3 * MIB).unwrap();
    for args in [
        &["--method", "buffered"][..],
        &["--method", "direct"],
        &["--method", "direct", "--depth", "4"],
        &["--method", "direct", "--depth", "4", "--engine", "pread"],
        &["--method", "mmap"],
    ] {
        let ended = diskread().run(&[&[device.0.as_str()], args].concat());
        let line = partial(&ended);
        if line.text("engine") == "pread-pool" {
            // A thread may not have begun when another one fails.
            assert!(line.count("bytes") <= 3 * MIB, "{ended:?}");
        } else {
            assert_eq!(line.count("bytes"), 3 * MIB, "{ended:?}");
        }
        assert!(line.count("errors") >= 1, "{ended:?}");
        let _ = ended.failure(1, &[&device.0, "offset", "Input/output error"]);
    }
    let ended = diskread().run(&[&device.0, "--method", "cached"]);
    assert_eq!(ended.failure(1, &["offset 3145728"]).stdout, "");
}

#[test]
fn a_failed_call_names_its_offset() {
    if !has_program("strace", "strace") {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.file("f", 2 * MIB);
    let inject = ["strace", "-f", "-o", "/dev/null", "-e", "trace=pread64", "-e", "inject=pread64:error=EIO:when=20"];
    let ended = diskread().within(&inject).run(&[&file, "--block", "64K"]);
    // Other files are not read by pread64, but the loader may use it a few times.
    let line = partial(&ended);
    let offset = line.count("bytes").to_string();
    assert_eq!(line.count("errors"), 1);
    assert!((MIB..2 * MIB).contains(&line.count("bytes")), "{line:?}");
    let _ = ended.failure(1, &[&file, &format!("offset {offset}"), "Input/output error"]);
}

#[test]
fn a_file_that_shrinks_is_short_and_kills_nobody() {
    let scratch = Scratch::new();
    for method in ["mmap", "buffered", "direct"] {
        let file = scratch.file("f", 64 * MIB);
        let running = diskread().start(&[
            &file,
            "--method",
            method,
            "--pattern",
            "rand",
            "--interval",
            "20ms",
            "--threads",
            "2",
            "--quiet",
            "--time",
            "50s",
        ]);
        running.wait_for_records(1);
        OpenOptions::new().write(true).open(&file).unwrap().set_len(10_000).unwrap();
        let ended = running.end().success();
        let line = ended.total("rand_read");
        assert!(line.has_flag("short") && line.count("bytes") < 64 * MIB, "{method}: {line:?}");
        assert!(ended.took < Duration::from_secs(20), "{ended:?}");
    }
}

#[test]
fn a_signal_closes_the_open_span_first() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    for (signal, depth) in [(Signal::SIGINT, "1"), (Signal::SIGTERM, "8")] {
        let running = diskread().start(&[
            &file,
            "--method",
            "direct",
            "--pattern",
            "rand",
            "--depth",
            depth,
            "--time",
            "50s",
            "--interval",
            "100ms",
        ]);
        running.wait_for_records(2);
        running.signal(signal);
        let ended = running.end().killed_by(signal);
        assert!(ended.took < Duration::from_secs(10), "{ended:?}");
        let total = ended.total("rand_read");
        let intervals = ended.some("rand_read", "interval");
        assert!(total.has_flag("partial"), "{total:?}");
        assert_percentiles_are_ordered(&total);
        assert_eq!(intervals.iter().map(|line| line.count("bytes")).sum::<u64>(), total.count("bytes"));
        assert_eq!(intervals.iter().map(|line| line.count("ops")).sum::<u64>(), total.count("ops"));
    }
}
