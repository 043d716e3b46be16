//! `diskread` as a shell uses it. Nothing here asserts a speed.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "diskread/failures.rs"]
mod failures;
#[path = "diskread/programs.rs"]
mod programs;
#[path = "diskread/refusals.rs"]
mod refusals;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};

use common::sys::mapping::FileMap;
use testkit::disk::{Loop, Scratch};
use testkit::{Ended, Record, Tool, contract, has_program};

const MIB: u64 = 1 << 20;

fn diskread() -> Tool {
    Tool::new(env!("CARGO_BIN_EXE_diskread"))
}

/// Runs it quietly; the one line it prints.
fn line(args: &[&str]) -> Record {
    let ended = diskread().run(&[args, &["--quiet"]].concat()).success();
    let mut records = ended.records();
    assert_eq!(records.len(), 1, "{ended:?}");
    records.remove(0)
}

/// The only line that a failed run has printed.
fn partial(ended: &Ended) -> Record {
    let records = ended.records();
    assert_eq!(records.len(), 1, "{ended:?}");
    assert!(records[0].has_flag("partial"), "{ended:?}");
    records[0].clone()
}

fn assert_percentiles_are_ordered(record: &Record) {
    let cells = ["p50_us", "p90_us", "p99_us", "p999_us", "max_us"].map(|column| record.number(column));
    assert!(cells.is_sorted() && cells[0] > 0.0, "{record:?}");
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &diskread(),
        "diskread",
        &[
            (&["f", "--time", "0"], "--time"),
            (&["f", "--time", "-1s"], "--time"),
            (&["f", "--bytes", "0"], "--bytes"),
            (&["f", "--bytes", "99999999999999999999"], "--bytes"),
            (&["f", "--block", "0"], "--block"),
            (&["f", "--block", "-1"], "--block"),
            (&["f", "--block", "2G"], "--block"),
            (&["f", "--block", "1G", "--threads", "5"], "--threads"),
            (&["f", "--threads", "0"], "--threads"),
            (&["f", "--threads", "1024", "--depth", "2", "--engine", "pread"], "--depth"),
            (&["f", "--depth", "0"], "--depth"),
            (&["f", "--depth", "2", "--method", "mmap"], "--depth"),
            (&["f", "--engine", "pread", "--method", "null"], "--engine"),
            (&["f", "--fallback"], "--fallback"),
            (&["f", "--method", "magic"], "--method"),
            (&["f", "--pattern", "magic"], "--pattern"),
            (&["f", "--like", "magic"], "--like"),
            (&["f", "--like", "hdparm", "--block", "4K"], "--like"),
            (&["f", "--offset", "-5"], "--offset"),
            (&["f", "--seed", "x"], "--seed"),
            (&["f", "--interval", "5s", "--time", "1s"], "--interval"),
            (&["f", "--runs", "2..3"], "--within"),
            (&["f", "--label", &"x".repeat(2000)], "--label"),
            (&["facts"], "PATH"),
            (&["--method", "direct"], "PATH"),
        ],
    );
}

#[test]
fn help_and_header_are_as_recorded() {
    for (args, snapshot) in [
        (&["--help"][..], include_str!("snapshots/diskread-help.txt")),
        (&["facts", "--help"], include_str!("snapshots/diskread-facts-help.txt")),
        (&["--columns"], include_str!("snapshots/diskread-columns.csv")),
    ] {
        assert_eq!(diskread().run(args).success().stdout, snapshot, "{args:?}; `make snapshots` records it anew");
    }
}

#[test]
fn odd_sizes_are_read_exactly_by_every_method_and_pattern() {
    let scratch = Scratch::new();
    for bytes in [0, 1, 511, 9120] {
        let file = scratch.file(&bytes.to_string(), bytes);
        let before = fs::read(&file).unwrap();
        for method in ["buffered", "cached", "direct", "mmap"] {
            for pattern in ["seq", "rand", "reverse"] {
                let line = line(&[&file, "--method", method, "--pattern", pattern, "--block", "4K"]);
                assert_eq!((line.count("bytes"), line.count("ops")), (bytes, bytes.div_ceil(4096)), "{line:?}");
                assert_eq!((line.text("method"), line.text("pattern")), (method, pattern));
                assert_eq!(line.text("test"), format!("{pattern}_read"));
                assert!(!line.has_flag("short"), "{line:?}");
                match line.text("bytes_per_s") {
                    "" => assert_eq!(bytes, 0, "{line:?}"),
                    rate => assert!(rate.parse::<f64>().unwrap().is_finite(), "{line:?}"),
                }
            }
        }
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

#[test]
fn every_way_of_reading_reads_all_of_it_once() {
    let scratch = Scratch::new();
    let bytes = 5 * MIB + 12_345;
    let file = scratch.file("f", bytes);
    for (args, engine) in [
        (&["--threads", "3"][..], "pread"),
        (&["--method", "direct", "--depth", "8", "--engine", "pread"], "pread-pool"),
        (&["--method", "direct", "--depth", "8", "--threads", "2", "--engine", "pread"], "pread-pool"),
        (&["--method", "cached", "--depth", "4", "--engine", "pread"], "pread-pool"),
        (&["--method", "mmap", "--threads", "2"], "mmap"),
        (&["--method", "null"], "null"),
    ] {
        for pattern in ["seq", "rand", "reverse"] {
            let line = line(&[&[&file, "--block", "64K", "--pattern", pattern], args].concat());
            assert_eq!((line.count("bytes"), line.count("ops")), (bytes, 81), "{line:?}");
            assert_eq!(line.text("engine"), engine);
            assert_percentiles_are_ordered(&line);
        }
    }
}

#[test]
fn io_uring_reads_all_of_it_once_where_it_is_allowed() {
    let scratch = Scratch::new();
    let bytes = 5 * MIB + 12_345;
    let file = scratch.file("f", bytes);
    let probe = diskread().run(&[&file, "--engine", "io_uring", "--quiet"]);
    if !probe.status.success() {
        testkit::skip(&probe.stderr, "sysctl kernel.io_uring_disabled=0");
        return;
    }
    for method in ["buffered", "cached", "direct"] {
        for (threads, depth) in [("1", "1"), ("1", "32"), ("3", "7")] {
            for pattern in ["seq", "rand", "reverse"] {
                let args = [&file, "--method", method, "--block", "64K", "--pattern", pattern];
                let more = ["--threads", threads, "--depth", depth, "--engine", "io_uring"];
                let line = line(&[&args[..], &more].concat());
                assert_eq!((line.count("bytes"), line.count("ops")), (bytes, 81), "{line:?}");
                assert_eq!((line.text("engine"), line.text("depth")), ("io_uring", depth));
                assert_percentiles_are_ordered(&line);
            }
        }
    }
}

#[test]
fn where_io_uring_is_refused_threads_do_it_and_the_line_says_so() {
    if !has_program("strace", "strace") {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let refused = diskread().within(&[
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        "trace=io_uring_setup",
        "-e",
        "inject=io_uring_setup:error=EPERM",
    ]);
    let args = [&file, "--method", "direct", "--depth", "4", "--block", "64K"];
    let line = refused.run(&args).success().records().remove(0);
    assert_eq!((line.text("engine"), line.count("bytes")), ("pread-pool", MIB));
    let ended = refused.run(&[&args[..], &["--engine", "io_uring"]].concat());
    assert_eq!(ended.failure(1, &["io_uring", "--engine"]).stdout, "");
}

#[test]
fn amounts_and_offsets_are_exact() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    for (args, bytes, is_short) in [
        (&["--bytes", "100000"][..], 100_000, false),
        (&["--bytes", "100000", "--pattern", "rand", "--threads", "3"], 100_000, false),
        (&["--bytes", "100000", "--pattern", "reverse", "--threads", "2"], 100_000, false),
        (&["--offset", "1000000"], 48_576, false),
        (&["--offset", "1M"], 0, false),
        (&["--offset", "1000000", "--bytes", "1M"], 48_576, true),
        (&["--bytes", "2M", "--pattern", "rand"], MIB, true),
        (&["--bytes", "1M", "--method", "mmap", "--offset", "4097"], MIB - 4097, true),
    ] {
        let line = line(&[&[&file, "--block", "4K"], args].concat());
        assert_eq!((line.count("bytes"), line.has_flag("short")), (bytes, is_short), "{args:?} {line:?}");
    }
    let args = [&file, "--method", "cached", "--bytes", "3M", "--time", "20s", "--block", "64K"];
    assert_eq!(line(&args).count("bytes"), 3 * MIB, "goes round until it has so much");
    let ended = diskread().run(&[&file, "--offset", "2M"]);
    assert_eq!(ended.failure(2, &["--offset", "1048576"]).stdout, "");
    let ended = diskread().run(&[&file, "--offset", "15E", "--bytes", "15E"]);
    assert_eq!(ended.failure(2, &["--offset"]).stdout, "");
}

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

#[test]
fn three_tebibytes_do_not_overflow() {
    let scratch = Scratch::new();
    let path = scratch.path("huge");
    let file = File::create(&path).unwrap();
    if file.set_len(3 << 40).is_err() {
        testkit::skip("the file system has no files of 3 TiB", "use ext4 or XFS");
        return;
    }
    file.write_all_at(b"the end", (3 << 40) - 7).unwrap();
    file.sync_all().unwrap();
    let path = path.to_str().unwrap();
    let end = line(&[path, "--offset", "3145727M", "--pattern", "reverse", "--block", "4K"]);
    assert_eq!((end.count("bytes"), end.count("ops")), (MIB, 256));
    assert_eq!(end.count("sparse_bytes"), MIB - 4096, "{end:?}");
    let random = line(&[path, "--pattern", "rand", "--bytes", "1M", "--threads", "2"]);
    assert_eq!((random.count("bytes"), random.has_flag("sparse")), (MIB, true));
    let mapped = line(&[path, "--method", "mmap", "--pattern", "rand", "--bytes", "64K"]);
    assert_eq!(mapped.count("bytes"), 65_536);
}

#[test]
fn a_device_smaller_than_a_block_is_read_whole() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let Some(device) = Loop::new(&file, &[]) else { return };
    for args in [&["--method", "buffered"][..], &["--method", "direct"], &["--method", "direct", "--depth", "4"]] {
        let line = line(&[&[&device.0, "--block", "2M"], args].concat());
        assert_eq!((line.count("bytes"), line.count("ops"), line.text("flags")), (MIB, 1, ""), "{line:?}");
    }
}

#[test]
fn files_without_a_size_are_read_to_their_end() {
    let expected = fs::read("/proc/cpuinfo").unwrap().len() as u64;
    let line = line(&["/proc/cpuinfo"]);
    // Frequencies in it may change their digits.
    assert!(line.count("bytes").abs_diff(expected) < 100, "{line:?}");
    assert!(line.has_flag("cached") && !line.has_flag("short"), "{line:?}");
    for args in [&["--pattern", "rand"][..], &["--threads", "2"], &["--depth", "2"]] {
        let ended = diskread().run(&[&["/proc/cpuinfo"], args].concat());
        assert_eq!(ended.failure(2, &["size"]).stdout, "");
    }
    let ended = diskread().run(&["/proc/cpuinfo", "--method", "mmap"]);
    assert_eq!(ended.failure(1, &["mapped"]).stdout, "");
}

#[test]
fn nothing_is_ever_opened_for_writing() {
    if !has_program("strace", "strace") {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let trace = scratch.path("trace");
    let trace = trace.to_str().unwrap();
    let traced = diskread().within(&["strace", "-f", "-o", trace, "-e", "trace=open,openat,openat2,creat"]);
    for args in [
        &["--method", "buffered"][..],
        &["--method", "cached"],
        &["--method", "direct", "--depth", "4"],
        &["--method", "mmap"],
        &["--like", "hdparm", "--time", "50ms"],
        &["--method", "direct", "--fallback"],
    ] {
        let _ = traced.run(&[&[file.as_str()], args].concat()).success();
        let calls = fs::read_to_string(trace).unwrap();
        assert!(calls.contains(&file), "{calls}");
        for word in ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "creat("] {
            assert!(!calls.contains(word), "{word} in {calls}");
        }
    }
}

/// The offsets of all reads of 4096 bytes, by thread.
fn offsets_by_thread(trace: &str) -> Vec<BTreeSet<u64>> {
    let mut threads = std::collections::BTreeMap::<&str, BTreeSet<u64>>::new();
    for call in trace.lines().filter(|call| call.contains("pread64") && call.contains(", 4096, ")) {
        let thread = call.split_whitespace().next().unwrap();
        let offset = call.split(", 4096, ").nth(1).unwrap().split(|c: char| !c.is_ascii_digit()).next().unwrap();
        threads.entry(thread).or_default().insert(offset.parse().unwrap());
    }
    threads.into_values().collect()
}

#[test]
fn two_threads_read_different_offsets() {
    if !has_program("strace", "strace") {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.file("f", 255 * 4096);
    let trace = scratch.path("trace");
    let traced = diskread().within(&["strace", "-f", "-o", trace.to_str().unwrap(), "-e", "trace=pread64"]);
    let mut orders = Vec::new();
    for seed in ["1", "2"] {
        let args = [&file, "--pattern", "rand", "--threads", "2", "--bytes", "400K", "--seed", seed];
        let line = traced.run(&args).success().records().remove(0);
        assert_eq!(line.count("bytes"), 400 << 10);
        let threads = offsets_by_thread(&fs::read_to_string(&trace).unwrap());
        assert_eq!(threads.len(), 2);
        assert!(threads[0].is_disjoint(&threads[1]));
        assert_eq!(threads[0].len() + threads[1].len(), 100);
        orders.push(threads);
    }
    assert_ne!(orders[0], orders[1], "another seed, another order");
    // 255 blocks by two threads: none is lost, none is read twice.
    let _ = traced.run(&[&file, "--threads", "2", "--block", "4K"]).success();
    let threads = offsets_by_thread(&fs::read_to_string(&trace).unwrap());
    let all: BTreeSet<_> = threads.iter().flatten().copied().collect();
    assert_eq!(all, (0..255).map(|block| block * 4096).collect());
    assert_eq!(threads[0].len() + threads[1].len(), 255);
}

#[test]
fn time_intervals_warm_up_and_runs_are_heeded() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    let args =
        [&file, "--method", "cached", "--time", "600ms", "--interval", "200ms", "--warmup", "100ms", "--runs", "2"];
    let ended = diskread().run(&args).success();
    assert_eq!(ended.stderr, "", "nothing to say off a terminal");
    let totals = ended.select("seq_read", "total");
    assert_eq!(totals.iter().map(|line| line.count("run")).collect::<Vec<_>>(), [1, 2]);
    for total in &totals {
        assert!((0.5..1.5).contains(&total.number("seconds")), "{total:?}");
        assert!(total.count("bytes") > 2 * MIB, "goes round: {total:?}");
        let of_run = |line: &&Record| line.text("run") == total.text("run");
        let intervals = ended.select("seq_read", "interval");
        let sum: u64 = intervals.iter().filter(of_run).map(|line| line.count("bytes")).sum();
        assert_eq!(sum, total.count("bytes"));
    }
    let used_up = line(&[&file, "--warmup", "20s"]);
    assert!(used_up.has_flag("short") && used_up.text("bytes_per_s").is_empty(), "{used_up:?}");
    let once = line(&[&file, "--method", "buffered", "--time", "30s"]);
    assert_eq!(once.count("bytes"), MIB, "a second round would read memory");
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
fn several_paths_are_read_in_turn_even_if_one_fails() {
    let scratch = Scratch::new();
    let [a, b] = [scratch.file("a", MIB), scratch.file("b", 2 * MIB)];
    let ended = diskread().run(&[&a, "/dev/nosuch", &b]);
    let lines = ended.records();
    assert_eq!(lines.iter().map(|line| line.text("target")).collect::<Vec<_>>(), [&a, &b]);
    assert_eq!(lines.iter().map(|line| line.count("bytes")).collect::<Vec<_>>(), [MIB, 2 * MIB]);
    let ended = ended.failure(1, &["/dev/nosuch", "No such file"]);
    assert!(!ended.stderr.contains("os error"), "{ended:?}");
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
