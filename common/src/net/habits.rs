//! What users of iperf, iperf3, netperf and nuttcp type, as far as both network tools answer alike.

use crate::cli::habits::Here::{Note, OneOf, Opt, Target, Verb, Words};
use crate::cli::habits::{Habit, habit};

/// What the lines of a log say in one unit, whatever was asked.
const UNITS: &str = "lines have B/s; runstat --unit Mbit/s shows them so";

/// iperf3's words, and those of its elder sister.
pub const IPERF: &[Habit] = &[
    habit("iperf3", "-c --client HOST", Target),
    habit("iperf3", "-s --server", Verb("listen")),
    habit("iperf3", "client", Verb("send")),
    habit("iperf3", "server", Verb("listen")),
    habit("iperf3", "-R --reverse", Verb("recv")),
    habit("iperf3", "-J --json --json-stream", Words("--format json")),
    habit("iperf3", "-f --format FORMAT", OneOf(&UNIT_LETTERS)),
    habit("iperf3", "-O --omit DUR", Opt("--warmup")),
    habit("iperf3", "-1 --one-off", Words("--once")),
    habit("iperf3", "-D --daemon", Note("a service, or & at the end, keeps it in the background")),
    habit("iperf3", "--bitrate --bandwidth RATE", Opt("--rate")),
    habit("iperf3", "--window SIZE", Opt("--buffer")),
    habit("iperf3", "--num SIZE", Opt("--bytes")),
    habit("iperf3", "-T --title TEXT", Opt("--label")),
    habit("iperf3", "--runtime DUR", Opt("--time")),
    habit("iperf3", "--version4", Words("-4")),
    habit("iperf3", "--version6", Words("-6")),
    habit("iperf3", "--get-server-output --forceflush --verbose", Words("")),
    habit("iperf3", "--logfile FILE", Note("lines go to stdout: >> FILE keeps them")),
    habit("ping", "-c --count N", Note("--time ends it")),
];

const UNIT_LETTERS: [(&str, crate::cli::habits::Here); 6] = [
    ("k", Note(UNITS)),
    ("m", Note(UNITS)),
    ("g", Note(UNITS)),
    ("t", Note(UNITS)),
    ("b", Note(UNITS)),
    ("a", Note(UNITS)),
];
