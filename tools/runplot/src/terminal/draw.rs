//! The chart as lines of text.

use super::canvas::{Canvas, Style};
use common::output::grid;

use crate::chart::{Arrangement, Axis, Chart, Mark, Panel, whole};

/// Least characters of a plot; a narrower or lower terminal gets that all the same.
const LEAST: (usize, usize) = (20, 4);

/// Most of the width that the texts beside a plot may take.
const TEXTS: f64 = 0.4;

/// The chart as lines of text, at most so many characters wide and, unless there are many panels or rows, high.
pub fn draw(chart: &Chart, (width, height): (usize, usize), style: Style) -> Vec<String> {
    let has_legend = chart.legend.len() > 1;
    let style = Style { has_several: has_legend, ..style };
    let mut lines = wrapped(&chart.title, width);
    if has_legend {
        lines.extend(legend(&chart.legend, width, style));
    }
    // Words about boxes are for pictures: here an interval is a line of its own.
    let caption = wrapped(&chart.caption.replace("box:", "= :"), width);
    let texts = chart.panels.iter().flat_map(|panel| &panel.y.ticks).map(|tick| count(&tick.text)).max();
    let texts = texts.unwrap_or_default().min(whole(width as f64 * TEXTS));
    let rows = rows(chart, (width, height.saturating_sub(lines.len() + caption.len())), texts);
    for (index, (panel, rows)) in chart.panels.iter().zip(rows).enumerate() {
        let has_x = chart.arrangement != Arrangement::SharedX || index + 1 == chart.panels.len();
        lines.extend(heading(panel, width));
        lines.extend(plot(panel, texts, width, rows, style));
        if has_x {
            lines.extend(x_axis(&panel.x, texts, width, style));
        }
    }
    lines.extend(caption);
    if style.is_ascii { lines.iter().map(|line| ascii(line)).collect() } else { lines }
}

/// What a panel is of.
fn heading(panel: &Panel, width: usize) -> Vec<String> {
    let texts = [&panel.heading, &panel.y.title].map(String::as_str);
    wrapped(&texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": "), width)
}

/// How many rows of text each panel's plot has.
fn rows(chart: &Chart, (width, height): (usize, usize), texts: usize) -> Vec<usize> {
    let is_of_rows = |panel: &Panel| !panel.y.has_grid;
    let frame = |index: usize, panel: &Panel| {
        let has_x = chart.arrangement != Arrangement::SharedX || index + 1 == chart.panels.len();
        heading(panel, width).len() + if has_x { 2 + wrapped(&panel.x.title, width).len() } else { 0 }
    };
    let frames: usize = chart.panels.iter().enumerate().map(|(index, panel)| frame(index, panel)).sum();
    let weights: f64 = chart.panels.iter().map(|panel| panel.weight).sum();
    let room = height.saturating_sub(frames) as f64;
    let share = |panel: &Panel| whole(room * panel.weight / weights);
    // As many lines of text for each row as the longest name takes, and one between where there is room.
    let name = |panel: &Panel| panel.y.ticks.iter().map(|tick| wrapped(&tick.text, texts).len()).max().unwrap_or(1);
    let rows = chart.panels.iter().map(|panel| match is_of_rows(panel) {
        true if share(panel) >= 2 * panel.y.ticks.len() => name(panel).max(2) * panel.y.ticks.len(),
        true => name(panel) * panel.y.ticks.len(),
        false => share(panel).max(LEAST.1),
    });
    rows.collect()
}

fn plot(panel: &Panel, texts: usize, width: usize, rows: usize, style: Style) -> Vec<String> {
    let columns = width.saturating_sub(texts + 2).max(LEAST.0);
    let mut canvas = Canvas::new(columns, rows, style);
    let place = |x: f64, y: f64| panel.x.scale.share(x).zip(panel.y.scale.share(y));
    // A row of runs has its median on one line of text, and its dots on the next.
    let aside = if panel.y.has_grid || rows < 2 * panel.y.ticks.len() { 0.0 } else { 0.25 };
    let mut signed = Vec::new();
    let signs = if style.is_ascii { ['|', '='] } else { ['┃', '━'] };
    for series in &panel.series {
        for mark in &series.marks {
            match mark {
                Mark::Line(points) => {
                    let places: Vec<_> = points.iter().filter_map(|(x, y)| place(*x, *y)).collect();
                    for pair in places.windows(2) {
                        canvas.line(pair[0], pair[1], series.look);
                    }
                    places.first().into_iter().for_each(|first| canvas.dot(*first, series.look));
                    signed.push((places, series.look));
                }
                Mark::Dots(dots) => {
                    let row = |y: f64| if panel.y.has_grid { y } else { y.round() + aside };
                    for at in dots.iter().filter_map(|dot| place(dot.at.0, row(dot.at.1))) {
                        canvas.dot(at, series.look);
                    }
                }
                Mark::Median { row, value, interval } => {
                    let row = &(row - aside);
                    let (low, high) = interval.unwrap_or((*value, *value));
                    let ends = place(low, *row).zip(place(high, *row));
                    for ((from, up), (to, _)) in ends.into_iter().filter(|_| interval.is_some()) {
                        let (first, last) = (whole(from * columns as f64), whole(to * columns as f64));
                        for column in first..=last.min(columns - 1) {
                            canvas.sign(((column as f64 + 0.5) / columns as f64, up), signs[1], series.look);
                        }
                    }
                    if let Some(at) = place(*value, *row) {
                        canvas.sign(at, signs[0], series.look);
                    }
                }
                // A curve says enough here.
                Mark::Range { .. } => {}
            }
        }
    }
    // No line hides the sign of another.
    for (places, look) in signed {
        canvas.signs(&places, look);
    }
    let mut names = vec![String::new(); rows];
    for tick in &panel.y.ticks {
        let row = panel.y.scale.share(tick.at - aside).map(|share| (whole((1.0 - share) * rows as f64)).min(rows - 1));
        // The tick that came first stays: rows are from the top, and values from zero.
        let free = names.iter_mut().skip(row.unwrap_or(rows)).take_while(|name| name.is_empty());
        free.zip(wrapped(&tick.text, texts)).for_each(|(name, text)| *name = text);
    }
    let bar = if style.is_ascii { '|' } else { '│' };
    names.iter().zip(canvas.rows()).map(|(name, row)| format!("{name:>texts$} {bar}{row}")).collect()
}

/// The line below a plot, the ticks and the title.
fn x_axis(axis: &Axis, texts: usize, width: usize, style: Style) -> Vec<String> {
    let columns = width.saturating_sub(texts + 2).max(LEAST.0);
    let (corner, dash, notch) = if style.is_ascii { ('+', '-', '+') } else { ('└', '─', '┬') };
    let mut line = vec![dash; columns];
    let mut ticks: Vec<char> = Vec::new();
    for tick in &axis.ticks {
        let Some(column) = axis.scale.share(tick.at).map(|share| (whole(share * columns as f64)).min(columns - 1))
        else {
            continue;
        };
        let length = count(&tick.text);
        let begin = (texts + 2 + column).saturating_sub(length / 2).min(width.saturating_sub(length));
        if ticks.is_empty() || begin > ticks.len() {
            ticks.resize(begin, ' ');
            ticks.extend(tick.text.chars());
            line[column] = notch;
        }
    }
    let mut lines =
        vec![format!("{:>texts$} {corner}{}", "", line.iter().collect::<String>()), ticks.into_iter().collect()];
    // Below the plot, or below all of it if it is long.
    let (begin, room) = if count(&axis.title) <= columns { (texts + 2, columns) } else { (0, width) };
    let titles = wrapped(&axis.title, room).into_iter();
    lines.extend(titles.map(|title| " ".repeat(begin + room.saturating_sub(count(&title)) / 2) + &title));
    lines
}

fn legend(names: &[String], width: usize, style: Style) -> Vec<String> {
    let mut lines: Vec<(String, usize)> = vec![(String::new(), 0)];
    for (look, name) in names.iter().enumerate() {
        let mut sign = style.sign(look);
        // What is longer than a line goes on in the next one.
        for part in wrapped(name, width.saturating_sub(2)) {
            let length = count(&part) + 2;
            let is_full = lines.last().is_some_and(|(_, used)| *used > 0 && used + length > width);
            if is_full {
                lines.push((String::new(), 0));
            }
            if let Some((line, used)) = lines.last_mut() {
                line.extend([sign.as_str(), " ", &part, "  "]);
                *used += length + 2;
            }
            sign = " ".into();
        }
    }
    lines.into_iter().map(|(line, _)| line.trim_end().to_owned()).collect()
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// The text in lines of whole words; none of none.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { grid::wrapped(text, width).lines().map(str::to_owned).collect() }
}

fn ascii(text: &str) -> String {
    let letter = |c: char| match c {
        'µ' => 'u',
        c if c.is_ascii() => c,
        _ => '?',
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;
    use crate::table::tests::{request, table_of};

    const PLAIN: Style = Style { is_ascii: false, has_colours: false, has_several: false };

    fn chart() -> Chart {
        let lines: Vec<String> =
            (0..10).map(|second| format!("2026-11-30T12:00:0{second}Z,a,tcp_recv,1,interval,1,{second}e6")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let request = request(|_| ());
        kinds::chart(&table_of(&request, "time,label,test,run,span,seconds,bytes_per_s", &lines), &request).unwrap()
    }

    #[test]
    fn a_chart_has_its_texts_and_keeps_to_its_size() {
        for (width, height) in [(80, 24), (40, 12), (200, 60)] {
            let lines = draw(&chart(), (width, height), PLAIN);
            assert!(lines.len() <= height, "{} of {height}: {lines:#?}", lines.len());
            assert!(lines.iter().all(|line| count(line) <= width), "{lines:#?}");
            let text = lines.join("\n");
            for words in ["throughput over time: a, tcp_recv", "throughput, MB/s", "seconds since 2026-11-30"] {
                assert!(text.contains(words) || width == 40, "{words} in {text}");
            }
        }
    }

    #[test]
    fn words_are_whole_whatever_the_width() {
        let lines = ["a label of many words,x,1,total,1,5e6", "another label of many words,x,1,total,1,6e6"];
        let request = request(|_| ());
        let runs =
            kinds::chart(&table_of(&request, "label,test,run,span,seconds,bytes_per_s", &lines), &request).unwrap();
        let mut series = chart();
        series.legend = vec!["a rather long name of one series".into(), "b".into()];
        for (chart, words) in [(&runs, "another label of many words"), (&series, "a rather long name of one series")] {
            for width in 40..120 {
                let lines = draw(chart, (width, 24), Style { has_colours: true, ..PLAIN });
                assert!(lines.iter().all(|line| !line.contains('…')), "{lines:#?}");
                let text = lines.join(" ");
                assert!(words.split(' ').all(|word| text.contains(word)), "{words}: {lines:#?}");
                assert!(chart.caption.split(' ').all(|word| word == "box:" || text.contains(word)), "{lines:#?}");
            }
        }
    }

    #[test]
    fn a_tiny_terminal_is_no_reason_to_panic() {
        for size in [(0, 0), (1, 1), (10, 3)] {
            assert!(!draw(&chart(), size, PLAIN).is_empty());
        }
    }

    #[test]
    fn ascii_is_ascii() {
        let lines = draw(&chart(), (80, 24), Style { is_ascii: true, ..PLAIN });
        assert!(lines.iter().all(|line| line.is_ascii() && !line.contains('?')), "{lines:#?}");
    }
}
