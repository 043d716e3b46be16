//! What an end knows of a talk by what the other one said.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::part::End;
use crate::pieces::Pieces;
use crate::protocol::{Report, Sent, Word};

/// Most lines that wait for one before them, and how long each may be: the other end may be anybody.
const MAX_LINES: usize = 1024;
const MAX_LINE_BYTES: usize = 4096;

/// Most questions for lines that wait for an answer.
const MAX_QUESTIONS: usize = 16;

/// What the other end has said so far, and what it was told.
#[derive(Debug, Default)]
pub struct State {
    pub pieces: Pieces,
    /// Pieces sent.
    pub said: u64,
    /// Pieces that this host refused to send.
    pub refused: u64,
    pub heard_at: Option<Instant>,
    /// When something came that was not known.
    pub news_at: Option<Instant>,
    pub spoke_at: Option<Instant>,
    pub beginning: Beginning,
    pub lines: BTreeMap<u64, String>,
    /// How many lines there will be.
    pub of: Option<u64>,
    /// Lines taken out in their order.
    pub taken: u64,
    /// As the other end was told.
    pub told_taken: u64,
    /// Lines that the client has.
    pub client_has: u64,
    pub end: Option<Ending>,
    pub report: Option<Vec<Report>>,
    pub failed: Option<String>,
    pub departure: Option<Departure>,
    pub asked_for: Vec<u64>,
    pub wants_report: bool,
}

/// How far the two ends have come before there is data.
#[derive(Debug, Default)]
pub enum Beginning {
    #[default]
    Awaited,
    /// The client is ready.
    Begun { label: Option<String> },
    /// The listener is.
    Goes,
}

/// What a sender said when it was done.
#[derive(Debug)]
pub struct Ending {
    pub streams: Vec<Sent>,
    pub is_whole: bool,
    pub is_sure: bool,
    /// Pieces of words that it had said before.
    pub words_before: u64,
}

/// Why the other end wants no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    BeforeTime,
    HasAll,
}

impl State {
    /// Takes a word; the answer, if it wants one at once.
    pub fn take(&mut self, word: Word, side: End) -> Option<Word> {
        let is_client = side == End::Client;
        let mut is_new = true;
        let mut answer = None;
        match word {
            Word::Begin { label } if !is_client => {
                is_new = matches!(self.beginning, Beginning::Awaited);
                if is_new {
                    self.beginning = Beginning::Begun { label };
                }
                answer = Some(Word::Go);
            }
            Word::Go if is_client => {
                is_new = matches!(self.beginning, Beginning::Awaited);
                self.beginning = Beginning::Goes;
            }
            Word::Line { index, of, text } if is_client => {
                let is_wanted = index >= self.taken && self.lines.len() < MAX_LINES && text.len() <= MAX_LINE_BYTES;
                is_new = is_wanted && self.lines.insert(index, text).is_none();
                self.of = self.of.or(of);
            }
            Word::End { streams, whole, sure, words } => {
                is_new = self.end.is_none();
                self.end.get_or_insert(Ending { streams, is_whole: whole, is_sure: sure, words_before: words });
                self.wants_report = true;
            }
            Word::Report(report) => {
                is_new = self.report.is_none();
                self.report.get_or_insert(report);
            }
            Word::Failed { why } => {
                is_new = self.failed.is_none();
                self.failed.get_or_insert(why);
            }
            Word::Get { index } if !is_client => {
                is_new = index > self.client_has;
                self.client_has = self.client_has.max(index);
                if self.asked_for.len() < MAX_QUESTIONS {
                    self.asked_for.push(index);
                }
            }
            Word::Leave => {
                is_new = self.departure.is_none();
                self.departure.get_or_insert(Departure::BeforeTime);
            }
            Word::Bye if !is_client => self.departure = Some(Departure::HasAll),
            Word::Alive { taken } => {
                is_new = taken > self.client_has;
                self.client_has = self.client_has.max(taken);
            }
            _ => is_new = false,
        }
        if is_new {
            self.news_at = self.heard_at;
        }
        answer
    }
}
