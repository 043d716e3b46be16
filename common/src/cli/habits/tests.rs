//! Whole command lines and their answers.

use clap::{Arg, ArgAction, value_parser};

use super::Here::{Blocks, First, Note, OneOf, Opt, Target, Tool, Verb};
use super::*;

const ROWS: &[Habit] = &[
    habit("iperf3", "-c --client HOST", Target),
    habit("iperf3", "-s --server", Verb("listen")),
    habit("iperf3", "-R", Verb("recv")),
    habit("iperf3", "-u", Tool("udpblast", &["--streams", "-P"])),
    habit("iperf3", "-f FORMAT", OneOf(&[("m", Note("base units"))])),
    habit("netperf", "-t TEST", OneOf(&[("TCP_RR", Verb("recv"))])),
    habit("netperf", "-l SECONDS", Opt("--time")),
    habit("netperf", "-H HOST", Target),
    habit("dd", "bs=SIZE ibs=SIZE", Opt("--block")),
    habit("dd", "count=N", Blocks("--bytes")),
    habit("benchstat", "--alpha LEVEL", First("--base")),
];

fn probe() -> Command {
    let option = |name: &'static str, letter: char| Arg::new(name).long(name).short(letter).action(ArgAction::Set);
    let transfer = |name: &'static str| {
        let host = Arg::new("host").value_name("HOST").required(true);
        let time = option("time", 't').value_parser(value_parser!(u32));
        Command::new(name).args([host, time, option("streams", 'P'), option("length", 'l')])
    };
    Command::new("probe").subcommand(Command::new("listen")).subcommands([transfer("send"), transfer("recv")])
}

/// What a command line that clap refuses is answered.
fn answered(line: &str) -> Option<String> {
    let mut command = probe();
    let args: Vec<_> = line.split(' ').map(str::to_owned).collect();
    let error = command.try_get_matches_from_mut(std::iter::once("probe").chain(line.split(' '))).unwrap_err();
    answer(&command, &Habits { rows: &[ROWS], verbs: &["send"] }, &args, crate::cli::errors::refused(&error))
}

#[test]
fn what_was_typed_is_carried_over() {
    for (typed, here) in [
        ("-c nas", "-c is iperf3's; here: probe send nas"),
        ("--client=nas", "--client is iperf3's; here: probe send nas"),
        ("-cnas -P4 -t 5", "-c is iperf3's; here: probe send nas -P 4 -t 5"),
        ("send nas -R --streams=4", "-R is iperf3's; here: probe recv nas --streams 4"),
        ("-Rt5 nas", "-R is iperf3's; here: probe recv nas -t 5"),
        ("-R", "-R is iperf3's; here: probe recv HOST"),
        ("nas -P 4", "nas is no verb; here: probe send nas -P 4"),
        ("-P 4 nas", "-P stands behind a verb; here: probe send nas -P 4"),
        ("-c it's", r"-c is iperf3's; here: probe send 'it'\''s'"),
        ("bs=1M count=100", "bs= is dd's; here: probe send HOST --block 1M --bytes 100M"),
        ("-alpha 0.1 old new", "-alpha is benchstat's; here: probe send --base old new"),
    ] {
        assert_eq!(answered(typed).as_deref(), Some(here), "{typed}");
    }
}

#[test]
fn what_cannot_be_carried_over_is_named() {
    for (typed, here) in [
        ("-s -t 5", "-s is iperf3's; here: probe listen (without -t)"),
        ("-c nas -u -P 4", "-c is iperf3's; here: udpblast send nas (without -P)"),
        ("-c nas --odd", "-c is iperf3's; here: probe send nas (without --odd)"),
        ("-c nas -f m", "-c is iperf3's; here: probe send nas (base units)"),
    ] {
        assert_eq!(answered(typed).as_deref(), Some(here), "{typed}");
    }
}

#[test]
fn a_letter_means_what_it_means_to_the_program_that_was_meant() {
    assert_eq!(answered("-H nas -l 30").as_deref(), Some("-H is netperf's; here: probe send nas --time 30"));
    assert_eq!(answered("-c nas -l 30").as_deref(), Some("-c is iperf3's; here: probe send nas -l 30"));
    assert_eq!(answered("-t TCP_RR -H nas").as_deref(), Some("-t is netperf's; here: probe recv nas"));
}

#[test]
fn what_is_no_habit_is_left_to_clap() {
    for typed in ["send nas --odd", "send nas -t x", "send", "sned nas"] {
        assert_eq!(answered(typed), None, "{typed}");
    }
}
