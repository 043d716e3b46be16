//! What a person sees, as recorded in `tests/snapshots/screens/`.

use testkit::screen::Terminal;
use testkit::snapshot;

use super::runstat;

/// Runs it in a folder of `tests/`, so that files have the names that people see.
fn is_as_recorded(what: &str, folder: &str, args: &[&str]) {
    let folder = format!("{}/../../tests/{folder}", env!("CARGO_MANIFEST_DIR"));
    let tool = runstat().within(&["env", "-C", &folder]);
    for width in [40, 60, 80, 120] {
        let shown = Terminal::of_width(width).run(&tool, args);
        assert!(shown.status.success(), "{shown:?}");
        snapshot::check(&format!("runstat-{what}-{width}"), &shown.text());
    }
}

#[test]
fn statistics_of_many_runs() {
    is_as_recorded("statistics", "pictures", &["labels.csv"]);
}

#[test]
fn statistics_of_all_tools_together() {
    is_as_recorded("mixed", "fixtures/runstat", &["mixed.csv"]);
}

#[test]
fn a_comparison() {
    is_as_recorded("comparison", "pictures", &["labels.csv", "--baseline", "message=4K"]);
}

#[test]
fn a_comparison_of_few_runs() {
    is_as_recorded("few-runs", "fixtures/runstat", &["report-c.csv", "--baseline", "10 Mbit/s half duplex"]);
}

#[test]
fn a_pivot() {
    is_as_recorded("pivot", "fixtures/runstat", &["report-d.csv", "--by", "label,threads", "--pivot", "test"]);
}

#[test]
fn a_bottleneck() {
    is_as_recorded("bottleneck", "fixtures/runstat", &["bottleneck", "report-a.csv"]);
}
