//! Where the chart appears: printed once, or over and over at the same place of a terminal.

use std::io::{self, Write};
use std::os::fd::AsFd;

use common::output::Color;
use terminal_size::terminal_size_of;

use super::canvas::Style;
use super::draw::draw;
use crate::chart::Chart;
use crate::plan::{Drawn, Plan};

/// Characters of a chart where there is no terminal to ask.
const USUAL: (u32, u32) = (80, 24);

/// The highest chart that is drawn without being asked for.
const HIGHEST: u32 = 40;

/// stdout or stderr.
#[derive(Debug)]
pub struct Screen {
    is_stderr: bool,
    size: Option<(u32, u32)>,
    style: Style,
    /// It is drawn over and over: what has scrolled away cannot be.
    is_live: bool,
    /// The chart that is there, to be drawn over.
    drawn: Vec<String>,
    /// Something else may stand below it.
    is_left: bool,
}

impl Screen {
    /// stdout, or stderr while lines go to stdout.
    pub fn new(plan: &Plan) -> Self {
        let has_colours = if plan.tees { Color::Auto.is_on(&io::stderr()) } else { Color::Auto.is_on(&io::stdout()) };
        let style = Style { is_ascii: plan.is_ascii, has_colours, has_several: false };
        Self {
            is_stderr: plan.tees,
            size: plan.characters,
            style,
            is_live: plan.chart == Some(Drawn::Live),
            drawn: Vec::new(),
            is_left: false,
        }
    }

    /// A measurement has ended, and its tool may say something: the chart that is there stays, and the next is drawn below.
    pub fn leave(&mut self) {
        self.is_left = true;
    }

    /// Draws the chart over the one before.
    pub fn redraw(&mut self, chart: &Chart) -> io::Result<()> {
        let lines = self.lines(chart);
        if lines == self.drawn {
            return Ok(());
        }
        // Up to where it began, and clear from there (ECMA-48, CUU and ED).
        let mut text = match self.drawn.len() {
            0 => String::new(),
            _ if self.is_left => String::new(),
            height => format!("\u{1b}[{height}A\u{1b}[J"),
        };
        text.extend(lines.iter().flat_map(|line| [line, "\n"]));
        (self.drawn, self.is_left) = (lines, false);
        self.write(&text)
    }

    fn lines(&self, chart: &Chart) -> Vec<String> {
        let (width, height) = self.size.or_else(|| self.ask()).unwrap_or(USUAL);
        let mut lines = draw(chart, (width as usize, height as usize), self.style);
        if self.is_live {
            lines.truncate(self.ask().map_or(usize::MAX, |(_, rows)| rows as usize));
        }
        lines
    }

    /// The terminal's size, but for a line for what follows.
    fn ask(&self) -> Option<(u32, u32)> {
        let size = if self.is_stderr {
            terminal_size_of(io::stderr().as_fd())
        } else {
            terminal_size_of(io::stdout().as_fd())
        };
        let (width, height) = size.map(|(width, height)| (u32::from(width.0), u32::from(height.0)))?;
        (width > 0 && height > 1).then(|| (width, (height - 1).min(HIGHEST)))
    }

    fn write(&self, text: &str) -> io::Result<()> {
        if self.is_stderr {
            return io::stderr().write_all(text.as_bytes());
        }
        io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush())
    }
}
