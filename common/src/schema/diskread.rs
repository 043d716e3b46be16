//! The columns of `diskread`. `ops` are reads of a block, `errors` reads that failed.

use super::cell::Fixed;
use super::column::columns;
use super::role::{AMOUNT, Form, GAUGE, NAME, SETTING, quantile, share_without, sweep};
use super::set::{Schema, Tests};

/// What `diskread` prints.
pub const SCHEMA: Schema =
    Schema::of_lines("diskread/1", Disk::COLUMNS).of_tests(Tests { ops: "reads", has_targets: true, ..Tests::BOTH });

/// What `diskread facts` prints.
pub const FACTS: Schema = Schema::of_facts("diskread-facts/1");

columns! {
    /// The columns of `diskread` after the shared ones.
    pub struct Disk {
        method: &'static str, "", SETTING, "how it was read: buffered (evicted from the page cache first), cached (read into it first), direct (O_DIRECT), mmap, or null (nothing is read: the tool itself)";
        pattern: &'static str, "", SETTING, "order of the blocks: seq, rand (each once, shuffled) or reverse";
        engine: &'static str, "", SETTING, "what did the reads: pread, pread-pool (a thread per read in flight), io_uring, mmap or null";
        block_bytes: u64, "B", sweep(4), "size of each read";
        threads: u64, "", sweep(1), "threads that read, each with blocks of its own";
        depth: u64, "", sweep(3), "reads in flight per thread, at most";
        device_bytes: Option<u64>, "B", AMOUNT, "bytes that this process had the kernel fetch from storage in the span, read-ahead included (read_bytes in /proc/self/io, but no more than disk_bytes); empty where the file system does not count them";
        disk_bytes: Option<u64>, "B", AMOUNT, "bytes that the device itself read in the span, for whomever (sectors in its sysfs stat)";
        cached_pct: Option<Fixed<2>>, "%", share_without("device_bytes", "bytes").shown(7, "cached", Form::Percent), "share of bytes that was not fetched from the device";
        resident_bytes: Option<u64>, "B", GAUGE, "bytes of the range that lay in the page cache just before the run (cachestat(2), else mincore(2))";
        sparse_bytes: Option<u64>, "B", GAUGE, "bytes of the range that are holes (FIEMAP, else SEEK_HOLE)";
        unwritten_bytes: Option<u64>, "B", GAUGE, "bytes of the range that are allocated but were never written (FIEMAP)";
        p50_us: Option<Fixed<3>>, "us", quantile(500).headline(3).shown(4, "p50", Form::Micros), "latency of a read: half are at or below";
        p90_us: Option<Fixed<3>>, "us", quantile(900), "nine in ten are at or below";
        p99_us: Option<Fixed<3>>, "us", quantile(990).shown(5, "p99", Form::Micros), "99 % are at or below";
        p999_us: Option<Fixed<3>>, "us", quantile(999), "99.9 % are at or below";
        max_us: Option<Fixed<3>>, "us", quantile(1000).shown(9, "max", Form::Micros), "the longest";
        device: Option<String>, "", NAME, "kernel name of the block device that was read, or that holds the file";
        scheduler: Option<String>, "", SETTING, "its I/O scheduler";
        read_ahead_kb: Option<u64>, "KiB", SETTING, "its read-ahead";
        logical_block_bytes: Option<u64>, "B", SETTING, "its smallest addressable unit";
    }
}
