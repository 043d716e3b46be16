//! Around a command.

use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::eventually;

use super::{ifstat, some};

#[test]
fn a_command_lends_its_status() {
    let status = |args: &[&str]| ifstat().run(args).status.code();
    assert_eq!(status(&["lo", "--", "true"]), Some(0));
    assert_eq!(status(&["lo", "--", "false"]), Some(1));
    assert_eq!(status(&["lo", "--", "sh", "-c", "exit 77"]), Some(77));
    let _ = ifstat().run(&["lo", "--", "no-such-command"]).failure(127, &["no-such-command", "No such file"]);
    let _ = ifstat().run(&["lo", "--", "/etc/passwd"]).failure(126, &["/etc/passwd", "Permission denied"]);
    let _ = ifstat().run(&["nosuch", "--", "true"]).failure(125, &["nosuch"]);
    let _ = ifstat().run(&["lo", "--", "sh", "-c", "kill -9 $$"]).killed_by(Signal::SIGKILL);
}

#[test]
fn a_commands_time_is_measured_and_its_output_stays_out_of_the_lines() {
    let ended = ifstat().run(&["lo", "--", "sh", "-c", "echo out; echo err >&2; sleep 0.2"]).success();
    assert_eq!(ended.stderr, "out\nerr\n");
    let records = ended.records();
    assert_eq!(records.len(), 2, "totals only: {records:?}");
    for record in &records {
        assert_eq!(record.text("span"), "total");
        assert!((0.2..5.0).contains(&record.number("seconds")), "{record:?}");
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("out");
    let args =
        ["lo", "--stdout", file.to_str().unwrap(), "--interval", "50ms", "--", "sh", "-c", "echo out; sleep 0.2"];
    let ended = ifstat().run(&args).success();
    assert_eq!((ended.stderr.as_str(), std::fs::read_to_string(file).unwrap().as_str()), ("", "out\n"));
    assert!(some(&ended.records(), "lo", "rx", "interval").len() > 1, "intervals when asked for");
}

#[test]
fn signals_reach_the_command() {
    for (signal, status) in [(Signal::SIGTERM, 7), (Signal::SIGUSR1, 8), (Signal::SIGINT, 9)] {
        let script =
            "trap 'exit 7' TERM; trap 'exit 8' USR1; trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done";
        let running = ifstat().start(&["lo", "--", "sh", "-c", script]);
        eventually("the command is ready", Duration::from_secs(20), || running.stderr().contains("ready"));
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.status.code(), Some(status), "{signal}: {ended:?}");
        assert_eq!(ended.records().len(), 2, "the totals are printed all the same");
    }
}
