//! Which columns a table has, and in which units.

use std::collections::{BTreeMap, BTreeSet};

use unicode_width::UnicodeWidthStr;

use super::cell::{self, Align, BIT_RATES, BYTE_RATES, SIZES, TIMES, Unit, Units};
use super::cells::{Cells, Side};
use crate::schema::role::{Form, RoleKind, Shown};
use crate::schema::{Column, Holds, Schema};
use crate::text::harmless;
use crate::units::digits;

/// What a column of the table is made of, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// From when to when.
    Elapsed,
    /// The number of the run.
    Run,
    /// A column of the schema, by its side and place, as it is shown; a rate in bits stands before the same in bytes.
    Column(Side, usize, bool),
    /// The warnings.
    Flags,
}

impl Source {
    /// What the same column of both sides has in common.
    fn of_both_sides(self) -> Self {
        match self {
            Self::Column(_, place, in_bits) => Self::Column(Side::Whole, place, in_bits),
            other => other,
        }
    }
}

/// What has had something to say, and the longest text that it said.
pub type Known = BTreeMap<Source, usize>;

/// A column of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Picked {
    pub source: Source,
    pub width: usize,
    /// Its part of the width; the last one may have what is left beside it.
    room: usize,
    /// By the user.
    is_asked: bool,
    pub align: Align,
    title: String,
    form: Form,
    unit: Option<Unit>,
}

/// Whether a row of this test tells something in this column, unless it is asked to.
fn is_told(cells: &Cells, place: usize) -> bool {
    let (schema, test) = (cells.schema, cells.get("test"));
    let Some(column) = schema.columns().nth(place).filter(|column| column.role.shown.is_some()) else { return false };
    match column.name {
        "test" => cells.pair.is_none_or(|pair| !pair.word.is_empty()),
        "target" => schema.tests.has_targets || schema.holds == Holds::Facts,
        "ops_per_s" => !schema.tests.transfers.contains(&test),
        "bytes_per_s" | "bytes" => !schema.tests.transactions.contains(&test),
        // One process measures everything that a sample is about.
        "cpu_pct" => schema.tests.pairs.is_empty(),
        _ => true,
    }
}

/// What a row has something to say in.
fn said(cells: &Cells, also: &[String]) -> BTreeSet<Source> {
    let schema = cells.schema;
    let mut sources = BTreeSet::new();
    if !cells.get("seconds").is_empty() {
        sources.insert(Source::Elapsed);
    }
    if cells.get("run").parse::<u64>().is_ok_and(|run| run > 1) {
        sources.insert(Source::Run);
    }
    if !cells.flags().is_empty() {
        sources.insert(Source::Flags);
    }
    for (place, column) in schema.columns().enumerate() {
        let is_asked = also.iter().any(|name| name == column.name);
        if !is_asked && !is_told(cells, place) {
            continue;
        }
        for side in cells.sides_of(column).into_iter().filter(|side| !cells.at(*side, place).is_empty()) {
            sources.insert(Source::Column(side, place, false));
            if schema.tests.in_bits && form(schema, place) == Form::Rate {
                sources.insert(Source::Column(side, place, true));
            }
        }
    }
    sources
}

/// Takes note of what a row says.
pub fn learn(known: &mut Known, cells: &Cells, elapsed: &str, also: &[String]) {
    for source in said(cells, also) {
        let said = match source {
            Source::Elapsed => elapsed.width(),
            Source::Run | Source::Flags => 0,
            Source::Column(side, place, _) => harmless(cells.said(side, place)).width(),
        };
        let longest = known.entry(source).or_default();
        *longest = said.max(*longest);
    }
}

/// Those of the known sources for which there is room, in their order; the least worth goes first, and with a column that
/// of the other side. What must stay shares what there is.
fn fitting(schema: &Schema, known: &Known, width: usize) -> Vec<(Source, usize)> {
    let has_rates = known.keys().any(|source| is_column(schema, *source, |column| column.role.kind == RoleKind::Rate));
    // Where nothing says how fast it was, the amount is what there is to say.
    let is_all = |source| !has_rates && is_column(schema, source, |column| column.role.kind == RoleKind::Amount);
    let worth = |source: Source| worth(schema, source).min(if is_all(source) { 2 } else { u8::MAX });
    let key = |source: Source| (worth(source), source.of_both_sides());
    let mut by_worth: Vec<_> = known.iter().map(|(source, said)| (*source, room(schema, *source, *said))).collect();
    by_worth.sort_by_key(|(source, _)| (key(*source), *source));
    let is_text =
        |source| matches!(source, Source::Column(_, place, _) if matches!(form(schema, place), Form::Text(_)));
    // Words may be cut; a figure may not, and one there must be.
    let is_figure = |source| !is_text(source) && source != Source::Elapsed;
    let first = by_worth.iter().find(|(source, _)| is_figure(*source)).map_or(0, |(_, room)| room + 1);
    let mut used = 0;
    let mut kept = Vec::new();
    for sides in by_worth.chunk_by(|(one, _), (other, _)| key(*one) == key(*other)) {
        let has_figure = kept.iter().chain(sides).any(|(source, _)| is_figure(*source));
        let reserved = if has_figure { 0 } else { first };
        let left = width.saturating_sub(used + usize::from(!kept.is_empty()) + reserved);
        let must_stay = sides.iter().all(|(source, _)| worth(*source) <= 2);
        let share = (left + 1) / sides.len();
        let asked = sides.iter().map(|(_, room)| room + 1).sum::<usize>();
        if asked > left + 1 && !(must_stay && share > 1) {
            continue;
        }
        for (source, room) in sides {
            let room = if asked > left + 1 { share - 1 } else { *room };
            used += room + usize::from(!kept.is_empty());
            kept.push((*source, room));
        }
    }
    kept.sort_by_key(|(source, _)| (order(schema, *source), *source));
    kept
}

/// Where a column stands beside the others: what went wrong is read after the rates.
fn order(schema: &Schema, source: Source) -> (u8, Side, usize) {
    match source {
        Source::Elapsed => (0, Side::Whole, 0),
        Source::Run => (1, Side::Whole, 0),
        Source::Column(side, place, _) => {
            let is_loss = is_column(schema, source, |column| column.role.kind == RoleKind::Loss);
            let rate = schema.columns().position(|column| column.name == "ops_per_s");
            (2, side, if is_loss { place.max(rate.unwrap_or(place)) } else { place })
        }
        Source::Flags => (3, Side::Whole, 0),
    }
}

fn is_column(schema: &Schema, source: Source, holds: impl Fn(&Column) -> bool) -> bool {
    match source {
        Source::Column(_, place, _) => schema.columns().nth(place).is_some_and(holds),
        _ => false,
    }
}

/// The columns for the known sources, in units that suit this row.
pub fn pick(known: &Known, cells: &Cells, also: &[String], width: usize) -> Vec<Picked> {
    let fitting = fitting(cells.schema, known, width);
    let mut picked: Vec<_> = fitting.into_iter().map(|(source, room)| column(source, room, cells, also)).collect();
    let used = self::width(&picked);
    if let Some(last) = picked.last_mut().filter(|last| last.align == Align::Left) {
        last.width += width.saturating_sub(used);
    }
    picked
}

/// All that facts may say: they come one a row, and there are no surprises in them.
pub fn all(schema: &Schema) -> Known {
    let is_shown = |place: &usize| shown(schema, *place).is_some();
    (0..schema.columns().count()).filter(is_shown).map(|place| (Source::Column(Side::Whole, place, false), 0)).collect()
}

/// Whether these are still the columns to have.
pub fn still_fit(picked: &[Picked], schema: &Schema, known: &Known, width: usize) -> bool {
    picked.iter().map(|column| (column.source, column.room)).eq(fitting(schema, known, width))
}

/// How wide a row of them is.
pub fn width(picked: &[Picked]) -> usize {
    picked.iter().map(|column| column.width + 1).sum::<usize>().saturating_sub(1)
}

fn column(source: Source, room: usize, cells: &Cells, also: &[String]) -> Picked {
    let text = |title: &str, align| Picked {
        source,
        width: room,
        room,
        is_asked: false,
        align,
        title: title.to_owned(),
        form: Form::Text(0),
        unit: None,
    };
    match source {
        Source::Elapsed => text("seconds", Align::Right),
        Source::Run => text("run", Align::Right),
        Source::Flags => text("flags", Align::Left),
        Source::Column(side, place, in_bits) => {
            let form = form(cells.schema, place);
            let align = if matches!(form, Form::Text(_)) { Align::Left } else { Align::Right };
            let value = cells.at(side, place).parse().unwrap_or(0.0);
            let unit = units(form, in_bits).map(|units| Unit::suiting(units, value));
            let name = cells.schema.columns().nth(place).map_or("", |column| column.name);
            let is_asked = also.iter().any(|also| also == name);
            Picked { is_asked, form, unit, ..text(&title(cells.schema, side, place), align) }
        }
    }
}

impl Picked {
    /// What stands above it; where it is narrow, the unit is what must be there.
    pub fn title(&self) -> String {
        let Some(unit) = self.unit else { return self.title.clone() };
        let full = format!("{} {}", self.title, unit.name).trim_start().to_owned();
        if full.width() <= self.width {
            return full;
        }
        let side = if let Source::Column(side, ..) = self.source { side.prefix() } else { "" };
        format!("{side} {}", unit.name).trim_start().to_owned()
    }

    /// Whether the row's figure is read easily in the unit above.
    pub fn suits(&self, cells: &Cells) -> bool {
        let (Source::Column(side, place, _), Some(unit)) = (self.source, self.unit) else { return true };
        let value: Option<f64> = cells.at(side, place).parse().ok();
        !is_told(cells, place) || value.is_none_or(|value| unit.suits(value))
    }

    /// How it stands out, if it does (ECMA-48, select graphic rendition): warnings, and what has gone wrong.
    pub fn style(&self, cells: &Cells) -> &'static str {
        match self.source {
            Source::Flags => "33",
            Source::Column(side, place, _) => {
                let is_loss =
                    cells.schema.columns().nth(place).is_some_and(|column| column.role.kind == RoleKind::Loss);
                if is_loss && cells.at(side, place).parse().is_ok_and(|value: f64| value > 0.0) { "31" } else { "" }
            }
            _ => "",
        }
    }

    /// The row's cell.
    pub fn text(&self, cells: &Cells, elapsed: &str) -> String {
        let (side, place) = match self.source {
            Source::Elapsed => return elapsed.to_owned(),
            Source::Run => return cells.get("run").to_owned(),
            Source::Flags => return harmless(&cells.flags().join(" ")),
            Source::Column(side, place, _) => (side, place),
        };
        if !self.is_asked && !is_told(cells, place) {
            return String::new();
        }
        let cell = cells.said(side, place);
        let is_value = is_column(cells.schema, self.source, |column| column.role.kind == RoleKind::Note);
        if cells.schema.holds == Holds::Facts && is_value && !cell.is_empty() {
            return harmless(format!("{cell} {}", cells.get("unit")).trim_end());
        }
        let Ok(value) = cell.parse::<f64>() else { return harmless(cell) };
        match (self.form, self.unit) {
            (Form::Text(_) | Form::Count, _) => harmless(cell),
            // The kernel counts in whole ones of it.
            (_, Some(unit)) if unit.size <= 1.0 && !cell.contains('.') => harmless(cell),
            (_, Some(unit)) => digits(value / unit.size),
            (Form::Percent, None) => cell::percent(value),
            (_, None) => digits(value),
        }
    }
}

fn units(form: Form, in_bits: bool) -> Option<Units> {
    match form {
        Form::Rate if in_bits => Some(BIT_RATES),
        Form::Rate => Some(BYTE_RATES),
        Form::Micros => Some(TIMES),
        Form::Bytes => Some(SIZES),
        _ => None,
    }
}

fn shown(schema: &Schema, place: usize) -> Option<Shown> {
    schema.columns().nth(place)?.role.shown
}

/// How a column is written; one that is shown only because somebody asked tells it by its unit.
fn form(schema: &Schema, place: usize) -> Form {
    let Some(column) = schema.columns().nth(place) else { return Form::Text(8) };
    shown(schema, place).map_or_else(
        || match (column.unit, column.kind) {
            ("B/s", _) => Form::Rate,
            ("us", _) => Form::Micros,
            ("B", _) => Form::Bytes,
            ("s", _) => Form::Seconds,
            ("%", _) => Form::Percent,
            (_, "text" | "time") => Form::Text(12),
            _ => Form::Count,
        },
        |shown| shown.form,
    )
}

fn title(schema: &Schema, side: Side, place: usize) -> String {
    let name = schema.columns().nth(place).map_or("", |column| column.name);
    let title = shown(schema, place).map_or(name, |shown| shown.title);
    let title = match (name, form(schema, place)) {
        ("errors", _) => schema.tests.errors.to_owned(),
        ("ops_per_s", _) => format!("{}/s", schema.tests.ops),
        (_, Form::Percent) => format!("{title} %"),
        (_, Form::Seconds) => format!("{title} s"),
        _ => title.to_owned(),
    };
    format!("{} {title}", side.prefix()).trim().to_owned()
}

fn worth(schema: &Schema, source: Source) -> u8 {
    match source {
        Source::Elapsed => 1,
        Source::Run => 5,
        Source::Flags => 4,
        // In bits, people know what a network should do.
        Source::Column(_, place, in_bits) => {
            let is_second = schema.tests.in_bits && form(schema, place) == Form::Rate && !in_bits;
            shown(schema, place).map_or(2, |shown| shown.worth + if is_second { 5 } else { 0 })
        }
    }
}

/// How wide a column is: as its title and its figures are, or as what it has said, in steps so that it seldom changes.
fn room(schema: &Schema, source: Source, said: usize) -> usize {
    match source {
        Source::Elapsed => said.max(9),
        Source::Run => 3,
        Source::Flags => 8,
        Source::Column(side, place, in_bits) => {
            let (form, title) = (form(schema, place), title(schema, side, place));
            let units = units(form, in_bits).unwrap_or_default();
            let unit = units.iter().map(|unit| unit.name.len()).max().unwrap_or(0);
            let gap = usize::from(!title.is_empty() && unit > 0);
            (title.width() + gap + unit).max(match form {
                Form::Text(most) if schema.holds == Holds::Measurements => said.next_multiple_of(4).min(most.into()),
                Form::Text(most) => most.into(),
                Form::Percent => 5,
                _ => 6,
            })
        }
    }
}
