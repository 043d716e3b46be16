//! Test helpers: run a built tool as a shell would, read its lines as any CSV reader would, lay out a network.

pub mod bed;
pub mod contract;
pub mod disk;
mod fresh;
pub mod hand_listener;
pub mod hand_sender;
mod records;
pub mod screen;
pub mod shim;
pub mod snapshot;
mod tool;

use std::io::{PipeReader, PipeWriter, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, fcntl};

pub use records::{Record, records, some};
pub use tool::{Ended, Running, Tool};

/// Set by CI, where every package is installed: a skipped test is a failure there.
const NO_SKIP: &str = "LINEBENCH_NO_SKIP";

/// Says why a test is not run, past libtest's capture.
///
/// # Panics
/// If `LINEBENCH_NO_SKIP` is set.
pub fn skip(why: &str, remedy: &str) {
    assert!(std::env::var_os(NO_SKIP).is_none(), "would be skipped: {why}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Nowhere else to say it.
    let _ = writeln!(std::io::stderr(), "skipped: {why} ({test}; to enable it: {remedy})");
}

/// Whether the program `name` of the Debian package `package` is there; says that the test is skipped if not.
pub fn has_program(name: &str, package: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {name} >/dev/null")]).status();
    let is_there = found.is_ok_and(|status| status.success());
    if !is_there {
        skip(&format!("{name} is not installed"), &format!("apt-get install {package}"));
    }
    is_there
}

/// Whether this is root; says that the test is skipped if not.
pub fn is_root() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        skip("it needs root, for network namespaces", "run the tests as root");
    }
    is_root
}

/// A small pipe with no room left, as that of a reader that stopped.
///
/// # Panics
/// If the system has no pipe left.
pub fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let size = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(4096)).expect("a size that pipes may have");
    writer.write_all(&vec![b'\n'; usize::try_from(size).expect("a size")]).expect("room");
    (reader, writer)
}

/// Waits until `condition` holds.
///
/// # Panics
/// If it does not within `limit`.
pub fn eventually(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < deadline, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
