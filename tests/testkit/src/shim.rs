//! Calls that fail as on a broken mount, and a clock that is set: small libraries that are loaded before the C library
//! (ld.so(8), `LD_PRELOAD`).

use std::process::Command;

use crate::disk::Scratch;
use crate::has_program;

const CALLS: &str = include_str!("shim.c");
const CLOCK: &str = include_str!("clock.c");

/// The built library.
#[derive(Debug)]
pub struct Shim(String);

impl Shim {
    /// Builds the one whose calls fail; `None`, and says so, where there is no C compiler.
    ///
    /// # Panics
    /// If it does not compile.
    pub fn build(scratch: &Scratch) -> Option<Self> {
        Self::of(scratch, CALLS)
    }

    /// Builds the one whose clock is set; else as [`Shim::build`].
    ///
    /// # Panics
    /// If it does not compile.
    pub fn build_clock(scratch: &Scratch) -> Option<Self> {
        Self::of(scratch, CLOCK)
    }

    fn of(scratch: &Scratch, code: &str) -> Option<Self> {
        if !has_program("cc", "gcc") {
            return None;
        }
        let [source, library] = ["shim.c", "shim.so"].map(|name| scratch.path(name));
        std::fs::write(&source, code).expect("room on the disk");
        let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
        assert!(status.expect("can start").success(), "the shim compiles");
        Some(Self(library.to_str().expect("UTF-8").to_owned()))
    }

    /// The command prefix under which the wall clock is set by so many seconds, so many seconds after the start.
    pub fn clock_prefix(&self, at: &str, by: &str) -> Vec<String> {
        let preload = format!("LD_PRELOAD={}", self.0);
        ["env".to_owned(), preload, format!("STEP_AT={at}"), format!("STEP_BY={by}")].into()
    }

    /// The command prefix under which `call` ends with `errno`, a number or `hang`.
    pub fn prefix(&self, call: &str, errno: &str) -> Vec<String> {
        let preload = format!("LD_PRELOAD={}", self.0);
        ["env".to_owned(), preload, format!("FAIL_CALL={call}"), format!("FAIL_ERRNO={errno}")].into()
    }
}
