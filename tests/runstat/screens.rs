//! What a person sees, as recorded in `tests/snapshots/screens/`.

use testkit::snapshot::check_screens;

use super::runstat;

fn is_as_recorded(what: &str, folder: &str, args: &[&str]) {
    check_screens(&runstat(), &format!("runstat-{what}"), folder, args);
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
