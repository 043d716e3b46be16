//! What lines that every verb printed once look like on terminals of several widths, as recorded.

use std::fs::{self, File};
use std::path::Path;

use unicode_width::UnicodeWidthStr;

use super::{Look, Size, Table};
use crate::schema::registry;

/// The table of these lines.
fn table(lines: &Path, width: usize) -> String {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(File::open(lines).unwrap());
    let records: Vec<_> = reader.records().map(|line| line.expect("CSV")).collect();
    let schema = registry::ALL.iter().find(|schema| schema.tag == &records[0][0]).expect("a schema of ours");
    assert_eq!(reader.headers().unwrap(), schema.columns().map(|column| column.name).collect::<Vec<_>>());
    let mut table = Table::new(schema, Look::default());
    let size = Size { width, height: 24 };
    let text: String = records.into_iter().map(|line| table.add(line, size)).collect();
    text + &table.rest(size)
}

#[test]
fn lines_of_every_verb_look_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/lines");
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "csv")).collect();
    assert!(files.len() >= 20, "{files:?}");
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        for width in testkit::snapshot::WIDTHS {
            let text = table(&path, width.into());
            assert!(text.lines().all(|row| row.width() <= width.into()), "{name}: {text}");
            testkit::snapshot::check(&format!("{name}-{width}"), &text);
        }
    }
}
