//! The end of a test at the listener: its total, and what the client still wants to know.

use std::time::{Duration, Instant};

use common::net::peer_line;
use common::schema::line::Flag;
use common::schema::udpblast::SCHEMA;

use crate::flow::Finished;
use crate::kept::Kept;
use crate::protocol::{Report, Word};
use crate::request::{Request, TestKind};
use crate::serve::Shared;
use crate::session::{RETRY, Talk};

/// How long a client may still ask for its lines when the listener is told to end.
const LAST_WORD: Duration = Duration::from_secs(1);

/// The end of a test: the total, and the client's questions.
pub struct Conclusion<'a> {
    pub shared: &'a Shared,
    pub talk: &'a Talk,
    pub request: &'a Request,
    pub idle: Duration,
    pub lines: Kept,
    pub was_shared: bool,
}

impl Conclusion<'_> {
    /// Prints the total, and answers the client until it has all it wants, or asks for nothing new.
    pub fn conclude(mut self, finished: &mut Finished, is_sure: bool) -> anyhow::Result<()> {
        let begun = Instant::now();
        let report = self.report(finished, is_sure, begun);
        let kind = self.request.kind;
        finished.is_cut |= self.talk.was_cut() || report.is_none();
        // A sender knows what left its host, and a receiver is told.
        let is_sure = if kind == TestKind::Recv { is_sure } else { self.talk.is_sure() };
        for mut total in finished.totals(report.as_deref(), is_sure) {
            total.raise_if(self.was_shared, Flag::Shared);
            let text = total.text()?;
            self.shared.journal.print(&text);
            if total.line.flags.has(Flag::Partial) {
                self.shared.journal.note_partial();
            }
            self.lines.keep(peer_line::to_wire(&SCHEMA, &text)?);
        }
        let of = Some(self.lines.next());
        while self.is_there(begun) && self.talk.hear().is_ok() {
            for index in self.talk.asked_for() {
                match self.lines.get(index) {
                    // One that is lost is asked for again.
                    Some(text) => drop(self.talk.say(&Word::Line { index, of, text: text.to_owned() })),
                    // What the client has is forgotten, and a question may come late.
                    None if (self.talk.client_has()..self.lines.next()).contains(&index) => {
                        let why = format!("line {index} is no longer kept: too many were not asked for in time");
                        drop(self.talk.say(&Word::Failed { why }));
                    }
                    None => {}
                }
            }
            // A client that still says that it is done has not heard what came of it.
            if kind != TestKind::Recv
                && self.talk.was_asked_for_report()
                && let Some(report) = &report
            {
                drop(self.talk.say(&Word::Report(report.clone())));
            }
        }
        Ok(())
    }

    /// What both ends know of what arrived.
    fn report(&self, finished: &Finished, is_sure: bool, begun: Instant) -> Option<Vec<Report>> {
        let mut said: Option<Instant> = None;
        let sender = self.request.kind == TestKind::Recv;
        let words = self.talk.said_pieces();
        loop {
            let report = if sender {
                self.talk.report()
            } else {
                self.talk.all_sent().map(|sent| finished.reports(&sent, self.talk.missing_pieces()))
            };
            if report.is_some() || !self.is_there(begun) {
                return report;
            }
            if said.is_none_or(|at| at.elapsed() >= RETRY) {
                said = Some(Instant::now());
                let end = || Word::End { streams: finished.all_sent(), whole: !finished.is_cut, sure: is_sure, words };
                // A client that sends is to say how much it has.
                let _ = if sender { self.talk.say_everywhere(&end()) } else { self.talk.say(&Word::Leave) };
            }
            if self.talk.hear().is_err() {
                return None;
            }
        }
    }

    /// Whether the client may still want something.
    fn is_there(&self, begun: Instant) -> bool {
        let talk = self.talk;
        let is_told = self.shared.journal.session.stop.is_set();
        let is_idle = talk.stagnation() >= self.idle && begun.elapsed() >= self.idle;
        let is_late = is_told && begun.elapsed() >= LAST_WORD;
        !(talk.is_over() || talk.failed().is_some() || is_idle || is_late)
    }
}
