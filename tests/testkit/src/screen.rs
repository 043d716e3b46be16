//! What a tool shows on a terminal: a pseudo-terminal of a given size, its escape codes interpreted.

use std::fs::File;
use std::io::Read;
use std::process::ExitStatus;
use std::time::Duration;

use nix::pty::{Winsize, openpty};

use crate::Tool;

/// Rows that the emulator keeps: all that a test writes.
const KEPT: u16 = 400;

/// What stood on the terminal when the tool had ended.
#[derive(Debug)]
pub struct Shown {
    /// How it ended.
    pub status: ExitStatus,
    /// All rows, as they were at the end, without those below the last one.
    pub rows: Vec<String>,
    /// What was written, escape codes and all.
    pub raw: Vec<u8>,
}

impl Shown {
    /// The rows as one text, LF after each.
    pub fn text(&self) -> String {
        self.rows.iter().flat_map(|row| [row.as_str(), "\n"]).collect()
    }
}

/// A terminal of so many columns and 24 rows, which takes its time.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Columns.
    pub width: u16,
    /// Bytes a second that it reads while the tool measures; as many as come where none are given.
    pub bytes_per_s: Option<u32>,
}

impl Terminal {
    /// One that is as fast as need be.
    pub fn of_width(width: u16) -> Self {
        Self { width, bytes_per_s: None }
    }

    /// Runs a tool with all three streams on the terminal.
    ///
    /// # Panics
    /// If that fails.
    pub fn run(self, tool: &Tool, args: &[&str]) -> Shown {
        let size = Winsize { ws_row: 24, ws_col: self.width, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).expect("a pseudo-terminal");
        let stream = || pty.slave.try_clone().expect("its tool's side");
        let mut command = tool.command(args);
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR").env_remove("COLUMNS");
        let mut child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().expect("a tool");
        drop((command, pty.slave));
        let mut raw = Vec::new();
        let mut master = File::from(pty.master);
        let mut chunk = [0; 4096];
        let most = self.bytes_per_s.map_or(chunk.len(), |rate| rate as usize / 10);
        // Once nobody has the other side any more, reading fails (EIO).
        while let Ok(count @ 1..) = master.read(&mut chunk[..most]) {
            raw.extend(&chunk[..count]);
            if self.bytes_per_s.is_some() {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        let status = child.wait().expect("its end");
        let mut emulator = vt100::Parser::new(KEPT, self.width, 0);
        emulator.process(&raw);
        let mut rows: Vec<_> = emulator.screen().rows(0, self.width).map(|row| row.trim_end().to_owned()).collect();
        rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
        let has_wrapped = (0..KEPT).any(|row| emulator.screen().row_wrapped(row));
        assert!(!has_wrapped, "a row is wider than {} columns:\n{}", self.width, rows.join("\n"));
        Shown { status, rows, raw }
    }
}
