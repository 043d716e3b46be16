//! The table with which `--like` ends: that of the program, from the totals that were printed.

mod crystaldiskmark;
mod hdparm;
mod ioping;

use common::output::familiar::Figures;
use common::output::familiar::bonnie::Bonnie;
use common::output::familiar::tiobench::Tiobench;
use common::output::grid::Grid;

use crate::args::Like;
use crate::plan::Plan;

/// What was measured of one target.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Its path.
    pub target: String,
    /// Its size, where it has one.
    pub size: Option<u64>,
    /// In the order of the lines.
    pub totals: Vec<Figures>,
}

impl Answer {
    /// What the program would show of these measurements; what is not there yet is empty.
    pub fn tables(&self, program: Like, plans: &[Plan]) -> Vec<Grid> {
        let Self { target, size, totals } = self;
        match program {
            Like::Hdparm => hdparm::tables(target, totals),
            Like::Crystaldiskmark | Like::Nvme => crystaldiskmark::tables(target, plans, totals),
            Like::Ioping => ioping::tables(target, totals),
            Like::Tiobench => Tiobench {
                target,
                size: *size,
                threads: &[1, 2, 4, 8],
                tests: [Some("tiobench_seq_read"), Some("tiobench_rand_read"), None, None],
            }
            .tables(totals),
            Like::Bonnie => Bonnie {
                target,
                size: *size,
                files: None,
                file_tests: [None, None, None, None, Some("bonnie_block_read"), Some("bonnie_seeks")],
                files_tests: [None; 6],
            }
            .tables(totals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::measure::latency::Moments;
    use common::schema::Fixed;
    use common::schema::line::Flag;

    /// A total of so many bytes, reads and seconds.
    pub fn total(test: &'static str, bytes: u64, ops: u64, seconds: f64) -> Figures {
        let mut figures = Figures { threads: 1, ..Figures::default() };
        let line = &mut figures.line;
        line.test = test;
        (line.bytes, line.ops, line.seconds) = (Some(bytes), Some(ops), Fixed::new(seconds));
        line.bytes_per_s = Fixed::ratio(bytes as f64, seconds);
        line.ops_per_s = Fixed::ratio(ops as f64, seconds);
        let mean_us = 1e6 * seconds / ops as f64;
        let moments = Moments { min_us: mean_us / 2.0, mean_us, deviation_us: mean_us / 4.0, max_us: 2.0 * mean_us };
        figures.latency = Some(moments);
        figures
    }

    pub fn flagged(mut figures: Figures, flag: Flag) -> Figures {
        figures.line.flags.raise_if(true, flag);
        figures
    }

    pub fn text(grids: Vec<Grid>, width: usize) -> String {
        grids.into_iter().map(|grid| grid.closing(width)).collect()
    }

    #[test]
    fn every_program_has_a_table_before_anything_is_measured() {
        let programs = [Like::Hdparm, Like::Crystaldiskmark, Like::Nvme, Like::Tiobench, Like::Bonnie, Like::Ioping];
        let answer = Answer { target: "/dev/sda".into(), ..Answer::default() };
        for program in programs {
            for width in [40, 60, 80, 120] {
                let text = text(answer.tables(program, &[]), width);
                assert!(text.lines().all(|line| line.len() <= width), "{program:?} {width}: {text}");
                assert!(text.contains("/dev/sda") && !text.contains('*'), "{program:?}: {text}");
            }
        }
    }
}
