//! What users of iperf, netperf and nuttcp type, in this tool's words.

use common::cli::habits::Here::{All, OneOf, Opt, Target, Tool, Verb, Words};
use common::cli::habits::{Habit, Habits, Here, habit};
use common::net::habits::IPERF;

/// All of them.
pub const HABITS: Habits = Habits { rows: &[IPERF, ONLY_TCP, NETPERF, OURS], verbs: &["send"] };

/// udpblast, and what it lacks of what may have been typed.
const UDPBLAST: Here = Tool(
    "udpblast",
    &[
        "both",
        "connect",
        "-P",
        "--streams",
        "--method",
        "--congestion",
        "--mss",
        "--nodelay",
        "--bind",
        "--interface",
        "--cpu",
        "--dscp",
    ],
);

const ONLY_TCP: &[Habit] = &[
    habit("iperf3", "-u --udp", UDPBLAST),
    habit("iperf3", "--bidir", Verb("both")),
    habit("iperf", "-d --dualtest", Verb("both")),
    habit("iperf3", "--parallel N", Opt("--streams")),
    habit("iperf3", "-B BIND", Opt("--bind")),
    habit("iperf3", "--bind-dev NAME", Opt("--interface")),
    habit("iperf3", "-A --affinity LIST", Opt("--cpu")),
    habit("iperf3", "-C NAME", Opt("--congestion")),
    habit("iperf3", "-M --set-mss BYTES", Opt("--mss")),
    habit("iperf3", "-N --no-delay", Words("--nodelay")),
    habit("iperf3", "-Z --zerocopy", Words("--method sendfile")),
    habit("iperf3", "-F --file FILE", Opt("--input")),
    habit("iperf3", "--length SIZE", Opt("--message")),
    habit("iperf3", "--fq-rate RATE", Opt("--rate")),
];

const NETPERF: &[Habit] = &[
    habit("netperf", "-H HOST", Target),
    habit(
        "netperf",
        "-t TEST",
        OneOf(&[
            ("TCP_STREAM", Verb("send")),
            ("TCP_SENDFILE", All(&[Verb("send"), Words("--method sendfile")])),
            ("TCP_MAERTS", Verb("recv")),
            ("TCP_RR", Verb("ping")),
            ("TCP_CRR", Verb("connect")),
            ("UDP_STREAM", UDPBLAST),
            ("UDP_RR", All(&[UDPBLAST, Verb("ping")])),
        ]),
    ),
    habit("netperf", "-l SECONDS", Opt("--time")),
    habit("netperf", "-D SECONDS", Opt("--interval")),
    habit("netperf", "-I LEVEL", Words("--runs 3..10 --within 5%")),
    habit("netperf", "-m SIZE", Opt("--message")),
    habit("netperf", "-s -S SIZE", Opt("--buffer")),
    habit("netperf", "-P -v -d -f -i N", Words("")),
    habit("netperf", "-c -C -j", Words("")),
];

/// What other tools of ours call so.
const OURS: &[Habit] = &[
    habit("udpblast", "--size SIZE", Opt("--message")),
    habit("diskread", "--block SIZE", Opt("--message")),
    habit("diskread", "--threads N", Opt("--streams")),
];
