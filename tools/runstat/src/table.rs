//! Tables for people: aligned for a terminal, or in Markdown for a report.

use std::ops::Range;

use crate::args::Format;

/// A table under a heading.
#[derive(Debug, Default)]
pub struct Table {
    /// What the figures are.
    pub title: String,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// The columns that hold numbers, and so end together; the others begin together.
    pub numbers: Range<usize>,
}

impl Table {
    /// The table as text, an empty line at its end.
    pub fn text(&self, format: Format) -> String {
        let rows: Vec<Vec<String>> = std::iter::once(&self.head)
            .chain(&self.rows)
            .map(|row| row.iter().map(|cell| printable(cell, format)).collect())
            .collect();
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| rows.iter().map(|row| width(&row[column])).max().unwrap_or_default().max(3))
            .collect();
        let mut text = printable(&self.title, format) + if format == Format::Markdown { "\n\n" } else { "\n" };
        for (index, row) in rows.iter().enumerate() {
            self.add_row(&mut text, row, &widths, format);
            if index == 0 && format == Format::Markdown {
                self.add_rule(&mut text, &widths);
            }
        }
        text + "\n"
    }

    fn add_row(&self, text: &mut String, row: &[String], widths: &[usize], format: Format) {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let gap = " ".repeat(width - self::width(cell));
                if self.numbers.contains(&column) { gap + cell } else { cell.clone() + &gap }
            })
            .collect();
        match format {
            Format::Markdown => text.extend(["| ", &cells.join(" | "), " |"]),
            _ => *text += cells.join("  ").trim_end(),
        }
        text.push('\n');
    }

    fn add_rule(&self, text: &mut String, widths: &[usize]) {
        let rules: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| "-".repeat(width - 1) + if self.numbers.contains(&column) { ":" } else { "-" })
            .collect();
        text.extend(["| ", &rules.join(" | "), " |\n"]);
    }
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

/// A label may hold anything: nothing of it may move the cursor, or end a cell.
fn printable(cell: &str, format: Format) -> String {
    let mut text = String::with_capacity(cell.len());
    for c in cell.chars() {
        match c {
            '|' if format == Format::Markdown => text += "\\|",
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cells_harmless() {
        let table = Table {
            title: "rates".into(),
            head: ["label", "n"].map(String::from).into(),
            rows: vec![["a|b".into(), "12345".into()].into(), ["\u{1b}[2J".into(), "1".into()].into()],
            numbers: 1..2,
        };
        assert_eq!(table.text(Format::Table), "rates\nlabel          n\na|b        12345\n\\u{1b}[2J      1\n\n");
        assert_eq!(
            table.text(Format::Markdown),
            "rates\n\n| label     |     n |\n| --------- | ----: |\n| a\\|b      | 12345 |\n| \\u{1b}[2J |     1 |\n\n"
        );
    }
}
