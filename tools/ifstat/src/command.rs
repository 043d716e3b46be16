//! A command that is measured around: started, passed signals, waited for.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use common::cli::Ending;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
use signal_hook::{flag, low_level};

/// Status of a measurement that failed, as env(1) and others have it.
pub const FAILED: u8 = 125;
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The command while it runs.
#[derive(Debug)]
pub struct Running {
    pid: Pid,
    /// Readable once the command has ended.
    ended: UnixStream,
    waiter: JoinHandle<io::Result<ExitStatus>>,
    passed: Passed,
}

/// Why the command did not start: the status for it, and the reason.
#[derive(Debug)]
pub struct NotStarted(pub u8, pub anyhow::Error);

impl Running {
    /// Starts `words`; its stdout goes to `stdout`, or to stderr.
    pub fn start(words: &[OsString], stdout: Option<&Path>) -> Result<Self, NotStarted> {
        let failed = |error: anyhow::Error| NotStarted(FAILED, error);
        let (program, args) = words.split_first().ok_or_else(|| failed(anyhow!("no command")))?;
        let out = match stdout {
            Some(path) => File::create(path).with_context(|| format!("cannot write {} (--stdout)", path.display())),
            None => io::stderr().as_fd().try_clone_to_owned().map(File::from).context("cannot use stderr"),
        };
        let out = Stdio::from(out.map_err(failed)?);
        // Before the command, which must not miss any.
        let passed = Passed::take_over().context("cannot handle signals").map_err(failed)?;
        let started = std::process::Command::new(program).args(args).stdout(out).spawn();
        let child = started.map_err(|error| {
            let status = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN };
            NotStarted(status, anyhow!(error).context(format!("cannot run '{}'", program.display())))
        })?;
        Self::attend(child, passed).context("cannot wait for the command").map_err(failed)
    }

    fn attend(mut child: Child, passed: Passed) -> io::Result<Self> {
        let pid = Pid::from_raw(child.id().cast_signed());
        let (ended, open_while_it_runs) = UnixStream::pair()?;
        let waiter = std::thread::Builder::new().name("command".into()).spawn(move || {
            let status = child.wait();
            drop(open_while_it_runs);
            status
        })?;
        Ok(Self { pid, ended, waiter, passed })
    }

    /// Readable once the command has ended.
    pub fn ended(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }

    /// Readable when a signal waits to be passed on.
    pub fn signals(&self) -> BorrowedFd<'_> {
        self.passed.news.as_fd()
    }

    /// Passes on what came since the last call.
    pub fn pass_on(&self) {
        if let Some(signal) = self.passed.take() {
            self.signal(signal);
        }
    }

    /// Sends `signal`, unless the terminal has sent it to the whole foreground, and so to the command too.
    pub fn signal(&self, signal: i32) {
        let from_terminal = matches!(signal, libc::SIGINT | libc::SIGQUIT) && is_in_foreground();
        if let (Ok(signal), false) = (Signal::try_from(signal), from_terminal) {
            // It may have ended.
            let _ = kill(self.pid, signal);
        }
    }

    /// Waits for the end, and says how this process should end.
    pub fn ending(self) -> anyhow::Result<Ending> {
        let status = self.waiter.join().map_err(|_| anyhow!("the thread that waits for the command panicked"))?;
        let status = status.context("cannot wait for the command")?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ending::OfCommand(u8::try_from(code).unwrap_or(u8::MAX)),
            (None, Some(signal)) => Ending::Interrupted(signal),
            (None, None) => Ending::Failed,
        })
    }
}

/// Whether ^C reaches the command without us.
fn is_in_foreground() -> bool {
    let group = File::open("/dev/tty").ok().and_then(|terminal| nix::unistd::tcgetpgrp(terminal).ok());
    group == Some(nix::unistd::getpgrp())
}

/// The signals beside SIGINT and SIGTERM that would kill us and are meant for the command.
#[derive(Debug)]
struct Passed {
    news: UnixStream,
    last: Arc<AtomicUsize>,
}

impl Passed {
    fn take_over() -> io::Result<Self> {
        let (news, alarm) = UnixStream::pair()?;
        news.set_nonblocking(true)?;
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2] {
            flag::register_usize(signal, Arc::clone(&last), usize::try_from(signal).unwrap_or(0))?;
            low_level::pipe::register(signal, alarm.try_clone()?)?;
        }
        Ok(Self { news, last })
    }

    fn take(&self) -> Option<i32> {
        let mut bytes = [0; 64];
        // Nothing to read is no news.
        let _ = (&self.news).read(&mut bytes);
        i32::try_from(self.last.swap(0, Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }
}
