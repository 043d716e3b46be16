//! From lines to groups of runs: what counts, which group it belongs to, and what must be said about the rest.

use std::collections::HashMap;

use anyhow::bail;
use common::lines::{Filter, Line, Wanted};
use common::schema::Holds;
use common::schema::line::Span;

use crate::columns::{By, LineColumns};
use crate::dimensions::Watch;
use crate::group::Group;
use crate::headline::Headlines;
use crate::limit::Limit;
use crate::metric::Metric;
use crate::open_run::{OpenRun, Run};
use crate::plan::Plan;
use crate::remarks::{NamedColumns, Remarks};
use crate::sample::Spot;

/// Most groups: more of them are no groups.
const MAX_GROUPS: usize = 10_000;

/// Takes lines, gives groups.
#[derive(Debug)]
pub struct Gatherer<'a> {
    plan: &'a Plan,
    files: &'a [String],
    columns: LineColumns,
    metrics: Vec<Metric>,
    limits: Vec<(&'a Limit, Metric)>,
    filter: Filter,
    watch: Watch,
    by_key: HashMap<Vec<u8>, usize>,
    key: Vec<u8>,
    run: Run,
    /// How many samples share the memory.
    samples: usize,
    pub groups: Vec<Group>,
    pub remarks: Remarks,
    named: NamedColumns,
}

impl<'a> Gatherer<'a> {
    /// A gatherer without groups, and the columns that it wants.
    pub fn new(plan: &'a Plan, files: &'a [String]) -> (Self, Wanted) {
        let mut wanted = Wanted::default();
        let columns = LineColumns::new(&plan.by, &mut wanted);
        let metrics = plan.metrics.iter().map(|name| Metric::new(name, &mut wanted)).collect();
        let limits = plan.limits.iter().map(|limit| (limit, Metric::new(&limit.column, &mut wanted))).collect();
        let filter = Filter::new(&plan.conditions, &mut wanted);
        let watch = Watch::new(&plan.by, &mut wanted);
        let named = NamedColumns::new(plan.named_columns(), &mut wanted);
        let gatherer = Self {
            plan,
            files,
            columns,
            metrics,
            limits,
            filter,
            watch,
            by_key: HashMap::new(),
            key: Vec::new(),
            run: Run::default(),
            samples: 0,
            groups: Vec::new(),
            remarks: Remarks::default(),
            named,
        };
        (gatherer, wanted)
    }

    /// Takes a line of the file `file`.
    pub fn take(&mut self, file: usize, line: &Line<'_>) -> anyhow::Result<()> {
        let spot = Spot { file: u32::try_from(file).unwrap_or(u32::MAX), line: line.number() };
        self.named.look(spot, line);
        if line.layout().holds() != Holds::Measurements || !self.filter.takes(line) {
            return Ok(());
        }
        let Some(span) = self.columns.span(line) else { return Ok(()) };
        self.remarks.lines += 1;
        let group = self.group_of(spot.file, line)?;
        self.groups[group].files[1] = spot.file;
        match span {
            Span::Total => self.take_total(group, line, spot),
            Span::Interval => self.take_interval(group, line, spot),
        }
        Ok(())
    }

    fn group_of(&mut self, file: u32, line: &Line<'_>) -> anyhow::Result<usize> {
        self.key.clear();
        for by in &self.columns.by {
            match by {
                By::Tool => self.key.extend_from_slice(line.layout().tool().as_bytes()),
                By::File => self.key.extend_from_slice(self.files[file as usize].as_bytes()),
                By::Column(column) => self.key.extend_from_slice(line.cell(*column)),
            }
            // Not a byte of UTF-8, so that two columns cannot be shifted against each other.
            self.key.push(0xff);
        }
        if let Some(&group) = self.by_key.get(&self.key) {
            return Ok(group);
        }
        if self.groups.len() == MAX_GROUPS {
            bail!("more than {MAX_GROUPS} groups (fewer columns in --by make fewer)");
        }
        let parts = self.key.split(|byte| *byte == 0xff).take(self.plan.by.len());
        let key = parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        let group = Group::new(key, line.layout().tag(), file, self.plan);
        let most = |headlines: &Headlines| headlines.most(group.is_of_transactions);
        self.samples += self.plan.headlines.as_ref().map_or(self.metrics.len(), most);
        self.groups.push(group);
        self.by_key.insert(self.key.clone(), self.groups.len() - 1);
        Ok(self.groups.len() - 1)
    }

    fn take_total(&mut self, index: usize, line: &Line<'_>, spot: Spot) {
        let samples = self.samples;
        let headlines = self.plan.headlines.as_ref();
        let settled = headlines.and_then(|headlines| Some((headlines, self.groups[index].settled_metric(headlines)?)));
        let is_of_transactions = self.groups[index].is_of_transactions;
        let mut run = std::mem::take(&mut self.run);
        run.values.clear();
        for (metric, column) in self.metrics.iter().enumerate() {
            let is_needed =
                settled.is_none_or(|(headlines, settled)| headlines.shows(is_of_transactions, settled, metric));
            run.values.push(if is_needed {
                self.remarks.figure(line, column.index, spot, &self.plan.metrics[metric])
            } else {
                None
            });
        }
        run.spot = spot;
        run.is_doubtful = self.columns.is_doubtful(line);
        run.flags.clear();
        run.flags += &self.columns.flags(line);
        self.close_intervals(index, line);
        let group = &mut self.groups[index];
        if group.take_total(&run, self.plan.keeps_flagged, samples) {
            group.note(line.cell(self.columns.time), line.cell(self.columns.host));
            group.sums.add(line, self.columns.sums);
            self.watch.look(spot, line, &mut group.seen);
        }
        for (limit, metric) in &self.limits {
            if let Some(value) = line.figure(metric.index) {
                self.remarks.check(limit, value, &self.groups[index], spot);
            }
        }
        self.run = run;
    }

    /// At a total: its intervals are in it. Those of a run before, that was killed, are not.
    fn close_intervals(&mut self, index: usize, line: &Line<'_>) {
        let name = self.columns.run_name(line);
        let group = &mut self.groups[index];
        let Some(open) = group.open.iter().position(|open| open.is_series_of(name)) else { return };
        let open = group.open.swap_remove(open);
        if line.time(self.columns.time).is_some_and(|start| !open.ends_with(name, start)) {
            self.finish(index, open);
        }
    }

    fn take_interval(&mut self, index: usize, line: &Line<'_>, spot: Spot) {
        let place = self.open_run(index, line);
        let (length, start) = (line.figure(self.columns.seconds).unwrap_or(1.0), line.time(self.columns.time));
        let group = &mut self.groups[index];
        self.watch.look(spot, line, &mut group.seen);
        let open = &mut group.open[place];
        open.is_doubtful |= self.columns.is_doubtful(line);
        open.add_flags(&self.columns.flags(line));
        open.spot = spot;
        open.extend(start.unwrap_or_else(|| open.end()), length);
        for (metric, heap) in all_of(&self.metrics, &self.limits).zip(&mut open.heaps) {
            heap.add(metric.rule, metric.piece(line, length));
        }
    }

    /// Index of the open run that an interval belongs to; of a new one if it goes on with none.
    fn open_run(&mut self, index: usize, line: &Line<'_>) -> usize {
        let name = self.columns.run_name(line);
        let start = line.time(self.columns.time);
        let group = &mut self.groups[index];
        if let Some(place) = group.open.iter().position(|open| open.is_series_of(name)) {
            let open = &group.open[place];
            if open.goes_on(name, start.unwrap_or_else(|| open.end())) {
                return place;
            }
            let over = group.open.swap_remove(place);
            self.finish(index, over);
        }
        let group = &mut self.groups[index];
        group.note(line.cell(self.columns.time), name.host);
        let heaps = self.metrics.len() + self.limits.len();
        group.open.push(OpenRun::new(name, start.unwrap_or_default(), heaps));
        group.open.len() - 1
    }

    /// Takes a run of which no total came.
    fn finish(&mut self, index: usize, open: OpenRun) {
        let samples = self.samples;
        for ((metric, name), heap) in self.metrics.iter().zip(&self.plan.metrics).zip(&open.heaps) {
            if heap.is_torn(metric.rule) {
                self.remarks.note_torn(name, open.spot);
            }
        }
        let mut run = open.finish(all_of(&self.metrics, &self.limits).map(|metric| metric.rule));
        let limited = run.values.split_off(self.metrics.len());
        for ((limit, _), value) in self.limits.iter().zip(limited) {
            if let Some(value) = value {
                self.remarks.check(limit, value, &self.groups[index], run.spot);
            }
        }
        self.groups[index].take_intervals(run, self.plan.keeps_flagged, samples);
    }

    /// Takes what is still open.
    pub fn end(&mut self) {
        let samples = self.samples;
        for index in 0..self.groups.len() {
            for open in std::mem::take(&mut self.groups[index].open) {
                self.finish(index, open);
            }
            self.groups[index].settle(self.plan.keeps_flagged, samples);
        }
    }

    /// A column that the command line names and no line has.
    pub fn missing_column<'w>(&self, wanted: &'w Wanted) -> Option<&'w str> {
        self.named.missing(wanted)
    }

    /// Columns that differ inside groups.
    pub fn mixed_columns(&self) -> Vec<&'static str> {
        self.watch.varied()
    }
}

/// All columns of which a run has a value.
fn all_of<'a>(metrics: &'a [Metric], limits: &'a [(&Limit, Metric)]) -> impl Iterator<Item = &'a Metric> {
    metrics.iter().chain(limits.iter().map(|(_, metric)| metric))
}
