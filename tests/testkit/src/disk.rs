//! Files, loop devices and small file systems, taken away when they are dropped.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::{has_program, is_root, skip};

/// Files on a real disk; `/tmp` may be memory.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// An empty directory.
    ///
    /// # Panics
    /// If it cannot be made.
    #[allow(clippy::new_without_default, reason = "it is made on the disk, not from nothing")]
    pub fn new() -> Self {
        Self(tempfile::tempdir_in("/var/tmp").expect("room in /var/tmp"))
    }

    /// A file of random content, on the disk and in the page cache.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn file(&self, name: &str, bytes: u64) -> String {
        let path = self.path(name);
        let content: Vec<u8> = (0..bytes.div_ceil(8)).flat_map(|index| mix(index).to_le_bytes()).collect();
        let file = File::create(&path).expect("a file");
        let length = usize::try_from(bytes).expect("it was in memory");
        file.write_all_at(&content[..length], 0).and_then(|()| file.sync_all()).expect("room on the disk");
        path.to_str().expect("UTF-8").to_owned()
    }

    /// A name in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The directory, for a command line.
    ///
    /// # Panics
    /// If its path is not UTF-8.
    pub fn text(&self) -> &str {
        self.0.path().to_str().expect("UTF-8")
    }
}

/// Spreads a number over 64 bits.
pub fn mix(value: u64) -> u64 {
    let value = (value ^ 0x9e37_79b9).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value ^ (value >> 31)
}

/// All names below a directory, sorted: what a tool has left there.
///
/// # Panics
/// If it cannot be read.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A loop device, taken down when this is dropped.
#[derive(Debug)]
pub struct Loop(pub String);

impl Loop {
    /// Over the file; `None`, and says so, where that is impossible.
    ///
    /// # Panics
    /// If `losetup` cannot be started.
    pub fn new(file: &str, args: &[&str]) -> Option<Self> {
        if !is_root() || !has_program("losetup", "mount") {
            return None;
        }
        let output = run("losetup", &[&["-f", "--show"], args, &[file]].concat());
        if !output.status.success() {
            skip(&String::from_utf8_lossy(&output.stderr), "load the loop module");
            return None;
        }
        Some(Self(String::from_utf8(output.stdout).expect("a path").trim().to_owned()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // There is nothing else to do about it.
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

/// An ext4 file system of its own, unmounted when this is dropped.
#[derive(Debug)]
pub struct Ext4 {
    point: PathBuf,
    _device: Loop,
}

impl Ext4 {
    /// Of so many bytes; `None`, and says so, where that is impossible.
    ///
    /// # Panics
    /// If it cannot be made or mounted though it should be possible.
    pub fn new(scratch: &Scratch, bytes: u64) -> Option<Self> {
        let image = scratch.path("ext4");
        File::create(&image).and_then(|file| file.set_len(bytes)).expect("a file");
        let image = image.to_str().expect("UTF-8");
        if !has_program("mkfs.ext4", "e2fsprogs") {
            return None;
        }
        let device = Loop::new(image, &[])?;
        let point = scratch.path("ext4.mounted");
        fs::create_dir(&point).expect("a directory");
        for (program, args) in [
            ("mkfs.ext4", &["-q", "-F", "-m", "0", &device.0][..]),
            ("mount", &[&device.0, point.to_str().expect("UTF-8")]),
        ] {
            let output = run(program, args);
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        }
        // What mkfs puts there is not ours to count.
        fs::remove_dir(point.join("lost+found")).expect("mkfs makes it");
        Some(Self { point, _device: device })
    }

    /// Where it is mounted.
    ///
    /// # Panics
    /// If the path is not UTF-8.
    pub fn path(&self) -> &str {
        self.point.to_str().expect("UTF-8")
    }

    /// Mounts it again with `options`, as in `ro`.
    ///
    /// # Panics
    /// If that fails.
    pub fn remount(&self, options: &str) {
        let output = run("mount", &["-o", &format!("remount,{options}"), self.path()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Ext4 {
    fn drop(&mut self) {
        // There is nothing else to do about it.
        let _ = Command::new("umount").args(["-l", self.path()]).status();
    }
}

fn run(program: &str, args: &[&str]) -> Output {
    Command::new(program).args(args).output().expect("can start")
}
