//! A client made by hand, which says what a tcpsink says and does not do what it does.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::connect;

/// A request with these values changed or added.
pub fn question(changes: &[(&str, &str)]) -> String {
    let mut values = vec![
        ("kind", "send"),
        ("run", "1"),
        ("streams", "1"),
        ("per_stream", "0"),
        ("warmup", "0us"),
        ("idle", "60000000us"),
        ("copy", "0"),
        ("nodelay", "0"),
        ("method", "auto"),
    ];
    for change in changes {
        values.retain(|(key, _)| *key != change.0);
        values.push(*change);
    }
    let words: Vec<_> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("tcpsink/1 test {}\n", words.join(" "))
}

/// A control connection.
pub struct Raw(pub BufReader<TcpStream>);

impl Raw {
    /// One that says this.
    pub fn says(port: &str, text: &str) -> Self {
        let mut stream = connect(port);
        stream.write_all(text.as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    /// One that asks for a test.
    pub fn asks(port: &str, changes: &[(&str, &str)]) -> Self {
        Self::says(port, &question(changes))
    }

    /// The next line; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    /// The token of a test that was accepted.
    pub fn token(&mut self) -> String {
        let line = self.line();
        line.strip_prefix("tcpsink/1 ok token=").unwrap_or_else(|| panic!("{line}")).trim().to_owned()
    }
}

/// A stream of a test.
pub fn stream(port: &str, token: &str, way: &str, index: u64) -> TcpStream {
    let mut stream = connect(port);
    writeln!(stream, "tcpsink/1 data token={token} way={way} stream={index}").unwrap();
    stream
}
