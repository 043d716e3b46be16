//! Facts that are many, sparse or device-specific: long lines, one fact each, of schema `<tool>-facts/1`.

use super::column::columns;
use super::line::Time;
use super::role::{Form, INSTANCE, NAME, NOTE};

columns! {
    /// One fact.
    pub struct Fact {
        schema: &'static str, "", NAME, "tool-facts and number of its set of columns";
        time: Time, "RFC 3339 UTC", INSTANCE, "when it was read";
        host: String, "", NAME, "node name of the machine";
        label: String, "", NAME, "the user's --label: which set-up this was";
        target: String, "", NAME.shown(3, "target", Form::Text(12)), "device, path, mount or interface";
        key: String, "", NAME.shown(2, "key", Form::Text(40)), "what it is; dots part groups, as in coalesce.rx_usecs";
        value: String, "", NOTE.shown(1, "value", Form::Text(9)), "as the kernel says it, numbers without unit";
        unit: String, "", NOTE, "base unit of the value, empty for text and counts";
    }
}
