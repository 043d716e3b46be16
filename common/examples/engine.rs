//! What the measuring engine itself costs: a null gauge, whose worker counts as fast as it can, without intervals and with
//! a thousand of them a second. Prints CSV; `make bench` runs it.

use std::time::Duration;

use common::measure::lane::{CpuOf, Track};
use common::measure::null::Null;
use common::measure::spans::Timing;
use common::measure::watch::Measurement;
use common::stop::Stop;

fn main() -> anyhow::Result<()> {
    let stop = Stop::on_request()?;
    let mut out = csv::Writer::from_writer(std::io::stdout());
    out.write_record(["intervals", "seconds", "ns_per_op"])?;
    for interval in [None, Some(Duration::from_millis(1))] {
        let track = Track::new(false, [()])?;
        let works = track.lanes().iter().map(Null::work).collect();
        let timing = Timing { warmup: Duration::ZERO, time: Some(Duration::from_secs(1)), interval };
        let measurement =
            Measurement { stop: &stop, progress: None, timing, leads: true, cpu: CpuOf::Workers, workers: "null" };
        let mut null = Null::default();
        let total = measurement.run(&track, works, &mut null)?.total.sample();
        let seconds = total.length.as_secs_f64();
        let ns_per_op = 1e9 * seconds / total.counts.ops as f64;
        out.write_record([null.intervals.len().to_string(), format!("{seconds:.6}"), format!("{ns_per_op:.3}")])?;
    }
    out.flush()?;
    Ok(())
}
