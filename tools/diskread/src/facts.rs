//! `diskread facts`: what the kernel says of a device or file, one long line per fact. Nothing is changed.

use common::cli::{self, Ending};
use common::files::page_cache;
use common::output::facts::Teller;
use common::schema::diskread::FACTS;

use crate::args::FactsArgs;
use crate::device::Device;
use crate::direct;
use crate::layout::Layout;
use crate::target::{Target, TargetKind};

/// Attributes of a disk: key, file in sysfs (Documentation/ABI/stable/sysfs-block), unit.
const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("device.model", "device/model", ""),
    ("device.vendor", "device/vendor", ""),
    ("device.firmware", "device/firmware_rev", ""),
    ("device.read_only", "ro", ""),
    ("device.removable", "removable", ""),
    ("queue.rotational", "queue/rotational", ""),
    ("queue.scheduler", "queue/scheduler", ""),
    ("queue.read_ahead_kb", "queue/read_ahead_kb", "KiB"),
    ("queue.nr_requests", "queue/nr_requests", ""),
    ("queue.depth", "device/queue_depth", ""),
    ("queue.io_poll", "queue/io_poll", ""),
    ("queue.nomerges", "queue/nomerges", ""),
    ("queue.iostats", "queue/iostats", ""),
    ("queue.rq_affinity", "queue/rq_affinity", ""),
    ("queue.wbt_lat_usec", "queue/wbt_lat_usec", "us"),
    ("queue.write_cache", "queue/write_cache", ""),
    ("queue.max_sectors_kb", "queue/max_sectors_kb", "KiB"),
    ("queue.logical_block_size", "queue/logical_block_size", "B"),
    ("queue.physical_block_size", "queue/physical_block_size", "B"),
    ("queue.minimum_io_size", "queue/minimum_io_size", "B"),
    ("queue.optimal_io_size", "queue/optimal_io_size", "B"),
    ("loop.backing_file", "loop/backing_file", ""),
    ("loop.direct_io", "loop/dio", ""),
];

/// Module parameter: queues that are polled instead of interrupting (drivers/nvme/host/pci.c).
const POLL_QUEUES: &str = "/sys/module/nvme/parameters/poll_queues";

/// Runs the verb.
pub fn print(args: &FactsArgs) -> anyhow::Result<Ending> {
    let session = args.output.open("diskread", &FACTS)?;
    cli::in_turn(&args.paths, &session, |path| {
        let target = Target::open(path)?;
        let teller = Teller::new(&session, &FACTS, args.output.label.as_ref(), target.name.clone());
        Facts { teller, target: &target }.tell()?;
        Ok(None)
    })
}

/// Prints the facts of one target.
struct Facts<'a> {
    teller: Teller<'a>,
    target: &'a Target,
}

impl Facts<'_> {
    fn tell(&self) -> anyhow::Result<()> {
        let teller = &self.teller;
        let kind = match self.target.kind {
            TargetKind::Device { .. } => "block device",
            TargetKind::File { .. } => "file",
            TargetKind::Unsized => "file without size",
            TargetKind::Endless => "endless",
        };
        teller.fact("kind", kind, "")?;
        if let Some(bytes) = self.target.bytes() {
            teller.fact("size", &bytes.to_string(), "B")?;
            let cached = page_cache::resident_bytes(&self.target.file, 0, bytes);
            teller.number("resident", cached, "B")?;
            let layout = Layout::of(self.target, 0, bytes);
            teller.number("sparse", layout.sparse, "B")?;
            teller.number("unwritten", layout.unwritten, "B")?;
        }
        teller.number("direct.alignment", direct::stated_alignment(&self.target.file), "B")?;
        if let Some(device) = Device::of(self.target) {
            self.device(&device)?;
        }
        // The mount that holds the file, or that the device holds.
        self.target.mount().map_or(Ok(()), |mount| teller.mount(&mount))
    }

    fn device(&self, device: &Device) -> anyhow::Result<()> {
        self.teller.fact("device.name", &device.name, "")?;
        // sysfs counts in sectors of 512 bytes, whatever the device's own are.
        let bytes = std::fs::read_to_string(device.directory.join("size")).ok();
        let bytes = bytes.and_then(|sectors| sectors.trim().parse::<u64>().ok()?.checked_mul(512));
        self.teller.number("device.size", bytes, "B")?;
        for (key, file, unit) in ATTRIBUTES {
            if let Some(value) = device.attribute(file) {
                self.teller.fact(key, &value, unit)?;
            }
        }
        if device.name.starts_with("nvme")
            && let Ok(queues) = std::fs::read_to_string(POLL_QUEUES)
        {
            self.teller.fact("nvme.poll_queues", queues.trim(), "")?;
        }
        Ok(())
    }
}
