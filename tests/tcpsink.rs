//! `tcpsink` as a shell uses it. Nothing here asserts a speed; shaped links have limits, not speeds.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

#[path = "tcpsink/endings.rs"]
mod endings;
#[path = "tcpsink/exhaustion.rs"]
mod exhaustion;
#[path = "tcpsink/files.rs"]
mod files;
#[path = "tcpsink/lines.rs"]
mod lines;
#[path = "tcpsink/links.rs"]
mod links;
#[path = "tcpsink/listener.rs"]
mod listener;
#[path = "tcpsink/pings.rs"]
mod pings;
#[path = "tcpsink/plain.rs"]
mod plain;
#[path = "tcpsink/public.rs"]
mod public;
#[path = "tcpsink/raw.rs"]
mod raw;
#[path = "tcpsink/strangers.rs"]
mod strangers;
#[path = "tcpsink/turns.rs"]
mod turns;
#[path = "tcpsink/verbs.rs"]
mod verbs;
#[path = "tcpsink/waits.rs"]
mod waits;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use testkit::contract::{self, Way};
use testkit::{Record, Running, Tool};

fn tcpsink() -> Tool {
    Tool::built(env!("CARGO_BIN_EXE_tcpsink"))
}

/// A sink on a free port of loopback.
fn sink(args: &[&str]) -> (Running, String) {
    let running = tcpsink().start(&[&["listen", "--port", "0", "--bind", "127.0.0.1"], args].concat());
    let port = running.port();
    (running, port)
}

fn connect(port: &str) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Sends `payload` as a client that knows nothing of tcpsink would, and returns what it read back.
fn plain_client(port: &str, payload: &[u8]) -> String {
    let mut stream = connect(port);
    stream.write_all(payload).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn sum(records: &[Record]) -> u64 {
    records.iter().map(|record| record.count("bytes")).sum()
}

fn mbit_per_s(record: &Record) -> f64 {
    record.number("bytes_per_s") * 8.0 / 1e6
}

#[test]
fn keeps_the_contract() {
    contract::holds(
        &tcpsink(),
        "tcpsink",
        &[
            (&["send", "h", "--time", "0"], "--time"),
            (&["send", "h", "--time", "-1s"], "--time"),
            (&["send", "h", "--time", "99999999999999999999s"], "--time"),
            (&["send", "h", "--bytes", "99999999999999999999"], "--bytes"),
            (&["send", "h", "--bytes", "-1"], "--bytes"),
            (&["send", "h", "--bytes", "0"], "--bytes"),
            (&["send", "h", "--bytes", "1M", "--time", "1s"], "--bytes"),
            (&["send", "h", "--port", "70000"], "--port"),
            (&["send", "h", "--port", "0"], "--port"),
            (&["listen", "--port", "-1"], "--port"),
            (&["send", "h", "--interval", "5s", "--time", "1s"], "--interval"),
            (&["send", "h", "--interval", "0"], "--interval"),
            (&["send", "h", "--runs", "0"], "--runs"),
            (&["send", "h", "--runs", "2..3"], "--within"),
            (&["send", "h", "--within", "5"], "--within"),
            (&["listen", "--max-clients", "0"], "--max-clients"),
            (&["listen", "--bind", "nowhere"], "--bind"),
            (&["send", "h", "--label", &"x".repeat(2000)], "--label"),
            (&["send", "h", "--mss", "1"], "--mss"),
            (&["send", "h", "--dscp", "64"], "--dscp"),
            (&["send", "h", "--streams", "0"], "--streams"),
            (&["send", "h", "--rate", "0"], "--rate"),
            (&["send", "h", "--rate", "8", "--streams", "2"], "--rate"),
            (&["send", "h", "--interval", "500us"], "--interval"),
            (&["send", "h", "--interval", "5ms", "--per-stream", "--streams", "8"], "--per-stream"),
            (&["send", "h", "--cpu", "x"], "--cpu"),
            (&["send", "h", "--input", "-", "--time", "1s"], "--input"),
            (&["send", "h", "-4", "-6"], "--ipv4"),
            (&["ping", "h", "--request", "0"], "--request"),
            (&["listen", "--allow", "nowhere"], "--allow"),
            (&["listen", "--force"], "--output"),
            (&["listen", "--require-secret"], "--secret-file"),
            (&["send"], "HOST"),
            (&["send", "h:0"], "its port"),
            (&["send", "127.0.0.1:5201", "--port", "5202"], "two ports"),
            (&[], "usage: tcpsink listen|send"),
            (&["dance"], "dance"),
        ],
    );
}

#[test]
fn habits_of_other_programs_are_answered() {
    contract::answers(
        &tcpsink(),
        &[
            ("-c nas -i 1 -t 5 -P 2", "tcpsink: -c is iperf3's; here: tcpsink send nas -i 1 -t 5 -P 2"),
            ("-c nas -R -P 4", "tcpsink: -c is iperf3's; here: tcpsink recv nas -P 4"),
            ("-s", "tcpsink: -s is iperf3's; here: tcpsink listen"),
            (
                "-s -p 5202 -D",
                "tcpsink: -s is iperf3's; here: tcpsink listen -p 5202 (a service, or & at the end, keeps it in \
                 the background)",
            ),
            ("-c nas -u -b 100M", "tcpsink: -c is iperf3's; here: udpblast send nas -b 100M"),
            ("-c nas -u -R -b 100M -P 4", "tcpsink: -c is iperf3's; here: udpblast recv nas -b 100M (without -P)"),
            (
                "-c nas -J -f m -w 1M -t 5",
                "tcpsink: -c is iperf3's; here: tcpsink send nas --format json -w 1M -t 5 (lines have B/s; \
                 runstat --unit Mbit/s shows them so)",
            ),
            (
                "send nas -R -u -J --json -f m -O 1 -Z -N -B 10.0.0.1",
                "tcpsink: -R is iperf3's; here: udpblast recv nas --format json --warmup 1 (without --method, \
                 --nodelay, --bind; lines have B/s; runstat --unit Mbit/s shows them so)",
            ),
            ("client nas", "tcpsink: client is iperf3's; here: tcpsink send nas"),
            ("send nas --bidir", "tcpsink: --bidir is iperf3's; here: tcpsink both nas"),
            ("send nas --runtime 5", "tcpsink: --runtime is iperf3's; here: tcpsink send nas --time 5"),
            ("-H nas -t TCP_RR", "tcpsink: -H is netperf's; here: tcpsink ping nas"),
            ("-H nas -t TCP_CRR -l 30", "tcpsink: -H is netperf's; here: tcpsink connect nas --time 30"),
            ("-H nas -t TCP_MAERTS", "tcpsink: -H is netperf's; here: tcpsink recv nas"),
            ("-H nas -t UDP_RR", "tcpsink: -H is netperf's; here: udpblast ping nas"),
            ("nas", "tcpsink: nas is no verb; here: tcpsink send nas"),
            ("-w 1M nas", "tcpsink: -w stands behind a verb; here: tcpsink send nas -w 1M"),
            ("-R", "tcpsink: -R is iperf3's; here: tcpsink recv HOST"),
            ("ping nas -c 5", "tcpsink: -c is ping's; here: tcpsink ping nas (--time ends it)"),
            ("-c nas --frobnicate 3", "tcpsink: -c is iperf3's; here: tcpsink send nas (without --frobnicate, 3)"),
        ],
    );
}

#[test]
fn help_and_columns_are_as_recorded() {
    contract::is_as_recorded(&tcpsink(), "tcpsink");
}

#[test]
fn measures_as_every_tool_does() {
    let (_sink, port) = sink(&[]);
    for (verb, load) in [("send", ["--rate", "80M"]), ("recv", ["--rate", "80M"]), ("ping", ["--every", "1ms"])] {
        let args = [&[verb, "127.0.0.1", "--port", &port][..], &load].concat();
        contract::measures(&tcpsink(), &Way::timed(&args));
    }
}
