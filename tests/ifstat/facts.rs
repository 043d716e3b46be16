//! Settings and the driver's own counters, beside what others say of them.

use std::process::Command;

use testkit::{Ended, has_program};

use super::ifstat;
use super::space::Space;

/// The value of a fact.
fn fact(ended: &Ended, target: &str, key: &str) -> Option<String> {
    let records = ended.records();
    let found = records.iter().find(|record| record.text("target") == target && record.text("key") == key);
    found.map(|record| record.text("value").to_owned())
}

/// The options of ethtool(8) that print numbers, and what their facts begin with.
const SETTINGS: [(&str, &str); 3] = [("-g", "rings"), ("-c", "coalesce"), ("-l", "channels")];

/// The numbers that ethtool prints for people (not all versions have them as JSON), by the names of their facts.
fn settings(text: &str, group: &str) -> Vec<(String, String)> {
    let mut suffix = "";
    let mut settings = Vec::new();
    for line in text.lines() {
        match line.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("Pre-set maximums", _)) => suffix = "_max",
            Some(("Current hardware settings", _)) => suffix = "",
            Some((name, value)) if value.parse::<u64>().is_ok() => {
                let name = name.to_lowercase().replace(['-', ' '], "_").replace("frames", "max_frames");
                settings.push((format!("{group}.{name}{suffix}"), value.to_owned()));
            }
            _ => {}
        }
    }
    settings
}

#[test]
fn facts_are_what_ethtool_says() {
    if !has_program("ethtool", "ethtool") {
        return;
    }
    let Some((space, _other)) = Space::pair() else { return };
    let said = |args: &[&str]| {
        let output = Command::new("ip").args(["netns", "exec", &space.name, "ethtool"]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let ended = space.run(&["facts", "va"]).success();
    let driver = said(&["-i", "va"]);
    let field = |name: &str| driver.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!(fact(&ended, "va", "driver"), Some(field("driver:")));
    assert_eq!(fact(&ended, "va", "driver.version"), Some(field("version:")));
    assert_eq!(fact(&ended, "va", "speed.nominal").as_deref(), Some("yes"));
    assert!(ended.records().iter().all(|record| !["", "N/A", "n/a", "-1"].contains(&record.text("value"))));
    let numbers = SETTINGS.iter().flat_map(|(option, group)| settings(&said(&[option, "va"]), group));
    let mut compared = 0;
    for (key, value) in numbers {
        assert_eq!(fact(&ended, "va", &key), Some(value), "{key}");
        compared += 1;
    }
    assert!(compared >= 4, "a veth has channels");
    let features: serde_json::Value = serde_json::from_str(&said(&["--json", "-k", "va"])).unwrap();
    let features = features[0].as_object().unwrap();
    let mut compared = 0;
    for (name, feature) in features.iter().filter(|(_, feature)| feature.is_object()) {
        if let Some(value) = fact(&ended, "va", &format!("offload.{name}")) {
            assert_eq!(value == "on", feature["active"].as_bool().unwrap(), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} features compared");
}

#[test]
fn facts_of_real_cards_are_what_ethtool_says() {
    if !has_program("ethtool", "ethtool") {
        return;
    }
    let ended = ifstat().run(&["facts"]).success();
    let mut targets: Vec<_> = ended.records().iter().map(|record| record.text("target").to_owned()).collect();
    targets.dedup();
    let mut compared = 0;
    for target in targets {
        for (option, group) in SETTINGS {
            let output = Command::new("ethtool").args([option, &target]).output().unwrap();
            for (key, value) in settings(&String::from_utf8(output.stdout).unwrap(), group) {
                assert_eq!(fact(&ended, &target, &key), Some(value), "{target} {key}");
                compared += 1;
            }
        }
    }
    if compared == 0 {
        testkit::skip("no card here has settings", "run it where one has rings, channels or coalescing");
    }
}

#[test]
fn what_was_tuned_is_told() {
    let Some((space, _other)) = Space::pair() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("before.csv");
    std::fs::write(&file, space.run(&["facts", "va"]).success().stdout).unwrap();
    let compare = ["facts", "va", "--compare", file.to_str().unwrap()];
    assert_eq!(space.run(&compare).success().stdout, "", "nothing differs");
    space.ip("link set va mtu 1400 txqueuelen 77");
    let differences = space.run(&compare).success().records();
    let told: Vec<_> =
        differences.iter().map(|line| ["key", "before", "after", "unit"].map(|column| line.text(column))).collect();
    assert_eq!(told, [["mtu", "1500", "1400", "B"], ["queue_length", "1000", "77", ""]]);
    std::fs::write(&file, "a,b\n").unwrap();
    let _ = space.run(&compare).failure(1, &["--compare", "no facts"]);
    let _ = space.run(&["facts", "--compare", "/nonexistent/file"]).failure(1, &["/nonexistent/file", "--compare"]);
}

#[test]
fn a_drivers_own_counters_have_deltas() {
    let Some((here, _there)) = Space::pair() else { return };
    let ended = here.run(&["stats", "va", "--count", "2", "--interval", "50ms"]).success();
    let records = ended.records();
    let of_peer: Vec<_> = records.iter().filter(|record| record.text("counter") == "peer_ifindex").collect();
    assert_eq!(of_peer.len(), 3, "two intervals and a total: {records:?}");
    for record in of_peer {
        assert_eq!(
            (record.text("schema"), record.text("test"), record.text("target")),
            ("ifstat-stats/1", "driver", "va")
        );
        assert_eq!(record.count("delta"), 0);
        assert!(record.count("value") > 0);
    }
    let _ = here.run(&["stats", "lo"]).failure(1, &["lo", "no counters"]);
}
