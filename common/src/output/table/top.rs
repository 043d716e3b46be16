//! The newest intervals, drawn in place: what was there before is drawn over (ECMA-48).

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use super::Size;
use super::cells::Cells;

/// Rows beside the picture: its header, that of rows of another kind, the word about rows that are left out, the cursor.
const AROUND: usize = 4;

/// How far apart the ends of one sample's rows may be: when they began is in milliseconds.
const TOGETHER: Duration = Duration::from_millis(2);

/// A picture that is drawn anew.
#[derive(Debug, Default)]
pub struct Top {
    /// The newest row of each thing, in the order in which they came first, with its end.
    rows: Vec<(Option<SystemTime>, Cells)>,
    is_new: bool,
    /// Lines of the picture that stands there, and how wide the terminal was.
    painted: usize,
    width: usize,
    left_out: usize,
}

impl Top {
    /// Takes a row.
    pub fn take(&mut self, cells: Cells) {
        let is_same = |row: &Cells| ["test", "target"].iter().all(|name| row.get(name) == cells.get(name));
        let end = cells.span().map(|(began, length)| began + Duration::try_from_secs_f64(length).unwrap_or_default());
        match self.rows.iter_mut().find(|(_, row)| is_same(row)) {
            Some(row) => *row = (end, cells),
            None => self.rows.push((end, cells)),
        }
        self.is_new = true;
    }

    /// The rows to draw, if any is new: where there is no room for all, the busiest.
    pub fn news(&mut self, size: Size) -> Option<Vec<Cells>> {
        if !std::mem::take(&mut self.is_new) {
            return None;
        }
        // All rows of a sample end with it: others are of one before, and over.
        let newest = self.rows.iter().filter_map(|(end, _)| *end).max();
        self.rows.retain(|(end, _)| end.is_none_or(|end| Some(end + TOGETHER) >= newest));
        if self.width != size.width {
            // The terminal has broken the lines of the old picture as it liked: the new one begins below.
            (self.painted, self.width) = (0, size.width);
        }
        let room = size.height.saturating_sub(AROUND).max(1);
        let mut busiest: Vec<_> = self.rows.iter().enumerate().collect();
        busiest.sort_by(|(_, (_, one)), (_, (_, other))| other.busyness().total_cmp(&one.busyness()));
        busiest.truncate(room);
        busiest.sort_by_key(|(place, _)| *place);
        self.left_out = self.rows.len() - busiest.len();
        Some(busiest.into_iter().map(|(_, (_, row))| row.clone()).collect())
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
