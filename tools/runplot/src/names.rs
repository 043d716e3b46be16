//! What series are called: as much of their key as tells them apart, and no more.

use std::collections::HashMap;

use common::schema::registry;

use crate::chart::unit::size_text;
use crate::columns;
use crate::table::Table;

/// Names for `keys`, in order; `left_out` are dimensions that the chart shows otherwise.
pub fn of(table: &Table, keys: &[usize], left_out: &[&str]) -> Vec<String> {
    let mut names: Vec<Vec<String>> = vec![Vec::new(); keys.len()];
    let mut parts = vec![0_usize; keys.len()];
    for (index, dimension) in table.dimensions.iter().enumerate() {
        if left_out.contains(&dimension.as_str()) {
            continue;
        }
        let finer = partition(&parts, keys.iter().map(|key| table.keys[*key][index].as_str()));
        if count(&finer) == count(&parts) {
            continue;
        }
        parts = finer;
        for (name, key) in names.iter_mut().zip(keys) {
            name.extend(word(dimension, &table.keys[*key][index]));
        }
    }
    let nameless =
        |key: &usize| Some(table.value(*key, "label")).filter(|label| !label.is_empty()).unwrap_or("(no label)");
    let pairs = names.into_iter().zip(keys);
    pairs.map(|(words, key)| if words.is_empty() { nameless(key).into() } else { words.join(" ") }).collect()
}

/// Values of texts stand alone; numbers and rare dimensions are named.
fn word(dimension: &str, value: &str) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    if let Ok(number) = value.parse()
        && registry::unit(dimension) == "B"
    {
        return Some(format!("{}={}", columns::title(dimension), size_text(number)));
    }
    // Not what a column is, but what people understand without its name.
    let speaks_for_itself = ["label", "test", "target", "host", "schema", "method", "mechanism", "counter", "metric"];
    let is_number = value.parse::<f64>().is_ok();
    Some(if speaks_for_itself.contains(&dimension) && !is_number {
        value.into()
    } else {
        format!("{dimension}={value}")
    })
}

/// What is alike in `parts` and in its value, by number.
fn partition<'a>(parts: &[usize], values: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut known = HashMap::new();
    let pairs = parts.iter().zip(values);
    pairs
        .map(|(part, value)| {
            let next = known.len();
            *known.entry((*part, value)).or_insert(next)
        })
        .collect()
}

fn count(parts: &[usize]) -> usize {
    parts.iter().max().map_or(0, |last| last + 1)
}

/// Settings that follow from those of `from`: the method of either end of a connection from the test, the size of each
/// thread's file from the number of threads. They tell nothing apart that those do not; what users choose themselves does.
pub fn following<'a>(table: &'a Table, keys: &[usize], from: &[&str]) -> Vec<&'a str> {
    let parts = from.iter().fold(vec![0; keys.len()], |parts, dimension| {
        partition(&parts, keys.iter().map(|key| table.value(*key, dimension)))
    });
    let follows = |index: usize| {
        let finer = partition(&parts, keys.iter().map(|key| table.keys[*key][index].as_str()));
        count(&finer) == count(&parts)
    };
    let dimensions = table.dimensions.iter().enumerate();
    dimensions
        .filter(|(_, dimension)| !["label", "target", "host"].contains(&dimension.as_str()))
        .filter(|(index, _)| follows(*index))
        .map(|(_, dimension)| dimension.as_str())
        .collect()
}

/// `keys` with those together that are the same but for the dimensions `left_out`: for each key, the number of its group.
pub fn groups(table: &Table, keys: &[usize], left_out: &[&str]) -> Vec<usize> {
    let kept = table.dimensions.iter().enumerate().filter(|(_, dimension)| !left_out.contains(&dimension.as_str()));
    kept.fold(vec![0; keys.len()], |parts, (index, _)| {
        partition(&parts, keys.iter().map(|key| table.keys[*key][index].as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{request, table_of};

    #[test]
    fn names_say_what_differs_and_only_that() {
        let lines =
            ["a,send,h1,total,4,write", "a,recv,h2,total,4,read", "b,send,h1,total,8,write", "b,recv,h2,total,4,read"];
        let table = table_of(&request(|_| ()), "label,test,host,span,threads,method", &lines);
        assert_eq!(of(&table, &[0, 1, 2, 3], &[]), ["a send", "a recv", "b send", "b recv"]);
        assert_eq!(of(&table, &[0, 2], &["label"]), ["threads=4", "threads=8"]);
        assert_eq!(of(&table, &[0], &[]), ["a"]);
        assert!(following(&table, &[0, 1, 2, 3], &["test"]).contains(&"method"));
        assert!(!following(&table, &[0, 1, 2, 3], &["test"]).contains(&"threads"));
        assert!(following(&table, &[0, 1, 2, 3], &["test", "label"]).contains(&"threads"));
        assert_eq!(groups(&table, &[0, 1, 2, 3], &["label", "threads"]), [0, 1, 0, 1]);
    }
}
