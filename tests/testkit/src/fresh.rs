//! Whether a binary that cargo did not build for these tests is made of the sources that are here.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Checks that no source is younger than the binary. Cargo lists them beside it, as a rule for make.
///
/// # Panics
/// If one is, or if there is no such binary.
pub fn check(binary: &Path) {
    let built = changed(binary);
    let list = binary.with_extension("d");
    let rule = fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}; {REMEDY}", list.display()));
    let (_, sources) = rule.split_once(": ").expect("a rule for make");
    // A space in a name stands behind a backslash.
    for source in sources.trim_end().replace("\\ ", "\0").split(' ') {
        let source = source.replace('\0', " ");
        assert!(changed(Path::new(&source)) <= built, "{} is older than {source}; {REMEDY}", binary.display());
    }
}

const REMEDY: &str = "`make build` makes it anew";

fn changed(file: &Path) -> SystemTime {
    let changed = fs::metadata(file).and_then(|metadata| metadata.modified());
    changed.unwrap_or_else(|error| panic!("{}: {error}; {REMEDY}", file.display()))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_binary_older_than_one_of_its_sources_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [binary, rule, source] = ["tool", "tool.d", "a source.rs"].map(|name| folder.path().join(name));
        let now = SystemTime::now();
        let touch = |path: &Path, age: u64| {
            File::create(path).unwrap().set_modified(now - Duration::from_secs(age)).unwrap();
        };
        touch(&source, 20);
        touch(&binary, 10);
        let name = source.to_str().unwrap().replace(' ', "\\ ");
        fs::write(rule, format!("{}: {name}\n", binary.display())).unwrap();
        check(&binary);
        touch(&source, 5);
        assert!(std::panic::catch_unwind(|| check(&binary)).is_err());
    }
}
