//! What users of ministat, benchstat and hyperfine type, in this tool's words.

use common::cli::habits::Here::{First, Note, OneOf, Opt, Words};
use common::cli::habits::{Habit, Habits, habit};

/// All of them.
pub const HABITS: Habits = Habits { rows: &[MINISTAT, BENCHSTAT, OURS, OTHERS], verbs: &[] };

/// Its first file is what the others are compared with.
const MINISTAT: &[Habit] = &[
    habit("ministat", "-c LEVEL", First("--baseline-file")),
    habit("ministat", "-w WIDTH", First("--baseline-file")),
    habit("ministat", "-s -A", First("--baseline-file")),
    habit("ministat", "-n", Words("")),
    habit("ministat", "-C COLUMN", Note("--metric names a column")),
    habit("ministat", "-d DELIMITER", Words("")),
];

/// Its first file is what the others are compared with.
const BENCHSTAT: &[Habit] = &[
    habit("benchstat", "--alpha --confidence LEVEL", First("--baseline-file")),
    habit("benchstat", "--delta-test TEST", First("--baseline-file")),
    habit("benchstat", "--col COLUMN", OneOf(&[(".file", First("--baseline-file"))])),
    habit("benchstat", "--col --table COLUMN", Opt("--pivot")),
    habit("benchstat", "--row --split --group COLUMN", Opt("--by")),
    habit("benchstat", "--filter CONDITION", Opt("--where")),
    habit("benchstat", "--ignore COLUMN", Note("--by names the columns that tell groups apart")),
    habit("benchstat", "--sort ORDER", Note("groups stand in the order of their first line")),
    habit("benchstat", "--csv", Words("--format csv")),
    habit("benchstat", "--markdown", Words("--format markdown")),
    habit("benchstat", "--geomean", Words("")),
];

/// What other tools call so.
const OURS: &[Habit] = &[
    habit("udpblast", "-b LABEL", Opt("--baseline")),
    habit("diskread", "-m COLUMN", Opt("--metric")),
    habit("nfscopy", "-f FORMAT", Opt("--format")),
    habit("runplot", "-y COLUMN", Opt("--metric")),
];

const OTHERS: &[Habit] = &[
    habit("iperf3", "-J --json", Words("--format json")),
    habit("hyperfine", "--export-markdown FILE", Note("--format markdown writes to stdout: > FILE keeps it")),
    habit("hyperfine", "--export-csv FILE", Note("--format csv writes to stdout: > FILE keeps it")),
];
