//! What the registry of columns knows of a line, and whether a header names its columns.

use crate::schema::{self, Schema};

/// What the registry knows of a tag.
pub struct Known {
    /// Its schema; of another version of a known tool, the known one.
    pub schema: Option<&'static Schema>,
    /// The columns of that.
    pub names: Vec<&'static str>,
    /// Whether this very version is known.
    pub is_exact: bool,
    /// Whether it has fewer columns than are known.
    pub is_older: bool,
}

impl Known {
    /// Looks it up.
    pub fn of(tag: &str, tool: &str) -> Self {
        let exact = schema::ALL.iter().copied().find(|schema| schema.tag == tag);
        let of_tool = || schema::ALL.iter().copied().find(|schema| is_of_tool(schema, tool));
        let schema = exact.or_else(of_tool);
        Self {
            schema,
            names: schema.map(names_of).unwrap_or_default(),
            is_exact: exact.is_some(),
            is_older: schema.is_some_and(|schema| number_of(tag) < number_of(schema.tag)),
        }
    }

    /// Whether `header` names the columns of a line of this kind with so many cells. With fewer cells than it has, the
    /// line is cut short.
    pub fn follows(&self, header: &[String], cells: usize) -> bool {
        let (is_complete, known) = (cells >= header.len(), &self.names);
        // The columns that are known, and perhaps newer ones.
        if self.schema.is_some() && header.len() >= known.len() && begins_alike(header, known) {
            return is_complete || !self.is_exact;
        }
        // Another version's, with fewer columns.
        if let Some(schema) = self.schema.filter(|_| !self.is_exact)
            && header.len() >= schema.shared.len()
            && begins_alike(header, known)
        {
            return true;
        }
        // Another tool's.
        if schema::ALL.iter().any(|schema| names_of(schema) == header) {
            return false;
        }
        // An unknown tool's.
        if self.schema.is_none() && begins_alike(header, &names_of(schema::ALL[0])[..schema::ALL[0].shared.len()]) {
            return true;
        }
        // No tool's: columns were cut or moved.
        let is_same_set =
            header.len() == known.len() && known.iter().all(|name| header.iter().any(|cell| cell == name));
        cells == header.len() && (cells != known.len() || is_same_set)
    }
}

fn names_of(schema: &Schema) -> Vec<&'static str> {
    schema.columns().map(|column| column.name).collect()
}

/// Whether one begins with the other.
fn begins_alike(header: &[String], names: &[&str]) -> bool {
    header.iter().zip(names).all(|(cell, name)| cell == name)
}

fn is_of_tool(schema: &Schema, tool: &str) -> bool {
    schema.tag.split_once('/').is_some_and(|(name, _)| name == tool)
}

fn number_of(tag: &str) -> u64 {
    tag.split_once('/').and_then(|(_, number)| number.parse().ok()).unwrap_or(u64::MAX)
}
