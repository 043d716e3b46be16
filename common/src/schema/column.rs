//! A column, and how a set of them is written down.

use super::role::Role;

/// One column as `--columns` prints it.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The name in the header.
    pub name: &'static str,
    /// `integer`, `decimal`, `text` or `time`.
    pub kind: &'static str,
    /// Base unit; empty for text and plain counts.
    pub unit: &'static str,
    /// What it is for readers.
    pub role: Role,
    /// What the column says, and where it comes from.
    pub meaning: &'static str,
}

/// Defines a struct of cells and the table of its columns in one place, so that they cannot drift apart.
/// (A function cannot add fields to a struct.)
macro_rules! columns {
    ($(#[$doc:meta])* pub struct $name:ident { $($field:ident: $type:ty, $unit:literal, $role:expr, $meaning:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, serde::Serialize)]
        #[allow(clippy::doc_markdown, reason = "the text is a table's cell first")]
        pub struct $name { $(#[doc = $meaning] pub $field: $type,)* }

        impl $name {
            /// The columns of this struct, in order.
            pub const COLUMNS: &'static [crate::schema::column::Column] = &[$(crate::schema::column::Column {
                name: stringify!($field),
                kind: <$type as crate::schema::cell::Cell>::KIND,
                unit: $unit,
                role: $role,
                meaning: $meaning,
            },)*];
        }
    };
}
pub(super) use columns;
