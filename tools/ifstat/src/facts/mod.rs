//! `ifstat facts`: what the interfaces are and how they are set, one long line each; what is unknown has none.

mod compare;
mod driver;
mod properties;

use std::time::{Instant, SystemTime};

use anyhow::Context;
use common::cli::Ending;
use common::measure::sample;
use common::schema::facts::Fact;
use common::schema::ifstat::{DIFFERENCES, FACTS};
use common::schema::line::Time;

use crate::args::FactsArgs;
use crate::link::Link;
use crate::netns;
use crate::settings::Settings;
use crate::source::Source;
use driver::DriverFacts;
use properties::Properties;

/// One thing that is known of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// What it is; dots part groups.
    pub key: String,
    /// As the kernel says it.
    pub value: String,
    /// Base unit, empty for text and counts.
    pub unit: &'static str,
}

/// Collects what is known of one interface.
#[derive(Debug, Default)]
pub struct Findings(Vec<Known>);

impl Findings {
    /// Adds a fact, unless it is unknown or empty.
    pub fn add(&mut self, key: impl Into<String>, value: Option<impl ToString>, unit: &'static str) {
        let value = value.map(|value| value.to_string()).unwrap_or_default();
        if !value.is_empty() {
            self.0.push(Known { key: key.into(), value, unit });
        }
    }
}

/// Runs the verb.
pub fn facts(args: &FactsArgs) -> anyhow::Result<Ending> {
    let schema = if args.compare.is_some() { &DIFFERENCES } else { &FACTS };
    let session = args.output.open("ifstat", schema)?;
    let form = Fact {
        schema: schema.tag,
        time: Time(SystemTime::now()),
        host: sample::host_name(),
        label: args.output.label.clone().unwrap_or_default(),
        ..Fact::default()
    };
    let (mut source, mut drivers, mut properties) = netns::within(args.netns.netns.as_deref(), |netns| {
        let source = Source::open(netns, false)?;
        Ok((source, DriverFacts::open().context("cannot open netlink")?, Properties::read()?))
    })?;
    source.find(&args.interfaces, false, &session)?;
    let earlier = args.compare.as_deref().map(|path| compare::Earlier::read(path, &form.host)).transpose()?;
    let links = source.links.clone();
    for link in links.iter().filter(|link| args.interfaces.is_empty() || args.interfaces.contains(&link.name)) {
        let known = gather(&mut source, &mut drivers, &mut properties, link);
        let target = link.name.text().into_owned();
        match &earlier {
            None => {
                for Known { key, value, unit } in known {
                    let target = target.clone();
                    session.lines.write(&(Fact { target, key, value, unit: unit.into(), ..form.clone() },))?;
                }
            }
            Some(earlier) => match earlier.differences(&form, &target, &known) {
                Some(differences) => differences.iter().try_for_each(|line| session.lines.write(&(line,)))?,
                None => session.console.notice(&format!("the file has no facts of {target}: nothing to compare")),
            },
        }
    }
    Ok(Ending::of(&session.stop).unwrap_or(Ending::Measured))
}

fn gather(source: &mut Source, drivers: &mut DriverFacts, properties: &mut Properties, link: &Link) -> Vec<Known> {
    let mut findings = Findings::default();
    driver::identify(source.drivers.socket(), link, &mut findings);
    properties.tell(link, &source.links, &mut findings);
    drivers.tell(link, &mut findings);
    let mut settings = Settings::default();
    source.drivers.look(link, &source.links, Instant::now(), &mut settings);
    findings.add("speed.nominal", settings.is_nominal.then_some("yes"), "");
    findings.0
}
