//! What users of gnuplot, ministat and runstat type, in this tool's words.

use common::cli::habits::Here::{Note, Opt, Words};
use common::cli::habits::{Habit, Habits, habit};

/// All of them.
pub const HABITS: Habits = Habits { rows: &[OURS, OTHERS], verbs: &[] };

/// What other tools of ours call so.
const OURS: &[Habit] = &[
    habit("tcpsink", "-t TEXT", Opt("--title")),
    habit("runstat", "--metric -m COLUMN", Opt("--y")),
    habit("runstat", "--pivot COLUMN", Opt("--by")),
];

const OTHERS: &[Habit] = &[
    habit("gnuplot", "-p --persist", Words("")),
    habit("gnuplot", "-e SCRIPT", Note("--kind, --x, --y, --by and --where say what is drawn")),
    habit("feedgnuplot", "--stream", Words("--live")),
    habit("feedgnuplot", "--hardcopy FILE", Opt("--output")),
    habit("ministat", "-w WIDTH", Note("--size 100x30 is its width and height")),
];
