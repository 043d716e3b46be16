//! `ifstat facts --compare FILE`: what differs from earlier facts.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail};
use common::schema::facts::Fact;
use common::schema::ifstat::{Difference, FACTS};

use super::Known;

/// The latest facts of each interface in a file: key to value and unit.
#[derive(Debug)]
pub struct Earlier(BTreeMap<String, Latest>);

#[derive(Debug, Default)]
struct Latest {
    time: String,
    facts: BTreeMap<String, (String, String)>,
}

impl Earlier {
    /// Reads a file that `ifstat facts` wrote, perhaps many times; lines of other tools and hosts are passed over.
    pub fn read(path: &Path, host: &str) -> anyhow::Result<Self> {
        let text = std::fs::read(path).with_context(|| format!("cannot read {} (--compare)", path.display()))?;
        let earlier = Self::parse(&text, host);
        if earlier.0.is_empty() {
            bail!("{} has no facts of this host, {host} (--compare; ifstat facts writes them)", path.display());
        }
        Ok(earlier)
    }

    fn parse(text: &[u8], host: &str) -> Self {
        let mut latest: BTreeMap<String, Latest> = BTreeMap::new();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let place = |name: &str| FACTS.columns().position(|column| column.name == name).unwrap_or(usize::MAX);
        let [time, of_host, target, key, value, unit] = ["time", "host", "target", "key", "value", "unit"].map(place);
        for row in reader.records().filter_map(Result::ok) {
            let cell = |place: usize| row.get(place).unwrap_or_default().to_owned();
            if row.get(0) != Some(FACTS.tag) || row.get(of_host) != Some(host) {
                continue;
            }
            let of_target = latest.entry(cell(target)).or_default();
            // RFC 3339 in UTC sorts as text.
            if cell(time) > of_target.time {
                *of_target = Latest { time: cell(time), facts: BTreeMap::new() };
            }
            if cell(time) == of_target.time {
                of_target.facts.insert(cell(key), (cell(value), cell(unit)));
            }
        }
        Self(latest)
    }

    /// What of `target` is not as it was; `None` when there are no earlier facts of it.
    pub fn differences(&self, form: &Fact, target: &str, known: &[Known]) -> Option<Vec<Difference>> {
        let earlier = &self.0.get(target)?.facts;
        let line = |key: &str, before: &str, after: &str, unit: &str| Difference {
            schema: form.schema,
            time: form.time,
            host: form.host.clone(),
            label: form.label.clone(),
            target: target.to_owned(),
            key: key.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            unit: unit.to_owned(),
        };
        let mut lines = Vec::new();
        for now in known {
            let before = earlier.get(&now.key).map(|(value, _)| value.as_str()).unwrap_or_default();
            if before != now.value {
                lines.push(line(&now.key, before, &now.value, now.unit));
            }
        }
        for (key, (before, unit)) in earlier {
            if !known.iter().any(|now| now.key == *key) {
                lines.push(line(key, before, "", unit));
            }
        }
        Some(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "schema,time,host,label,target,key,value,unit\n\
        ifstat-facts/1,2026-01-01T00:00:00.000Z,h,,eth0,mtu,9000,B\n\
        ifstat-facts/1,2026-01-01T00:00:00.000Z,h,,eth0,old,yes,\n\
        ifstat-facts/1,2026-01-02T00:00:00.000Z,h,,eth0,coalesce.rx_usecs,150,us\n\
        ifstat-facts/1,2026-01-02T00:00:00.000Z,h,,eth0,mtu,1500,B\n\
        ifstat-facts/1,2026-01-02T00:00:00.000Z,h,,eth0,rings.rx,64,\n\
        ifstat-facts/1,2026-01-03T00:00:00.000Z,other,,eth0,mtu,1,B\n\
        tcpsink/1,2026,h\n";

    #[test]
    fn the_latest_facts_of_this_host_count() {
        let earlier = Earlier::parse(FILE.as_bytes(), "h");
        let known = |key: &str, value: &str| Known { key: key.into(), value: value.into(), unit: "" };
        let now = [known("mtu", "1500"), known("coalesce.rx_usecs", "1100"), known("qdisc", "fq")];
        let lines = earlier.differences(&Fact::default(), "eth0", &now).unwrap();
        let told: Vec<_> =
            lines.iter().map(|line| format!("{}: {} -> {}", line.key, line.before, line.after)).collect();
        assert_eq!(told, ["coalesce.rx_usecs: 150 -> 1100", "qdisc:  -> fq", "rings.rx: 64 -> "]);
        assert!(earlier.differences(&Fact::default(), "eth1", &now).is_none());
    }
}
