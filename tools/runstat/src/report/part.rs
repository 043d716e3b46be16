//! Which figures stand in one table: those of one metric, as far as one unit suits them.

use common::schema::registry;

use crate::comparison::Summary;
use crate::distinct::distinct;
use crate::figures::{Unit, Wanted, are_far_apart, suiting};
use crate::headline::schema_of;
use crate::record::Recorder;

/// Figures of one table.
#[derive(Debug)]
pub struct Part {
    pub metric: usize,
    pub unit: Unit,
    /// Indices of the summaries.
    pub summaries: Vec<usize>,
}

/// The parts of all findings, by metric. Bytes of networks and of files are apart, and so are tests whose figures are.
pub fn parts(recorder: &Recorder<'_>) -> Vec<Part> {
    let summaries = &recorder.findings.summaries;
    let kinds = distinct(summaries.iter().map(|summary| (summary.metric, is_in_bits(recorder, summary))));
    let parts = kinds.into_iter().flat_map(|kind| {
        let is_of_kind = |index: &usize| (summaries[*index].metric, is_in_bits(recorder, &summaries[*index])) == kind;
        by_size(recorder, (0..summaries.len()).filter(is_of_kind).collect())
    });
    parts
        .map(|(unit, summaries)| Part { metric: recorder.findings.summaries[summaries[0]].metric, unit, summaries })
        .collect()
}

/// The unit that suits all of these together.
pub fn unit_of<'a>(recorder: &Recorder<'_>, summaries: impl Iterator<Item = &'a Summary> + Clone) -> Unit {
    let base = summaries.clone().next().map_or("", |first| registry::unit(&recorder.plan.metrics[first.metric]));
    let in_bits = summaries.clone().all(|summary| is_in_bits(recorder, summary));
    let wanted = Wanted { base, asked: recorder.plan.unit, in_bits };
    suiting(wanted, summaries.filter_map(|summary| summary.median))
}

/// Those that one unit suits, with the unit.
fn by_size(recorder: &Recorder<'_>, indices: Vec<usize>) -> Vec<(Unit, Vec<usize>)> {
    let summaries = &recorder.findings.summaries;
    let of = |indices: &[usize]| unit_of(recorder, indices.iter().map(|index| &summaries[*index]));
    let is_asked = recorder.plan.unit.is_some_and(|unit| unit.for_base(of(&indices).base).is_some());
    let medians = indices.iter().filter_map(|index| summaries[*index].median);
    let Some(test) = recorder.plan.by_index("test").filter(|_| !is_asked && are_far_apart(medians)) else {
        return vec![(of(&indices), indices)];
    };
    let test_of = |index: usize| recorder.findings.groups[summaries[index].group].key[test].as_str();
    let mut parts: Vec<(Unit, Vec<usize>)> = Vec::new();
    for test in distinct(indices.iter().map(|index| test_of(*index))) {
        let alike: Vec<_> = indices.iter().copied().filter(|index| test_of(*index) == test).collect();
        let unit = of(&alike);
        match parts.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, indices)) => indices.extend(alike),
            None => parts.push((unit, alike)),
        }
    }
    parts
}

/// Whether a figure is of a network's bytes, and nobody wants another unit for those.
fn is_in_bits(recorder: &Recorder<'_>, summary: &Summary) -> bool {
    let base = registry::unit(&recorder.plan.metrics[summary.metric]);
    let is_asked = recorder.plan.unit.is_some_and(|unit| unit.for_base(base).is_some());
    let schema = schema_of(&recorder.findings.groups[summary.group].tag);
    base == "B/s" && !is_asked && schema.is_some_and(|schema| schema.tests.in_bits)
}
