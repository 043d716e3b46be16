//! Running the built binary: to its end, or in the background.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::fresh;
use crate::records::{Record, records, some};

/// No test waits longer for a tool.
const PATIENCE: Duration = Duration::from_mins(1);

/// A built binary, perhaps inside a network namespace.
#[derive(Debug, Clone)]
pub struct Tool {
    path: OsString,
    prefix: Vec<OsString>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit status or signal.
    pub status: ExitStatus,
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl Tool {
    /// The binary that is tested: of the folder `LINEBENCH_BIN`, which `make test` sets to what `make install` installs,
    /// else the one that cargo built for the tests, at `by_cargo`: `Tool::built(env!("CARGO_BIN_EXE_tcpsink"))`.
    ///
    /// # Panics
    /// If that folder's is not there, or is older than what it is made of.
    pub fn built(by_cargo: &str) -> Self {
        let Some(folder) = std::env::var_os("LINEBENCH_BIN") else { return Self::new(by_cargo) };
        let path = Path::new(&folder).join(Path::new(by_cargo).file_name().expect("a binary's path"));
        fresh::check(&path);
        Self::new(path)
    }

    /// Any program.
    pub fn new(path: impl Into<OsString>) -> Self {
        Self { path: path.into(), prefix: Vec::new() }
    }

    /// The same, started by the command `prefix` (`ip netns exec NAME`).
    #[must_use]
    pub fn within<S: AsRef<OsStr>>(&self, prefix: &[S]) -> Self {
        Self { path: self.path.clone(), prefix: prefix.iter().map(|word| word.as_ref().to_owned()).collect() }
    }

    /// The path, for use in a shell's script.
    ///
    /// # Panics
    /// If it is not UTF-8.
    pub fn path(&self) -> &str {
        self.path.to_str().expect("a UTF-8 path")
    }

    /// A command that runs it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut words = self.prefix.iter().chain([&self.path]);
        let mut command = Command::new(words.next().unwrap_or(&self.path));
        command.args(words).args(args).stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }

    /// Runs it to its end with its lines going elsewhere.
    pub fn run_into(&self, args: &[&str], stdout: impl Into<Stdio>) -> Ended {
        self.spawn(args, stdout.into()).end()
    }

    /// Starts it in the background.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(&self, args: &[&str]) -> Running {
        self.spawn(args, Stdio::piped())
    }

    /// Starts it in the background with its lines going elsewhere.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start_into(&self, args: &[&str], stdout: impl Into<Stdio>) -> Running {
        self.spawn(args, stdout.into())
    }

    fn spawn(&self, args: &[&str], stdout: Stdio) -> Running {
        let mut child = self.command(args).stdout(stdout).stderr(Stdio::piped()).spawn().expect("can start");
        let stdout = child.stdout.take().map_or_else(Gathered::nothing, gather);
        let stderr = gather(child.stderr.take().expect("piped"));
        Running { child, stdout, stderr, began: Instant::now(), is_over: false }
    }
}

#[derive(Debug)]
struct Gathered {
    text: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Gathered {
    /// What was sent elsewhere.
    fn nothing() -> Self {
        Self { text: Arc::default(), thread: None }
    }

    fn text(&self) -> String {
        String::from_utf8(self.text.lock().expect("no panic").clone()).expect("UTF-8")
    }

    fn join(&mut self) -> String {
        self.thread.take().map(JoinHandle::join);
        self.text()
    }
}

fn gather(pipe: impl Read + Send + 'static) -> Gathered {
    let text = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&text);
    let thread = std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            into.lock().expect("no panic").append(&mut line);
        }
    });
    Gathered { text, thread: Some(thread) }
}

/// A tool in the background. It is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Gathered,
    stderr: Gathered,
    began: Instant,
    is_over: bool,
}

impl Running {
    /// The port of its "listening on" notice.
    ///
    /// # Panics
    /// If there is none in time.
    pub fn port(&self) -> String {
        crate::eventually("the listening notice", PATIENCE, || self.stderr().contains("listening on"));
        let notice = self.stderr();
        let line = notice.lines().find(|line| line.contains("listening on")).expect("just seen");
        line.rsplit(':').next().expect("a port").to_owned()
    }

    /// stdout so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// The lines so far.
    pub fn records(&self) -> Vec<Record> {
        records(&self.stdout())
    }

    /// Waits until it has printed `count` lines.
    ///
    /// # Panics
    /// If it does not in time.
    pub fn wait_for_records(&self, count: usize) -> Vec<Record> {
        crate::eventually(&format!("{count} lines of output"), PATIENCE, || self.records().len() >= count);
        self.records()
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// If it is gone.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("still there");
    }

    /// Its process.
    ///
    /// # Panics
    /// If process numbers do not fit.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a pid"))
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it does not end in time.
    pub fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("our child") {
                Some(status) => break status,
                None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
                None => panic!("did not end; stdout: {} stderr: {}", self.stdout(), self.stderr()),
            }
        };
        let took = self.began.elapsed();
        self.is_over = true;
        Ended { status, stdout: self.stdout.join(), stderr: self.stderr.join(), took }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            // It may have ended by itself.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    /// The lines it printed; there are some, so that a loop over them looks at something.
    ///
    /// # Panics
    /// If there is none.
    pub fn records(&self) -> Vec<Record> {
        let records = records(&self.stdout);
        assert!(!records.is_empty(), "no line: {self:?}");
        records
    }

    /// The lines of one test and span; there are some.
    ///
    /// # Panics
    /// If there is none.
    pub fn some(&self, test: &str, span: &str) -> Vec<Record> {
        some(&self.records(), test, span)
    }

    /// The one total of `test`.
    ///
    /// # Panics
    /// If there is not exactly one.
    pub fn total(&self, test: &str) -> Record {
        let mut totals = self.some(test, "total");
        assert_eq!(totals.len(), 1, "totals of {test}: {self:?}");
        totals.remove(0)
    }

    /// Asserts success.
    ///
    /// # Panics
    /// If it failed.
    #[must_use]
    pub fn success(self) -> Self {
        assert!(self.status.success(), "{self:?}");
        self
    }

    /// Asserts the exit status, and that stderr is one line with all of `words`.
    ///
    /// # Panics
    /// If not.
    #[must_use]
    pub fn failure(self, status: i32, words: &[&str]) -> Self {
        assert_eq!(self.status.code(), Some(status), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(words.iter().all(|word| self.stderr.contains(word)), "{words:?} in {self:?}");
        self
    }

    /// Asserts death by `signal`.
    ///
    /// # Panics
    /// If it ended otherwise.
    #[must_use]
    pub fn killed_by(self, signal: Signal) -> Self {
        assert_eq!(self.status.signal(), Some(signal as i32), "{self:?}");
        self
    }
}
