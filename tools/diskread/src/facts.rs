//! `diskread facts`: what the kernel says of a device or file, one long line per fact. Nothing is changed.

use std::time::SystemTime;

use common::cli::{Ending, Session};
use common::mount;
use common::page_cache;
use common::sampler;
use common::schema::diskread::FACTS;
use common::schema::facts::Fact;
use common::schema::line::Time;
use common::sys::block;

use crate::args::FactsArgs;
use crate::device::Device;
use crate::layout::Layout;
use crate::target::{Kind, Target};

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
    super::run::for_each_path(&args.paths, &session, |path| {
        let target = Target::open(path)?;
        Teller { session: &session, target: &target, label: args.output.label.clone().unwrap_or_default() }.tell()?;
        Ok(None)
    })
}

/// Prints the facts of one target.
struct Teller<'a> {
    session: &'a Session,
    target: &'a Target,
    label: String,
}

impl Teller<'_> {
    fn tell(&self) -> anyhow::Result<()> {
        let kind = match self.target.kind {
            Kind::Device { .. } => "block device",
            Kind::File { .. } => "file",
            Kind::Unsized => "file without size",
            Kind::Endless => "endless",
        };
        self.fact("kind", kind, "")?;
        if let Some(bytes) = self.target.bytes() {
            self.fact("size", &bytes.to_string(), "B")?;
            let cached = page_cache::resident_bytes(&self.target.file, 0, bytes);
            self.number("resident", cached, "B")?;
            let layout = Layout::of(self.target, 0, bytes);
            self.number("sparse", layout.sparse, "B")?;
            self.number("unwritten", layout.unwritten, "B")?;
        }
        self.number("direct.alignment", block::direct_alignment(&self.target.file), "B")?;
        if let Some(device) = Device::of(self.target) {
            self.device(&device)?;
        }
        self.mount()
    }

    fn device(&self, device: &Device) -> anyhow::Result<()> {
        self.fact("device.name", &device.name, "")?;
        // sysfs counts in sectors of 512 bytes, whatever the device's own are.
        let bytes = std::fs::read_to_string(device.directory.join("size")).ok();
        let bytes = bytes.and_then(|sectors| sectors.trim().parse::<u64>().ok()?.checked_mul(512));
        self.number("device.size", bytes, "B")?;
        for (key, file, unit) in ATTRIBUTES {
            if let Some(value) = device.attribute(file) {
                self.fact(key, &value, unit)?;
            }
        }
        if device.name.starts_with("nvme")
            && let Ok(queues) = std::fs::read_to_string(POLL_QUEUES)
        {
            self.fact("nvme.poll_queues", queues.trim(), "")?;
        }
        Ok(())
    }

    /// The mount that holds the file, or that the device holds.
    fn mount(&self) -> anyhow::Result<()> {
        let Some(mount) = self.target.mount() else { return Ok(()) };
        self.fact("mount.point", &mount::unescaped(&mount.mount_point.to_string_lossy()), "")?;
        self.fact("mount.type", &mount.fs_type, "")?;
        if let Some(source) = &mount.mount_source {
            self.fact("mount.source", &mount::unescaped(source), "")?;
        }
        let mut options: Vec<_> = mount.mount_options.iter().chain(&mount.super_options).collect();
        options.sort();
        options.dedup();
        for (name, value) in options {
            self.fact(&format!("mount.option.{name}"), value.as_deref().unwrap_or("set"), "")?;
        }
        Ok(())
    }

    fn number(&self, key: &str, value: Option<u64>, unit: &str) -> anyhow::Result<()> {
        value.map_or(Ok(()), |value| self.fact(key, &value.to_string(), unit))
    }

    fn fact(&self, key: &str, value: &str, unit: &str) -> anyhow::Result<()> {
        self.session.lines.write(&(Fact {
            schema: FACTS.tag,
            time: Time(SystemTime::now()),
            host: sampler::host_name(),
            label: self.label.clone(),
            target: self.target.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            unit: unit.to_owned(),
        },))
    }
}
