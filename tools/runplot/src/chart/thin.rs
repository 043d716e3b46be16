//! Thinning of lines: of a million points a picture shows what its pixels can, and loses no peak.

use super::{Point, Scale};

/// Of each column of the `columns` that the x axis has, keeps the first, smallest, largest and last point.
pub fn thin(line: &[Point], x: Scale, columns: usize) -> Vec<Point> {
    if line.len() <= columns * 4 {
        return line.to_vec();
    }
    let column = |point: &Point| x.share(point.0).map(|share| (share * columns as f64).floor());
    let mut kept = Vec::new();
    for group in line.chunk_by(|one, next| column(one) == column(next)) {
        let by_value = |index: &usize, other: &usize| group[*index].1.total_cmp(&group[*other].1);
        let extremes = [(0..group.len()).min_by(by_value), (0..group.len()).max_by(by_value)];
        let mut indices: Vec<usize> = extremes.into_iter().flatten().chain([0, group.len() - 1]).collect();
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|index| group[index]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_of_one_point_in_a_million_stays() {
        let mut line: Vec<Point> = (0..1_000_000_u32).map(|index| (f64::from(index), 1.0)).collect();
        line[654_321].1 = 9.0;
        line[654_322].1 = 0.0;
        let scale = Scale { low: 0.0, high: 1e6, is_log: false };
        let thinned = thin(&line, scale, 100);
        assert!(thinned.len() <= 400);
        assert!(thinned.contains(&(654_321.0, 9.0)) && thinned.contains(&(654_322.0, 0.0)));
        assert!(thinned.is_sorted_by(|one, next| one.0 < next.0));
        assert_eq!(thin(&line[..10], scale, 100), line[..10]);
    }
}
