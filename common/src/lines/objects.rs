//! Objects of JSON, one a line, read as the lines that they were made of.

use std::collections::HashMap;
use std::io::{self, Read};

use serde_json::value::RawValue;

use crate::schema::registry;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// A source that may be of objects: it is, if it begins with one. Anything else passes as it is.
#[derive(Debug)]
pub struct Objects<R> {
    source: R,
    form: Form,
    /// The beginning of a line that is not complete.
    begun: Vec<u8>,
    /// Lines that wait for whoever reads, and how much of them was read.
    lines: Vec<u8>,
    given: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Form {
    Unknown,
    Lines,
    Objects,
    Ended,
}

impl<R: Read> Objects<R> {
    /// Of this source.
    pub fn new(source: R) -> Self {
        Self { source, form: Form::Unknown, begun: Vec::new(), lines: Vec::new(), given: 0 }
    }

    /// Reads on until there is something to give, or the end.
    fn fill(&mut self) -> io::Result<()> {
        (self.lines, self.given) = (Vec::new(), 0);
        while self.lines.is_empty() && self.form != Form::Ended {
            let mut chunk = vec![0; CHUNK];
            let length = self.source.read(&mut chunk)?;
            chunk.truncate(length);
            if self.form == Form::Unknown {
                self.form = if chunk.starts_with(b"{") { Form::Objects } else { Form::Lines };
            }
            if self.form == Form::Lines {
                self.lines = chunk;
                return Ok(());
            }
            if chunk.is_empty() {
                self.form = Form::Ended;
                self.lines = line_of(&std::mem::take(&mut self.begun));
                return Ok(());
            }
            self.begun.extend(chunk);
            let Some(end) = memchr::memrchr(b'\n', &self.begun) else { continue };
            let rest = self.begun.split_off(end + 1);
            let complete = std::mem::replace(&mut self.begun, rest);
            self.lines = complete.split_inclusive(|byte| *byte == b'\n').flat_map(line_of).collect();
        }
        Ok(())
    }
}

impl<R: Read> Read for Objects<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.lines.len() {
            if self.form == Form::Lines {
                return self.source.read(buffer);
            }
            self.fill()?;
        }
        let length = buffer.len().min(self.lines.len() - self.given);
        buffer[..length].copy_from_slice(&self.lines[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}

/// The line that an object was made of; what is none stays what it is, and is skipped as such.
fn line_of(object: &[u8]) -> Vec<u8> {
    cells_of(object).unwrap_or_else(|| object.to_owned())
}

fn cells_of(object: &[u8]) -> Option<Vec<u8>> {
    let cells: HashMap<&str, &RawValue> = serde_json::from_slice(object).ok()?;
    let text =
        |value: &RawValue| serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned());
    let tag = text(cells.get("schema")?);
    let schema = registry::ALL.iter().find(|schema| schema.tag == tag)?;
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let cell = |name: &str| cells.get(name).map_or_else(String::new, |value| text(value));
    writer.write_record(schema.columns().map(|column| cell(column.name))).ok()?;
    writer.into_inner().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_the_line_that_it_was_made_of_and_anything_else_passes() {
        let tag = crate::schema::tcpsink::SCHEMA.tag;
        let objects =
            format!("{{\"schema\":\"{tag}\",\"label\":\"a,\\\"b\",\"run\":1,\"seconds\":0.100000}}\n{{no object}}\n");
        let twice = objects.clone() + objects.trim_end();
        for (text, lines) in [(&twice, 4), (&"schema,time\n".to_owned(), 1)] {
            let mut read = String::new();
            Objects::new(text.as_bytes()).read_to_string(&mut read).unwrap();
            assert_eq!(read.lines().count(), lines, "{read}");
            assert!(lines == 1 || read.starts_with(&format!("{tag},,,\"a,\"\"b\",,,1,,0.100000,,")), "{read}");
            assert_eq!(read.matches("{no object}").count(), lines / 2);
        }
    }
}
