//! Real payload: a file or a pipe to the wire, and the wire to a file, with the time of each step.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use common::cli::Session;
use common::files::buffer;
use common::stop::{self, Stopped};
use common::units;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use tempfile::NamedTempFile;

use super::receive::{Arrivals, Bounds};
use super::{Lane, Stages, Stream, idle, wait_for_room};

/// Bytes per step: large enough that a step's clock reads cost nothing.
pub const CHUNK: usize = 1024 * 1024;

/// How long a reader waits for a pipe before it looks for a halt, milliseconds.
const GLANCE_MS: u8 = 100;

/// `--input`.
#[derive(Debug)]
pub struct Input {
    name: String,
    file: File,
}

impl Input {
    /// Opens `path`; `-` is standard input.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let file = if name == "-" {
            File::from(io::stdin().as_fd().try_clone_to_owned()?)
        } else {
            File::open(path).with_context(|| format!("cannot read --input {name}"))?
        };
        if file.metadata()?.is_dir() {
            bail!("cannot read --input {name}: it is a directory (tar c {name} | tcpsink send HOST --input -)");
        }
        Ok(Self { name, file })
    }

    /// Sends it to its end, or to the quota.
    pub fn send(&self, socket: &TcpStream, quota: Option<u64>, lane: &Lane) -> anyhow::Result<()> {
        lane.begin(Instant::now());
        let outcome = self.copy_to(socket, quota, lane);
        lane.finish(Instant::now());
        if lane.is_halted() { Ok(()) } else { outcome }
    }

    fn copy_to(&self, mut socket: &TcpStream, quota: Option<u64>, lane: &Lane) -> anyhow::Result<()> {
        let unused = Stages::default();
        let stages = lane.own.stages.as_ref().unwrap_or(&unused);
        let mut chunk = buffer::blank(CHUNK)?;
        let mut left = quota.unwrap_or(u64::MAX);
        while left > 0 && !lane.is_halted() {
            let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let length = match stages.file().time(|| self.read(&mut chunk[..most], lane)) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) => return Err(error).with_context(|| format!("cannot read --input {}", self.name)),
            };
            left -= length as u64;
            let mut rest = &chunk[..length];
            while !rest.is_empty() && !lane.is_halted() {
                match stages.other().time(|| socket.write(rest)) {
                    Ok(sent) => {
                        lane.counters.add(sent as u64);
                        rest = &rest[sent..];
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        stages.other().time(|| wait_for_room(socket))?;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error).context("cannot send"),
                }
            }
        }
        Ok(())
    }

    /// Reads what is there. A pipe that stays empty must not keep the tool from ending.
    fn read(&self, chunk: &mut [u8], lane: &Lane) -> io::Result<usize> {
        loop {
            let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            match nix::poll::poll(&mut fds, PollTimeout::from(GLANCE_MS)) {
                Ok(0) if lane.is_halted() => return Ok(0),
                Ok(0) | Err(nix::errno::Errno::EINTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            match (&self.file).read(chunk) {
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                read => return read,
            }
        }
    }
}

/// `--output`.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    force: bool,
    place: OutputPlace,
}

/// Where the bytes go until all are there.
#[derive(Debug)]
enum OutputPlace {
    /// Beside the target, under another name; removed unless it is complete.
    Beside(NamedTempFile),
    /// A FIFO, a device or an open descriptor: there is nothing to rename.
    Direct(File),
}

impl Output {
    /// Makes sure that `path` may be made, before anybody connects. Waits for the reader of a FIFO; the error is [`Stopped`] if
    /// a stop came first.
    pub fn open(path: &Path, force: bool, session: &Session) -> anyhow::Result<Self> {
        let name = path.display();
        let doing = || format!("cannot write --output {name}");
        let is_descriptor = ["/dev/fd/", "/proc/self/fd/", "/dev/std"]
            .iter()
            .any(|place| path.starts_with(place.trim_end_matches('/')) || name.to_string().starts_with(place));
        let place = match std::fs::metadata(path) {
            Ok(target) if target.is_dir() => bail!("cannot write --output {name}: it is a directory"),
            Ok(target) if is_descriptor || target.file_type().is_fifo() || target.file_type().is_char_device() => {
                OutputPlace::Direct(open_direct(path, session).with_context(doing)?)
            }
            Ok(target) if !target.is_file() => bail!("cannot write --output {name}: not a file or a FIFO"),
            Ok(_) if !force => bail!("cannot write --output {name}: it exists (--force replaces it)"),
            _ => {
                let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let mut builder = tempfile::Builder::new();
                // As creat(2) would: the umask takes its share.
                builder.prefix(".tcpsink-").permissions(std::fs::Permissions::from_mode(0o666));
                OutputPlace::Beside(builder.tempfile_in(directory).with_context(doing)?)
            }
        };
        Ok(Self { path: path.to_owned(), force, place })
    }

    fn file(&self) -> &File {
        match &self.place {
            OutputPlace::Beside(file) => file.as_file(),
            OutputPlace::Direct(file) => file,
        }
    }

    /// Writes a stream to its end; the data is on disk before the time ends.
    pub fn store(&self, stream: &Stream, limit: Option<u64>, lane: &Lane) -> anyhow::Result<()> {
        let unused = Stages::default();
        let stages = lane.own.stages.as_ref().unwrap_or(&unused);
        let mut written = 0;
        let patience = stream.socket.read_timeout()?;
        let mut write = |bytes: &[u8]| {
            stages.file().time(|| self.write(bytes, patience, lane)).with_context(|| self.after(written))?;
            written += bytes.len() as u64;
            anyhow::Ok(())
        };
        let mut chunk = buffer::blank(CHUNK)?;
        let mut arrivals = Arrivals::new(lane, Bounds { limit, ..Bounds::default() });
        if let Some((bytes, at)) = &stream.early {
            write(bytes)?;
            arrivals.note(bytes.len() as u64, *at)?;
        }
        loop {
            match (&stream.socket).read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => {
                    write(&chunk[..length])?;
                    arrivals.note(length as u64, Instant::now())?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) if lane.is_halted() => return Ok(()),
                Err(error) => return Err(idle(error, "receive")),
            }
        }
        if matches!(self.place, OutputPlace::Beside(_)) {
            stages.other().time(|| self.file().sync_all()).with_context(|| self.after(written))?;
            lane.finish(Instant::now());
        }
        Ok(())
    }

    /// Writes all of it, or as much as is taken before a halt. An error when nothing is taken for as long as `patience`.
    fn write(&self, mut bytes: &[u8], patience: Option<Duration>, lane: &Lane) -> anyhow::Result<()> {
        let mut progress = Instant::now();
        while !bytes.is_empty() && !lane.is_halted() {
            match self.file().write(bytes) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    progress = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if let Some(patience) = patience.filter(|patience| progress.elapsed() >= *patience) {
                        bail!("its reader took nothing for {} (--idle-timeout)", units::duration_text(patience));
                    }
                    let glance = Instant::now() + Duration::from_millis(GLANCE_MS.into());
                    stop::wait_for_room(self.file().as_fd(), glance)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn after(&self, bytes: u64) -> String {
        format!("cannot write {} after {bytes} bytes", self.path.display())
    }

    /// Gives the target its name: all of it is there. Otherwise it is dropped, and with it what was written.
    pub fn complete(self) -> anyhow::Result<()> {
        let OutputPlace::Beside(file) = self.place else { return Ok(()) };
        let kept = if self.force { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        kept.map_err(|error| error.error).with_context(|| format!("cannot create {}", self.path.display()))?;
        Ok(())
    }
}

/// Opens what is written as it is, without waiting in the kernel: for a reader, or for room.
fn open_direct(path: &Path, session: &Session) -> anyhow::Result<File> {
    let mut is_said = false;
    loop {
        match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
            // A FIFO that nobody reads (fifo(7)).
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                if session.stop.is_set() {
                    return Err(Stopped.into());
                }
                if !std::mem::replace(&mut is_said, true) {
                    session.console.notice(&format!("waiting for a reader of {} (--output)", path.display()));
                }
                let glance = Instant::now() + Duration::from_millis(GLANCE_MS.into());
                session.stop.wait(&[], Some(glance))?;
            }
            opened => return Ok(opened?),
        }
    }
}
