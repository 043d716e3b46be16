//! `--like`: the measurements of other programs.

use nix::sys::signal::Signal;
use testkit::Record;
use testkit::disk::Scratch;
use testkit::screen::Terminal;

use super::{MIB, diskread};

#[test]
fn the_measurements_of_other_programs_have_their_parameters() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 4 * MIB);
    let like = |program: &str, more: &[&str]| {
        let args = [&[&file, "--like", program, "--time", "60ms", "--quiet"], more].concat();
        diskread().run(&args).success().records()
    };
    let of = |lines: &[Record], columns: &[&str]| -> Vec<String> {
        lines.iter().map(|line| columns.iter().map(|column| line.text(column)).collect::<Vec<_>>().join(" ")).collect()
    };
    let shape = ["test", "method", "pattern", "block_bytes", "threads", "depth"];
    assert_eq!(
        of(&like("hdparm", &[]), &shape),
        ["hdparm_cached cached seq 2097152 1 1", "hdparm_buffered buffered seq 2097152 1 1"]
    );
    let lines = like("crystaldiskmark", &[]);
    assert_eq!(lines.len(), 20, "five runs of four");
    assert_eq!(of(&lines[..6], &["run"]), ["1", "2", "3", "4", "5", "1"]);
    let firsts: Vec<_> = lines.into_iter().step_by(5).collect();
    assert_eq!(
        of(&firsts, &shape),
        [
            "cdm_seq1m_q8t1_read direct seq 1048576 1 8",
            "cdm_seq1m_q1t1_read direct seq 1048576 1 1",
            "cdm_rnd4k_q32t1_read direct rand 4096 1 32",
            "cdm_rnd4k_q1t1_read direct rand 4096 1 1"
        ]
    );
    let lines = like("nvme", &["--runs", "1"]);
    assert_eq!(lines.len(), 4, "--runs is heeded");
    assert_eq!(of(&lines[1..2], &shape), ["cdm_seq128k_q32t1_read direct seq 131072 1 32"]);
    assert_eq!(of(&lines[2..3], &shape), ["cdm_rnd4k_q32t16_read direct rand 4096 16 32"]);
    let lines = like("tiobench", &[]);
    assert_eq!(of(&lines, &["threads"]), ["1", "1", "2", "2", "4", "4", "8", "8"]);
    assert_eq!(of(&lines[..2], &shape)[1], "tiobench_rand_read buffered rand 4096 1 1");
    let lines = like("bonnie", &[]);
    assert_eq!(of(&lines, &shape), ["bonnie_block_read buffered seq 8192 1 1", "bonnie_seeks buffered rand 8192 5 1"]);
    let lines = like("ioping", &[]);
    assert_eq!(of(&lines, &shape), ["ioping_read direct rand 4096 1 1", "ioping_rapid_read direct rand 4096 1 1"]);
    assert_eq!(lines[0].count("ops"), 1, "one a second");
}

#[test]
fn counts_of_other_programs_are_theirs() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 64 * MIB);
    let args = [&file, "--like", "tiobench", "--quiet"];
    let ended = diskread().run(&args).success();
    for line in ended.some("tiobench_rand_read", "total") {
        assert_eq!(line.count("ops"), 4000, "{line:?}");
    }
    for line in ended.some("tiobench_seq_read", "total") {
        assert_eq!((line.count("bytes"), line.text("flags")), (64 * MIB, ""), "{line:?}");
    }
    let ended = diskread().run(&[&file, "--like", "bonnie", "--quiet"]).success();
    assert_eq!(ended.total("bonnie_seeks").count("ops"), 8192);
}

/// What the tables of the programs have in them, whatever their width.
const TABLES: [(&str, &[&str]); 6] = [
    ("hdparm", &["Timing cached", "Timing buffered", "MB/sec"]),
    ("crystaldiskmark", &["Read [MB/s]", "SEQ1M Q8T1", "RND4K Q32T1"]),
    ("nvme", &["Read [MB/s]", "SEQ128K Q32T1", "RND4K Q32T16"]),
    ("tiobench", &["Unit information", "Sequential Reads", "Random Reads", "Thr"]),
    ("bonnie", &["Seq Input", "--Seeks--", "/sec %CP", "Latency"]),
    ("ioping", &["requests", "iops", "min/avg/max"]),
];

#[test]
fn a_terminal_has_the_table_of_the_program_at_the_end() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 4 * MIB);
    for (program, words) in TABLES {
        let args = [&file, "--like", program, "--time", "20ms", "--runs", "1"];
        for width in [40, 60, 80, 120] {
            // That no row is wider is what the terminal asserts.
            let shown = Terminal::of_width(width).run(&diskread(), &args).text();
            let table = shown.rsplit_once("diskread: ").map(|(_, table)| table).unwrap();
            for word in words.iter().filter(|word| width > 40 || word.len() < 10) {
                assert!(table.contains(word), "{program} at {width}: no {word} in\n{shown}");
            }
        }
        let quiet = Terminal::of_width(80).run(&diskread(), &[&args[..], &["--quiet"]].concat()).text();
        assert!(!quiet.contains(words.last().unwrap()), "{program}: {quiet}");
    }
}

#[test]
fn lines_in_a_pipe_have_no_table_and_whoever_wants_one_finds_it_on_stderr() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 4 * MIB);
    for (format, program) in [("csv", "hdparm"), ("json", "bonnie")] {
        let args = [&file, "--like", program, "--time", "60ms", "--format", format];
        let ended = diskread().run(&args).success();
        let lines = 2 + usize::from(format == "csv");
        assert!(ended.stdout.lines().count() == lines && !ended.stderr.contains("Timing"), "{ended:?}");
        let summed = diskread().run(&[&args[..], &["--summary"]].concat()).success();
        assert_eq!(summed.stdout.lines().count(), lines, "{summed:?}");
        assert!(summed.stderr.contains("MB/sec") || summed.stderr.contains("--Seeks--"), "{summed:?}");
    }
}

#[test]
fn what_was_not_measured_is_empty_in_the_table() {
    let scratch = Scratch::new();
    let file = scratch.file("f", 4 * MIB);
    let running = diskread().start(&[&file, "--like", "ioping", "--interval", "50ms", "--summary"]);
    running.wait_for_records(1);
    running.signal(Signal::SIGINT);
    let ended = running.end().killed_by(Signal::SIGINT);
    assert!(ended.total("ioping_read").has_flag("partial"), "{ended:?}");
    for told in ["completed in", "* partial: ", "ioping -R statistics ---\nrequests completed in\n"] {
        assert!(ended.stderr.contains(told), "no {told} in {ended:?}");
    }
    let args = [&file, "/dev/nosuch", "--like", "hdparm", "--time", "60ms", "--summary"];
    let ended = diskread().run(&args);
    assert!(ended.stderr.contains(&format!("{file}:\n")) && !ended.stderr.contains("nosuch:\n"), "{ended:?}");
}
