//! The network namespace that is looked into: entered only while sockets and files are opened, which then stay in it.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Context;
use nix::sched::{CloneFlags, setns};

/// Where `ip netns` keeps named namespaces.
const NAMED: &str = "/run/netns";
const OWN: &str = "/proc/self/ns/net";

/// Runs `open` inside the namespace that `--netns` names (a name of `ip netns`, or a path), or in the own one. The text is
/// what stands in the `netns` column.
pub fn within<T>(given: Option<&str>, open: impl FnOnce(&str) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let Some(given) = given else {
        let own = std::fs::read_link(OWN).map(|link| link.to_string_lossy().into_owned());
        return open(&own.unwrap_or_default());
    };
    let path = if given.contains('/') { PathBuf::from(given) } else { PathBuf::from(NAMED).join(given) };
    let there = File::open(&path).with_context(|| format!("cannot open network namespace {given} (--netns)"))?;
    let back = File::open(OWN).context("cannot open the own network namespace")?;
    setns(&there, CloneFlags::CLONE_NEWNET)
        .with_context(|| format!("cannot enter network namespace {given} (--netns)"))?;
    let opened = open(given);
    setns(&back, CloneFlags::CLONE_NEWNET).context("cannot return to the own network namespace")?;
    opened
}
