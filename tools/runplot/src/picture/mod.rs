//! Pictures: the chart as an SVG or PNG file, complete or not there at all.

mod draw;
mod frame;
mod legend;
mod look;
mod pen;
mod strokes;

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;
use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};

use crate::chart::{Arrangement, Chart};
use crate::plan::{Format, Picture};
use pen::{FINE, Pen};

/// Draws the chart and saves it under its name.
pub fn save(chart: &Chart, picture: &Picture) -> anyhow::Result<()> {
    pen::load_font()?;
    let size = picture.size.unwrap_or_else(|| suiting(chart));
    let content = match picture.format {
        Format::Svg => svg(chart, size)?,
        Format::Png => png(chart, size)?,
    };
    write(&picture.path, &content).with_context(|| format!("cannot write {}", picture.path.display()))
}

/// A size that leaves room for what is drawn.
fn suiting(chart: &Chart) -> (u32, u32) {
    const WIDTH: u32 = 960;
    const HIGHEST: u32 = 4000;
    let count = u32::try_from(chart.panels.len()).unwrap_or(1);
    let height = match chart.arrangement {
        Arrangement::SharedX => 360 + 140 * count,
        Arrangement::Grid => [480, 340][usize::from(count > 2)] * count.div_ceil(2) + 60,
        Arrangement::Stacked if chart.legend.is_empty() => {
            let rows: usize = chart.panels.iter().map(|panel| panel.y.ticks.len()).sum();
            110 + 90 * count + 40 * u32::try_from(rows).unwrap_or(1)
        }
        Arrangement::Stacked => 540,
    };
    // As much more as the legend probably takes.
    let letters: usize = chart.legend.iter().map(|name| name.chars().count() + 9).sum();
    let legend = 20 * u32::try_from(letters / 130).unwrap_or(0);
    (WIDTH, (height + legend).min(HIGHEST))
}

fn svg(chart: &Chart, (width, height): (u32, u32)) -> anyhow::Result<Vec<u8>> {
    let mut text = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut text, (width * FINE, height * FINE));
        draw::chart(&mut Pen { backend: &mut backend, drop: 0.0 }, chart, (width, height))?;
        backend.present().map_err(|error| pen::error_of(&error))?;
    }
    // The view box stays as fine as it was drawn; the picture has the size that was asked for.
    let fine = format!("<svg width=\"{}\" height=\"{}\"", width * FINE, height * FINE);
    Ok(text.replacen(&fine, &format!("<svg width=\"{width}\" height=\"{height}\""), 1).into_bytes())
}

fn png(chart: &Chart, (width, height): (u32, u32)) -> anyhow::Result<Vec<u8>> {
    let mut fine = vec![0; 3 * (width * FINE) as usize * (height * FINE) as usize];
    {
        let mut backend = BitMapBackend::with_buffer(&mut fine, (width * FINE, height * FINE));
        draw::chart(&mut Pen { backend: &mut backend, drop: 0.16 }, chart, (width, height))?;
        backend.present().map_err(|error| pen::error_of(&error))?;
    }
    let mut content = Vec::new();
    let mut encoder = png::Encoder::new(&mut content, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&averaged(&fine, width as usize * 3 * FINE as usize))?;
    writer.finish()?;
    Ok(content)
}

/// The bitmap with pixels instead of their parts; `row` is the length of a fine row in bytes.
fn averaged(fine: &[u8], row: usize) -> Vec<u8> {
    let side = FINE as usize;
    let mut pixels = Vec::with_capacity(fine.len() / (side * side));
    for rows in fine.chunks_exact(row * side) {
        for x in (0..row).step_by(3 * side) {
            for colour in 0..3 {
                let parts = (0..side).flat_map(|down| (0..side).map(move |right| down * row + x + right * 3 + colour));
                let sum: u32 = parts.map(|at| u32::from(rows[at])).sum();
                pixels.push(u8::try_from(sum / (FINE * FINE)).unwrap_or(u8::MAX));
            }
        }
    }
    pixels
}

/// Writes beside the target and renames, so that nobody ever sees half a picture.
fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As any new file: what the umask leaves of it.
    let mut file = tempfile::Builder::new()
        .prefix(".runplot-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ChartKind;
    use crate::kinds;
    use crate::table::tests::{request, table_of};
    use crate::terminal;

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { cases: 200, failure_persistence: None, ..Default::default() })]

        #[test]
        fn whatever_numbers_come_the_drawing_stays_inside(
            rows in proptest::collection::vec((0..3_u8, 0..2_u8, proptest::num::f64::ANY, proptest::num::f64::NORMAL, 0..4_u8), 1..12),
            kind in 0..5_usize,
            is_log: bool,
            is_zoomed: bool,
        ) {
            let lines: Vec<String> = rows.iter().enumerate().map(|(index, (label, span, rate, latency, threads))| {
                let span = ["interval", "total"][usize::from(*span)];
                format!("2026-11-30T12:00:{index:02}Z,{label},ping{label},{span},{latency},{rate},{threads},{latency},{rate}")
            }).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let kinds = [None, Some(ChartKind::Time), Some(ChartKind::Runs), Some(ChartKind::Percentiles), Some(ChartKind::Sweep)];
            let request = request(|request| {
                request.kind = kinds[kind];
                (request.is_log, request.is_zoomed) = (is_log, is_zoomed && !is_log);
            });
            let table = table_of(&request, "time,label,test,span,seconds,bytes_per_s,threads,p50_us,p99_us", &lines);
            if let Ok(chart) = kinds::chart(&table, &request) {
                pen::load_font().unwrap();
                let size = suiting(&chart);
                let svg = String::from_utf8(svg(&chart, size).unwrap()).unwrap();
                let ends = |text: &str| text.parse::<i32>().is_ok_and(|number| !(0..=i32::try_from(FINE * size.0.max(size.1)).unwrap()).contains(&number));
                let outside = svg.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next());
                let outside: Vec<_> = outside.flat_map(|points| points.split([' ', ','])).filter(|text| ends(text)).collect();
                assert!(outside.is_empty(), "{outside:?}");
                let style = terminal::canvas::Style { is_ascii: false, has_colours: false, has_several: false };
                assert!(!terminal::draw::draw(&chart, (80, 24), style).is_empty());
            }
        }
    }

    #[test]
    fn a_pixel_is_the_mean_of_its_parts() {
        let (side, black, white) = (FINE as usize, [0_u8; 3], [255_u8; 3]);
        let row: Vec<u8> = [vec![black; side / 2], vec![white; side - side / 2], vec![white; side]].concat().concat();
        let fine = row.repeat(side);
        assert_eq!(averaged(&fine, row.len()), [127, 127, 127, 255, 255, 255]);
    }

    #[test]
    fn a_picture_that_cannot_be_written_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("x.svg")).unwrap();
        assert!(write(&directory.path().join("x.svg"), b"<svg/>").is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
