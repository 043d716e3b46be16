//! What the tool does, in one screen: read the lines, make groups of them, calculate, print, judge.

use anyhow::bail;
use common::cli::{Ending, Session};
use common::lines::{Reading, file_name};
use common::schema::runstat::SCHEMA;
use common::text;

use crate::advice;
use crate::args::{Args, FailOn, Format, GroupArgs, Verb};
use crate::comparison::Findings;
use crate::distinct::distinct;
use crate::gather::Gatherer;
use crate::plan::Plan;
use crate::record::Recorder;
use crate::remarks::Remarks;
use crate::report::Report;
use crate::show;
use crate::verdict::Verdict;

/// Does what was asked.
pub fn run(args: Args) -> anyhow::Result<Ending> {
    match args.verb {
        Some(Verb::Bottleneck(args)) => crate::bottleneck::run(&args),
        None => groups(&args.groups),
    }
}

fn groups(args: &GroupArgs) -> anyhow::Result<Ending> {
    let plan = Plan::new(args)?;
    let format = args.show.format();
    let is_lines = format.is_lines() && plan.pivot.is_none();
    let session = args.show.open(&SCHEMA, is_lines)?;
    let files: Vec<String> = plan.files.iter().map(|path| file_name(path)).collect();

    let (mut gatherer, wanted) = Gatherer::new(&plan, &files);
    let reading = Reading { files: &plan.files, wanted: &wanted, stop: &session.stop, console: &session.console };
    reading.each(&(), |file, line| gatherer.take(file, line))?;
    gatherer.end();
    if let Some(column) = gatherer.missing_column(&wanted) {
        bail!("no line has a column {column}");
    }
    let mixed = gatherer.mixed_columns();
    let remarks = gatherer.remarks;
    let findings = Findings::of(gatherer.groups, &plan);
    let recorder = Recorder { plan: &plan, files: &files, findings: &findings };
    refuse_nothing(&recorder, &remarks)?;

    for advice in advice::find(&recorder, &remarks, mixed) {
        session.console.notice(&advice.to_string());
    }
    let report = Report::new(recorder, args.show.has_colors());
    print(&report, format, &session)?;
    if let Some(ending) = Ending::of(&session.stop) {
        return Ok(ending);
    }
    if let Some(file) = could_be_baseline(&recorder) {
        session.console.summary(&format!("all groups are of both files: --baseline-file {file} compares them"));
    }
    let has_failed = alarm(&remarks, &recorder, &session) | fails(&recorder, &session);
    Ok(if has_failed { Ending::Failed } else { Ending::Measured })
}

/// Nothing to calculate with is a failure that says what is missing.
fn refuse_nothing(recorder: &Recorder<'_>, remarks: &Remarks) -> anyhow::Result<()> {
    let Recorder { plan, findings, files } = recorder;
    if remarks.lines == 0 {
        let hint = if plan.conditions.is_empty() { "" } else { " that --where lets through" };
        bail!("no lines of measurements in {}{hint}", files.join(", "));
    }
    if findings.summaries.is_empty() {
        let left_out: u64 = findings.groups.iter().map(|group| group.left_out).sum();
        if left_out > 0 {
            bail!("all {left_out} runs have doubtful flags (--keep-flagged counts them all the same)");
        }
        if let Some(torn) = remarks.torn.first() {
            let (column, place) = (&torn.column, recorder.place(torn.first));
            bail!(
                "no run has one value of {column}: it changes inside them, first in the one that ends at {place} \
                 (--by {column} keeps its values apart)"
            );
        }
        bail!("no line has a number in {} (--metric)", plan.metrics.join(", "));
    }
    if let Some(against) = &plan.against {
        let column = &plan.by[against.along];
        let sides = distinct(
            findings.summaries.iter().map(|summary| findings.groups[summary.group].key[against.along].as_str()),
        );
        if !sides.contains(&against.baseline.as_str()) {
            let sides: Vec<_> = sides.iter().take(8).map(|side| format!("'{side}'")).collect();
            bail!("no runs with {column} '{}' (--baseline); there are: {}", against.baseline, sides.join(", "));
        }
        if sides.len() == 1 {
            bail!("there is nothing but the baseline: all runs have {column} '{}'", against.baseline);
        }
    }
    Ok(())
}

fn print(report: &Report<'_>, format: Format, session: &Session) -> anyhow::Result<()> {
    match (format, report.recorder.plan.pivot) {
        (Format::Csv | Format::Json, None) => {
            for line in report.recorder.lines()? {
                session.lines.write_line(&line)?;
            }
        }
        (Format::Csv, Some(pivot)) => {
            let table = report.pivot(pivot, true);
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(table.titles().map(|title| text::tamed(title)))?;
            for row in &table.rows {
                writer.write_record(row.iter().map(|cell| text::tamed(cell)))?;
            }
            session.lines.write_line(&String::from_utf8(writer.into_inner()?)?)?;
        }
        _ => {
            let tables = report.tables(show::room(format));
            let texts: Vec<_> = tables.iter().map(|table| show::text(table, format)).collect();
            session.lines.write_line(&texts.join("\n"))?;
        }
    }
    Ok(())
}

/// The first of two files, where nothing is compared and all groups are in both: people type so what other programs compare.
fn could_be_baseline<'a>(recorder: &Recorder<'a>) -> Option<&'a str> {
    let Recorder { plan, files, findings } = *recorder;
    let ([first, _], None) = (files, &plan.against) else { return None };
    findings.groups.iter().all(|group| group.files == [0, 1]).then_some(first)
}

/// `--max`: says which runs are beyond a limit; whether there are any.
fn alarm(remarks: &Remarks, recorder: &Recorder<'_>, session: &Session) -> bool {
    for alarm in &remarks.first_alarms {
        let place = recorder.place(alarm.spot);
        let digits = crate::figures::digits(alarm.value);
        session.console.error(&format!("{}: {digits} in {} at {place} (--max)", alarm.limit, alarm.group));
    }
    let more = remarks.alarms - remarks.first_alarms.len() as u64;
    if more > 0 {
        session.console.error(&format!("and {more} more runs beyond a limit (--max)"));
    }
    remarks.alarms > 0
}

/// `--fail-on`: whether a verdict is what must not be; says which.
fn fails(recorder: &Recorder<'_>, session: &Session) -> bool {
    let Recorder { plan, findings, .. } = recorder;
    let is_bad = |verdict: Verdict| match plan.fail_on {
        None => false,
        Some(FailOn::Worse) => verdict == Verdict::Worse,
        Some(FailOn::Undecided) => !matches!(verdict, Verdict::Better | Verdict::Same),
    };
    let mut has_failed = false;
    for comparison in findings.comparisons.iter().filter(|comparison| is_bad(comparison.verdict)) {
        let summary = &findings.summaries[comparison.of];
        let name = findings.groups[summary.group].name();
        let ratio = comparison.ratio.map(|ratio| format!(" ({})", crate::figures::percent(ratio.estimate)));
        let metric = &plan.metrics[summary.metric];
        let word = comparison.verdict.word();
        session.console.error(&format!("{metric} of {name}: {word}{} (--fail-on)", ratio.unwrap_or_default()));
        has_failed = true;
    }
    has_failed
}
