//! What goes wrong: an honest line, one reason, and nothing left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::disk::{Ext4, Scratch, names};
use testkit::shim::Shim;
use testkit::{Ended, Record, eventually, has_program, is_root};

use super::{MIB, lines, nfscopy};

/// The last line of a failed run, which is partial.
fn partial(ended: &Ended) -> Record {
    let record = ended.records().last().unwrap_or_else(|| panic!("{ended:?}")).clone();
    assert!(record.has_flag("partial") && record.text("span") == "total", "{ended:?}");
    record
}

fn is_empty(directory: &Path) -> bool {
    names(directory).is_empty()
}

#[test]
fn a_full_file_system_is_said_with_what_was_reached() {
    let scratch = Scratch::new();
    let Some(ext4) = Ext4::new(&scratch, 16 * MIB) else { return };
    let ended = nfscopy().run(&["file", ext4.path(), "--size", "64M", "--phases", "write", "--quiet"]);
    let ended = ended.failure(1, &["No space left", ".nfscopy-", "write at offset"]);
    let record = partial(&ended);
    assert_eq!((record.text("failure"), record.count("errors")), ("write:ENOSPC", 1));
    assert!((8 * MIB..16 * MIB).contains(&record.count("bytes")), "{record:?}");
    assert!(is_empty(Path::new(ext4.path())));
    // What was written can be written again: all of it was given back.
    let source = scratch.file("source", 64 * MIB);
    let target = format!("{}/target", ext4.path());
    let ended = nfscopy().run(&["copy", &source, &target, "--quiet"]).failure(1, &["No space left", "write at"]);
    assert!((8 * MIB..16 * MIB).contains(&partial(&ended).count("bytes")), "{ended:?}");
    assert!(is_empty(Path::new(ext4.path())));
    let ended = nfscopy().run(&["tree", ext4.path(), "--files", "100000", "--quiet"]).failure(1, &["No space left"]);
    assert!(partial(&ended).count("ops") > 100 && is_empty(Path::new(ext4.path())), "{ended:?}");
}

#[test]
fn who_may_not_write_is_told_where() {
    let scratch = Scratch::new();
    if let Some(ext4) = Ext4::new(&scratch, 16 * MIB) {
        ext4.remount("ro");
        nfscopy().run(&["file", ext4.path()]).failure(1, &[ext4.path(), "Read-only"]).stdout.clear();
        let target = format!("{}/x", ext4.path());
        nfscopy().run(&["copy", "/etc/passwd", &target]).failure(1, &[ext4.path(), "Read-only"]).stdout.clear();
    }
    if !is_root() || !has_program("setpriv", "util-linux") {
        return;
    }
    let sealed = scratch.path("sealed");
    fs::create_dir(&sealed).unwrap();
    fs::set_permissions(scratch.text(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o500)).unwrap();
    // The built binary may lie where nobody else may look.
    let binary = scratch.path("nfscopy");
    fs::copy(nfscopy().path(), &binary).unwrap();
    let prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let other = testkit::Tool::new(&binary).within(&prefix);
    let sealed = sealed.to_str().unwrap();
    for verb in ["file", "tree"] {
        other.run(&[verb, sealed]).failure(1, &["sealed", "Permission denied"]).stdout.clear();
    }
    other.run(&["copy", "/etc/passwd", sealed]).failure(1, &["sealed", "Permission denied"]).stdout.clear();
    nfscopy().run(&["file", "/etc/passwd"]).failure(1, &["/etc/passwd", "not a directory"]).stdout.clear();
    nfscopy().run(&["file", "/nonexistent"]).failure(1, &["/nonexistent", "No such file"]).stdout.clear();
}

#[test]
fn a_write_error_that_comes_late_fails_the_line() {
    let scratch = Scratch::new();
    let Some(shim) = Shim::build(&scratch) else { return };
    let directory = scratch.path("mount");
    fs::create_dir(&directory).unwrap();
    let [there, source] = [directory.to_str().unwrap().to_owned(), scratch.file("source", 3 * MIB)];
    let target = format!("{there}/target");
    for (call, errno, words, failure) in [
        ("fsync", "5", &["fsync", "Input/output error"][..], "fsync:EIO"),
        ("close", "122", &["close", "quota"], "close:EDQUOT"),
        ("pwrite", "116", &["write at offset 1048576", "ESTALE"], "write:ESTALE"),
        ("pwrite", "110", &["write at offset 1048576", "ETIMEDOUT"], "write:ETIMEDOUT"),
    ] {
        let tool = nfscopy().within(&shim.prefix(call, errno));
        for args in [
            &["file", &there, "--size", "3M", "--phases", "write,read", "--quiet"][..],
            &["copy", &source, &target, "--quiet"],
        ] {
            let ended = tool.run(args).failure(1, words);
            let record = partial(&ended);
            assert_eq!((record.text("failure"), record.count("errors")), (failure, 1), "{ended:?}");
            let reached = if call == "pwrite" { MIB } else { 3 * MIB };
            assert_eq!(record.count("bytes"), reached, "{ended:?}");
            assert!(is_empty(&directory), "{call}: {:?}", names(&directory));
        }
    }
}

#[test]
fn a_file_that_somebody_holds_is_waited_for_and_then_reported() {
    let scratch = Scratch::new();
    let Some(shim) = Shim::build(&scratch) else { return };
    let directory = scratch.path("mount");
    fs::create_dir(&directory).unwrap();
    let tool = nfscopy().within(&shim.prefix("rmdir", &libc::ENOTEMPTY.to_string()));
    let args = ["file", directory.to_str().unwrap(), "--size", "1M", "--phases", "write", "--quiet"];
    let ended = tool.run(&args).failure(1, &["left behind", ".nfscopy-", "held open"]);
    assert!(ended.took > Duration::from_secs(4), "{ended:?}");
    assert_eq!(ended.total("write").text("flags"), "", "the measurement itself is good");
}

#[test]
fn a_hung_mount_is_named_and_a_second_signal_leaves_at_once() {
    let scratch = Scratch::new();
    let Some(shim) = Shim::build(&scratch) else { return };
    let tool = nfscopy().within(&shim.prefix("fsync", "hang"));
    let args = ["file", scratch.text(), "--size", "1M", "--phases", "write", "--interval", "100ms", "--quiet"];
    let running = tool.start(&args);
    let written = || running.records().iter().map(|record| record.count("bytes")).sum::<u64>();
    eventually("everything is written", Duration::from_secs(20), || written() == MIB);
    running.signal(Signal::SIGINT);
    eventually("what it waits for", Duration::from_secs(10), || running.stderr().contains("waiting for fsync"));
    assert!(running.stderr().contains(".nfscopy-"), "{}", running.stderr());
    running.signal(Signal::SIGINT);
    let ended = running.end().killed_by(Signal::SIGINT);
    assert!(ended.took < Duration::from_secs(20), "{ended:?}");
}

#[test]
fn a_limit_on_file_sizes_is_an_error_like_others() {
    let scratch = Scratch::new();
    let limited = nfscopy().within(&["prlimit", "--fsize=1048576"]);
    if !has_program("prlimit", "util-linux") {
        return;
    }
    let ended = limited.run(&["file", scratch.text(), "--size", "3M", "--phases", "write", "--quiet"]);
    let ended = ended.failure(1, &["write at offset 1048576", "File too large"]);
    let record = partial(&ended);
    assert_eq!((record.text("failure"), record.count("bytes")), ("write:EFBIG", MIB));
    assert!(is_empty(&scratch.path("")), "{:?}", names(&scratch.path("")));
}

#[test]
fn who_starts_it_with_nohup_wants_no_end() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "1T", "--phases", "write", "--block", "4K", "--sync", "--quiet"];
    let running = nfscopy().within(&["nohup"]).start(&[&args[..], &["--time", "2s", "--interval", "100ms"]].concat());
    running.wait_for_records(1);
    running.signal(Signal::SIGHUP);
    let ended = running.end().success();
    assert!(!ended.total("write").has_flag("partial"), "{ended:?}");
}

#[test]
fn a_directory_that_vanishes_fails_the_line() {
    let scratch = Scratch::new();
    let directory = scratch.path("mount");
    fs::create_dir(&directory).unwrap();
    let args = ["tree", directory.to_str().unwrap(), "--files", "900000000", "--size", "0", "--interval", "100ms"];
    let running = nfscopy().start(&[&args[..], &["--quiet"]].concat());
    // As on a server, where somebody cleans up: the names first, then what is in it.
    running.wait_for_records(1);
    let gone = scratch.path("gone");
    eventually("its end", Duration::from_secs(20), || {
        let _ = fs::rename(&directory, &gone);
        fs::remove_dir_all(&gone).is_ok() || !gone.exists()
    });
    let ended = running.end().failure(1, &["No such file"]);
    assert_eq!(partial(&ended).text("failure"), "open:ENOENT");
}

#[test]
fn a_signal_prints_the_line_and_removes_the_files() {
    let scratch = Scratch::new();
    let source = scratch.file("source", MIB);
    let big = scratch.path("big");
    fs::File::create(&big).unwrap().set_len(1 << 42).unwrap();
    let directory = scratch.path("mount");
    fs::create_dir(&directory).unwrap();
    let there = directory.to_str().unwrap();
    let target = format!("{there}/target");
    for (signal, args) in [
        (Signal::SIGINT, &["file", there, "--size", "1T", "--phases", "write", "--block", "4K", "--sync"][..]),
        (
            Signal::SIGTERM,
            &["file", there, "--size", "256M", "--phases", "rand_read", "--time", "1m", "--block", "512", "--direct"],
        ),
        (Signal::SIGTERM, &["tree", there, "--files", "900000000"]),
        // The session on the other machine is gone.
        (Signal::SIGHUP, &["tree", there, "--files", "900000000"]),
        (Signal::SIGINT, &["copy", big.to_str().unwrap(), "/dev/null"]),
    ] {
        let running = nfscopy().start(&[args, &["--interval", "100ms", "--quiet"]].concat());
        running.wait_for_records(2);
        running.signal(signal);
        let ended = running.end().killed_by(signal);
        assert!(partial(&ended).count("ops") > 0 || args[0] == "copy", "{ended:?}");
        assert!(partial(&ended).text("failure").is_empty() && ended.stderr.is_empty(), "{ended:?}");
        assert!(is_empty(&directory), "{args:?}: {:?}", names(&directory));
    }
    lines(&["copy", &source, &target]);
    assert_eq!(names(&directory), ["target"]);
}
