//! A table that is known before it is written: findings, and what other programs show at their end.

use std::os::fd::AsFd;

use unicode_width::UnicodeWidthStr;

use super::table::{Align, fitted};
use crate::text::harmless;

/// Narrowest column: a rule of Markdown has three characters at least.
const NARROWEST: usize = 3;
/// Between two columns.
const GAP: usize = 2;

/// A table under a heading.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    /// What the figures are.
    pub title: String,
    /// The columns from left to right.
    pub columns: Vec<Column>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// A column of it.
#[derive(Debug, Clone)]
pub struct Column {
    title: String,
    align: Align,
    worth: u8,
    style: Option<Style>,
}

/// What a cell looks like on a terminal (ECMA-48, select graphic rendition), if it is not plain.
pub type Style = fn(&str) -> Option<&'static str>;

impl Column {
    /// Of words, which begin together.
    pub fn words(title: &str) -> Self {
        Self { title: title.to_owned(), align: Align::Left, worth: 1, style: None }
    }

    /// Of numbers, which end together.
    pub fn numbers(title: &str) -> Self {
        Self { align: Align::Right, ..Self::words(title) }
    }

    /// Cells that stand out; only in text, and only where colours are wanted.
    #[must_use]
    pub fn styled(self, style: Style) -> Self {
        Self { style: Some(style), ..self }
    }

    /// Where there is no room, the highest goes first; one of worth 1 stays: words are cut.
    #[must_use]
    pub fn worth(self, worth: u8) -> Self {
        Self { worth, ..self }
    }

    /// A cell of so many places.
    fn shown(&self, cell: &str, width: usize) -> String {
        let text = fitted(&harmless(cell), width, self.align);
        match self.style.and_then(|style| style(cell)) {
            Some(style) => text.replacen(text.trim(), &format!("\x1b[{style}m{}\x1b[0m", text.trim()), 1),
            None => text,
        }
    }
}

/// How wide a table may be on this file: as wide as the terminal or as the environment says, else as it is.
pub fn room(file: impl AsFd) -> usize {
    let terminal = terminal_size::terminal_size_of(file).map(|(width, _)| width.0.into());
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(columns).unwrap_or(usize::MAX)
}

/// Words for people in lines of this width at most.
pub fn wrapped(words: &str, width: usize) -> String {
    // A date or a label with hyphens is one word.
    let options = textwrap::Options::new(width.max(1)).word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&harmless(words), options).into_iter().flat_map(|line| [line, "\n".into()]).collect()
}

impl Grid {
    /// Where its columns of numbers do not fit, several tables with some of them each, and with all of its words.
    #[must_use]
    pub fn folded(self, width: usize) -> Vec<Self> {
        let widths = self.widths(harmless);
        let is_words = |place: &usize| self.columns[*place].align == Align::Left;
        let words: Vec<usize> = (0..widths.len()).filter(is_words).collect();
        let numbers: Vec<usize> = (0..widths.len()).filter(|place| !is_words(place)).collect();
        // Words can be cut, but not to nothing.
        let named = words.iter().map(|place| widths[*place] + GAP).sum::<usize>().min(width / 2);
        let mut parts: Vec<(Vec<usize>, usize)> = vec![(Vec::new(), named)];
        for place in numbers {
            let needed = widths[place] + GAP;
            match parts.last_mut().filter(|(part, used)| part.is_empty() || used + needed - GAP <= width) {
                Some((part, used)) => {
                    part.push(place);
                    *used += needed;
                }
                None => parts.push((vec![place], named + needed)),
            }
        }
        let of = |part: Vec<usize>| {
            let places: Vec<usize> = words.iter().copied().chain(part).collect();
            let cells =
                |row: &Vec<String>| places.iter().map(|place| row.get(*place).cloned().unwrap_or_default()).collect();
            Self {
                title: self.title.clone(),
                columns: places.iter().map(|place| self.columns[*place].clone()).collect(),
                rows: self.rows.iter().map(cells).collect(),
            }
        };
        if parts.len() == 1 { vec![self] } else { parts.into_iter().map(|(part, _)| of(part)).collect() }
    }

    /// The table as text of this width at most: columns that may go do so; where none may, it is folded.
    pub fn closing(self, width: usize) -> String {
        let may_lose = self.columns.iter().any(|column| column.worth > 1);
        let parts = if may_lose { vec![self] } else { self.folded(width) };
        parts.iter().map(|part| part.text(width)).collect()
    }

    /// What stands above the columns.
    pub fn titles(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().map(|column| &column.title)
    }

    /// The table as text of this width at most. One of a single column is folded as words are.
    pub fn text(&self, width: usize) -> String {
        let widths = self.fitting(&self.widths(harmless), width);
        let mut text = wrapped(&self.title, width);
        let titles: Vec<_> = self.titles().cloned().collect();
        let head = Some(&titles).filter(|titles| titles.iter().any(|title| !title.is_empty()));
        for row in head.into_iter().chain(&self.rows) {
            if let ([_], [words]) = (&self.columns[..], &row[..]) {
                text += &wrapped(words, width);
                continue;
            }
            let cells = self.columns.iter().zip(&widths).zip(row);
            let cells = cells.filter_map(|((column, width), cell)| Some(column.shown(cell, (*width)?)));
            text += cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end();
            text.push('\n');
        }
        text
    }

    /// The same to paste into a report.
    pub fn markdown(&self) -> String {
        let plain = |cell: &str| harmless(cell).replace('|', "\\|");
        let widths = self.widths(plain);
        let rule = self
            .columns
            .iter()
            .zip(&widths)
            .map(|(column, width)| "-".repeat(width - 1) + if column.align == Align::Right { ":" } else { "-" });
        let row = |cells: &mut dyn Iterator<Item = &String>| {
            let cells = self.columns.iter().zip(&widths).zip(cells);
            let cells = cells.map(|((column, width), cell)| fitted(&plain(cell), *width, column.align));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut text = plain(&self.title) + "\n\n";
        text += &row(&mut self.titles());
        text.extend(["| ", &rule.collect::<Vec<_>>().join(" | "), " |\n"]);
        text.extend(self.rows.iter().map(|cells| row(&mut cells.iter())));
        text
    }

    /// How wide each column would be.
    fn widths(&self, plain: impl Fn(&str) -> String) -> Vec<usize> {
        let widest = |place: usize, title: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(place)).map(|cell| plain(cell).width());
            cells.max().unwrap_or_default().max(plain(title).width()).max(NARROWEST)
        };
        self.columns.iter().enumerate().map(|(place, column)| widest(place, &column.title)).collect()
    }

    /// How wide each is where there is only so much room; `None` for those that have to go.
    fn fitting(&self, widths: &[usize], room: usize) -> Vec<Option<usize>> {
        let mut kept: Vec<_> = widths.iter().copied().map(Some).collect();
        let needed =
            |kept: &[Option<usize>]| kept.iter().flatten().map(|width| width + GAP).sum::<usize>().saturating_sub(GAP);
        while needed(&kept) > room {
            let worth = |place: &usize| self.columns[*place].worth;
            let droppable = (0..kept.len()).filter(|place| kept[*place].is_some() && worth(place) > 1);
            if let Some(place) = droppable.max_by_key(worth) {
                kept[place] = None;
                continue;
            }
            // A number that is cut is another number.
            let words = self.columns.iter().zip(&mut kept).filter(|(column, _)| column.align == Align::Left);
            let widths = words.filter_map(|(_, width)| width.as_mut()).filter(|width| **width > NARROWEST);
            match widths.max() {
                Some(width) => *width -= 1,
                None => match kept.iter_mut().rev().find(|width| width.is_some()) {
                    Some(last) => *last = None,
                    None => break,
                },
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid {
            title: "rates".into(),
            columns: vec![Column::words("label"), Column::numbers("n").worth(3), Column::numbers("median")],
            rows: vec![
                ["a|b", "12345", "7"].map(String::from).into(),
                ["\u{1b}[2J", "1", "8"].map(String::from).into(),
            ],
        }
    }

    #[test]
    fn columns_are_aligned_and_cells_harmless() {
        assert_eq!(
            grid().text(usize::MAX),
            "rates\nlabel          n  median\na|b        12345       7\n\\u{1b}[2J      1       8\n"
        );
        assert_eq!(
            grid().markdown(),
            "rates\n\n| label     |     n | median |\n| --------- | ----: | -----: |\n\
             | a\\|b      | 12345 |      7 |\n| \\u{1b}[2J |     1 |      8 |\n"
        );
    }

    #[test]
    fn a_cell_that_stands_out_is_no_wider() {
        let mut coloured = grid();
        coloured.columns[0] = Column::words("label").styled(|cell| (cell == "a|b").then_some("32"));
        let text = coloured.text(usize::MAX);
        assert!(text.contains("\n\x1b[32ma|b\x1b[0m        12345       7\n"), "{text:?}");
        assert_eq!(coloured.markdown(), grid().markdown());
    }

    #[test]
    fn words_with_hyphens_are_whole() {
        assert_eq!(wrapped("since 2026-11-30 12:00", 13), "since\n2026-11-30\n12:00\n");
    }

    #[test]
    fn a_table_of_many_numbers_is_folded() {
        assert_eq!(grid().folded(24).len(), 1);
        let [one, other] = &grid().folded(20)[..] else { panic!() };
        assert_eq!(one.text(20), "rates\nlabel          n\na|b        12345\n\\u{1b}[2J      1\n");
        assert_eq!(other.text(20), "rates\nlabel      median\na|b             7\n\\u{1b}[2J       8\n");
        assert_eq!(grid().folded(0).len(), 2);
    }

    #[test]
    fn what_may_not_go_is_folded_and_what_has_no_titles_has_no_head() {
        assert_eq!(grid().closing(20), grid().text(20));
        let mut whole = grid();
        whole.columns = ["label", "n", "median"].map(Column::numbers).into();
        whole.columns[0] = Column::words("label");
        assert_eq!(whole.clone().closing(20), whole.folded(20).iter().map(|part| part.text(20)).collect::<String>());
        let note = Grid { title: "a note of more than a few words".into(), ..Grid::default() };
        assert_eq!(note.closing(20), "a note of more than\na few words\n");
    }

    #[test]
    fn what_does_not_fit_goes_by_its_worth_and_then_is_cut() {
        assert_eq!(grid().text(20), "rates\nlabel      median\na|b             7\n\\u{1b}[2J       8\n");
        assert_eq!(grid().text(12), "rates\nlab~  median\na|b        7\n\\u{~       8\n");
        assert!((1..40).all(|width| grid().text(width).lines().skip(1).all(|line| line.width() <= width)));
    }
}
