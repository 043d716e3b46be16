//! What users of iperf and netperf type, in this tool's words.

use common::cli::habits::Here::{Note, OneOf, Opt, Target, Verb, Words};
use common::cli::habits::{Habit, Habits, habit};
use common::net::habits::IPERF;

/// All of them.
pub const HABITS: Habits = Habits { rows: &[ONLY_UDP, IPERF, NETPERF, OURS], verbs: &["send"] };

const ONLY_UDP: &[Habit] = &[
    habit("iperf3", "-u --udp", Words("")),
    habit("iperf3", "-b --bitrate --bandwidth RATE", OneOf(&[("0", Words("--rate max"))])),
    habit("iperf3", "--bidir", Note("send and recv at once, one in the background, are both ways")),
    habit("iperf3", "--parallel N", Opt("--streams")),
    habit("iperf3", "-B ADDR", Opt("--bind")),
    habit("iperf3", "--length SIZE", Opt("--size")),
];

const NETPERF: &[Habit] = &[
    habit("netperf", "-H HOST", Target),
    habit("netperf", "-t TEST", OneOf(&[("UDP_STREAM", Verb("send")), ("UDP_RR", Verb("ping"))])),
    habit("netperf", "-l SECONDS", Opt("--time")),
    habit("netperf", "-D SECONDS", Opt("--interval")),
    habit("netperf", "-I LEVEL", Words("--runs 3..10 --within 5%")),
    habit("netperf", "-m SIZE", Opt("--size")),
    habit("netperf", "-s -S SIZE", Opt("--buffer")),
    habit("netperf", "-P -v -d -f -i N", Words("")),
    habit("netperf", "-c -C -j", Words("")),
];

/// What other tools of ours call so.
const OURS: &[Habit] = &[habit("tcpsink", "--message SIZE", Opt("--size"))];
