use proptest::prelude::*;

use super::*;
use crate::output::line_of;
use crate::schema::line::{Line as Shared, Time};
use crate::schema::{ALL, tcpsink, udpblast};

/// What a reader says of bytes that come in pieces of `piece`: the labels of the lines, and what was skipped.
fn read_in_pieces(bytes: &[u8], piece: usize) -> (Vec<(u64, String)>, Vec<String>) {
    struct Pieces<'a>(&'a [u8], usize);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(self.1).min(buffer.len());
            let (now, later) = self.0.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }
    let mut wanted = Wanted::default();
    let label = wanted.column("label");
    let mut lines = Lines::new(Pieces(bytes, piece), wanted);
    let mut labels = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        labels.push((line.number(), line.text(label).into_owned()));
    }
    (labels, lines.skipped().sentences().collect())
}

fn read(text: &str) -> (Vec<(u64, String)>, Vec<String>) {
    read_in_pieces(text.as_bytes(), usize::MAX)
}

fn labels(text: &str) -> Vec<String> {
    let (labels, skipped) = read(text);
    assert_eq!(skipped, [""; 0], "{text}");
    labels.into_iter().map(|(_, label)| label).collect()
}

/// A line as the tools write it.
fn line(schema: &'static Schema, label: &str) -> String {
    let shared = Shared { schema: schema.tag, label: label.into(), time: Time::default(), ..Shared::default() };
    let own = vec![""; schema.own.len()];
    line_of(&(shared, own)).unwrap()
}

use crate::schema::Schema;

fn tcp(label: &str) -> String {
    line(&tcpsink::SCHEMA, label)
}

fn udp(label: &str) -> String {
    line(&udpblast::SCHEMA, label)
}

#[test]
fn headers_may_stand_anywhere_be_repeated_or_missing() {
    let (tcp_header, udp_header) = (tcpsink::SCHEMA.header(), udpblast::SCHEMA.header());
    assert_eq!(labels(&(tcp("a") + &udp("b"))), ["a", "b"]);
    assert_eq!(labels(&(tcp_header.clone() + &tcp("a") + &udp("b") + &tcp_header + &tcp("c"))), ["a", "b", "c"]);
    assert_eq!(labels(&(tcp("a") + &udp_header + &tcp("b") + &udp("c"))), ["a", "b", "c"]);
    assert_eq!(labels(&(tcp_header.clone() + &tcp_header)), [""; 0]);
    assert_eq!(labels(""), [""; 0]);
}

#[test]
fn every_schema_is_read_without_a_header() {
    for schema in ALL {
        let mut wanted = Wanted::default();
        let last = wanted.column(schema.columns().last().unwrap().name);
        let cells: Vec<_> = schema.columns().enumerate().map(|(index, _)| index.to_string()).collect();
        let text = format!("{},{}\n", schema.tag, cells[1..].join(","));
        let mut lines = Lines::new(text.as_bytes(), wanted);
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!(line.layout().schema().unwrap().tag, schema.tag);
        assert_eq!(line.figure(last), Some((cells.len() - 1) as f64), "{}", schema.tag);
    }
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_no_part_of_a_cell() {
    let text = format!("\u{feff}{}{}", tcpsink::SCHEMA.header(), tcp("a,b")).replace('\n', "\r\n");
    assert_eq!(labels(&text), ["a,b"]);
    let text = tcpsink::SCHEMA.header() + "\r\n\n" + &tcp("a") + "\n" + tcp("last").trim_end();
    assert_eq!(labels(&text), ["a", "last"]);
}

#[test]
fn a_byte_order_mark_may_come_in_pieces() {
    for text in ["\u{feff}\n\n", "\u{feff}", "\u{feff}x\n", "\n\u{feff}\n"] {
        for piece in 1..6 {
            assert_eq!(read_in_pieces(text.as_bytes(), piece), read(text), "{text:?} {piece}");
        }
    }
}

/// The cells of the only line, by name.
fn named(text: &str) -> Vec<(String, String)> {
    let mut lines = Lines::new(text.as_bytes(), Wanted::default());
    let line = lines.next_line().unwrap().unwrap();
    line.named_cells().map(|(name, cell)| (name.into(), String::from_utf8(cell.into()).unwrap())).collect()
}

#[test]
fn newer_columns_have_the_names_of_their_header() {
    let header = tcpsink::SCHEMA.header().trim_end().to_owned() + ",ecn_marks\n";
    let newer = tcp("a").trim_end().to_owned() + ",7\n";
    let with_seven = |text: &str| named(text).contains(&("ecn_marks".into(), "7".into()));
    assert!(with_seven(&(header.clone() + &newer)), "the same number");
    assert!(with_seven(&(header.clone() + &newer.replace(tcpsink::SCHEMA.tag, "tcpsink/999"))), "the next number");
    assert_eq!(labels(&newer), ["a"], "without a header");
    assert_eq!(labels(&newer.replace(tcpsink::SCHEMA.tag, "tcpsink/999")), ["a"], "neither");
    assert_eq!(labels(&(header.clone() + &newer + &tcp("b") + &udp("c"))), ["a", "b", "c"]);
    let shorter = header + &tcp("cut").replace(tcpsink::SCHEMA.tag, "tcpsink/999");
    assert_eq!(read(&shorter).1, ["skipped 1 line, cut short: fewer cells than columns: 2"]);
}

#[test]
fn an_unknown_tool_is_read_by_its_header_alone() {
    let header = tcpsink::SCHEMA.shared.iter().map(|column| column.name).collect::<Vec<_>>().join(",") + ",depth\n";
    let line = tcp("a").replace(tcpsink::SCHEMA.tag, "sonar/3");
    let cells: Vec<_> = line.split(',').take(18).collect();
    let line = cells.join(",") + "\n";
    assert_eq!(labels(&(header.clone() + &line + &udp("b"))), ["a", "b"]);
    assert_eq!(labels(&(header + &line + &udpblast::SCHEMA.header() + &udp("b") + &line)), ["a", "b", "a"]);
    assert_eq!(read(&line).1, ["skipped 1 line, an unknown schema, and no header names its columns: 1"]);
}

#[test]
fn columns_that_were_cut_or_moved_follow_their_header() {
    let (tcp_tag, udp_tag) = (tcpsink::SCHEMA.tag, udpblast::SCHEMA.tag);
    let text = format!("schema,bytes_per_s,label\n{tcp_tag},5,x\n{udp_tag},6,y\n");
    assert_eq!(labels(&text), ["x", "y"]);
    assert_eq!(labels(&(text + &tcp("whole"))), ["x", "y", "whole"]);
}

#[test]
fn all_cells_may_be_quoted() {
    let quoted =
        |line: &str| line.trim_end().split(',').map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",") + "\n";
    assert_eq!(labels(&(quoted(&tcpsink::SCHEMA.header()) + &quoted(&tcp("a")) + &tcp("b"))), ["a", "b"]);
    assert_eq!(labels("\"schema\",\"label\"\r\n\"tcpsink/1\",\"say \"\"x\"\"\"\r\n"), ["say \"x\""]);
}

#[test]
fn what_is_no_line_is_named_by_its_number() {
    let (good, skipped) = read(&("notes\n\n".to_owned() + &tcp("a") + "x\ny,z\n" + &tcp("b") + "\u{0}\u{1}\n"));
    assert_eq!(good, [(3, "a".into()), (6, "b".into())]);
    assert_eq!(skipped, ["skipped 4 lines, not a line of these tools: 1, 4-5, 7"]);
    let garbage: String = (0..100).map(|index| format!("{index}\n") + &tcp("a")).collect();
    assert_eq!(
        read(&garbage).1,
        ["skipped 100 lines, not a line of these tools: 1, 3, 5, 7, 9, 11, 13, 15 and 92 more"]
    );
}

#[test]
fn a_line_that_is_too_long_costs_no_memory_and_nothing_else() {
    for length in [MAX_RECORD + 1, 10_000_000] {
        let text = tcp("a") + "tcpsink/1," + &"x".repeat(length) + "\n" + &tcp("b");
        let (good, skipped) = read(&text);
        assert_eq!(good, [(1, "a".into()), (3, "b".into())], "{length}");
        assert_eq!(skipped, ["skipped 1 line, longer than 64 KiB: 2"]);
        assert_eq!(read(text.strip_suffix(&("\n".to_owned() + &tcp("b"))).unwrap()).1.len(), 1, "at the end");
    }
}

#[test]
fn a_crash_costs_the_line_that_it_cut() {
    let whole = tcp("hub=managed, 100 Mbit/s");
    let before = tcp("before");
    for length in 1..whole.trim_end().len() {
        let text = format!("{before}{}\n{whole}{}", &whole[..length], udp("after"));
        let (good, skipped) = read(&text);
        let good: Vec<_> = good.into_iter().map(|(_, label)| label).collect();
        // A line that lost only the text of its last cell, which is empty, is whole.
        assert_eq!(good, ["before", "hub=managed, 100 Mbit/s", "after"], "{length}: {text}");
        assert_eq!(skipped.len(), 1, "{length}: {text}");
    }
}

#[test]
fn a_header_that_was_cut_does_no_harm() {
    let header = tcpsink::SCHEMA.header();
    for length in "schema,".len()..header.len() {
        let text = format!("{}\n{}{}{}", &header[..length], tcp("a"), header, udp("b"));
        assert_eq!(labels(&text), ["a", "b"], "{length}");
    }
}

#[test]
fn two_lines_run_together_are_not_taken_for_one() {
    let (cut, whole) = (tcp("cut"), tcp("whole"));
    let (good, skipped) = read(&format!("{}{whole}{}", &cut[..cut.len() - 20], tcp("after")));
    assert_eq!(good, [(2, "after".into())]);
    assert_eq!(skipped, ["skipped 1 line, two lines run together: 1"]);
}

proptest! {
    #[test]
    fn whatever_a_label_holds_is_read_back(labels in prop::collection::vec(".{0,40}|[\",\r\n x]{0,12}", 0..8), piece in 1usize..200) {
        let text: String = labels.iter().map(|label| tcp(label)).collect();
        let (good, skipped) = read_in_pieces(text.as_bytes(), piece);
        prop_assert_eq!(skipped, Vec::<String>::new());
        let good: Vec<_> = good.into_iter().map(|(_, label)| label).collect();
        prop_assert_eq!(good, labels);
    }

    #[test]
    fn any_bytes_are_survived_and_pieces_make_no_difference(bytes in prop::collection::vec(prop_oneof![
        any::<u8>(), Just(b'"'), Just(b','), Just(b'\n'), Just(b'\r')], 0..400), piece in 1usize..50) {
        prop_assert_eq!(read_in_pieces(&bytes, piece), read_in_pieces(&bytes, usize::MAX));
    }

    #[test]
    fn shreds_of_lines_are_survived(shreds in prop::collection::vec(prop_oneof![
        Just("tcpsink/1,"), Just("schema,"), Just("schema,time,host,label"), Just("2026-01-01T00:00:00.000Z,"), Just("\""),
        Just("\"\""), Just(",\""), Just("\","), Just("\n"), Just("\r\n"), Just(",,,,,,,,,,,,,,,"), Just("x"), Just("\u{feff}"),
        Just("udpblast/999,"), Just("nosuch/1,")], 0..120), piece in 1usize..40) {
        let text = shreds.concat();
        let whole = read(&text);
        prop_assert_eq!(&read_in_pieces(text.as_bytes(), piece), &whole);
        prop_assert!(whole.0.len() <= text.lines().count());
    }

    #[test]
    fn every_line_is_read_or_counted(kinds in prop::collection::vec(0_u16..6, 0..60)) {
        let text: String = kinds.iter().map(|kind| match kind {
            0 => tcp("a"),
            1 => udp("b,c"),
            2 => tcpsink::SCHEMA.header(),
            3 => "noise\n".into(),
            4 => "tcpsink/1,\"open\n".into(),
            _ => "\n".into(),
        }).collect();
        let (good, skipped) = read(&text);
        let lines = kinds.iter().filter(|kind| **kind < 2).count();
        prop_assert_eq!(good.len(), lines);
        let counts = |kind| kinds.iter().filter(|other| **other == kind).count();
        let counted: usize = skipped.iter().map(|text| text.split(' ').nth(1).unwrap().parse::<usize>().unwrap()).sum();
        prop_assert_eq!(counted, counts(3) + counts(4));
    }
}
