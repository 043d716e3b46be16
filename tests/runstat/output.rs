//! What stdout looks like.

use std::process::Command;

use common::schema::tcpsink;
use testkit::Tool;
use testkit::screen::Terminal;

use super::log::Log;
use super::{fixture, runstat};

#[test]
fn report_d_gives_its_table_back() {
    let args = ["--by", "label,threads", "--pivot", "test"];
    let table = runstat()
        .run(
            &[
                &[fixture("report-d.csv").as_str(), "--metric", "bytes_per_s,cpu_pct", "--format", "markdown"],
                &args[..],
            ]
            .concat(),
        )
        .success()
        .stdout;
    let words: Vec<String> = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for row in [
        "| label | threads | read | rand_read | write | rand_write |",
        "| eepro100 both, bonded | 1 | 10.39 6.39% | 0.4120 0.90% | 8.466 7.51% | 0.5350 0.62% |",
        "| e100 client, dedicated | 4 | 8.349 7.51% | 0.4850 1.50% | 7.759 11.80% | 0.7690 1.47% |",
        "| eepro100 both, dedicated | 2 | 8.021 5.54% | 0.5170 1.50% | 9.283 12.10% | 1.044 1.48% |",
    ] {
        assert!(words.iter().any(|line| line == row), "{row} in {table}");
    }
    let csv = runstat().run(&[&[fixture("report-d.csv").as_str()], &args[..]].concat()).success().stdout;
    assert!(csv.starts_with("label,threads,read,rand_read,write,rand_write\n"), "{csv}");
    assert!(csv.contains("\"e100 client, dedicated\",1,9721000,357000,6416000,3831000\n"), "{csv}");
    assert_eq!(csv.lines().count(), 10);
}

#[test]
fn report_d_is_concluded_per_phase() {
    let ended = runstat()
        .run(&[&fixture("report-d.csv"), "--by", "test,threads,label", "--baseline", "eepro100 both, bonded"])
        .success();
    let mean = |test: &str, label: &str| {
        let rows = ended.records();
        let is_it = |row: &&testkit::Record| {
            row.text("row") == "geomean" && row.text("test") == test && row.text("label") == label
        };
        rows.iter().find(is_it).unwrap().number("ratio")
    };
    // Bonding reads fastest in sequence, the dedicated eepro100 writes fastest, the e100 writes best at random.
    assert!(mean("read", "e100 client, dedicated") < 1.0 && mean("read", "eepro100 both, dedicated") < 1.0);
    assert!(mean("write", "eepro100 both, dedicated") > 1.0 && mean("write", "e100 client, dedicated") < 1.0);
    assert!(mean("rand_write", "e100 client, dedicated") > mean("rand_write", "eepro100 both, dedicated"));
    assert!(ended.records().iter().all(|row| ["", "too few runs"].contains(&row.text("verdict"))));
}

#[test]
fn figures_are_right_and_complete() {
    let mut log = Log::new();
    log.rates("a", &["115", "114", "115.2", "114.8", "78.8", "115.1"]);
    let ended = log.run(&[]).success();
    let row = &ended.records()[0];
    assert_eq!((row.count("n"), row.number("min"), row.number("max")), (6, 78.8, 115.2));
    assert_eq!((row.number("median"), row.number("median_low"), row.number("median_high")), (114.9, 78.8, 115.2));
    assert!((row.number("confidence_pct") - 96.875).abs() < 1e-6);
    assert!((row.number("mean") - 108.816_666_67).abs() < 1e-6, "{row:?}");
    assert!((row.number("stddev") - 14.711_412_80).abs() < 1e-6, "{row:?}");
    assert_eq!(row.count("outliers"), 1);
    assert!(
        row.text("outlier_runs").starts_with("78.8@") && row.text("outlier_runs").ends_with("log.csv:5"),
        "{row:?}"
    );
    assert_eq!((row.text("label"), row.count("run"), row.number("seconds")), ("a", 6, 60.0));
    assert!(ended.stderr.contains("the spread is large"), "{}", ended.stderr);
    let table = log.run(&["--format", "table", "--unit", "B/s"]).success().stdout;
    assert!(table.contains("114.90") && table.contains("78.80 (") && table.contains("log.csv:5"), "{table}");
}

#[test]
fn an_object_of_json_has_the_figures_of_the_line() {
    for (file, args) in [("report-d.csv", &[][..]), ("report-c.csv", &["--baseline", "10 Mbit/s half duplex"])] {
        let file = fixture(file);
        let run = |format| runstat().run(&[&[file.as_str(), "--format", format], args].concat()).success();
        let (lines, objects) = (run("csv").records(), run("json").stdout);
        assert_eq!(lines.len(), objects.lines().count());
        for (line, object) in lines.iter().zip(objects.lines()) {
            for column in ["median", "n", "ratio", "seconds", "bytes_per_s"] {
                let own = object.split_once(&format!("\"{column}\":")).map_or("", |(_, rest)| rest);
                assert_eq!(line.text(column), own.split([',', '}']).next().unwrap(), "{column}: {object}");
            }
        }
        assert_eq!(run("auto").stdout, run("csv").stdout, "no terminal");
    }
    let layers = runstat().run(&["bottleneck", &fixture("report-a.csv"), "--format", "json"]).success().stdout;
    assert_eq!(layers.lines().filter(|line| line.starts_with(r#"{"schema":"runstat-bottleneck/1","#)).count(), 14);
}

#[test]
fn verdicts_have_colours_where_somebody_looks() {
    let mut log = Log::new();
    log.rates("a", &["5"; 6]).rates("b", &["9"; 6]).rates("c", &["1"; 6]);
    let file = log.save("log.csv");
    let args = [file.as_str(), "--baseline", "a", "--quiet"];
    let raw = |tool: &Tool, more: &[&str]| {
        String::from_utf8(Terminal::of_width(80).run(tool, &[&args[..], more].concat()).raw).unwrap()
    };
    for more in [&[][..], &["--pivot", "test"]] {
        let seen = raw(&runstat(), more);
        assert!(seen.contains("\u{1b}[32m") && seen.contains("\u{1b}[31m"), "{seen:?}");
    }
    assert!(!raw(&runstat(), &["--color", "never"]).contains('\u{1b}'));
    for plain in ["NO_COLOR=1", "TERM=dumb"] {
        assert!(!raw(&runstat().within(&["env", plain]), &[]).contains('\u{1b}'), "{plain}");
    }
    let piped =
        |format, color| runstat().run(&[&args[..], &["--format", format, "--color", color]].concat()).success().stdout;
    assert!(!piped("table", "auto").contains('\u{1b}') && !piped("markdown", "always").contains('\u{1b}'));
    assert!(piped("table", "always").contains("\u{1b}[32mbetter\u{1b}[0m"));
}

#[test]
fn a_warning_on_a_terminal_is_followed_by_the_table_alone() {
    let mut log = Log::new();
    let file =
        log.text("notes of mine\n").rates("a", &["1", "1"]).nfs("write", &[("bytes_per_s", "1")]).save("log.csv");
    for args in [&[file.as_str()][..], &["bottleneck", &file]] {
        let shown = Terminal::of_width(400).run(&runstat(), args);
        assert!(shown.rows[0].ends_with("not a line of these tools: 1"), "{}", shown.text());
        assert!(!shown.rows[1].starts_with("runstat") && !shown.text().contains("0/0"), "{}", shown.text());
        let raw = String::from_utf8(shown.raw).unwrap();
        assert!(!raw.replace("\r\n", "").contains(['\r', '\u{1b}']), "nothing is drawn over: {raw:?}");
    }
}

#[test]
fn statistics_append_to_a_file_under_one_header() {
    let mut log = Log::new();
    let file = log.rates("a", &["1", "2"]).save("log.csv");
    let out = log.save("statistics.csv");
    std::fs::write(&out, "").unwrap();
    let script = format!("{0} {file} >>{out} && {0} {file} >>{out}", runstat().path());
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    let text = std::fs::read_to_string(out).unwrap();
    assert_eq!((text.lines().count(), text.matches("schema,").count()), (3, 1), "{text}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut log = Log::new();
    for index in 0..2000 {
        log.rates(&format!("label {index}"), &["1"]);
    }
    let file = log.save("log.csv");
    for format in ["csv", "json", "table", "markdown"] {
        let script = format!("set -o pipefail; {} {file} --format {format} | head -n 1", runstat().path());
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{format}: {output:?}");
    }
}

#[test]
fn tables_can_be_of_other_cells_and_units() {
    let file = fixture("report-c.csv");
    let args = ["--pivot", "test", "--by", "label", "--format", "markdown", "--quiet", "--cell"];
    let cell = |kind: &str, unit: &str| {
        runstat().run(&[&[file.as_str()], &args[..], &[kind, "--unit", unit]].concat()).success().stdout
    };
    assert!(cell("mean", "kB/s").contains("2441.48") && cell("mean", "kB/s").contains("3481.80"));
    assert!(cell("n", "kB/s").contains("|        3 |        2 |"), "{}", cell("n", "kB/s"));
    assert!(cell("max", "Mbit/s").contains("33.90"), "{}", cell("max", "Mbit/s"));
    let args = ["--pivot", "test", "--baseline", "10 Mbit/s half duplex", "--format", "table", "--quiet"];
    let table = runstat().run(&[&[file.as_str()], &args[..]].concat()).success().stdout;
    assert!(table.contains("244.2 % too few runs"), "{table}");
}

#[test]
fn what_others_wrote_is_said_again_without_its_control_characters() {
    let mut log = Log::new();
    log.header(&tcpsink::SCHEMA);
    log.rates("a\u{1b}[2J\nifstat/1,forged", &["1000", "1001", "1002"]).rates("b", &["2000", "2001", "2002"]);
    for args in [&[][..], &["--pivot", "label"], &["--format", "json"], &["--format", "table"], &["bottleneck"]] {
        let ended = log.run(args);
        let all = ended.stdout + &ended.stderr;
        assert!(!all.contains('\u{1b}') && all.contains("forged"), "{args:?}: {all}");
        assert!(!all.lines().any(|line| line.starts_with("ifstat/1")), "{args:?}: {all}");
    }
}
