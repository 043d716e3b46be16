//! Many lines a sample, fast: a serializer for the flat structs of a line that appends to one buffer. What it writes is what
//! the csv crate writes (a test compares them), for a third of the time; at a thousand interfaces that is most of a sample.

use std::fmt::{self, Display, Write};

use anyhow::Context;
use common::output::RecordWriter;
use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeStruct, SerializeTuple, Serializer};

/// Writes lines through a buffer that is kept.
#[derive(Debug, Default)]
pub struct Lines {
    text: String,
}

impl Lines {
    /// Writes one record: structs in a tuple, or one struct.
    pub fn write(&mut self, writer: &RecordWriter, record: &impl Serialize) -> anyhow::Result<()> {
        self.text.clear();
        let mut cells = Cells { text: &mut self.text, is_first: true };
        record.serialize(&mut cells).context("cannot write a line")?;
        self.text.push('\n');
        writer.write_line(&self.text)
    }
}

/// A line so far.
struct Cells<'a> {
    text: &'a mut String,
    is_first: bool,
}

impl Cells<'_> {
    fn next(&mut self) {
        if !self.is_first {
            self.text.push(',');
        }
        self.is_first = false;
    }

    fn text(&mut self, cell: &str) {
        self.next();
        if cell.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            self.text.push('"');
            for part in cell.split_inclusive('"') {
                self.text.push_str(part);
                if part.ends_with('"') {
                    self.text.push('"');
                }
            }
            self.text.push('"');
        } else {
            self.text.push_str(cell);
        }
    }
}

/// What no column holds.
#[derive(Debug)]
struct NotACell(String);

impl Display for NotACell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a cell: {}", self.0)
    }
}

impl std::error::Error for NotACell {}

impl serde::ser::Error for NotACell {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Refuses kinds that no column has.
macro_rules! no_cells {
    ($($method:ident($($arg:ty),*) -> $result:ty;)*) => {
        $(fn $method(self, $(_: $arg),*) -> Result<$result, NotACell> {
            Err(NotACell::custom(stringify!($method)))
        })*
    };
}

impl Serializer for &mut Cells<'_> {
    type Ok = ();
    type Error = NotACell;
    type SerializeSeq = Impossible<(), NotACell>;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Impossible<(), NotACell>;
    type SerializeTupleVariant = Impossible<(), NotACell>;
    type SerializeMap = Impossible<(), NotACell>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), NotACell>;

    fn serialize_u64(self, value: u64) -> Result<(), NotACell> {
        self.next();
        // Into a string, which never fails.
        let _ = write!(self.text, "{value}");
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), NotACell> {
        self.text(value);
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), NotACell> {
        // Numbers, times and flags: nothing in them needs quotes.
        self.next();
        let _ = write!(self.text, "{value}");
        Ok(())
    }

    fn serialize_none(self) -> Result<(), NotACell> {
        self.next();
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotACell> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), NotACell> {
        self.text(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), NotACell> {
        value.serialize(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, NotACell> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotACell> {
        Ok(self)
    }

    no_cells! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), NotACell> {
        Err(NotACell::custom("a variant with a value"))
    }
}

impl SerializeTuple for &mut Cells<'_> {
    type Ok = ();
    type Error = NotACell;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotACell> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), NotACell> {
        Ok(())
    }
}

impl SerializeStruct for &mut Cells<'_> {
    type Ok = ();
    type Error = NotACell;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), NotACell> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), NotACell> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use common::output;
    use common::schema::Fixed;
    use common::schema::ifstat::Interface;
    use common::schema::line::{Flag, Line, Span};

    use super::*;

    #[test]
    fn writes_what_the_csv_crate_writes() {
        for target in ["eth0", "a,b", "say \"x\"", "\"", "#c", "=1+1", "köln", "two\nlines", "cr\r", "", " x ", "'q'"]
        {
            let mut line = Line {
                schema: "ifstat/1",
                target: target.into(),
                label: target.into(),
                span: Span::Interval,
                seconds: Fixed::new(1e-9),
                bytes: Some(u64::MAX),
                errors: None,
                ..Line::default()
            };
            line.flags.raise_if(true, Flag::New);
            line.flags.raise_if(true, Flag::Gone);
            let own = Interface {
                ifindex: Some(0),
                duplex: Some("full"),
                driver: Some(target.into()),
                ..Interface::default()
            };
            let mut text = String::new();
            (&line, &own).serialize(&mut Cells { text: &mut text, is_first: true }).unwrap();
            assert_eq!(text + "\n", output::line_of(&(&line, &own)).unwrap());
        }
    }

    #[test]
    fn what_no_column_holds_is_refused() {
        let mut text = String::new();
        assert!((1.5_f64,).serialize(&mut Cells { text: &mut text, is_first: true }).is_err());
    }
}
