//! `nfscopy facts`: what the kernel says of a mount, one long line per fact. Nothing is changed.

use std::path::Path;
use std::time::SystemTime;

use anyhow::bail;
use common::cli::{self, Ending, Session};
use common::mount;
use common::sampler;
use common::schema::facts::Fact;
use common::schema::line::Time;
use common::schema::nfscopy::FACTS;

use crate::args::FactsArgs;
use crate::mounted::Mounted;
use crate::mountstats::{Operation, Stats};
use crate::shown::shown;

/// Runs the verb. A path that fails does not keep the others from their turn.
pub fn print(args: &FactsArgs) -> anyhow::Result<Ending> {
    let session = args.output.open("nfscopy", &FACTS)?;
    let label = args.output.label.clone().unwrap_or_default();
    let mut ending = Ending::Measured;
    for path in &args.paths {
        let told = Teller { session: &session, target: shown(path), label: label.clone() }.tell(path);
        if let Err(error) = told {
            session.console.error(&cli::message(&error));
            ending = Ending::Failed;
        }
        if let Some(early) = Ending::of(&session.stop) {
            return Ok(early);
        }
    }
    Ok(ending)
}

struct Teller<'a> {
    session: &'a Session,
    target: String,
    label: String,
}

impl Teller<'_> {
    fn tell(&self, path: &Path) -> anyhow::Result<()> {
        if let Err(error) = path.symlink_metadata() {
            return Err(anyhow::Error::new(error).context(format!("cannot look at {}", self.target)));
        }
        let mounted = Mounted::holding(path);
        let Some(info) = mounted.info() else {
            bail!("{}: cannot tell the mount: /proc/self/mountinfo does not have it", self.target);
        };
        self.fact("mount.point", &mount::unescaped(&info.mount_point.to_string_lossy()), "")?;
        self.fact("mount.type", &info.fs_type, "")?;
        if let Some(source) = mounted.source() {
            self.fact("mount.source", &source, "")?;
        }
        let mut options: Vec<_> = info.mount_options.iter().chain(&info.super_options).collect();
        options.sort();
        options.dedup();
        for (name, value) in options {
            self.fact(&format!("mount.option.{name}"), value.as_deref().unwrap_or("set"), "")?;
        }
        mounted.stats().map_or(Ok(()), |stats| self.stats(&stats))
    }

    /// What the mount has counted since it was made.
    fn stats(&self, stats: &Stats) -> anyhow::Result<()> {
        self.number("nfs.connections", stats.transports.len() as u64, "")?;
        for (index, transport) in stats.transports.iter().enumerate() {
            let key = |name: &str| format!("nfs.connection.{index}.{name}");
            self.fact(&key("protocol"), &transport.protocol, "")?;
            for (name, value) in [
                ("connects", transport.connects),
                ("sends", transport.sends),
                ("receives", transport.receives),
                ("bad_xids", transport.bad_xids),
            ] {
                value.map_or(Ok(()), |value| self.number(&key(name), value, ""))?;
            }
        }
        if let Some(bytes) = stats.bytes {
            for (name, value) in [
                ("normal_read", bytes.normal_read),
                ("normal_write", bytes.normal_write),
                ("direct_read", bytes.direct_read),
                ("direct_write", bytes.direct_write),
                ("server_read", bytes.server_read),
                ("server_write", bytes.server_write),
            ] {
                self.number(&format!("nfs.bytes.{name}"), value, "B")?;
            }
        }
        for (name, operation) in &stats.operations {
            self.operation(&name.to_ascii_lowercase(), operation)?;
        }
        Ok(())
    }

    /// One kind of call; those that were never made are left out.
    fn operation(&self, name: &str, operation: &Operation) -> anyhow::Result<()> {
        if operation.calls == 0 && operation.transmissions == 0 {
            return Ok(());
        }
        for (field, value, unit) in [
            ("calls", Some(operation.calls), ""),
            ("transmissions", Some(operation.transmissions), ""),
            ("timeouts", Some(operation.timeouts), ""),
            ("errors", operation.errors, ""),
            ("sent", Some(operation.bytes_sent), "B"),
            ("received", Some(operation.bytes_received), "B"),
            ("queue", Some(operation.queue_ms), "ms"),
            ("rtt", Some(operation.rtt_ms), "ms"),
            ("execute", Some(operation.execute_ms), "ms"),
        ] {
            value.map_or(Ok(()), |value| self.number(&format!("nfs.call.{name}.{field}"), value, unit))?;
        }
        Ok(())
    }

    fn number(&self, key: &str, value: u64, unit: &str) -> anyhow::Result<()> {
        self.fact(key, &value.to_string(), unit)
    }

    fn fact(&self, key: &str, value: &str, unit: &str) -> anyhow::Result<()> {
        self.session.lines.write(&(Fact {
            schema: FACTS.tag,
            time: Time(SystemTime::now()),
            host: sampler::host_name(),
            label: self.label.clone(),
            target: self.target.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            unit: unit.to_owned(),
        },))
    }
}
