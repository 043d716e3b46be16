//! A line as an object of JSON (RFC 8259).

use anyhow::Context;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::schema::Schema;

/// The object of a line: its columns' names, numbers as they stand in the line, nothing for what is empty.
pub fn object(schema: &Schema, cells: &csv::StringRecord) -> anyhow::Result<String> {
    let mut text = Vec::new();
    let mut writer = serde_json::Serializer::new(&mut text);
    let mut map = writer.serialize_map(None)?;
    for (column, cell) in schema.columns().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
        if matches!(column.kind, "integer" | "decimal") {
            let number =
                RawValue::from_string(cell.to_owned()).with_context(|| format!("{} is no number", column.name))?;
            map.serialize_entry(column.name, &number)?;
        } else {
            map.serialize_entry(column.name, cell)?;
        }
    }
    map.end()?;
    Ok(String::from_utf8(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tcpsink::SCHEMA;

    #[test]
    fn numbers_are_numbers_and_what_is_unknown_is_not_there() {
        let named = [("label", "1"), ("run", "1"), ("seconds", "0.100000"), ("target", "say \"x\"\n")];
        let cell = |name: &str| named.iter().find(|(own, _)| *own == name).map_or("", |(_, cell)| cell);
        let cells: csv::StringRecord = SCHEMA.columns().map(|column| cell(column.name)).collect();
        let text = object(&SCHEMA, &cells).unwrap();
        assert_eq!(text, r#"{"label":"1","target":"say \"x\"\n","run":1,"seconds":0.100000}"#);
    }
}
