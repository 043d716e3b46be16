//! Tables of invented lines, at several widths.

use super::*;
use crate::schema::{ifstat, tcpsink};

const WIDE: Size = Size { width: 100, height: 40 };

/// The cells of a line, those that are named.
fn line(schema: &'static Schema, named: &[(&str, &str)]) -> Vec<String> {
    let cell = |name: &str| named.iter().find(|(own, _)| *own == name).map_or("", |(_, cell)| cell);
    schema.columns().map(|column| cell(column.name).to_owned()).collect()
}

fn row(table: &mut Table, named: &[(&str, &str)], size: Size) -> String {
    let cells = line(table.schema, named);
    table.add(cells.into(), size) + &table.rest(size)
}

fn transfer(span: &'static str, second: &'static str, rate: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("time", second),
        ("test", "tcp_send"),
        ("run", "1"),
        ("span", span),
        ("seconds", "1.000000"),
        ("bytes", "117000000"),
        ("ops", "100"),
        ("errors", "3"),
        ("bytes_per_s", rate),
        ("ops_per_s", "100"),
        ("cpu_pct", "12.34"),
        ("rtt_us", "431.5"),
        ("cwnd_bytes", "589824"),
    ]
}

const FIRST: &str = "2026-12-01T10:00:00.000Z";
const SECOND: &str = "2026-12-01T10:00:01.000Z";

#[test]
fn a_transfer_is_a_header_rows_a_rule_and_a_total() {
    let mut table = Table::new(&tcpsink::SCHEMA, Look::default());
    let mut text = row(&mut table, &transfer("interval", FIRST, "117000000.0"), WIDE);
    text += &row(&mut table, &transfer("interval", SECOND, "90000000.0"), WIDE);
    text += &row(&mut table, &transfer("total", FIRST, "103500000.0"), WIDE);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    for word in ["seconds", "test", "retrans", "MB/s", "Mbit/s", "cpu %", "rtt us", "cwnd kB"] {
        assert!(lines[0].contains(word), "{word}: {text}");
    }
    assert!(!lines[0].contains("calls/s"), "{text}");
    assert!(lines[1].contains("0.00-1.00") && lines[1].contains("936.0") && lines[2].contains("1.00-2.00"), "{text}");
    assert!(lines[3].starts_with("-----") && lines[4].contains("828.0"), "{text}");
}

#[test]
fn no_row_is_wider_than_the_terminal_and_the_rate_stays() {
    for width in [20, 40, 60, 80, 120] {
        let mut table = Table::new(&tcpsink::SCHEMA, Look::default());
        let text = row(&mut table, &transfer("interval", FIRST, "117000000.0"), Size { width, height: 24 });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
        assert!(width < 40 || text.contains("Mbit/s"), "{width}: {text}");
    }
}

#[test]
fn the_header_comes_again_after_a_screenful_a_resize_and_another_unit() {
    let mut table = Table::new(&tcpsink::SCHEMA, Look::default());
    let small = Size { width: 100, height: 10 };
    let headers = |text: &str| text.matches("Mbit/s").count() + text.matches("kbit/s").count();
    let rows: String = (0..16).map(|_| row(&mut table, &transfer("interval", FIRST, "117000000.0"), small)).collect();
    assert_eq!(headers(&rows), 2, "{rows}");
    assert_eq!(headers(&row(&mut table, &transfer("interval", FIRST, "117000000.0"), Size { width: 60, ..small })), 1);
    let slow = row(&mut table, &transfer("interval", FIRST, "500.0"), Size { width: 60, ..small });
    assert!(slow.contains("kbit/s"), "{slow}");
}

#[test]
fn pings_are_latencies_and_no_bytes() {
    let mut table = Table::new(&tcpsink::SCHEMA, Look::default());
    let ping = [
        ("time", FIRST),
        ("test", "tcp_ping"),
        ("run", "1"),
        ("span", "total"),
        ("seconds", "12.5"),
        ("bytes_per_s", "300.0"),
        ("ops_per_s", "17000.0"),
        ("p50_us", "57.0"),
        ("p99_us", "24068.0"),
    ];
    let text = row(&mut table, &ping, WIDE);
    assert!(text.contains("p50 us") && text.contains("p99 ms") && text.contains("24.07"), "{text}");
    assert!(!text.contains("MB/s") && text.contains("calls/s") && text.contains("17000"), "{text}");
}

#[test]
fn a_flag_is_explained_once() {
    let mut table = Table::new(&tcpsink::SCHEMA, Look::default());
    let mut flagged = transfer("interval", FIRST, "117000000.0");
    flagged.push(("flags", "capped"));
    let text = row(&mut table, &flagged, WIDE) + &row(&mut table, &flagged, WIDE);
    assert_eq!(text.matches("granted less").count(), 1, "{text}");
}

#[test]
fn names_of_others_are_text() {
    let mut table = Table::new(&ifstat::SCHEMA, Look::default());
    let evil = [("time", FIRST), ("test", "rx"), ("target", "a\x1b[31m"), ("seconds", "1"), ("bytes_per_s", "5000")];
    let text = row(&mut table, &evil, WIDE);
    assert!(!text.contains('\x1b') && text.contains("a\\u{1b}[31m"), "{text}");
}

#[test]
fn a_fact_is_told_whole() {
    let mut table = Table::new(&ifstat::DIFFERENCES, Look::default());
    let size = Size { width: 40, height: 24 };
    let text = row(&mut table, &[("key", "queue.scheduler.of.a.disk"), ("before", "mq-deadline"), ("unit", "B")], size);
    assert!(text.lines().all(|line| line.len() <= 40) && !text.contains('~'), "{text}");
    let letters = |text: &str| {
        let mut letters: Vec<_> = text.chars().filter(|c| !c.is_whitespace()).collect();
        letters.sort_unstable();
        letters
    };
    let told: String = text.lines().skip(1).collect();
    assert_eq!(letters(&told), letters("queue.scheduler.of.a.disk mq-deadline B"), "{text}");
}

#[test]
fn what_is_asked_for_is_shown_and_everything_in_a_block() {
    let look = Look { also: vec!["ops".into(), "min_rtt_us".into()], ..Look::default() };
    let mut table = Table::new(&tcpsink::SCHEMA, look);
    let mut cells = transfer("interval", FIRST, "117000000.0");
    cells.push(("min_rtt_us", "12.0"));
    let text = row(&mut table, &cells, Size { width: 140, height: 24 });
    assert!(text.contains("min_rtt_us us") && text.contains(" ops"), "{text}");
    let mut block = Table::new(&tcpsink::SCHEMA, Look { is_block: true, ..Look::default() });
    let text = row(&mut block, &cells, WIDE);
    assert!(text.lines().any(|line| line.starts_with("cwnd_bytes") && line.ends_with("589824 B")), "{text}");
}

fn interface(
    test: &'static str,
    span: &'static str,
    second: &'static str,
    rate: &'static str,
) -> Vec<(&'static str, &'static str)> {
    vec![
        ("time", second),
        ("test", test),
        ("target", "eth0"),
        ("run", "1"),
        ("span", span),
        ("seconds", "1.000000"),
        ("errors", "0"),
        ("bytes_per_s", rate),
        ("ops_per_s", "1000.000"),
        ("lost", if test == "tx" { "7" } else { "0" }),
    ]
}

fn lines(table: &mut Table, all: &[Vec<(&str, &str)>], size: Size) -> String {
    all.iter().map(|named| table.add(line(table.schema, named).into(), size)).collect()
}

#[test]
fn both_directions_of_an_interface_are_one_row() {
    let mut table = Table::new(&ifstat::SCHEMA, Look::default());
    let pair = ["rx", "tx"].map(|test| interface(test, "interval", FIRST, "117000000.0"));
    let text = lines(&mut table, &pair, WIDE);
    assert_eq!(text.lines().count(), 2, "{text}");
    let header = text.lines().next().unwrap();
    assert!(["rx Mbit/s", "tx Mbit/s", "tx lost"].iter().all(|title| header.contains(title)), "{text}");
    assert!(text.lines().nth(1).unwrap().ends_with(" 7") && text.matches("936.0").count() == 2, "{text}");
    let alone = lines(&mut table, &[interface("rx", "interval", SECOND, "117000000.0")], WIDE);
    assert!(alone.is_empty() && table.rest(WIDE).contains("936.0"), "{alone}");
}

#[test]
fn the_newest_interval_is_drawn_over_the_one_before_and_the_totals_stay() {
    let mut table = Table::new(&ifstat::SCHEMA, Look { is_top: true, ..Look::default() });
    let sample = |span, second| ["rx", "tx"].map(|test| interface(test, span, second, "117000000.0"));
    assert_eq!(lines(&mut table, &sample("interval", FIRST), WIDE), "");
    let first = table.repaint(WIDE);
    assert!(first.contains("0.00-1.00") && !first.contains("\x1b[2F") && table.repaint(WIDE).is_empty(), "{first}");
    lines(&mut table, &sample("interval", SECOND), WIDE);
    let second = table.repaint(WIDE);
    assert!(second.starts_with("\x1b[2F") && second.contains("1.00-2.00"), "{second}");
    let total = lines(&mut table, &sample("total", FIRST), WIDE);
    assert!(total.starts_with("\x1b[2F\x1b[J") && total.lines().count() == 2, "{total}");
}

#[test]
fn what_is_not_in_the_newest_sample_is_not_in_the_picture() {
    let mut table = Table::new(&ifstat::SCHEMA, Look { is_top: true, ..Look::default() });
    let of = |target: &'static str, second| {
        ["rx", "tx"].map(|test| {
            let mut cells = interface(test, "interval", second, "117000000.0");
            cells.retain(|(name, _)| *name != "target");
            [cells, vec![("target", target)]].concat()
        })
    };
    lines(&mut table, &[of("eth0", FIRST), of("eth1", FIRST)].concat(), WIDE);
    let both = table.repaint(WIDE);
    assert!(both.contains("eth0") && both.contains("eth1"), "{both}");
    lines(&mut table, &of("eth1", SECOND), WIDE);
    let one = table.repaint(WIDE);
    assert!(!one.contains("eth0") && one.contains("eth1"), "{one}");
    lines(&mut table, &[of("eth0", SECOND), of("eth1", SECOND), of("eth2", SECOND)].concat(), WIDE);
    let few = table.repaint(Size { height: 6, ..WIDE });
    assert!(few.contains("eth0") && few.contains("eth1") && few.contains("1 quieter rows more"), "{few}");
}
