//! What users of cp, rsync, dd, fio, bonnie++, tiobench and iozone type, in this tool's words.

use common::cli::habits::Here::{All, Blocks, Note, OneOf, Opt, Second, Target, Verb, Words};
use common::cli::habits::{Habit, Habits, Here, habit};

/// All of them; without a verb two paths are a copy, and one is a directory to measure in.
pub const HABITS: Habits = Habits { rows: &[OURS, BONNIE, DD, FIO, TIOBENCH, IOZONE, CP], verbs: &["file", "copy"] };

/// There is no queue depth.
const ONE_AT_A_TIME: &str = "one call at a time for each of --threads";

const LIKE_BONNIE: Here = All(&[Verb("file"), Words("--like bonnie")]);

const BONNIE: &[Habit] = &[
    habit("bonnie++", "-d DIR", All(&[LIKE_BONNIE, Target])),
    habit("bonnie++", "-s SIZE", Opt("--size")),
    habit("bonnie++", "-n N", Opt("--files")),
    habit("bonnie++", "-u -r -m -x N", Words("")),
    habit("bonnie++", "-f", All(&[Verb("file"), Words("--phases write,rewrite,read")])),
    habit("bonnie++", "-b", All(&[Verb("file"), Words("--sync")])),
    habit("bonnie++", "-D", All(&[Verb("file"), Words("--direct")])),
];

/// A file of zeros would be compressed on its way; dd's figures come with content that is not.
const WRITE_LIKE_DD: Here = All(&[Verb("file"), Words("--phases write")]);

const DD: &[Habit] = &[
    habit(
        "dd",
        "if=FILE",
        OneOf(&[("/dev/zero", WRITE_LIKE_DD), ("/dev/urandom", WRITE_LIKE_DD), ("/dev/random", WRITE_LIKE_DD)]),
    ),
    habit("dd", "if=FILE", All(&[Verb("copy"), Target])),
    habit("dd", "of=FILE", Second),
    habit("dd", "bs=SIZE ibs=SIZE obs=SIZE", Opt("--block")),
    habit("dd", "count=N", Blocks("--size")),
    habit(
        "dd",
        "oflag=FLAGS",
        OneOf(&[("direct", Words("--direct")), ("sync", Words("--sync")), ("dsync", Words("--sync"))]),
    ),
    habit("dd", "conv=WORDS status=LEVEL iflag=FLAGS", Words("")),
];

const FIO: &[Habit] = &[
    habit("fio", "--directory DIR", All(&[Verb("file"), Target])),
    habit(
        "fio",
        "--rw --readwrite PATTERN",
        OneOf(&[
            ("read", All(&[Verb("file"), Words("--phases write,read")])),
            ("write", All(&[Verb("file"), Words("--phases write")])),
            ("randread", All(&[Verb("file"), Words("--phases rand_read")])),
            ("randwrite", All(&[Verb("file"), Words("--phases rand_write")])),
            ("randrw", All(&[Verb("file"), Words("--phases rand_read,rand_write")])),
        ]),
    ),
    habit("fio", "--bs --blocksize SIZE", Opt("--block")),
    habit("fio", "--numjobs N", Opt("--threads")),
    habit("fio", "--direct N", OneOf(&[("1", Words("--direct")), ("0", Words(""))])),
    habit("fio", "--runtime DUR", Opt("--time")),
    habit("fio", "--filesize SIZE", Opt("--size")),
    habit("fio", "--iodepth N", Note(ONE_AT_A_TIME)),
    habit("fio", "--fsync N", OneOf(&[("1", Words("--sync"))])),
    habit("fio", "--nrfiles N", All(&[Verb("tree"), Opt("--files")])),
    habit("fio", "--output-format FORMAT", OneOf(&[("json", Words("--format json"))])),
    habit("fio", "--name --ioengine --invalidate --end_fsync VALUE", Words("")),
    habit("fio", "--group_reporting --time_based --thread", Words("")),
];

const LIKE_TIOBENCH: Here = All(&[Verb("file"), Words("--like tiobench")]);

const TIOBENCH: &[Habit] = &[
    habit("tiobench", "--dir DIR", All(&[LIKE_TIOBENCH, Target])),
    habit("tiobench", "--numruns N", All(&[LIKE_TIOBENCH, Opt("--runs")])),
];

const IOZONE: &[Habit] = &[
    habit("iozone", "-i TEST", All(&[Verb("file"), Words("")])),
    habit("iozone", "-e -c", Words("")),
    habit("iozone", "-I", All(&[Verb("file"), Words("--direct")])),
    habit("iozone", "-o", All(&[Verb("file"), Words("--sync")])),
];

const CP: &[Habit] = &[
    habit("cp", "-r -R -a -d --recursive --archive", Verb("copy")),
    habit("cp", "-p", Verb("copy")),
    habit("cp", "-v --verbose --progress", Verb("copy")),
    habit("cp", "--reflink", All(&[Verb("copy"), Words("--offload")])),
    habit("cp", "--reflink WHEN", All(&[Verb("copy"), Words("--offload")])),
    habit("rsync", "-c --checksum", All(&[Verb("copy"), Words("--verify")])),
];

const PHASES: Here = Opt("--phases");

/// What other tools of ours call so.
const OURS: &[Habit] = &[
    habit("udpblast", "-b SIZE", Opt("--block")),
    habit(
        "tcpsink",
        "-p LIST",
        OneOf(&[
            ("write", PHASES),
            ("read", PHASES),
            ("write,read", PHASES),
            ("rand_read", PHASES),
            ("rand_write", PHASES),
            ("read,rand_read", PHASES),
        ]),
    ),
    habit("tcpsink", "-P --streams N", Opt("--threads")),
    habit("diskread", "--bytes SIZE", Opt("--size")),
    habit("diskread", "--method METHOD", OneOf(&[("direct", Words("--direct")), ("buffered", Words(""))])),
    habit("diskread", "--pattern PATTERN", Note("--phases names what is done: read, rand_read, ...")),
    habit("diskread", "--depth N", Note(ONE_AT_A_TIME)),
    habit("iperf3", "-J --json", Words("--format json")),
];
