//! `udpblast` as a shell uses it. Losses are made by a router or by a receiver that is too slow, and must be found there.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "udpblast/addresses.rs"]
mod addresses;
#[path = "udpblast/arrivals.rs"]
mod arrivals;
#[path = "udpblast/endings.rs"]
mod endings;
#[path = "udpblast/losses.rs"]
mod losses;
#[path = "udpblast/network.rs"]
mod network;
#[path = "udpblast/pings.rs"]
mod pings;
#[path = "udpblast/strangers.rs"]
mod strangers;
#[path = "udpblast/streams.rs"]
mod streams;
#[path = "udpblast/words.rs"]
mod words;

use std::process::Command;

use testkit::bed::Bed;
use testkit::contract::{self, Way};
use testkit::{Ended, Record, Running, Tool};

fn udpblast() -> Tool {
    Tool::built(env!("CARGO_BIN_EXE_udpblast"))
}

fn listener(args: &[&str]) -> (Running, String) {
    let running = udpblast().start(&[&["listen", "--port", "0", "--bind", "127.0.0.1"], args].concat());
    let port = running.port();
    (running, port)
}

fn client(port: &str, verb: &str, args: &[&str]) -> Ended {
    udpblast().run(&[&[verb, "127.0.0.1", "--port", port], args].concat())
}

fn mbit_per_s(record: &Record) -> f64 {
    record.number("bytes_per_s") * 8.0 / 1e6
}

/// The counts that both ends must agree on.
const COUNTS: [&str; 8] =
    ["sent", "received", "lost", "duplicated", "reordered", "late", "network_lost", "socket_drops"];

fn counts(record: &Record) -> Vec<u64> {
    COUNTS.map(|column| record.count(column)).to_vec()
}

fn both_totals(ended: &Ended) -> [Record; 2] {
    let totals = ["udp_send", "udp_recv"].map(|test| ended.total(test));
    for column in COUNTS {
        // Where many share a buffer, places may be empty, at both ends.
        assert_eq!(totals[0].text(column), totals[1].text(column), "both ends say the same of {column}: {ended:?}");
    }
    totals
}

fn in_namespace(namespace: &str, command: &str) {
    let words = ["netns", "exec", namespace].into_iter().chain(command.split_whitespace());
    assert!(Command::new("ip").args(words).status().unwrap().success(), "{command}");
}

/// A listener at the receiver of a network, and a client at its sender.
fn across(bed: &Bed) -> (Running, Tool) {
    let listener = bed.at_receiver(&udpblast()).start(&["listen"]);
    listener.port();
    (listener, bed.at_sender(&udpblast()))
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &udpblast(),
        "udpblast",
        &[
            (&["send", "h", "--rate", "0"], "--rate"),
            (&["send", "h", "--rate", "-1M"], "--rate"),
            (&["send", "h", "--rate", "fast"], "--rate"),
            (&["send", "h", "--size", "10"], "--size"),
            (&["send", "h", "--size", "70000"], "--size"),
            (&["send", "h", "--burst", "0"], "--burst"),
            (&["send", "h", "--bytes", "0"], "--bytes"),
            (&["send", "h", "--bytes", "1M", "--time", "1s"], "--bytes"),
            (&["send", "h", "--time", "0"], "--time"),
            (&["send", "h", "--interval", "5s", "--time", "1s"], "--interval"),
            (&["send", "h", "--interval", "500ns"], "--interval"),
            (&["send", "h", "--time", "500ns"], "--time"),
            (&["send", "h", "--fragment"], "--size"),
            (&["send", "h", "--port", "70000"], "--port"),
            (&["search", "h", "--loss", "-1"], "--loss"),
            (&["ping", "h", "--size", "1"], "--size"),
            (&["listen", "--max-rate", "0"], "--max-rate"),
            (&["send"], "HOST"),
        ],
    );
}

#[test]
fn habits_of_other_programs_are_answered() {
    contract::answers(
        &udpblast(),
        &[
            ("-u -c nas -b 0", "udpblast: -u is iperf3's; here: udpblast send nas --rate max"),
            ("-s", "udpblast: -s is iperf3's; here: udpblast listen"),
            ("-c nas -R -b 5M -l 1000", "udpblast: -c is iperf3's; here: udpblast recv nas -b 5M -l 1000"),
            ("-H nas -t UDP_RR", "udpblast: -H is netperf's; here: udpblast ping nas"),
            ("nas", "udpblast: nas is no verb; here: udpblast send nas"),
        ],
    );
}

#[test]
fn help_and_columns_are_as_recorded() {
    contract::is_as_recorded(&udpblast(), "udpblast");
}

#[test]
fn measures_as_every_tool_does() {
    let (_listener, port) = listener(&[]);
    let load = &["--rate", "8M", "--size", "1000"][..];
    for (verb, load) in [("send", load), ("recv", load), ("ping", &[])] {
        let args = [&[verb, "127.0.0.1", "--port", &port], load].concat();
        contract::measures(&udpblast(), &Way::timed(&args));
    }
}
