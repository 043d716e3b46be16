//! Every method, engine and pattern reads all that was asked for, once.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use testkit::disk::{Loop, Scratch};

use super::{MIB, assert_percentiles_are_ordered, diskread, line};

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
