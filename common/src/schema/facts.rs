//! Facts that are many, sparse or device-specific: long lines, one fact each, of schema `<tool>-facts/1`.

use super::columns;
use super::line::Time;

columns! {
    /// One fact.
    pub struct Fact {
        schema: &'static str, "", "tool-facts and number of its set of columns";
        time: Time, "RFC 3339 UTC", "when it was read";
        host: String, "", "node name of the machine";
        label: String, "", "the user's --label: which set-up this was";
        target: String, "", "device, path, mount or interface";
        key: String, "", "what it is; dots part groups, as in coalesce.rx_usecs";
        value: String, "", "as the kernel says it, numbers without unit";
        unit: String, "", "base unit of the value, empty for text and counts";
    }
}
