//! What users of the other ifstats, sar, ip, ethtool and vnstat type, in this tool's words.

use common::cli::habits::Here::{All, Note, OneOf, Opt, Target, Verb, Words};
use common::cli::habits::{Habit, Habits, habit};

/// All of them.
pub const HABITS: Habits = Habits { rows: &[SAR, IFSTAT, ETHTOOL, IP], verbs: &[] };

/// Of the ifstats by Gaël Roualland and of iproute2.
const IFSTAT: &[Habit] = &[
    habit("the other ifstat", "-a -A -l", Note("all interfaces, unless some are named")),
    habit("the other ifstat", "-n -h -w", Note("there is one header")),
    habit("the other ifstat", "-t", Note("every line has its time")),
    habit("the other ifstat", "-i IFACE", Target),
    habit("the other ifstat", "-b", Note("lines have B/s; runstat --unit Mbit/s shows them so")),
    habit("the other ifstat", "-z --zeros", Words("")),
    habit("the other ifstat", "-T", Words("--total")),
    habit("the other ifstat", "-e --errors", Words("")),
    habit("the other ifstat", "-j -J --json --pretty", Words("--format json")),
    habit("the other ifstat", "-s --noupdate", Words("")),
    habit("the other ifstat", "-d --scan DUR", Opt("--interval")),
    habit("the other ifstat", "-r --reset", Words("")),
];

const SAR: &[Habit] = &[
    habit(
        "sar",
        "-n WHAT",
        OneOf(&[
            ("DEV", Words("")),
            ("EDEV", Words("")),
            ("IP", Words("--stack")),
            ("TCP", Words("--stack")),
            ("ETCP", Words("--stack")),
            ("UDP", Words("--stack")),
            ("SOFT", Words("--stack")),
            ("ALL", Words("--stack")),
        ]),
    ),
    habit("sar", "--iface LIST", Target),
];

const ETHTOOL: &[Habit] = &[
    habit("ethtool", "-S --statistics", Verb("stats")),
    habit("ethtool", "-k -g -c -l --driver --show-features --show-ring --show-coalesce", Verb("facts")),
];

const IP: &[Habit] = &[
    habit("ip", "-s -stats", Words("--since-boot")),
    habit("ip", "link", Words("--since-boot")),
    habit("ip", "show", Verb("facts")),
    habit("ip", "dev", Words("")),
    habit("ip", "--netns NAME", All(&[Opt("--netns")])),
];
