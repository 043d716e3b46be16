//! The columns that name the rows of a table.

use common::output::grid::Column;

use crate::distinct::distinct;
use crate::record::Recorder;

/// The worth of what nobody misses.
const FIRST_TO_GO: u8 = 20;

/// Which columns of the groups are columns of a table, and what the others are throughout.
pub struct Keys {
    pub places: Vec<usize>,
    pub constant: Vec<(String, String)>,
}

impl Keys {
    /// Of the groups with these indices; the column `always` is one in any case.
    pub fn of(recorder: &Recorder<'_>, groups: impl Iterator<Item = usize>, always: Option<usize>) -> Self {
        let Recorder { plan, findings, .. } = *recorder;
        let groups = distinct(groups);
        let mut keys = Self { places: Vec::new(), constant: Vec::new() };
        for (column, name) in plan.by.iter().enumerate() {
            let values = distinct(groups.iter().map(|group| findings.groups[*group].key[column].as_str()));
            match values[..] {
                [value] if Some(column) != always => {
                    if !value.is_empty() {
                        keys.constant.push((name.clone(), value.to_owned()));
                    }
                }
                _ => keys.places.push(column),
            }
        }
        keys
    }

    /// The columns, without cells. A tool that the test tells as well goes first where there is no room.
    pub fn columns(&self, recorder: &Recorder<'_>) -> Vec<Column> {
        let by = &recorder.plan.by;
        let has_test = self.places.iter().any(|place| by[*place] == "test");
        let worth = |name: &str| if name == "schema" && has_test { FIRST_TO_GO } else { 1 };
        self.places.iter().map(|place| Column::words(&by[*place]).worth(worth(&by[*place]))).collect()
    }

    /// Their values for a group.
    pub fn cells(&self, recorder: &Recorder<'_>, group: usize) -> Vec<String> {
        let key = &recorder.findings.groups[group].key;
        self.places.iter().map(|column| key[*column].clone()).collect()
    }
}
