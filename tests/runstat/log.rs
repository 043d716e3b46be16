//! Logs of lines for the tests, made from the registry's columns.

use std::fs;

use common::schema::{Schema, diskread, nfscopy, tcpsink, udpblast};
use tempfile::TempDir;
use testkit::Ended;

use super::runstat;

/// A log in a directory of its own.
pub struct Log {
    directory: TempDir,
    text: String,
    /// Seconds since the log's beginning.
    clock: u64,
}

impl Log {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), text: String::new(), clock: 0 }
    }

    /// Adds whatever text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.text += text;
        self
    }

    /// Adds the header of a schema.
    pub fn header(&mut self, schema: &Schema) -> &mut Self {
        self.text(&schema.header())
    }

    /// Adds a line with these cells; it is a total, the next ten seconds long, if they do not say otherwise.
    pub fn line(&mut self, schema: &Schema, cells: &[(&str, &str)]) -> &mut Self {
        for (name, _) in cells {
            assert!(schema.columns().any(|column| column.name == *name), "no column {name}");
        }
        let time =
            format!("2026-01-01T{:02}:{:02}:{:02}.000Z", self.clock / 3600, self.clock / 60 % 60, self.clock % 60);
        let given = [
            ("schema", schema.tag),
            ("time", &time),
            ("host", "here"),
            ("run", "1"),
            ("span", "total"),
            ("seconds", "10"),
        ];
        let cell = |name: &str| {
            let own = cells.iter().find(|(own, _)| *own == name);
            own.or_else(|| given.iter().find(|(given, _)| *given == name)).map_or("", |(_, value)| *value)
        };
        let row: Vec<String> = schema.columns().map(|column| cell(column.name).to_owned()).collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&row).unwrap();
        self.text += &String::from_utf8(writer.into_inner().unwrap()).unwrap();
        self.clock += 10;
        self
    }

    /// Adds a total of `tcpsink` for each rate.
    pub fn rates(&mut self, label: &str, rates: &[&str]) -> &mut Self {
        self.metric(label, "bytes_per_s", rates)
    }

    /// Adds a total of `tcpsink` for each value of any column.
    pub fn metric(&mut self, label: &str, column: &str, values: &[&str]) -> &mut Self {
        for value in values {
            self.line(&tcpsink::SCHEMA, &[("label", label), ("test", "tcp_recv"), ("target", "nas"), (column, value)]);
        }
        self
    }

    /// Adds a read by `diskread` at the server.
    pub fn disk(&mut self, rate: &str) -> &mut Self {
        let cells = [("host", "nas"), ("test", "seq_read"), ("target", "/dev/sda"), ("bytes_per_s", rate)];
        self.line(&diskread::SCHEMA, &[&cells[..], &[("pattern", "seq"), ("method", "direct")]].concat())
    }

    /// Adds datagrams that arrived, some having been lost.
    pub fn udp(&mut self, rate: &str, lost: &str) -> &mut Self {
        let cells =
            [("test", "udp_recv"), ("target", "nas"), ("direction", "up"), ("bytes_per_s", rate), ("lost", lost)];
        self.line(&udpblast::SCHEMA, &[&cells[..], &[("rate_bits_per_s", "100000000")]].concat())
    }

    /// Adds an end-to-end measurement.
    pub fn nfs(&mut self, test: &str, cells: &[(&str, &str)]) -> &mut Self {
        let given = [("test", test), ("target", "/mnt/nas")];
        self.line(&nfscopy::SCHEMA, &[&given[..], cells].concat())
    }

    /// Writes it to a file of its directory.
    pub fn save(&self, name: &str) -> String {
        let path = self.directory.path().join(name);
        fs::write(&path, &self.text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs the tool on it.
    pub fn run(&self, args: &[&str]) -> Ended {
        let file = self.save("log.csv");
        let (verb, args) = match args {
            ["bottleneck", args @ ..] => (&["bottleneck"][..], args),
            args => (&[][..], args),
        };
        runstat().run(&[verb, &[&file], args].concat())
    }
}
