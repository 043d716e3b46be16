//! The block device below a target as sysfs describes it, and what it and this process have read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};
use procfs::process::Process;

use crate::target::{Storage, Target};

/// A disk or partition.
#[derive(Debug, Clone)]
pub struct Device {
    /// Its kernel name.
    pub name: String,
    /// Its directory in sysfs.
    pub directory: PathBuf,
    /// Whether all that is read of the target is read from it.
    is_the_only_one: bool,
}

impl Device {
    /// The device that is read or holds the file; `None` for file systems without one.
    pub fn of(target: &Target) -> Option<Self> {
        let number = target.device_number();
        if major(number) > 0 {
            return Self::numbered(number, true);
        }
        // btrfs has numbers of its own: its mount names a device, which may be one of several.
        let source = target.mount()?.mount_source.filter(|source| source.starts_with("/dev/"))?;
        Self::numbered(fs::metadata(source).ok()?.rdev(), false)
    }

    fn numbered(number: u64, is_the_only_one: bool) -> Option<Self> {
        let link = format!("/sys/dev/block/{}:{}", major(number), minor(number));
        let directory = fs::canonicalize(link).ok()?;
        let name = directory.file_name()?.to_string_lossy().into_owned();
        Some(Self { name, directory, is_the_only_one })
    }

    /// The whole disk's directory: a partition has no queue of its own.
    pub fn disk(&self) -> &Path {
        match self.directory.parent() {
            Some(parent) if self.directory.join("partition").exists() => parent,
            _ => &self.directory,
        }
    }

    /// One of the disk's attributes (Documentation/ABI/stable/sysfs-block), without surrounding blanks.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.disk().join(name)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// One of them that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.parse().ok()
    }

    /// The scheduler in use.
    pub fn scheduler(&self) -> Option<String> {
        Some(chosen(&self.attribute("queue/scheduler")?).to_owned())
    }

    /// Bytes that it has read since boot, for everybody; `None` if it was told not to count, or is not the only one.
    fn read_bytes(&self) -> Option<u64> {
        if !self.is_the_only_one || self.attribute("queue/iostats").is_some_and(|counts| counts == "0") {
            return None;
        }
        sectors_read(&fs::read_to_string(self.directory.join("stat")).ok()?)?.checked_mul(SECTOR)
    }
}

/// The unit of sysfs's counts, whatever the device's own is.
const SECTOR: u64 = 512;

/// The word in brackets: `none [mq-deadline] kyber`.
fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

/// The third field (Documentation/block/stat.rst).
fn sectors_read(stat: &str) -> Option<u64> {
    stat.split_whitespace().nth(2)?.parse().ok()
}

/// Running totals of bytes read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fetched {
    by_process: Option<u64>,
    by_device: Option<u64>,
    storage: Option<Storage>,
}

impl Fetched {
    /// The totals by now.
    pub fn now(target: &Target, device: Option<&Device>) -> Self {
        let by_process = match target.storage {
            Storage::Memory => Some(0),
            _ => Process::myself().and_then(|process| process.io()).ok().map(|io| io.read_bytes),
        };
        Self { by_process, by_device: device.and_then(Device::read_bytes), storage: Some(target.storage) }
    }

    /// The same, but no more fetched since `first` than the device has read: the kernel counts a read twice that `io_uring`
    /// first tried without waiting. The two counters move at different moments, so that it is all since `first` that is
    /// compared, and what was said `before` stays true.
    #[must_use]
    pub fn bounded(self, first: &Self, before: &Self) -> Self {
        let most = self.by_device_since(first).filter(|most| *most > 0).unwrap_or(u64::MAX);
        let bound = |(now, first): (u64, u64)| first + now.saturating_sub(first).min(most);
        Self { by_process: self.by_process.zip(first.by_process).map(bound).max(before.by_process), ..self }
    }

    /// Bytes that this process had fetched from storage since `earlier`. A file system that does not count its reads is
    /// believed only if it counted some.
    pub fn by_process_since(&self, earlier: &Self) -> Option<u64> {
        let bytes = self.by_process?.checked_sub(earlier.by_process?)?;
        (bytes > 0 || self.storage != Some(Storage::Elsewhere)).then_some(bytes)
    }

    /// Bytes that the device has read since `earlier`.
    pub fn by_device_since(&self, earlier: &Self) -> Option<u64> {
        self.by_device?.checked_sub(earlier.by_device?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_sysfs_writes() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
        assert_eq!(sectors_read("   7  1   16392 5 0 0 0 0 0 9 5"), Some(16_392));
        assert_eq!(sectors_read(""), None);
    }

    #[test]
    fn what_cannot_be_counted_is_unknown_unless_it_was_counted() {
        let at = |bytes, storage| Fetched { by_process: Some(bytes), by_device: None, storage: Some(storage) };
        let since = |bytes: u64, storage| at(100 + bytes, storage).by_process_since(&at(100, storage));
        assert_eq!(since(0, Storage::Device), Some(0));
        assert_eq!(since(0, Storage::Elsewhere), None);
        assert_eq!(since(5, Storage::Elsewhere), Some(5));
    }

    #[test]
    fn no_more_was_fetched_than_the_device_read() {
        let at = |process, device| Fetched {
            by_process: Some(process),
            by_device: Some(device),
            storage: Some(Storage::Device),
        };
        let first = at(100, 100);
        let fetched = |now: Fetched| now.bounded(&first, &first).by_process_since(&first);
        assert_eq!(fetched(at(300, 200)), Some(100));
        assert_eq!(fetched(at(300, 900)), Some(200));
        assert_eq!(fetched(at(300, 100)), Some(200), "a device that counted nothing proves nothing");
    }

    #[test]
    fn what_was_fetched_adds_up_though_the_counters_move_at_different_moments() {
        let at = |process, device| Fetched {
            by_process: Some(process),
            by_device: Some(device),
            storage: Some(Storage::Device),
        };
        let first = at(0, 0);
        let mut before = first;
        let mut sum = 0;
        for now in [at(100, 40), at(100, 100), at(250, 100), at(300, 300)] {
            let now = now.bounded(&first, &before);
            sum += now.by_process_since(&before).unwrap();
            before = now;
        }
        assert_eq!(sum, 300);
    }
}
