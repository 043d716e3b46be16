//! Which rows of the table belong together, and which column they are judged by.

use std::collections::BTreeSet;

use anyhow::bail;
use common::schema::registry;

use crate::columns;
use crate::plan::Request;
use crate::table::Table;

/// The rows that a chart of runs draws: totals.
pub fn totals(table: &Table) -> anyhow::Result<Vec<usize>> {
    let totals: Vec<usize> = (0..table.rows.len()).filter(|index| !table.rows[*index].is_interval).collect();
    if totals.is_empty() {
        bail!("there are interval lines but no totals (--kind time draws them)");
    }
    Ok(totals)
}

/// The rows of each test, in the order of their first row: a panel for each.
pub fn by_test<'a>(table: &'a Table, rows: &[usize]) -> Vec<(&'a str, Vec<usize>)> {
    let mut tests: Vec<(&str, Vec<usize>)> = Vec::new();
    for row in rows {
        let test = table.value(table.rows[*row].key, "test");
        match tests.iter_mut().find(|(known, _)| *known == test) {
            Some((_, rows)) => rows.push(*row),
            None => tests.push((test, vec![*row])),
        }
    }
    tests
}

/// Keys of these rows, each once, in the order of their first row.
pub fn keys_of(table: &Table, rows: &[usize]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    rows.iter().map(|row| table.rows[*row].key).filter(|key| seen.insert(*key)).collect()
}

/// The column that rows are judged by.
pub fn metric<'a>(table: &Table, request: &'a Request, rows: &[usize]) -> anyhow::Result<&'a str> {
    match request.y.as_slice() {
        [] => {}
        [one] => return Ok(one),
        several => bail!("only a time series has several columns (--y {})", several.join(",")),
    }
    let headlines = registry::headlines();
    let is_there = |name: &&str| rows.iter().any(|row| table.figure(name, *row).is_some_and(|value| value > 0.0));
    let has_any = |name: &&str| rows.iter().any(|row| table.figure(name, *row).is_some());
    let all_requests = rows.iter().all(|row| is_request(table.value(table.rows[*row].key, "test")));
    let latency = columns::latency().filter(|name| all_requests && is_there(name));
    let first = |suits: &dyn Fn(&&str) -> bool| headlines.iter().copied().find(|name| suits(name));
    match latency.or_else(|| first(&is_there)).or_else(|| first(&has_any)) {
        Some(name) => Ok(name),
        None => bail!("no line has a number in {} (--y)", headlines.join(", ")),
    }
}

/// Whether a test's result is its latency, not its rate; `pong` is what the other end counted.
pub fn is_request(test: &str) -> bool {
    ["ping", "pong", "connect"].iter().any(|word| test.contains(word))
}
