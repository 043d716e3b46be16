//! `nfscopy file`: phases, sizes and what other programs do.

use testkit::Record;
use testkit::disk::{Scratch, names};
use testkit::screen::Terminal;

use super::{MIB, PHASES, lines, nfscopy, tests};

#[test]
fn every_phase_counts_every_byte_and_leaves_nothing() {
    let scratch = Scratch::new();
    let size = MIB + 1234;
    let args = ["file", scratch.text(), "--size", &size.to_string(), "--phases", &PHASES.join(","), "--ops", "100"];
    let records = lines(&args);
    assert_eq!(tests(&records), PHASES);
    for record in &records {
        let bytes = match record.text("test") {
            // No block comes twice, and the last one of the file may be the short one.
            "rand_read" | "rand_write" => record.count("bytes").clamp(99 * 4096, 100 * 4096),
            "seek" => record.count("bytes").clamp(99 * 8192, 100 * 8192),
            _ => size,
        };
        assert_eq!(record.count("bytes"), bytes, "{record:?}");
        assert_eq!((record.text("flags"), record.text("failure"), record.count("errors")), ("", "", 0));
        assert!(record.number("seconds") > 0.0 && record.number("bytes_per_s") > 0.0, "{record:?}");
        let is_written = !record.text("sync").is_empty();
        assert_eq!(is_written, record.text("test").contains("write") || record.text("test") == "seek");
        assert_eq!(is_written, !record.text("fsync_s").is_empty(), "{record:?}");
        let steps: f64 = ["open_s", "read_s", "write_s", "fsync_s", "close_s"]
            .iter()
            .filter_map(|step| record.text(step).parse::<f64>().ok())
            .sum();
        assert!(steps <= record.number("seconds") * record.number("threads") + 1e-5, "{record:?}");
    }
    assert!(names(scratch.path("").as_path()).is_empty());
}

#[test]
fn a_sweep_shares_the_size_without_a_rest() {
    let scratch = Scratch::new();
    let size = 3 * MIB + 5;
    let args = ["file", scratch.text(), "--size", &size.to_string(), "--threads", "1,3", "--block", "64K"];
    let records = lines(&[&args[..], &["--phases", "read,write"]].concat());
    let found: Vec<_> = records.iter().map(|record| (record.text("test"), record.count("threads"))).collect();
    assert_eq!(found, [("read", 1), ("write", 1), ("read", 3), ("write", 3)]);
    for record in &records {
        assert_eq!((record.count("bytes"), record.count("files")), (size, record.count("threads")), "{record:?}");
    }
}

#[test]
fn reads_come_from_the_disk_unless_the_program_to_be_like_reads_its_cache() {
    let scratch = Scratch::new();
    let records = lines(&["file", scratch.text(), "--size", "8M", "--phases", "write,read"]);
    assert!(records[1].number("cached_pct") < 1.0 && !records[1].has_flag("cached"), "{records:?}");
    let ended = nfscopy().run(&["file", scratch.text(), "--size", "8M", "--like", "dd"]).success();
    let records = ended.records();
    assert_eq!(tests(&records), ["dd_write", "dd_read"]);
    assert!(records[1].has_flag("cached") && records[1].number("cached_pct") > 99.0, "{records:?}");
    assert!(ended.stderr.contains("memory"), "{}", ended.stderr);
}

#[test]
fn is_like_bonnie_in_phases_and_order() {
    let scratch = Scratch::new();
    let bonnie = lines(&["file", scratch.text(), "--size", "4M", "--like", "bonnie"]);
    assert_eq!(
        tests(&bonnie),
        [
            "bonnie_stdio_write",
            "bonnie_write",
            "bonnie_rewrite",
            "bonnie_stdio_read",
            "bonnie_read",
            "bonnie_seek",
            "bonnie_create",
            "bonnie_stat",
            "bonnie_delete",
            "bonnie_rand_create",
            "bonnie_rand_stat",
            "bonnie_rand_delete"
        ]
    );
    assert_eq!((bonnie[5].count("ops"), bonnie[5].count("threads")), (8192, 5));
    assert_eq!(bonnie[6].count("ops"), 16384);
}

#[test]
fn is_like_tiobench_in_phases_and_order() {
    let scratch = Scratch::new();
    let tiobench = lines(&["file", scratch.text(), "--size", "4M", "--like", "tiobench", "--threads", "1,2"]);
    let once = ["tiobench_write", "tiobench_rand_write", "tiobench_read", "tiobench_rand_read"];
    assert_eq!(tests(&tiobench), [once, once].concat());
    assert!(tiobench.iter().all(|record| record.count("block_bytes") == 4096), "{tiobench:?}");
    assert_eq!(tiobench[3].count("ops"), 4000);
}

#[test]
fn direct_and_synchronous_writes_say_so() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "1M", "--block", "64K", "--phases", "write,read", "--ops", "5"];
    let records = lines(&[&args[..], &["--direct", "--sync"]].concat());
    assert!(records.iter().all(|record| record.text("mechanism") == "direct" && record.count("bytes") == MIB));
    assert_eq!((records[0].text("sync"), records[1].text("sync")), ("osync", ""));
}

#[test]
fn random_phases_visit_no_block_twice() {
    let scratch = Scratch::new();
    let phases = ["rand_read", "rand_write", "seek"];
    let args = ["file", scratch.text(), "--size", "512K", "--block", "4K", "--phases", &phases.join(",")];
    for (extra, flags) in [(&[][..], ""), (&["--ops", "129"], "short"), (&["--time", "1m"], "")] {
        let records = lines(&[&args[..], extra].concat());
        assert_eq!(tests(&records), phases);
        for record in &records {
            assert_eq!((record.count("ops"), record.count("bytes")), (128, 512 * 1024), "{record:?}");
            assert_eq!(record.text("flags"), flags, "{record:?}");
        }
    }
}

#[test]
fn intervals_follow_each_other_and_add_up() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "64M", "--phases", "rand_write", "--ops", "16384"];
    let ended = nfscopy().run(&[&args[..], &["--interval", "10ms", "--quiet"]].concat()).success();
    let (intervals, total) = (ended.some("rand_write", "interval"), ended.total("rand_write"));
    assert!(intervals.len() >= 3, "{ended:?}");
    let sum = |column: &str| intervals.iter().map(|record| record.count(column)).sum::<u64>();
    assert_eq!((sum("bytes"), sum("ops")), (total.count("bytes"), total.count("ops")));
    let seconds: f64 = intervals.iter().map(|record| record.number("seconds")).sum();
    assert!((seconds - total.number("seconds")).abs() < 1e-3, "{seconds} {total:?}");
}

#[test]
fn single_bytes_end_at_any_of_them() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "12M", "--threads", "4", "--phases", "stdio_write,stdio_read"];
    let records = lines(&[&args[..], &["--time", "200ms"]].concat());
    let ends_in_a_chunk = |record: &Record| !record.count("bytes").is_multiple_of(4096);
    assert!(records.iter().any(ends_in_a_chunk), "{records:?}");
}

#[test]
fn what_time_has_cut_short_is_worked_on_as_it_is() {
    let scratch = Scratch::new();
    let args = ["file", scratch.text(), "--size", "1T", "--phases", "write,read", "--time", "300ms"];
    let records = lines(&args);
    assert_eq!(tests(&records), ["write", "read"]);
    assert!(records[1].count("bytes") <= records[0].count("bytes"), "{records:?}");
    assert!(records[0].count("file_bytes") > records[1].count("file_bytes"), "{records:?}");
}

#[test]
fn runs_repeat_all_phases() {
    let scratch = Scratch::new();
    let records = lines(&["file", scratch.text(), "--size", "1M", "--phases", "write,read", "--runs", "2"]);
    let found: Vec<_> = records.iter().map(|record| (record.text("test"), record.count("run"))).collect();
    assert_eq!(found, [("write", 1), ("read", 1), ("write", 2), ("read", 2)]);
}

#[test]
fn a_terminal_has_the_table_of_the_program_at_the_end_and_a_pipe_has_not() {
    let scratch = Scratch::new();
    let args = |program| ["file", scratch.text(), "--size", "1M", "--like", program];
    // bonnie++ takes its time, whatever the size.
    for (program, widths, words) in [
        ("dd", &[40, 60, 80, 120][..], &["write", "bytes", "B/s", "* cached: "][..]),
        ("tiobench", &[40, 60, 80, 120], &["Sequential Reads", "Random Writes", "Latency", "* cached: "]),
        ("bonnie", &[40], &["Size", "--Seeks--", "files", "RndCreate", "* cached: "]),
    ] {
        for width in widths {
            let shown = Terminal::of_width(*width).run(&nfscopy(), &args(program)).text();
            let table = shown.rsplit_once("nfscopy: ").map(|(_, table)| table).unwrap();
            assert!(words.iter().all(|word| table.contains(word)), "{program} at {width}: {words:?} in\n{shown}");
        }
    }
    let piped = nfscopy().run(&args("tiobench")).success();
    assert!(!piped.stderr.contains("Sequential") && piped.records().len() == 16, "{piped:?}");
    assert_eq!(piped.stdout.lines().count(), 17, "{piped:?}");
}
