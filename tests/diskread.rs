//! `diskread` as a shell uses it. Nothing here asserts a speed.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "diskread/calls.rs"]
mod calls;
#[path = "diskread/failures.rs"]
mod failures;
#[path = "diskread/lines.rs"]
mod lines;
#[path = "diskread/origin.rs"]
mod origin;
#[path = "diskread/programs.rs"]
mod programs;
#[path = "diskread/reading.rs"]
mod reading;
#[path = "diskread/refusals.rs"]
mod refusals;

use testkit::contract::{self, Way};
use testkit::disk::Scratch;
use testkit::{Ended, Record, Tool};

const MIB: u64 = 1 << 20;

fn diskread() -> Tool {
    Tool::built(env!("CARGO_BIN_EXE_diskread"))
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
fn habits_of_other_programs_are_answered() {
    contract::answers(
        &diskread(),
        &[
            ("f -b 1M -p rand", "diskread: -b is udpblast's; here: diskread f --block 1M --pattern rand"),
            ("-tT /dev/sda", "diskread: -tT is hdparm's; here: diskread /dev/sda --like hdparm"),
            ("-t /dev/sda", "diskread: -t is hdparm's; here: diskread /dev/sda --like hdparm"),
            ("--direct /dev/sda", "diskread: --direct is hdparm's; here: diskread /dev/sda --method direct"),
            (
                "if=/dev/sda of=/dev/null bs=1M count=100 iflag=direct",
                "diskread: if= is dd's; here: diskread /dev/sda --block 1M --method direct --bytes 100M",
            ),
            ("if=/dev/sda of=/mnt/x bs=1M", "diskread: if= is dd's; here: nfscopy copy /dev/sda /mnt/x --block 1M"),
            (
                "--filename=/dev/sda --rw=randread --bs=4k --iodepth=32 --direct=1 --runtime=10 --name=x",
                "diskread: --filename is fio's; here: diskread /dev/sda --pattern rand --block 4k --depth 32 \
                 --method direct --time 10",
            ),
            (
                "--filename /dev/sda --rw randwrite --bs 4k",
                "diskread: --filename is fio's; here: diskread /dev/sda --block 4k (diskread never writes: \
                 nfscopy file DIR --phases write,rand_write does)",
            ),
            ("-c 10 /srv/f", "diskread: -c is ioping's; here: diskread /srv/f --like ioping"),
            ("-R /dev/sda", "diskread: -R is ioping's; here: diskread /dev/sda --like ioping"),
            ("-d /mnt/nas", "diskread: -d is bonnie++'s; here: nfscopy file /mnt/nas --like bonnie"),
        ],
    );
}

#[test]
fn help_and_columns_are_as_recorded() {
    contract::is_as_recorded(&diskread(), "diskread");
}

#[test]
fn measures_as_every_tool_does() {
    let scratch = Scratch::new();
    let file = scratch.file("f", MIB);
    contract::measures(&diskread(), &Way::timed(&[&file, "--method", "direct", "--pattern", "rand", "--block", "4K"]));
}
