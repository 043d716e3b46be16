//! Facts that are many, sparse or device-specific: long lines, one fact each, of schema `<tool>-facts/1`.

use super::column::columns;
use super::line::Time;
use super::role::{INSTANCE, NAME, NOTE};

columns! {
    /// One fact.
    pub struct Fact {
        schema: &'static str, "", NAME, "tool-facts and number of its set of columns";
        time: Time, "RFC 3339 UTC", INSTANCE, "when it was read";
        host: String, "", NAME, "node name of the machine";
        label: String, "", NAME, "the user's --label: which set-up this was";
        target: String, "", NAME, "device, path, mount or interface";
        key: String, "", NAME, "what it is; dots part groups, as in coalesce.rx_usecs";
        value: String, "", NOTE, "as the kernel says it, numbers without unit";
        unit: String, "", NOTE, "base unit of the value, empty for text and counts";
    }
}
