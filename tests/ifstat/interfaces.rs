//! Any interface, by any name, for any user.

use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt;

use testkit::{Record, Tool, has_program, is_root};

use super::space::{self, Space};
use super::{ifstat, some, total};

#[test]
fn any_name_comes_back() {
    let Some(space) = Space::new() else { return };
    let names = ["a,b", "say\"x\"", "#c", "=1+1", "köln", "fifteen-bytes-x", "-dash", "semi;colon", "'quote'"];
    for name in names {
        space::command("ip", &["-n", &space.name, "link", "add", "name", name, "type", "bridge"]);
    }
    let records = space.run(&["--count", "1", "--interval", "50ms"]).records();
    for name in names {
        assert_eq!(some(&records, name, "rx", "interval").len(), 1, "{name}");
    }
    let ended = space.run(&["facts", "a,b", "#c"]).success();
    let targets: Vec<_> = ended.records().iter().map(|record| record.text("target").to_owned()).collect();
    assert!(targets.contains(&"a,b".to_owned()) && targets.contains(&"#c".to_owned()));
}

#[test]
fn none_of_a_thousand_interfaces_is_missing() {
    let Some(space) = Space::new() else { return };
    let names = space.many(1000);
    let ended = space.run(&["--count", "1", "--interval", "100ms"]).success();
    let records = ended.records();
    for (test, span) in [("rx", "interval"), ("tx", "interval"), ("rx", "total"), ("tx", "total")] {
        let is_one = |record: &&Record| (record.text("test"), record.text("span")) == (test, span);
        let told: HashSet<_> = records.iter().filter(is_one).map(|record| record.text("target")).collect();
        assert_eq!(names.iter().filter(|name| !told.contains(name.as_str())).count(), 0, "{test} {span}");
        assert_eq!(told.len(), names.len() + 1, "and lo");
    }
    let quiet = space.run(&["--count", "1", "--interval", "50ms", "--changed"]).success();
    assert_eq!(quiet.stdout, "");
}

#[test]
fn an_unknown_speed_is_empty_and_a_claimed_one_is_flagged() {
    let Some((space, _other)) = Space::pair() else { return };
    space.ip("link add name br type bridge");
    let records = space.run(&["--count", "1", "--interval", "50ms", "--total"]).success().records();
    for name in ["lo", "br"] {
        let record = total(&records, name, "rx");
        assert_eq!((record.text("speed_mbit"), record.text("util_pct"), record.text("duplex")), ("", "", ""), "{name}");
        assert_eq!(record.text("flags"), "");
    }
    let record = total(&records, "va", "tx");
    assert_eq!((record.text("speed_mbit"), record.text("duplex"), record.text("flags")), ("10000", "full", "nominal"));
    assert_eq!(record.text("driver"), "veth");
    assert_eq!((record.text("carrier_up"), record.text("mtu")), ("1", "1500"));
    let all = total(&records, "all", "rx_all");
    assert_eq!(all.text("left_out"), "lo:loopback");
    assert_eq!(all.count("summed"), 2);
}

#[test]
fn an_ordinary_user_measures_too() {
    if !is_root() || !has_program("setpriv", "util-linux") {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = scratch.path().join("ifstat");
    std::fs::copy(ifstat().path(), &copy).unwrap();
    let tool = Tool::new(copy).within(&["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    let records = tool.run(&["--count", "1", "--interval", "50ms", "--stack", "--total"]).success().records();
    assert!(!total(&records, "lo", "rx").text("bytes").is_empty());
    some(&records, "ipv4", "udp", "total");
    let facts = tool.run(&["facts", "lo"]).success().records();
    assert!(facts.iter().any(|fact| fact.text("key") == "mtu"));
}
