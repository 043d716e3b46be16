//! The lines of samples and of the whole run.

use std::fmt::Write;
use std::time::{Duration, Instant};

use common::cli::Session;
use common::cpu;
use common::measure::counters::Counts;
use common::measure::sample::Snapshot;
use common::schema::line;
use common::units;

use crate::args::WatchArgs;
use crate::lines::Lines;
use crate::link::{Counter, Counters, Link};
use crate::record::{self, Direction, Form, Stretch};
use crate::source::Source;
use crate::stack::{Layer, Stack};
use crate::sum::Sum;
use crate::tracker::{Span, Tracker};
use crate::verdict;

/// Prints, and keeps what the totals need besides the tracker's.
#[derive(Debug)]
pub struct Report<'a> {
    session: &'a Session,
    args: &'a WatchArgs,
    form: Form,
    start: Snapshot,
    last: Snapshot,
    layers_at_start: Vec<Layer>,
    layers: Vec<Layer>,
    sum: Option<Sum>,
}

impl<'a> Report<'a> {
    /// Begins where `source` made its first dump.
    pub fn begin(session: &'a Session, args: &'a WatchArgs, source: &mut Source, at: Instant) -> anyhow::Result<Self> {
        let start = snapshot(at);
        let mut report = Self {
            session,
            args,
            form: Form::new(args.output.label.as_deref(), &source.netns),
            start,
            last: start,
            layers_at_start: Vec::new(),
            layers: Vec::new(),
            sum: None,
        };
        let wanted = &args.interfaces;
        let links = source.links.iter().filter(|link| wanted.is_empty() || wanted.contains(&link.name));
        report.layers_at_start = read_layers(source.stack.as_mut(), &links.collect::<Vec<_>>())?;
        report.layers.clone_from(&report.layers_at_start);
        Ok(report)
    }

    /// All counters as they are. Nobody knows how long each interface has been there: no seconds, no rates.
    pub fn since_boot(&self, tracker: &Tracker) -> anyhow::Result<()> {
        let age = nix::time::clock_gettime(nix::time::ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default();
        let booted = self.start.at.checked_sub(age).unwrap_or(self.start.at);
        let stretch = Stretch { span: line::Span::Total, from: self.start, to: self.start, is_cut: false };
        for mut span in tracker.as_they_are() {
            (span.from, span.to) = (booted, booted);
            for direction in Direction::BOTH {
                let mut row = self.form.row(record::SINCE_BOOT, direction, &span, &stretch);
                row.0.seconds = None;
                self.session.lines.write(&row)?;
            }
        }
        Ok(())
    }

    /// The lines of the interval that ends with these spans.
    pub fn interval(
        &mut self,
        source: &mut Source,
        at: Instant,
        spans: &[Span],
        has_lines: bool,
    ) -> anyhow::Result<()> {
        let now = snapshot(at);
        let stretch = Stretch { span: line::Span::Interval, from: self.last, to: now, is_cut: false };
        // Before any line is written, which takes its time.
        let links: Vec<_> = spans.iter().map(|span| &span.link).collect();
        let layers = read_layers(source.stack.as_mut(), &links)?;
        if has_lines {
            self.spans(spans, &stretch)?;
        }
        if self.args.total {
            let sum = Sum::of(spans);
            if has_lines {
                self.sum(&sum, &stretch)?;
            }
            match &mut self.sum {
                Some(whole) => whole.add(&sum),
                whole => *whole = Some(sum),
            }
        }
        if self.args.stack && has_lines {
            let (rows, _) = verdict::rows(&self.form, &stretch, spans, &self.layers, &layers);
            rows.iter().try_for_each(|row| self.session.lines.write(row))?;
        }
        self.layers = layers;
        self.last = now;
        Ok(())
    }

    /// The lines of the whole run; `is_cut` when it ended too early.
    pub fn totals(&self, tracker: &Tracker, is_cut: bool) -> anyhow::Result<()> {
        let stretch = Stretch { span: line::Span::Total, from: self.start, to: self.last, is_cut };
        let totals = tracker.totals();
        self.spans(&totals, &stretch)?;
        if let Some(sum) = &self.sum {
            self.sum(sum, &stretch)?;
        }
        if self.args.stack {
            let (rows, verdict) = verdict::rows(&self.form, &stretch, &totals, &self.layers_at_start, &self.layers);
            rows.iter().try_for_each(|row| self.session.lines.write(row))?;
            verdict.warnings().for_each(|warning| self.session.console.notice(&warning.to_string()));
        }
        self.session.console.summary(&summary(&totals, self.last.at - self.start.at));
        Ok(())
    }

    fn spans(&self, spans: &[Span], stretch: &Stretch) -> anyhow::Result<()> {
        let is_told = |span: &&Span| !self.args.changed || !span.is_quiet();
        let mut lines = Lines::default();
        for span in spans.iter().filter(is_told) {
            for direction in Direction::BOTH {
                lines.write(&self.session.lines, &self.form.row(record::SPAN, direction, span, stretch))?;
            }
        }
        Ok(())
    }

    fn sum(&self, sum: &Sum, stretch: &Stretch) -> anyhow::Result<()> {
        let rows = self.form.sum_rows(sum.delta.as_ref(), sum.members, &sum.left_out, &sum.flags, stretch);
        rows.iter().try_for_each(|row| self.session.lines.write(row))
    }
}

fn read_layers(stack: Option<&mut Stack>, links: &[&Link]) -> anyhow::Result<Vec<Layer>> {
    stack.map_or_else(|| Ok(Vec::new()), |stack| stack.read(links))
}

/// CPU times of this moment, for what ends `at`.
fn snapshot(at: Instant) -> Snapshot {
    Snapshot::take(at, Counts::default(), cpu::process_time())
}

/// The busiest interfaces in words.
fn summary(totals: &[Span], length: Duration) -> String {
    const TOLD: usize = 2;
    let bytes = |span: &Span| {
        let get = |delta: &Counters, counter| delta.get(counter).unwrap_or(0);
        span.delta.map_or((0, 0), |delta| (get(&delta, Counter::RxBytes), get(&delta, Counter::TxBytes)))
    };
    let carried = totals.iter().map(|span| (bytes(span), span));
    let (mut busiest, idle): (Vec<_>, Vec<_>) = carried.partition(|((received, sent), _)| received + sent > 0);
    busiest.sort_by_key(|((received, sent), _)| std::cmp::Reverse(received + sent));
    let mut text = format!("{:.1} s", length.as_secs_f64());
    for ((received, sent), span) in busiest.iter().take(TOLD) {
        let seconds = (span.to - span.from).as_secs_f64().max(f64::MIN_POSITIVE);
        let [received, sent] = [*received, *sent].map(|bytes| units::bit_rate_text(bytes as f64 * 8.0 / seconds));
        let _ = write!(text, "; {}: received {received}, sent {sent}", span.link.name.text());
    }
    if busiest.len() > TOLD {
        let _ = write!(text, "; less on {} more", busiest.len() - TOLD);
    }
    match &idle[..] {
        [] => {}
        [(_, only)] => {
            let _ = write!(text, "; nothing on {}", only.link.name.text());
        }
        idle => {
            let _ = write!(text, "; nothing on {} interfaces", idle.len());
        }
    }
    text
}
