//! `nfscopy facts`: what the kernel says of a mount, one long line per fact. Nothing is changed.

use std::path::Path;

use anyhow::{Context, bail};
use common::cli::{self, Ending};
use common::output::facts::Teller;
use common::schema::nfscopy::FACTS;

use crate::args::FactsArgs;
use crate::mounted::Mounted;
use crate::mountstats::{Operation, Stats};
use crate::shown::shown;

/// Runs the verb. A path that fails does not keep the others from their turn.
pub fn print(args: &FactsArgs) -> anyhow::Result<Ending> {
    let session = args.output.open("nfscopy", &FACTS)?;
    cli::in_turn(&args.paths, &session, |path| {
        tell(&Teller::new(&session, &FACTS, args.output.label.as_ref(), shown(path)), path)?;
        Ok(None)
    })
}

fn tell(teller: &Teller<'_>, path: &Path) -> anyhow::Result<()> {
    path.symlink_metadata().with_context(|| format!("cannot look at {}", shown(path)))?;
    let mounted = Mounted::holding(path);
    let Some(info) = mounted.info() else {
        bail!("{}: cannot tell the mount: /proc/self/mountinfo does not have it", shown(path));
    };
    teller.mount(info)?;
    mounted.stats().map_or(Ok(()), |stats| counters(teller, &stats))
}

/// What the mount has counted since it was made.
fn counters(teller: &Teller<'_>, stats: &Stats) -> anyhow::Result<()> {
    teller.number("nfs.connections", Some(stats.transports.len() as u64), "")?;
    for (index, transport) in stats.transports.iter().enumerate() {
        let key = |name: &str| format!("nfs.connection.{index}.{name}");
        teller.fact(&key("protocol"), &transport.protocol, "")?;
        for (name, value) in [
            ("connects", transport.connects),
            ("sends", transport.sends),
            ("receives", transport.receives),
            ("bad_xids", transport.bad_xids),
        ] {
            teller.number(&key(name), value, "")?;
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
            teller.number(&format!("nfs.bytes.{name}"), Some(value), "B")?;
        }
    }
    stats.operations.iter().try_for_each(|(name, operation)| calls(teller, &name.to_ascii_lowercase(), operation))
}

/// One kind of call; those that were never made are left out.
fn calls(teller: &Teller<'_>, name: &str, operation: &Operation) -> anyhow::Result<()> {
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
        teller.number(&format!("nfs.call.{name}.{field}"), value, unit)?;
    }
    Ok(())
}
