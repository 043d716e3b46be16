//! What users of hdparm, dd, fio, ioping, bonnie++ and tiobench type, in this tool's words.

use common::cli::habits::Here::{All, Blocks, Note, OneOf, Opt, Second, Target, Tool, Verb, Words};
use common::cli::habits::{Habit, Habits, Here, habit};

/// All of them.
pub const HABITS: Habits = Habits { rows: &[HDPARM, FIO, DD, IOPING, OTHERS, OURS], verbs: &[] };

const HDPARM: &[Habit] = &[
    habit("hdparm", "-tT -Tt -T -t", Words("--like hdparm")),
    habit("hdparm", "--direct", Words("--method direct")),
    habit("hdparm", "-i -I", Verb("facts")),
];

const WRITES: Here = Note("diskread never writes: nfscopy file DIR --phases write,rand_write does");

const FIO: &[Habit] = &[
    habit("fio", "--filename FILE", Target),
    habit(
        "fio",
        "--rw --readwrite PATTERN",
        OneOf(&[
            ("read", Words("--pattern seq")),
            ("randread", Words("--pattern rand")),
            ("write", WRITES),
            ("randwrite", WRITES),
            ("randrw", WRITES),
            ("rw", WRITES),
        ]),
    ),
    habit("fio", "--bs --blocksize SIZE", Opt("--block")),
    habit("fio", "--iodepth N", Opt("--depth")),
    habit("fio", "--numjobs N", Opt("--threads")),
    habit("fio", "--direct N", OneOf(&[("1", Words("--method direct")), ("0", Words(""))])),
    habit("fio", "--runtime DUR", Opt("--time")),
    habit("fio", "--ramp_time DUR", Opt("--warmup")),
    habit("fio", "--size --io_size SIZE", Opt("--bytes")),
    habit("fio", "--randseed N", Opt("--seed")),
    habit(
        "fio",
        "--ioengine ENGINE",
        OneOf(&[
            ("io_uring", Words("--engine io_uring")),
            ("libaio", Words("--engine io_uring")),
            ("sync", Words("--engine pread")),
            ("psync", Words("--engine pread")),
            ("mmap", Words("--method mmap")),
        ]),
    ),
    habit("fio", "--output-format FORMAT", OneOf(&[("json", Words("--format json"))])),
    habit("fio", "--name --invalidate --randrepeat --group_reporting --time_based VALUE", Words("")),
    habit("fio", "--group_reporting --time_based --readonly --norandommap --thread", Words("")),
];

const DD: &[Habit] = &[
    habit("dd", "if=FILE", Target),
    habit("dd", "of=FILE", OneOf(&[("/dev/null", Words(""))])),
    habit("dd", "of=FILE", All(&[Tool("nfscopy", &["--bytes"]), Verb("copy"), Second])),
    habit("dd", "bs=SIZE ibs=SIZE", Opt("--block")),
    habit("dd", "count=N", Blocks("--bytes")),
    habit("dd", "iflag=FLAGS", OneOf(&[("direct", Words("--method direct"))])),
    habit("dd", "status=LEVEL", Words("")),
];

const IOPING: &[Habit] = &[
    habit("ioping", "-R -C", Words("--like ioping")),
    habit("ioping", "-c --count N", Words("--like ioping")),
    habit("ioping", "-D", Words("--method direct")),
    habit("ioping", "-s SIZE", Opt("--block")),
    habit("ioping", "-w DUR", Opt("--time")),
];

const OTHERS: &[Habit] = &[
    habit("bonnie++", "-d DIR", All(&[Tool("nfscopy", &["--method"]), Verb("file"), Target, Words("--like bonnie")])),
    habit("tiobench", "--numruns N", Opt("--runs")),
    habit("tiobench", "--dir DIR", Target),
    habit("iperf3", "-J --json", Words("--format json")),
];

/// What other tools of ours call so.
const OURS: &[Habit] = &[
    habit("udpblast", "-b SIZE", Opt("--block")),
    habit("tcpsink", "-p PATTERN", Opt("--pattern")),
    habit("tcpsink", "-P --streams N", Opt("--threads")),
    habit("nfscopy", "--phases LIST", Note("nfscopy file DIR measures in phases")),
];
