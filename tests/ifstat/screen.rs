//! What a person sees on a terminal.

use testkit::screen::Terminal;

use super::ifstat;

#[test]
fn an_interface_is_one_row() {
    let shown = Terminal::of_width(80).run(&ifstat(), &["lo", "--count", "2", "--interval", "50ms"]);
    assert!(shown.rows[0].contains("rx") && shown.rows[0].contains("tx"), "{:?}", shown.rows);
    let of_lo = shown.rows.iter().filter(|row| row.contains(" lo ")).count();
    assert_eq!(of_lo, 3, "two intervals and the total: {:?}", shown.rows);
}

#[test]
fn top_draws_in_place_and_leaves_the_totals() {
    let shown = Terminal::of_width(80).run(&ifstat(), &["lo", "--top", "--count", "3", "--interval", "100ms"]);
    let of_lo: Vec<_> = shown.rows.iter().filter(|row| row.contains(" lo ")).collect();
    assert!(of_lo.len() == 1 && of_lo[0].starts_with("0.00-"), "{:?}", shown.rows);
    let raw = String::from_utf8(shown.raw).unwrap();
    assert!(raw.matches("\u{1b}[2F").count() > 1, "drawn over, a header and a row: {raw:?}");
}

#[test]
fn top_needs_a_terminal() {
    let _ = ifstat().run(&["lo", "--top", "--count", "1"]).failure(2, &["--top", "terminal"]);
}
