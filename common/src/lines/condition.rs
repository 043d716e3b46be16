//! `--where`: which lines a reader takes.

use std::str::FromStr;

use super::{ColumnIndex, Line, Wanted};

/// What a line has to be, as typed: `test=tcp_recv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    column: String,
    value: String,
}

impl Condition {
    /// The column that it is about.
    pub fn column(&self) -> &str {
        &self.column
    }

    fn holds(&self, cell: &[u8]) -> bool {
        cell == self.value.as_bytes()
    }
}

impl FromStr for Condition {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (column, value) = text.split_once('=').ok_or("expected COLUMN=VALUE, as in test=tcp_recv")?;
        Ok(Self { column: column.trim().to_owned(), value: value.to_owned() })
    }
}

/// Conditions, and where their columns are.
#[derive(Debug)]
pub struct Filter(Vec<(ColumnIndex, Condition)>);

impl Filter {
    /// Wants their columns.
    pub fn new(conditions: &[Condition], wanted: &mut Wanted) -> Self {
        Self(conditions.iter().map(|condition| (wanted.column(&condition.column), condition.clone())).collect())
    }

    /// Whether all of them hold for the line; a column that it does not have is empty.
    pub fn takes(&self, line: &Line<'_>) -> bool {
        self.0.iter().all(|(column, condition)| condition.holds(line.cell(*column)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Lines;

    /// The labels of the lines that the conditions let through.
    fn taken(conditions: &[&str]) -> Vec<String> {
        let conditions: Vec<Condition> = conditions.iter().map(|text| text.parse().unwrap()).collect();
        let mut wanted = Wanted::default();
        let filter = Filter::new(&conditions, &mut wanted);
        let label = wanted.column("label");
        let text = "schema,label,test,threads\nprobe/1,a,read,1\nprobe/1,b,write,1\nprobe/1,c=d,read,\n";
        let mut lines = Lines::new(text.as_bytes(), wanted);
        let mut labels = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            labels.extend(filter.takes(&line).then(|| line.text(label).into_owned()));
        }
        labels
    }

    #[test]
    fn a_line_is_taken_if_all_conditions_hold() {
        assert_eq!(taken(&[]), ["a", "b", "c=d"]);
        assert_eq!(taken(&["test=read"]), ["a", "c=d"]);
        assert_eq!(taken(&["test=read", " threads=1"]), ["a"]);
        assert_eq!(taken(&["label=c=d"]), ["c=d"], "the first sign parts them");
        assert_eq!(taken(&["threads="]), ["c=d"]);
        assert_eq!(taken(&["nothing="]), ["a", "b", "c=d"], "what no line has is empty");
        assert!("test".parse::<Condition>().is_err());
    }
}
