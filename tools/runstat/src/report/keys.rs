//! The columns that name the rows of a table.

use crate::distinct::distinct;
use crate::record::Recorder;

/// Which columns of the groups are columns of a table, and what the others are throughout.
pub struct Keys {
    pub columns: Vec<usize>,
    pub constant: Vec<(String, String)>,
}

impl Keys {
    /// Of the groups with these indices; the column `always` is one in any case.
    pub fn of(recorder: &Recorder<'_>, groups: impl Iterator<Item = usize>, always: Option<usize>) -> Self {
        let Recorder { plan, findings, .. } = *recorder;
        let groups = distinct(groups);
        let mut keys = Self { columns: Vec::new(), constant: Vec::new() };
        for (column, name) in plan.by.iter().enumerate() {
            let values = distinct(groups.iter().map(|group| findings.groups[*group].key[column].as_str()));
            match values[..] {
                [value] if Some(column) != always => {
                    if !value.is_empty() {
                        keys.constant.push((name.clone(), value.to_owned()));
                    }
                }
                _ => keys.columns.push(column),
            }
        }
        keys
    }

    /// Their names.
    pub fn names(&self, recorder: &Recorder<'_>) -> Vec<String> {
        self.columns.iter().map(|column| recorder.plan.by[*column].clone()).collect()
    }

    /// Their values for a group.
    pub fn cells(&self, recorder: &Recorder<'_>, group: usize) -> Vec<String> {
        let key = &recorder.findings.groups[group].key;
        self.columns.iter().map(|column| key[*column].clone()).collect()
    }
}
