//! What a column is: how the values of several lines become one, what must not be mixed, and which end is better.
//!
//! Every row of a `columns!` table names a role, and does not compile without one; readers ask here instead of keeping
//! lists of names. Only columns that no schema has are judged by their names.

/// The role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Role {
    /// What it is.
    pub kind: RoleKind,
    /// Its better end; `None` where there is none.
    pub better: Option<Better>,
    /// Its rank among those that a comparison or a chart is about when nobody says, from 1.
    pub headline: Option<u8>,
    /// How a person's table shows it, if it does.
    pub shown: Option<Shown>,
}

/// A column of a person's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Its worth: where there is no room for all, the largest number goes first; those of 1 and 2 stay, if need be narrower.
    /// Columns stand in the order of their schema.
    pub worth: u8,
    /// What it is called, without the unit; empty where the unit says it all.
    pub title: &'static str,
    /// How its cells are written.
    pub form: Form,
}

/// How a cell is written for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it is, in so many places at most.
    Text(u8),
    /// A whole number.
    Count,
    /// Bytes, in the unit that suits.
    Bytes,
    /// Bytes per second, in the unit that suits; where bits are what people think in, also as those.
    Rate,
    /// So many a second.
    PerSecond,
    /// Microseconds, in the unit that suits.
    Micros,
    /// Seconds.
    Seconds,
    /// A percentage.
    Percent,
}

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleKind {
    /// Who, where, which: text or numbers that name what the line is about.
    Name,
    /// Which time of measuring the same thing it was: the next one has another, and is of nothing else for that.
    Instance,
    /// How it was measured, chosen by somebody or given by the machine. Different ones are different things, and never
    /// averaged. A number that people vary on purpose has a rank: the first of those that differ is what a sweep is over.
    Setting {
        /// The rank, from 1.
        sweep: Option<u8>,
    },
    /// What the path or the machine made of it by itself: it may change while one thing is measured. Runs that differ in it
    /// are worth a word, and are no series of their own.
    Found,
    /// A count that adds up over lines.
    Amount,
    /// A count that adds up and speaks against what was measured.
    Loss,
    /// Time spent: it adds up, like an amount.
    Spent,
    /// An amount per second.
    Rate,
    /// A percentage.
    Share(Share),
    /// How long one operation took, as a mean or a quantile: the mean over lines.
    Latency {
        /// The column that counts the operations behind it; without one a line weighs as much as it is long.
        of: Option<&'static str>,
        /// Which quantile, per mille; 1000 is the longest, and stays the longest over lines.
        per_mille: Option<u16>,
    },
    /// The smallest of its kind, also over lines.
    Smallest,
    /// The largest of its kind, also over lines; a longest latency is [`quantile(1000)`](quantile).
    Largest,
    /// The state at the end of a span.
    Gauge,
    /// A word about this line alone.
    Note,
}

/// Percent of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Of the line's time.
    OfTime,
    /// `part / whole`, two counts of the same line.
    Of {
        /// The column of the part.
        part: &'static str,
        /// The column of the whole.
        whole: &'static str,
    },
    /// What `part` leaves of `whole`; nothing if it is more.
    Without {
        /// The column of what is taken off.
        part: &'static str,
        /// The column of the whole.
        whole: &'static str,
    },
}

/// The better end of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The more the better: rates.
    Higher,
    /// The less the better: times, losses, costs.
    Lower,
}

const fn role(kind: RoleKind, better: Option<Better>) -> Role {
    Role { kind, better, headline: None, shown: None }
}

/// See [`RoleKind::Name`].
pub const NAME: Role = role(RoleKind::Name, None);
/// See [`RoleKind::Instance`].
pub const INSTANCE: Role = role(RoleKind::Instance, None);
/// See [`RoleKind::Setting`]; nobody sweeps over it.
pub const SETTING: Role = role(RoleKind::Setting { sweep: None }, None);
/// See [`RoleKind::Amount`].
pub const AMOUNT: Role = role(RoleKind::Amount, None);
/// See [`RoleKind::Loss`].
pub const LOSS: Role = role(RoleKind::Loss, Some(Better::Lower));
/// See [`RoleKind::Spent`].
pub const SPENT: Role = role(RoleKind::Spent, Some(Better::Lower));
/// See [`RoleKind::Rate`].
pub const RATE: Role = role(RoleKind::Rate, Some(Better::Higher));
/// See [`RoleKind::Latency`].
pub const LATENCY: Role = role(RoleKind::Latency { of: None, per_mille: None }, Some(Better::Lower));
/// See [`RoleKind::Smallest`]; of times, so that less is better.
pub const SMALLEST: Role = role(RoleKind::Smallest, Some(Better::Lower));
/// See [`RoleKind::Gauge`].
pub const GAUGE: Role = role(RoleKind::Gauge, None);
/// See [`RoleKind::Note`].
pub const NOTE: Role = role(RoleKind::Note, None);
/// See [`Share::OfTime`].
pub const OF_TIME: Role = role(RoleKind::Share(Share::OfTime), None);

/// See [`RoleKind::Found`].
pub const FOUND: Role = role(RoleKind::Found, None);
/// A setting over which people sweep; the one of the lowest rank that differs is the one swept.
pub const fn sweep(rank: u8) -> Role {
    role(RoleKind::Setting { sweep: Some(rank) }, None)
}

/// A quantile of a latency, per mille.
pub const fn quantile(per_mille: u16) -> Role {
    role(RoleKind::Latency { of: None, per_mille: Some(per_mille) }, Some(Better::Lower))
}

/// The mean latency of what the column `of` counts.
pub const fn latency_of(of: &'static str) -> Role {
    role(RoleKind::Latency { of: Some(of), per_mille: None }, Some(Better::Lower))
}

/// See [`Share::Of`].
pub const fn share(part: &'static str, whole: &'static str) -> Role {
    role(RoleKind::Share(Share::Of { part, whole }), None)
}

/// See [`Share::Without`].
pub const fn share_without(part: &'static str, whole: &'static str) -> Role {
    role(RoleKind::Share(Share::Without { part, whole }), None)
}

impl Role {
    /// The same, and the less the better.
    #[must_use]
    pub const fn low(self) -> Self {
        Self { better: Some(Better::Lower), ..self }
    }

    /// The same, and a headline of this rank.
    #[must_use]
    pub const fn headline(self, rank: u8) -> Self {
        Self { headline: Some(rank), ..self }
    }

    /// The same, shown in a person's table: its worth, its title, and how it is written.
    #[must_use]
    pub const fn shown(self, worth: u8, title: &'static str, form: Form) -> Self {
        Self { shown: Some(Shown { worth, title, form }), ..self }
    }

    /// Whether lines that differ in it are of different things.
    pub fn tells_apart(self) -> bool {
        matches!(self.kind, RoleKind::Name | RoleKind::Setting { .. })
    }

    /// Whether runs that differ in it are hardly of one thing.
    pub fn tells_runs_apart(self) -> bool {
        self.tells_apart() || self.kind == RoleKind::Found
    }

    /// Whether it is a result, and not what somebody chose or what the line is called.
    pub fn is_measured(self) -> bool {
        !self.tells_runs_apart() && !matches!(self.kind, RoleKind::Instance | RoleKind::Note)
    }

    /// Whether more of the same work makes more of it.
    pub fn adds_up(self) -> bool {
        matches!(self.kind, RoleKind::Amount | RoleKind::Loss | RoleKind::Spent)
    }

    /// Its rank among the settings that people sweep over.
    pub fn sweep_rank(self) -> Option<u8> {
        if let RoleKind::Setting { sweep } = self.kind { sweep } else { None }
    }

    /// Which quantile of a latency it is, per mille.
    pub fn per_mille(self) -> Option<u16> {
        if let RoleKind::Latency { per_mille, .. } = self.kind { per_mille } else { None }
    }

    /// What a name promises: the end tells the unit, and with it the role; the beginning may say that it is an extreme.
    pub(super) fn of_name(name: &str) -> Self {
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let bare = if ends(&["_per_s"]) {
            RATE
        } else if ends(&["_pct"]) {
            OF_TIME
        } else if ends(&["_us"]) {
            LATENCY
        } else if ends(&["_s"]) {
            SPENT
        } else if ends(&["_errors", "_drops", "_lost", "_fails", "_discards", "_overflows"]) {
            LOSS
        } else {
            GAUGE
        };
        if name.starts_with("min_") {
            Self { kind: RoleKind::Smallest, ..bare }
        } else if name.starts_with("max_") {
            Self { kind: RoleKind::Largest, ..bare }
        } else {
            bare
        }
    }
}

/// The base unit that the end of a name promises; empty for counts and text.
pub(super) fn unit_of_name(name: &str) -> &'static str {
    const ENDS: &[(&str, &str)] = &[
        ("bytes_per_s", "B/s"),
        ("bits_per_s", "bit/s"),
        ("_per_s", "1/s"),
        ("_bytes", "B"),
        ("_us", "us"),
        ("_pct", "%"),
        ("_s", "s"),
        ("seconds", "s"),
        ("bytes", "B"),
    ];
    ENDS.iter().find(|(end, _)| name.ends_with(end)).map_or("", |(_, unit)| unit)
}
