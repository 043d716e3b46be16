//! The newest intervals, drawn in place: what was there before is drawn over (ECMA-48).

use std::fmt::Write;

use super::Size;
use super::cells::Cells;

/// Rows beside the picture: its header, that of rows of another kind, the word about rows that are left out, the cursor.
const AROUND: usize = 4;

/// A picture that is drawn anew.
#[derive(Debug, Default)]
pub struct Top {
    /// The newest row of each thing, in the order in which they came first.
    rows: Vec<Row>,
    /// Which sample is the newest: it begins with a row of something that is already in it.
    sample: u64,
    is_new: bool,
    /// Lines of the picture that stands there, and how wide the terminal was.
    painted: usize,
    width: usize,
    left_out: usize,
}

#[derive(Debug)]
struct Row {
    sample: u64,
    cells: Cells,
}

impl Top {
    /// Takes a row.
    pub fn take(&mut self, cells: Cells) {
        let is_same = |row: &&mut Row| ["test", "target"].iter().all(|name| row.cells.get(name) == cells.get(name));
        let row = self.rows.iter_mut().find(is_same);
        if row.as_ref().is_some_and(|row| row.sample == self.sample) {
            self.sample += 1;
        }
        let newest = Row { sample: self.sample, cells };
        match row {
            Some(row) => *row = newest,
            None => self.rows.push(newest),
        }
        self.is_new = true;
    }

    /// The rows to draw, if any is new: where there is no room for all, the busiest.
    pub fn news(&mut self, size: Size) -> Option<Vec<Cells>> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        // What the sample before had, and this one not yet, may still come.
        self.rows.retain(|row| row.sample + 1 >= self.sample);
        if self.width != size.width {
            // The terminal has broken the lines of the old picture as it liked: the new one begins below.
            (self.painted, self.width) = (0, size.width);
        }
        let room = size.height.saturating_sub(AROUND).max(1);
        let mut busiest: Vec<_> = self.rows.iter().enumerate().collect();
        busiest.sort_by(|(_, one), (_, other)| other.cells.busyness().total_cmp(&one.cells.busyness()));
        busiest.truncate(room);
        busiest.sort_by_key(|(place, _)| *place);
        self.left_out = self.rows.len() - busiest.len();
        Some(busiest.into_iter().map(|(_, row)| row.cells.clone()).collect())
    }

    /// The picture over the old one.
    pub fn paint(&mut self, mut text: String) -> String {
        if self.left_out > 0 {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{} quieter rows more", self.left_out);
        }
        let back = if self.painted > 0 { format!("\x1b[{}F", self.painted) } else { String::new() };
        self.painted = text.lines().count();
        back + &text.replace('\n', "\x1b[K\n") + "\x1b[J"
    }

    /// Takes the picture away; nothing if there is none.
    pub fn erase(&mut self) -> String {
        self.rows.clear();
        self.is_new = false;
        match std::mem::take(&mut self.painted) {
            0 => String::new(),
            lines => format!("\x1b[{lines}F\x1b[J"),
        }
    }
}
