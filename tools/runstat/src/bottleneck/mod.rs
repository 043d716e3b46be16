//! `runstat bottleneck`: which layer's own limit coincides with the end-to-end rate.

mod layer;
mod measured;
mod reading;
mod verdict;
mod words;

use anyhow::bail;
use common::cli::{Ending, Session};
use common::lines::{Reading, file_name};
use common::output;
use common::output::grid::{Column, Grid};
use common::schema::Decimal;
use common::schema::runstat::{BOTTLENECK, Layer as Own};

use crate::args::{BottleneckArgs, Format};
use crate::figures::{Unit, Wanted, suiting, text_in};
use crate::gather::Gatherer;
use crate::group::Group;
use crate::plan::Plan;
use crate::record::Shared;
use crate::sample::Spot;
use crate::show;
use layer::{Figure, Path};
use measured::Measured;
use verdict::{Decision, Limit};
use words::Explanation;

/// Places in a cell at most.
const NAMED_LINES: usize = 12;

/// Runs the verb.
pub fn run(args: &BottleneckArgs) -> anyhow::Result<Ending> {
    let plan = Plan::of_path(args, reading::BY, reading::METRICS)?;
    let format = args.show.format();
    let session = args.show.open(&BOTTLENECK, format.is_lines())?;
    let files: Vec<String> = plan.files.iter().map(|path| file_name(path)).collect();

    let (mut gatherer, wanted) = Gatherer::new(&plan, &files);
    let reading = Reading { files: &plan.files, wanted: &wanted, stop: &session.stop, console: &session.console };
    reading.each(&(), |file, line| gatherer.take(file, line))?;
    gatherer.end();
    say_what_is_left_out(&gatherer.groups, &session);
    let measured = Measured::of(&gatherer.groups, &plan);
    if measured.paths.is_empty() {
        let names: Vec<_> = measured.layers.iter().map(layer::Layer::name).collect();
        let found = if names.is_empty() { String::new() } else { format!("; there is: {}", names.join(", ")) };
        bail!("no end-to-end lines in {} (nfscopy measures them){found}", files.join(", "));
    }
    let teller = Teller { plan: &plan, files: &files, groups: &gatherer.groups, measured: &measured };
    for path in &measured.paths {
        teller.tell(path, format, &session)?;
    }
    Ok(Ending::of(&session.stop).unwrap_or(Ending::Measured))
}

fn say_what_is_left_out(groups: &[Group], session: &Session) {
    let left_out: u64 = groups.iter().map(|group| group.left_out).sum();
    if left_out > 0 {
        session.console.notice(&format!("{left_out} runs are left out for their flags: --keep-flagged counts them"));
    }
}

/// Tells verdicts.
struct Teller<'a> {
    plan: &'a Plan,
    files: &'a [String],
    groups: &'a [Group],
    measured: &'a Measured,
}

/// One row: a layer, or all of them end to end.
struct Row<'a> {
    name: String,
    group: &'a Group,
    rate: Option<Figure>,
    used_pct: Option<f64>,
    verdict: String,
    spots: &'a [Spot],
}

impl Teller<'_> {
    fn tell(&self, path: &Path, format: Format, session: &Session) -> anyhow::Result<()> {
        let decision = verdict::decide(path, self.measured);
        let rates = self.measured.layers.iter().map(|layer| layer.rate.median).chain(path.rate.map(|rate| rate.median));
        let unit = suiting(Wanted { base: "B/s", asked: None, in_bits: false }, rates);
        let explanation = Explanation { path, measured: self.measured, decision: &decision, unit };
        let rows = self.rows(path, &decision, &explanation);
        let sentences = explanation.sentences();
        if format.is_lines() {
            for row in &rows {
                session.lines.write_line(&self.line(row, path)?)?;
            }
            for sentence in &sentences {
                session.console.notice(sentence);
            }
            return Ok(());
        }
        let table = Grid {
            title: format!("{}, rates in {}", path.name(), unit.name),
            columns: vec![
                Column::words("layer"),
                Column::numbers("n").worth(5),
                Column::numbers("rate").worth(2),
                Column::numbers("interval").worth(4),
                Column::numbers("used").worth(3),
                Column::words("verdict"),
                Column::words("lines").worth(6),
            ],
            rows: rows.iter().map(|row| self.cells(row, unit)).collect(),
        };
        let sentences = sentences.map(|sentence| show::sentence(&sentence, format));
        session.lines.write_line(&(show::text(&table, format) + "\n" + &sentences.concat() + "\n"))
    }

    fn rows<'b>(&'b self, path: &'b Path, decision: &Decision, explanation: &Explanation<'_>) -> Vec<Row<'b>> {
        let mut rows = vec![Row {
            name: "end to end".into(),
            group: &self.groups[path.group],
            rate: path.rate,
            used_pct: None,
            verdict: explanation.limit_name(),
            spots: &path.spots,
        }];
        for (layer, role) in self.measured.layers.iter().zip(&decision.roles) {
            rows.push(Row {
                name: layer.name(),
                group: &self.groups[layer.group],
                rate: Some(layer.rate),
                used_pct: path.rate.map(|rate| rate.percent_of(&layer.rate)),
                verdict: role.words().into(),
                spots: &layer.spots,
            });
        }
        if let Some(waiting) = &path.waiting {
            let is_it = decision.limit == Limit::RoundTrips;
            rows.push(Row {
                name: "round trips".into(),
                group: &self.groups[path.group],
                rate: None,
                used_pct: Some(waiting.share_pct.median),
                verdict: if is_it { "bottleneck".into() } else { String::new() },
                spots: &path.spots,
            });
        }
        rows
    }

    fn line(&self, row: &Row<'_>, path: &Path) -> anyhow::Result<String> {
        let n = row.spots.len() as u64;
        let shared = Shared { schema: BOTTLENECK.tag, ..Shared::of(row.group, &self.plan.by, n) };
        let bound =
            |value: fn(&Figure) -> f64| row.rate.as_ref().filter(|rate| rate.n > 1).map(value).and_then(Decimal::new);
        let own = Own {
            layer: row.name.clone(),
            path: path.name(),
            n,
            rate_bytes_per_s: row.rate.and_then(|rate| Decimal::new(rate.median)),
            low_bytes_per_s: bound(|rate| rate.low),
            high_bytes_per_s: bound(|rate| rate.high),
            used_pct: row.used_pct.and_then(Decimal::new),
            verdict: row.verdict.clone(),
            lines: self.places(row.spots),
        };
        output::tamed_line_of(&(shared, own))
    }

    fn cells(&self, row: &Row<'_>, unit: Unit) -> Vec<String> {
        let interval = row.rate.filter(|rate| rate.n > 1);
        vec![
            row.name.clone(),
            row.spots.len().to_string(),
            row.rate.map(|rate| text_in(unit, rate.median)).unwrap_or_default(),
            interval
                .map(|rate| format!("{}..{}", text_in(unit, rate.low), text_in(unit, rate.high)))
                .unwrap_or_default(),
            row.used_pct.map(|pct| format!("{pct:.0} %")).unwrap_or_default(),
            row.verdict.clone(),
            self.places(row.spots),
        ]
    }

    /// The lines that a figure is from: `log.csv:3 log.csv:5`.
    fn places(&self, spots: &[Spot]) -> String {
        let file = |spot: &Spot| self.files.get(spot.file as usize).map_or("", String::as_str);
        let mut text: Vec<String> =
            spots.iter().take(NAMED_LINES).map(|spot| format!("{}:{}", file(spot), spot.line)).collect();
        if spots.len() > NAMED_LINES {
            text.push(format!("and {} more", spots.len() - NAMED_LINES));
        }
        text.join(" ")
    }
}
