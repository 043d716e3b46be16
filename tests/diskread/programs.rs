//! `--like`: the measurements of other programs.

use testkit::Record;
use testkit::disk::Scratch;

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
