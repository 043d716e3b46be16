//! Texts that people see, against those in `tests/snapshots/screens/`. `make snapshots` records them anew: it runs the tests
//! of all modules called `screens`.

use std::fs;
use std::path::Path;

use crate::Tool;
use crate::screen::Terminal;

/// Set to record what is shown instead of comparing it.
const RECORD: &str = "LINEBENCH_RECORD";

/// The widths that are looked at.
pub const WIDTHS: [u16; 4] = [40, 60, 80, 120];

/// Checks a text against the recorded one of this name, as in `runstat-statistics-80`.
///
/// # Panics
/// If it is another one.
pub fn check(name: &str, text: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/screens");
    check_in(&folder, name, text, std::env::var_os(RECORD).is_some());
}

/// Checks what a tool shows on terminals of several widths, as `NAME-WIDTH`. It runs in a folder of `tests/`, so that files
/// have the names that people see.
///
/// # Panics
/// If it fails, or shows something else.
pub fn check_screens(tool: &Tool, name: &str, folder: &str, args: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let tool = tool.within(&["env", "-C", &folder.to_string_lossy()]);
    for width in WIDTHS {
        let shown = Terminal::of_width(width).run(&tool, args);
        assert!(shown.status.success(), "{shown:?}");
        check(&format!("{name}-{width}"), &shown.text());
    }
}

fn check_in(folder: &Path, name: &str, text: &str, records: bool) {
    let path = folder.join(format!("{name}.txt"));
    if records {
        fs::create_dir_all(folder).expect("a folder for screens");
        fs::write(&path, text).expect("a screen to record");
        return;
    }
    let recorded = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}; {REMEDY}"));
    assert!(recorded == text, "{name} shows\n{text}\nand not\n{recorded}\n{REMEDY}");
}

const REMEDY: &str = "`make snapshots` records it anew";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_as_recorded_or_named() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("screens");
        let differs = |text: &str| {
            let why = std::panic::catch_unwind(|| check_in(&folder, "probe-80", text, false)).err()?;
            Some(why.downcast_ref::<String>().unwrap().clone())
        };
        assert!(differs("a\n").unwrap().starts_with("probe-80: "), "there is none");
        check_in(&folder, "probe-80", "a\n", true);
        assert_eq!(differs("a\n"), None);
        assert!(differs("b\n").unwrap().contains("probe-80 shows\nb\n"));
    }
}
