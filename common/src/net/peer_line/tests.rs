//! What comes from the other end is what it said, or an error, and never anything else.

use proptest::prelude::*;

use super::*;
use crate::schema::{tcpsink, udpblast};

const SCHEMA: &Schema = &tcpsink::SCHEMA;

/// What a line has in any case.
const LEAST: &str = "schema=tcpsink/1 time=2026-11-30T12:00:00.000Z test=tcp_recv span=total";

fn line(label: &str, flags: &str) -> String {
    let own = ",".repeat(SCHEMA.own.len());
    let quoted = label.replace('"', "\"\"");
    format!(
        "{},2026-11-30T12:00:00.500Z,h,\"{quoted}\",tcp_recv,p,1,total,2.000000,100,3,0,50.0,1.500,9.10,5.00,{flags}{own}\n",
        SCHEMA.tag
    )
}

fn read_back(line: &str) -> PeerLine {
    PeerLine::read(SCHEMA, &to_wire(SCHEMA, line).unwrap()).unwrap()
}

fn refusal(wire_text: &str) -> String {
    PeerLine::read(SCHEMA, wire_text).unwrap_err().to_string()
}

/// The cells of text that must be one line of the schema.
fn cells_of_one_line(schema: &Schema, text: &str) -> Vec<String> {
    assert_eq!(text.matches('\n').count(), 1, "{text:?}");
    assert!(text.ends_with('\n') && !text.trim_end_matches('\n').contains(char::is_control), "{text:?}");
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!((records.len(), records[0].len()), (1, schema.columns().count()), "{text:?}");
    assert_eq!(&records[0][0], schema.tag);
    records[0].iter().map(str::to_owned).collect()
}

#[test]
fn reads_the_cells_and_keeps_the_line() {
    let line = line("a,\"b\" = 5 %", "short");
    let read = read_back(&line);
    assert_eq!((read.number("bytes"), read.number("rtt_us"), read.has(Flag::Partial)), (Some(100.0), None, false));
    assert!(read.is_total() && read.cell("test") == "tcp_recv" && read.cell("no_column").is_empty());
    assert_eq!(read.text().unwrap(), line);
}

#[test]
fn the_longest_labels_arrive() {
    for label in ["\"".repeat(MAX_LABEL), "%".repeat(MAX_LABEL), "ä".repeat(MAX_LABEL / 2), " ".repeat(MAX_LABEL)] {
        let line = line(&label, "");
        assert_eq!(read_back(&line).cell("label"), label);
    }
    assert!(refusal(&format!("{LEAST} label={}", "x".repeat(MAX_LABEL + 1))).ends_with("its label"));
}

#[test]
fn a_flag_is_added_and_nothing_else_changes() {
    let mut read = read_back(&line("", ""));
    read.raise(Flag::Partial);
    assert_eq!(cells_of_one_line(SCHEMA, &read.text().unwrap())[16], "partial");
    read.raise(Flag::Unsettled);
    assert_eq!(cells_of_one_line(SCHEMA, &read.text().unwrap())[16], "partial unsettled");
    assert!(read.has(Flag::Partial));
}

#[test]
fn another_set_of_columns_is_understood_as_far_as_it_goes() {
    let newer = format!("{} bytes=5 what_is_to_come=%0Ax", LEAST.replace("tcpsink/1", "tcpsink/999"));
    let read = PeerLine::read(SCHEMA, &newer).unwrap();
    assert_eq!((read.cell("schema"), read.number("bytes"), read.cell("host")), (SCHEMA.tag, Some(5.0), ""));
    cells_of_one_line(SCHEMA, &read.text().unwrap());
    assert!(PeerLine::read(&udpblast::SCHEMA, LEAST).is_err(), "another tool's");
}

#[test]
fn what_a_peer_wrote_can_do_nothing() {
    let forged = "x%0Aifstat/1%2C2026-11-30T12:00:00.000Z%2Ch%1B]0;owned%07%C2%9b";
    let read = PeerLine::read(SCHEMA, &format!("{LEAST} label={forged}")).unwrap();
    let cells = cells_of_one_line(SCHEMA, &read.text().unwrap());
    assert_eq!(cells[3], "x?ifstat/1,2026-11-30T12:00:00.000Z,h?]0;owned??");
    let raw = PeerLine::read(SCHEMA, &format!("{LEAST} host=a\x1bb\n")).unwrap();
    assert_eq!(raw.cell("host"), "a?b?");
}

#[test]
fn nonsense_is_refused_by_its_name() {
    for (more, at) in [
        ("bytes=-1", "bytes"),
        ("bytes=+1", "bytes"),
        ("bytes=1.5", "bytes"),
        ("bytes=99999999999999999999", "bytes"),
        ("bytes=", "bytes"),
        ("seconds=inf", "seconds"),
        ("seconds=1e9", "seconds"),
        ("seconds=.5", "seconds"),
        ("seconds=1.", "seconds"),
        ("seconds=nan", "seconds"),
        ("flags=partial%0Ashort", "flags"),
        ("flags=Partial", "flags"),
        ("run=x", "run"),
        ("host=%ff", "host"),
        ("span=total", "span"),
    ] {
        let refusal = refusal(&format!("{LEAST} {more}"));
        assert!(refusal.ends_with(at), "{more}: {refusal}");
    }
    for (good, bad) in [
        ("schema=tcpsink/1", "schema=udpblast/1"),
        ("schema=tcpsink/1", "schema=tcpsink"),
        ("time=2026-11-30T12:00:00.000Z", "time=noon"),
        ("test=tcp_recv", "test=tcp,recv"),
        ("span=total", "span=half"),
    ] {
        let name = good.split('=').next().unwrap();
        assert!(refusal(&LEAST.replace(good, bad)).ends_with(name), "{bad}");
        assert!(refusal(&LEAST.replace(good, "x=y")).contains(&format!("no {name}")), "without {name}");
    }
    assert!(refusal("").contains("name=value") && refusal(&format!("{LEAST}  ")).contains("name=value"));
    assert!(refusal(&line("", "")).contains("name=value"), "a line of CSV");
    assert!(refusal(&format!("{LEAST} host={}", "x".repeat(MAX_WIRE))).contains("too long"));
    assert!(refusal(&format!("{LEAST}{}", " a=b".repeat(MAX_CELLS))).contains("too long"));
    assert!(to_wire(SCHEMA, "tcpsink/1,x\n").is_err() && to_wire(SCHEMA, "").is_err());
}

/// A cell that this column may hold.
fn cell_of(column: &'static Column) -> BoxedStrategy<String> {
    match (column.name, column.kind) {
        ("schema", _) => Just(SCHEMA.tag.to_owned()).boxed(),
        ("span", _) => prop_oneof![Just("interval".to_owned()), Just("total".to_owned())].boxed(),
        ("test", _) => "[a-z]{1,8}_[a-z]{1,8}".boxed(),
        ("flags", _) => "([a-z]{1,9}( [a-z]{1,9}){0,3})?".boxed(),
        (_, "time") => {
            let time = |at| std::time::UNIX_EPOCH + std::time::Duration::from_millis(at);
            (0..4_000_000_000_000_u64)
                .prop_map(move |at| humantime::format_rfc3339_millis(time(at)).to_string())
                .boxed()
        }
        (_, "integer") => prop_oneof![Just(String::new()), any::<u64>().prop_map(|number| number.to_string())].boxed(),
        (_, "decimal") => prop_oneof![Just(String::new()), "-?(0|[1-9][0-9]{0,12})\\.[0-9]{1,6}"].boxed(),
        _ => "\\PC{0,20}".prop_map(|text| crate::text::tamed(&text)).boxed(),
    }
}

proptest! {
    #[test]
    fn a_round_trip_keeps_every_cell(cells in SCHEMA.columns().map(cell_of).collect::<Vec<_>>()) {
        let line = output::line_of(&cells).unwrap();
        let read = read_back(&line);
        prop_assert_eq!(read.text().unwrap(), line);
    }

    #[test]
    fn arbitrary_text_never_becomes_anything_but_one_line(text: String) {
        if let Ok(read) = PeerLine::read(SCHEMA, &text) {
            cells_of_one_line(SCHEMA, &read.text().unwrap());
        }
        let _ = to_wire(SCHEMA, &text);
    }

    #[test]
    fn arbitrary_cells_never_become_anything_but_one_line(
        cells in proptest::collection::vec(("(host|label|target|flags|bytes|x|direction|run)", "\\PC{0,9}|[ -~]{0,30}|(%[0-9a-f]{2}){0,9}|.{0,9}"), 0..9)
    ) {
        let cells: Vec<_> = cells.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let text = format!("{LEAST} {}", cells.join(" "));
        if let Ok(mut read) = PeerLine::read(SCHEMA, &text) {
            read.raise(Flag::Partial);
            cells_of_one_line(SCHEMA, &read.text().unwrap());
        }
    }
}
