//! The columns of `nfscopy`. `ops` are calls on a block in files, files in copies, operations in trees; `errors` those
//! that failed.

use super::cell::Fixed;
use super::column::columns;
use super::role::{AMOUNT, Form, LOSS, NAME, NOTE, OF_TIME, SETTING, SPENT, latency_of, quantile, sweep};
use super::set::{Schema, Tests};

/// What `nfscopy` prints.
pub const SCHEMA: Schema = Schema::of_lines("nfscopy/1", Mounted::COLUMNS).of_tests(Tests {
    transactions: &[
        "stat",
        "stat_server",
        "rename",
        "delete",
        "rand_stat",
        "rand_stat_server",
        "rand_rename",
        "rand_delete",
    ],
    ..Tests::BOTH
});

/// What `nfscopy facts` prints.
pub const FACTS: Schema = Schema::of_facts("nfscopy-facts/1");

columns! {
    /// The columns of `nfscopy` after the shared ones.
    pub struct Mounted {
        mechanism: &'static str, "", SETTING, "how the bytes moved: read_write, copy_file_range (the kernel or the server copied), reflink (blocks are shared), buffered, direct (O_DIRECT), stdio (single bytes); empty where none did";
        sync: &'static str, "", SETTING, "when writes are safe: fsync (once at the end), syncfs (all files together, at the end), osync (each, O_SYNC); empty where nothing is written";
        threads: u64, "", sweep(1), "threads at work, each on files of its own";
        block_bytes: Option<u64>, "B", sweep(4), "size of each read or write call";
        file_bytes: Option<u64>, "B", sweep(9), "size of each file, the largest of several";
        files: Option<u64>, "", AMOUNT, "files that the span worked on";
        open_s: Option<Fixed<6>>, "s", SPENT, "opening and creating, of all threads together; inside seconds";
        read_s: Option<Fixed<6>>, "s", SPENT, "reading, of all threads together; inside seconds";
        write_s: Option<Fixed<6>>, "s", SPENT, "writing, of all threads together; inside seconds";
        fsync_s: Option<Fixed<6>>, "s", SPENT.shown(8, "fsync", Form::Seconds), "making it safe (fsync, syncfs), of all threads together; inside seconds";
        close_s: Option<Fixed<6>>, "s", SPENT, "closing, of all threads together; inside seconds";
        cached_pct: Option<Fixed<2>>, "%", OF_TIME.shown(9, "cached", Form::Percent), "share of the bytes read that lay in this machine's page cache just before (cachestat(2), else mincore(2))";
        failure: Option<String>, "", NOTE, "the call that failed first and its errno, as in fsync:EIO";
        p50_us: Option<Fixed<3>>, "us", quantile(500).headline(3).shown(4, "p50", Form::Micros), "latency of an operation: half are at or below";
        p90_us: Option<Fixed<3>>, "us", quantile(900), "nine in ten are at or below";
        p99_us: Option<Fixed<3>>, "us", quantile(990).shown(5, "p99", Form::Micros), "99 % are at or below";
        p999_us: Option<Fixed<3>>, "us", quantile(999), "99.9 % are at or below";
        max_us: Option<Fixed<3>>, "us", quantile(1000), "the longest";
        fs_type: Option<String>, "", SETTING, "file system of the mount that holds the target (/proc/self/mountinfo)";
        source: Option<String>, "", NAME, "what is mounted there: a device, or server:/path";
        vers: Option<String>, "", SETTING, "NFS version in use";
        proto: Option<String>, "", SETTING, "its transport: tcp, tcp6, udp, rdma";
        rsize_bytes: Option<u64>, "B", sweep(10), "largest READ in use";
        wsize_bytes: Option<u64>, "B", sweep(11), "largest WRITE in use";
        nconnect: Option<u64>, "", sweep(12), "its connections (xprt lines of /proc/self/mountstats)";
        mount_mode: Option<String>, "", SETTING, "what a silent server leads to: hard (waiting for ever), soft or softerr (an error); and sync where the mount sends every write at once";
        rpcs: Option<u64>, "", AMOUNT.shown(7, "rpcs", Form::Count), "calls that this mount made in the span, for whomever";
        read_rpcs: Option<u64>, "", AMOUNT, "READ calls among them";
        write_rpcs: Option<u64>, "", AMOUNT, "WRITE calls among them";
        rpc_rtt_us: Option<Fixed<1>>, "us", latency_of("rpcs").shown(7, "rpc rtt", Form::Micros), "mean time from sending a call to its answer";
        rpc_exec_us: Option<Fixed<1>>, "us", latency_of("rpcs"), "mean time from asking for a call to its end, with waiting for a slot";
        rpc_retrans: Option<u64>, "", LOSS, "calls sent again";
        rpc_timeouts: Option<u64>, "", LOSS, "calls that ran into a time limit";
        normal_read_bytes: Option<u64>, "B", AMOUNT, "bytes that programs read from this mount through the page cache";
        normal_write_bytes: Option<u64>, "B", AMOUNT, "bytes that programs wrote to it through the page cache";
        direct_read_bytes: Option<u64>, "B", AMOUNT, "bytes that they read past it (O_DIRECT)";
        direct_write_bytes: Option<u64>, "B", AMOUNT, "bytes that they wrote past it";
        server_read_bytes: Option<u64>, "B", AMOUNT, "bytes that READ calls brought from the server";
        server_write_bytes: Option<u64>, "B", AMOUNT, "bytes that WRITE calls took to it";
    }
}
