//! What a person sees, as recorded in `tests/snapshots/screens/`.

use testkit::snapshot::check_screens;

use super::runplot;

/// Draws lines of `tests/pictures/`.
fn is_as_recorded(what: &str, args: &[&str]) {
    check_screens(&runplot(), &format!("runplot-{what}"), "pictures", args);
}

#[test]
fn a_time_series() {
    is_as_recorded("time", &["series.csv", "link.csv"]);
}

#[test]
fn rows_of_runs() {
    is_as_recorded("runs", &["labels.csv"]);
}

#[test]
fn percentiles_of_latencies() {
    is_as_recorded("percentiles", &["latency.csv"]);
}

#[test]
fn a_sweep() {
    is_as_recorded("sweep", &["../fixtures/runstat/report-d.csv"]);
}

#[test]
fn phases_of_one_tree() {
    let where_it_is = ["--where", "target=.", "--kind", "runs"];
    is_as_recorded("phases", &[&["../fixtures/runstat/mixed.csv"], &where_it_is[..]].concat());
}

#[test]
fn letters_of_ascii() {
    is_as_recorded("ascii", &["latency.csv", "--ascii"]);
}
