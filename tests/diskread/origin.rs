//! Where the bytes came from: a device, memory, or holes.

use std::fs::{self, File};
use std::process::Command;

use common::sys::mapping::FileMap;
use testkit::disk::{Loop, Scratch};

use super::{MIB, diskread, line};

#[test]
fn a_loop_device_is_evicted_and_really_read() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 16 * MIB);
    let Some(device) = Loop::new(&file, &[]) else { return };
    let name = device.0.trim_start_matches("/dev/");
    fs::read(&device.0).unwrap();
    for method in ["buffered", "direct", "mmap"] {
        let line = line(&[&device.0, "--method", method]);
        assert_eq!((line.text("flags"), line.count("bytes")), ("", 16 * MIB), "{line:?}");
        assert_eq!(line.text("cached_pct"), "0.00");
        // Some pages of the tool itself may have been fetched too.
        assert!((16 * MIB..17 * MIB).contains(&line.count("device_bytes")), "{line:?}");
        assert!(line.count("disk_bytes") >= 16 * MIB, "{line:?}");
        assert_eq!((line.text("device"), line.count("logical_block_bytes")), (name, 512));
        assert!(!line.text("scheduler").is_empty() && line.count("read_ahead_kb") > 0, "{line:?}");
    }
    let evicted = line(&[&device.0]);
    assert_eq!(evicted.count("resident_bytes"), 0, "{evicted:?}");
    for _ in 0..2 {
        let cached = line(&[&device.0, "--method", "cached"]);
        assert!(cached.has_flag("cached"), "{cached:?}");
        assert_eq!((cached.count("device_bytes"), cached.text("cached_pct")), (0, "100.00"));
        assert_eq!(cached.count("resident_bytes"), 16 * MIB);
    }
}

/// Half of it is mapped, and mapped pages stay in the cache.
fn assert_half_is_flagged(path: &str) {
    let held = FileMap::new(&File::open(path).unwrap(), 0, 4 << 20).unwrap();
    held.read(0, 4 << 20).unwrap();
    let ended = diskread().run(&[path, "--pattern", "rand"]).success();
    let line = ended.records().remove(0);
    held.read(0, 4 << 20).unwrap();
    assert!(line.has_flag("cached"), "{line:?}");
    assert!((49.0..51.0).contains(&line.number("cached_pct")), "{line:?}");
    assert_eq!(line.count("resident_bytes"), 4 * MIB);
    assert!(ended.stderr.contains("came from memory"), "{ended:?}");
}

#[test]
fn what_cannot_be_evicted_is_flagged_with_its_share() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 8 * MIB);
    assert_half_is_flagged(&file);
    let Some(device) = Loop::new(&file, &[]) else { return };
    assert_half_is_flagged(&device.0);
}

#[test]
fn memory_file_systems_are_cached_and_direct_is_what_it_says() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        testkit::skip("no /dev/shm", "mount a tmpfs there");
        return;
    };
    let path = directory.path().join("f");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let path = path.to_str().unwrap();
    for method in ["buffered", "cached", "mmap"] {
        let line = line(&[path, "--method", method]);
        assert!(line.has_flag("cached") && line.text("method") == method, "{line:?}");
        assert_eq!((line.count("device_bytes"), line.count("bytes")), (0, MIB));
    }
    let direct = line(&[path, "--method", "direct", "--fallback"]);
    assert!(direct.has_flag("cached"), "{direct:?}");
    assert_eq!(direct.has_flag("fallback"), direct.text("method") == "buffered", "{direct:?}");
}

#[test]
fn a_refused_direct_read_falls_back_only_if_told() {
    let file = "/proc/cpuinfo";
    let ended = diskread().run(&[file, "--method", "direct"]);
    assert_eq!(ended.failure(1, &[file, "direct", "--fallback"]).stdout, "");
    let ended = diskread().run(&[file, "--method", "direct", "--fallback"]).success();
    let line = ended.records().remove(0);
    assert!(line.has_flag("fallback") && line.text("method") == "buffered", "{line:?}");
    assert!(ended.stderr.contains("--fallback"), "{ended:?}");
}

#[test]
fn holes_and_unwritten_blocks_are_told_apart() {
    let scratch = Scratch::new();
    let sparse = scratch.path("sparse");
    File::create(&sparse).unwrap().set_len(64 * MIB).unwrap();
    for method in ["buffered", "direct"] {
        let line = line(&[sparse.to_str().unwrap(), "--method", method]);
        assert_eq!((line.text("flags"), line.count("sparse_bytes")), ("sparse", 64 * MIB), "{line:?}");
        assert_eq!(line.count("bytes"), 64 * MIB);
    }
    let unwritten = scratch.path("unwritten");
    let allocated = Command::new("fallocate").args(["-l", "64M"]).arg(&unwritten).status();
    if !allocated.is_ok_and(|status| status.success()) {
        testkit::skip("no fallocate here", "run it on ext4 or XFS, with util-linux");
        return;
    }
    let line = line(&[unwritten.to_str().unwrap()]);
    assert_eq!((line.text("flags"), line.count("unwritten_bytes")), ("unwritten", 64 * MIB), "{line:?}");
    assert_eq!(line.count("sparse_bytes"), 0);
}
