//! The system calls it makes, as strace sees them.

use std::collections::BTreeSet;
use std::fs;

use testkit::disk::Scratch;
use testkit::has_program;

use super::{MIB, diskread};

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
