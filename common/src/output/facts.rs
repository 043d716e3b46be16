//! Facts about one target, one long line each, as `TOOL facts` prints them.

use std::time::SystemTime;

use procfs::process::MountInfo;

use crate::cli::Session;
use crate::files::mount;
use crate::measure::sample;
use crate::schema::Schema;
use crate::schema::facts::Fact;
use crate::schema::line::Time;

/// Tells what is known of one target.
#[derive(Debug)]
pub struct Teller<'a> {
    session: &'a Session,
    form: Fact,
}

impl<'a> Teller<'a> {
    /// For lines of `schema` about `target`.
    pub fn new(session: &'a Session, schema: &Schema, label: Option<&String>, target: String) -> Self {
        let label = label.cloned().unwrap_or_default();
        let form = Fact { schema: schema.tag, host: sample::host_name(), label, target, ..Fact::default() };
        Self { session, form }
    }

    /// A fact: what it is, as the kernel says it, and its base unit.
    pub fn fact(&self, key: &str, value: &str, unit: &str) -> anyhow::Result<()> {
        let [key, value, unit] = [key, value, unit].map(str::to_owned);
        self.session.lines.write(&(Fact { time: Time(SystemTime::now()), key, value, unit, ..self.form.clone() },))
    }

    /// A number, if it is known.
    pub fn number(&self, key: &str, value: Option<u64>, unit: &str) -> anyhow::Result<()> {
        value.map_or(Ok(()), |value| self.fact(key, &value.to_string(), unit))
    }

    /// A mount, with its options and those of its file system.
    pub fn mount(&self, mount: &MountInfo) -> anyhow::Result<()> {
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
}
